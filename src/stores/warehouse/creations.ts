// Which contracts did an address sign for, by what the warehouse holds?
// Coverage is read before the rows that it vouches for. It is whole only where the inner calls of
// the chain are held from its first block to a fresh tip, since factories create inside them.

import { z } from 'zod';
import type { EvmChainName } from '../../chain/chain.ts';
import { part, read } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { ContractCreations } from '../../ports/accounts.ts';
import { type Call, type Warehouse, WarehouseUnavailable } from './engine/executor.ts';
import { addressHex, addressOf, hashOf } from './transfers/append.ts';
import { type HeldBlocksOf, isUndone, readHeld, tipRows } from './transfers/held.ts';
import { unreadFor, warehouseSource } from './transfers/imports.ts';

const PORT = 'contract_creations';
const READ_TIMEOUT_MS = 10_000;
/** The most creations of one answer. */
const CREATIONS_MAX = 2_000;

const number = z.coerce.number();
const creationRow = z.tuple([
  ...[z.string(), z.string(), z.string(), z.string(), number, number, number],
] as const);
type Row = z.infer<typeof creationRow>;

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

/** What makes the creations of a warehouse fresh. `now` is Unix seconds. */
type CreationLimits = { readonly now: () => number; readonly tipMaxAgeS: number };

/** The creations in a warehouse. */
export function warehouseCreations(
  warehouse: Warehouse,
  { now, tipMaxAgeS }: CreationLimits,
): ContractCreations {
  return {
    around: async (chain, address, signal) => {
      const call: Call = { timeoutMs: READ_TIMEOUT_MS, signal };
      try {
        const held = await readHeld(warehouse, call);
        const reach = reachOf(held, chain);
        const { rows, cut } = await rowsAround(
          warehouse,
          { chain, tip: tipOf(held, chain) },
          address,
          call,
        );
        // A tip that changed meanwhile was not there to be read under its old stamps.
        if (await isUndone(warehouse, held, call)) throw new WarehouseUnavailable('interrupted');
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
        const simulated = rows.some((row) => row[6] === 0) || reach.simulated;
        const as_of = reach.to_time === null ? now() : reach.to_time;
        const origin = { port: PORT, source: warehouseSource(as_of, simulated) } as const;
        if (simulated) return part(creations, origin, why('simulated'));
        const missing = missingOf(chain, reach, now() - tipMaxAgeS, cut);
        return missing === null ? read(creations, origin) : part(creations, origin, missing);
      } catch (error) {
        return unreadFor(PORT, error);
      }
    },
  };
}

async function rowsAround(
  warehouse: Warehouse,
  at: { readonly chain: EvmChainName; readonly tip: string },
  address: string,
  call: Call,
): Promise<{ rows: Row[]; cut: boolean }> {
  const query = { ...call, row: creationRow, tuples: true, rowsMax: CREATIONS_MAX + 1 };
  const own = await warehouse.query(createdSql(at.tip), {
    ...query,
    params: { chain: at.chain, address: addressHex(address) },
  });
  const signers = own.map((row) => row[2]).filter((signer) => signer !== '');
  const addresses = [...new Set([addressHex(address), ...signers])];
  const signed = await warehouse.query(signersSql(at.tip), {
    ...query,
    params: { chain: at.chain, addresses },
  });
  const cut = own.length > CREATIONS_MAX || signed.length > CREATIONS_MAX;
  return { rows: [...own, ...signed], cut };
}

/** The rows of the chain's tip that count. */
function tipOf({ followed }: HeldBlocksOf, chain: EvmChainName): string {
  const rows = tipRows(followed.filter((one) => one.chain === chain));
  return rows === null ? NEVER_TRUE : rows;
}

const NEVER_TRUE = 'false';

type Reach = { readonly to_time: number | null; readonly simulated: boolean };

/** How far the inner calls of a chain are held from its first block on. */
function reachOf({ ranges }: HeldBlocksOf, chain: EvmChainName): Reach {
  const own = ranges.filter((one) => one.chain === chain && one.kind === 'internal');
  const simulated = own.some(({ origin }) => origin === 'simulated');
  const whole = own.find((one) => one.from_first);
  return { to_time: whole === undefined ? null : whole.to_time, simulated };
}

function missingOf(
  chain: EvmChainName,
  { to_time }: Reach,
  oldest: number,
  cut: boolean,
): Why | null {
  if (cut) return why('creations_in_part', { chain, held: `${CREATIONS_MAX} of one signer` });
  if (to_time === null) {
    return why('creations_in_part', { chain, held: 'not from the first block' });
  }
  if (to_time > oldest) return null;
  return why('creations_in_part', { chain, held: 'not to a fresh tip' });
}
