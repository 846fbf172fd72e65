// Who made a contract, by the creations that the warehouse holds?
// It tells nothing else of an address. A contract of which it holds no creation is unread: what was
// not imported may still have been made.

import { z } from 'zod';
import { why } from '../../evidence/reasons.ts';
import {
  type ChainFacts,
  type CreationFact,
  factRead,
  factUnread,
  readFacts,
} from '../../ports/accounts.ts';
import type { Warehouse } from './engine/executor.ts';
import { addressHex, addressOf, hashOf } from './transfers/append.ts';
import { unreadFor, warehouseSource } from './transfers/imports.ts';

const PORT = 'chain_facts';
const READ_TIMEOUT_MS = 5_000;
const NAME = 'Transfer warehouse';
// The newest creation: a contract may be made again where one destroyed itself.
const SQL = `SELECT lower(hex(creator)), lower(hex(max(initiator))), lower(hex(tx_hash)),
  toString(block), toUInt8(max(observed))
FROM creations WHERE chain = {chain:String} AND created = unhex({created:String})
GROUP BY creator, tx_hash, block ORDER BY block DESC LIMIT 1`;
const row = z.tuple([
  z.string(),
  z.string(),
  z.string(),
  z.coerce.number().int().nonnegative(),
  z.number(),
]);

/** Creations in a warehouse. `now` is Unix seconds. */
export function warehouseFacts(warehouse: Warehouse, now: () => number): ChainFacts {
  return {
    stateChains: [],
    setBy: async (_chain, _account, { fact }) =>
      factUnread(why('fact_not_told', { source: NAME, fact: `who set ${fact}` })),
    of: (chain, address, wanted, signal) => {
      const creation = async () => {
        try {
          const params = { chain, created: addressHex(address) };
          const asked = { timeoutMs: READ_TIMEOUT_MS, signal, row, tuples: true, params };
          const [found] = await warehouse.query(SQL, asked);
          if (found === undefined) return factUnread(why('creation_not_found', { source: NAME }));
          const [creatorHex, initiator, txHex, block, observed] = found;
          const [creator, tx] = [addressOf(creatorHex), hashOf(txHex)];
          const signer = initiator === '' ? creator : addressOf(initiator);
          // Who signed made it; who ran the creation is named beside it where that was another.
          const factory = signer === creator ? null : creator;
          const fact: CreationFact = { creator: signer, factory, tx, block };
          return factRead(fact, warehouseSource(now(), observed === 0));
        } catch (error) {
          return unreadFor(PORT, error);
        }
      };
      return readFacts({ creation }, wanted, NAME);
    },
  };
}
