// Reads the contracts that an address signed for from the warehouse. Coverage is read before the
// rows that it vouches for. The result is complete only if the inner calls of the chain are held
// from its first block to a fresh tip, since factories create inside them.

import { z } from 'zod';
import type { EvmChainName } from '../../chain/chain.ts';
import { weaken } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import {
  type ChainFacts,
  type ContractCreations,
  type CreationFact,
  factRead,
  factUnread,
  readFacts,
} from '../../ports/accounts.ts';
import type { Call, Warehouse } from './engine/executor.ts';
import { addressHex, addressOf, hashOf } from './transfers/append.ts';
import { type HeldBlocksOf, readUnderHeld, tipRows } from './transfers/held.ts';
import { unreadFor, warehouseAnswer, warehouseSource } from './transfers/imports.ts';

const PORT = 'contract_creations';
const READ_TIMEOUT_MS = 10_000;
/** The most creations of one answer. */
const CREATIONS_MAX = 2_000;

const number = z.coerce.number();
const creationRow = z.tuple([
  ...[z.string(), z.string(), z.string(), z.string(), number, number, number],
] as const);

const ROW = `lower(hex(created)), lower(hex(creator)), lower(hex(max(initiator))),
  lower(hex(tx_hash)), block, toUInt64(max(block_time)), toUInt64(min(observed))`;
const GROUPED = 'GROUP BY created, creator, tx_hash, block';

// Blocks above the final ones stand apart until they are final.
const createdSql = (tip: string) => `
SELECT ${ROW} FROM creations
WHERE chain = {chain:String} AND created = unhex({address:String}) ${GROUPED}
UNION ALL
SELECT ${ROW} FROM tip_creations
WHERE ${tip} AND created = unhex({address:String})
${GROUPED}
LIMIT ${CREATIONS_MAX + 1}`;
const signersSql = (tip: string) => `
SELECT ${ROW} FROM creators
WHERE chain = {chain:String} AND addr IN (SELECT unhex(arrayJoin({addresses:Array(String)})))
  AND initiator = addr ${GROUPED}
UNION ALL
SELECT ${ROW} FROM tip_creations
WHERE ${tip}
  AND initiator IN (SELECT unhex(arrayJoin({addresses:Array(String)})))
${GROUPED}
LIMIT ${CREATIONS_MAX + 1}`;

/** The creations in a warehouse; a tip is fresh up to `tipMaxAgeS`. `now` is Unix seconds. */
export function warehouseCreations(
  warehouse: Warehouse,
  { now, tipMaxAgeS }: { readonly now: () => number; readonly tipMaxAgeS: number },
): ContractCreations {
  return {
    around: async (chain, address, signal) => {
      const call: Call = { timeoutMs: READ_TIMEOUT_MS, signal };
      try {
        const { held, rows, cut } = await readUnderHeld(warehouse, call, (held) =>
          rowsAround(warehouse, held, chain, address, call),
        );
        const creations = rows.map((row) => {
          const [created, creator, signer, tx, block, at] = row;
          return {
            chain,
            block,
            at,
            tx: hashOf(tx),
            created: addressOf(created),
            creator: addressOf(creator),
            signer: signer === '' ? null : addressOf(signer),
          };
        });
        // How far the inner calls of the chain are held from its first block on.
        const inner = held.ranges.filter((one) => one.chain === chain && one.kind === 'internal');
        const whole = inner.find((one) => one.from_first);
        const isMade = inner.some(({ origin }) => origin === 'simulated');
        const simulated = isMade || rows.some((row) => row[6] === 0);
        const as_of = whole === undefined ? now() : whole.to_time;
        const inPart = (held: string) => why('creations_in_part', { chain, held });
        let missing: Why | null = null;
        if (cut) missing = inPart(`${CREATIONS_MAX} of one signer`);
        else if (whole === undefined) missing = inPart('not from the first block');
        else if (whole.to_time <= now() - tipMaxAgeS) missing = inPart('not to a fresh tip');
        return warehouseAnswer(PORT, creations, { as_of, simulated }, missing);
      } catch (error) {
        return unreadFor(PORT, error);
      }
    },
  };
}

async function rowsAround(
  warehouse: Warehouse,
  held: HeldBlocksOf,
  chain: EvmChainName,
  address: string,
  call: Call,
) {
  const tipOfChain = tipRows(held.followed.filter((one) => one.chain === chain));
  const tip = tipOfChain === null ? 'false' : tipOfChain;
  const query = { ...call, row: creationRow, tuples: true, rowsMax: CREATIONS_MAX + 1 };
  const params = { chain, address: addressHex(address) };
  const own = await warehouse.query(createdSql(tip), { ...query, params });
  const signers = own.map((row) => row[2]).filter((signer) => signer !== '');
  const addresses = [...new Set([addressHex(address), ...signers])];
  const signed = await warehouse.query(signersSql(tip), { ...query, params: { chain, addresses } });
  const cut = own.length > CREATIONS_MAX || signed.length > CREATIONS_MAX;
  return { held, rows: [...own, ...signed], cut };
}

// Reads the creator of a contract, and no other fact. A contract without a held creation is unread:
// it may still have been made outside the imported data.

const CREATOR_TIMEOUT_MS = 5_000;
const NAME = 'Transfer warehouse';
// The newest creation: a contract may be made again where one destroyed itself.
const CREATOR = `SELECT lower(hex(creator)), lower(hex(max(initiator))), lower(hex(tx_hash)),
  toString(block), toUInt8(max(observed))
FROM creations WHERE chain = {chain:String} AND created = unhex({created:String})
GROUP BY creator, tx_hash, block ORDER BY block DESC LIMIT 1`;
const blockNumber = z.coerce.number().int().nonnegative();
const creatorRow = z.tuple([z.string(), z.string(), z.string(), blockNumber, z.number()]);

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
          const asked = {
            timeoutMs: CREATOR_TIMEOUT_MS,
            signal,
            row: creatorRow,
            tuples: true,
            params,
          };
          const [found] = await warehouse.query(CREATOR, asked);
          if (found === undefined) return factUnread(why('creation_not_found', { source: NAME }));
          const [creatorHex, initiator, txHex, block, observed] = found;
          const [creator, tx] = [addressOf(creatorHex), hashOf(txHex)];
          const signer = initiator === '' ? creator : addressOf(initiator);
          // The signer made it; a different account that ran the creation is named beside it.
          const factory = signer === creator ? null : creator;
          const fact: CreationFact = { creator: signer, relay: null, factory, tx, block };
          const told = factRead(fact, warehouseSource(now(), observed === 0));
          // The callee of the transaction is not held: it may be a bundler's or a relayer's
          // contract.
          return factory === null ? told : weaken(told, why('creation_relay_unread'));
        } catch (error) {
          return unreadFor('chain_facts', error);
        }
      };
      return readFacts({ creation }, wanted, NAME);
    },
  };
}
