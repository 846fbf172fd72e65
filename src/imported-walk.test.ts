// Walks over an export that was imported, held against a search over the file's own lines.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAddress } from './chain/address.ts';
import { map, Read, rowsSeen } from './evidence/reading.ts';
import { proximity, WALK_LIMITS } from './features/sanctions/walk.ts';
import { coveredHistory } from './stores/history/covered.ts';
import {
  freshFolder,
  importedInto,
  recordOf,
} from './stores/warehouse/bulk-import/bulk-import.suite.ts';
import type { EmbeddedWarehouse } from './stores/warehouse/engine/embedded.ts';
import { warehouseHistory } from './stores/warehouse/history/warehouse.ts';
import { TIP_MAX_AGE_S } from './testing/clock.ts';
import { freshWarehouse } from './testing/fresh-warehouse.ts';
import { SHARED_DATA } from './testing/shared-data.ts';
import { listedEntry, walkedPorts } from './testing/walked-world.ts';
import { inventAddress } from './world/made-up-address.ts';

const REAL = join(SHARED_DATA, 'raphtory/transactions_03300000_03399999_small.csv.gz');
const NOW = 1_800_000_000;
const SUBJECTS = 200;
const MET_EVERY = 20;

const COLUMNS =
  'hash,nonce,block_hash,block_number,transaction_index,from_address,to_address,' +
  'value,gas,gas_price,input,block_timestamp';

/** Writes an export of our own making: some deal with many, each seventh transfer is of nothing. */
function madeUpExport(folder: string): string {
  const draw = (seed: number, below: number) => Math.floor(((seed * 0.618_034) % 1) * below);
  const party = (n: number) => inventAddress('imported-walk', 'evm', String(n));
  const rows = Array.from({ length: 4_000 }, (_, n) => {
    const [from, to] = [party(draw(n * n + 1, 2_500)), party(draw(n * 7 + 3, 2_500))];
    const [block, hash] = [3_300_000 + n, (n + 1).toString(16).padStart(64, '0')];
    const value = n % 7 === 0 ? 0 : n;
    const end = `${value},21000,1,0x,${1_487_000_000 + n}`;
    return `0x${hash},${n},0x${hash},${block},0,${from},${to},${end}`;
  });
  const path = join(folder, 'transactions.csv.gz');
  writeFileSync(path, gzipSync(`${[COLUMNS, ...rows].join('\n')}\n`));
  return path;
}

type Line = { readonly from: string; readonly to: string; readonly value: bigint };

function linesOf(path: string): Line[] {
  const [head, ...rows] = gunzipSync(readFileSync(path)).toString('utf8').trim().split('\n');
  const columns = String(head).split(',');
  const [from, to, value] = ['from_address', 'to_address', 'value'].map((name) =>
    columns.indexOf(name),
  ) as [number, number, number];
  return rows.map((row) => {
    const cells = row.split(',');
    return {
      from: String(cells[from]),
      to: String(cells[to]),
      value: BigInt(String(cells[value])),
    };
  });
}

/** The neighbours of an address: a transfer of nothing counts for its sender alone. */
function neighbours(lines: readonly Line[]): ReadonlyMap<string, ReadonlySet<string>> {
  const edges = new Map<string, Set<string>>();
  const edge = (near: string, far: string) => {
    if (!edges.has(near)) edges.set(near, new Set());
    edges.get(near)?.add(far);
  };
  for (const { from, to, value } of lines) {
    if (to === '' || from === to) continue;
    edge(from, to);
    if (value > 0n) edge(to, from);
  }
  return edges;
}

const EXPORTS = [
  { what: 'an export of our own making', fileIn: madeUpExport, listedEvery: 157 },
  {
    what: 'a real export (or skipped: no shared data)',
    fileIn: existsSync(REAL) ? () => REAL : null,
    listedEvery: 797,
  },
].map((one) => [one.what, one] as const);

describe.each(EXPORTS)('a walk over an import of %s', (_, { fileIn, listedEvery }) => {
  let warehouse: EmbeddedWarehouse | undefined;
  let lines: readonly Line[];
  beforeAll(async () => {
    if (fileIn === null) return;
    const folder = await freshFolder();
    const file = fileIn(folder);
    warehouse = await freshWarehouse();
    recordOf(await importedInto(warehouse, [file], { folder }));
    lines = linesOf(file);
  }, 60_000);
  afterAll(() => warehouse?.close());

  test.skipIf(fileIn === null)(
    'finds a way exactly where the file has one, as short, and denies none',
    async () => {
      const edges = neighbours(lines);
      const all = [...edges.keys()].sort();
      const subjects = all.filter((_, n) => n % Math.floor(all.length / SUBJECTS) === 1);
      // Some from anywhere, and of some subjects one whom they dealt with.
      const met = subjects.filter((_, n) => n % MET_EVERY === 0);
      const near = met.flatMap((one) => [...(edges.get(one) ?? [])].sort().slice(0, 1));
      const listed = [...new Set([...all.filter((_, n) => n % listedEvery === 0), ...near])];
      const onList = new Set(listed);
      const entries = listed.map(listedEntry);
      const world = { now: NOW, transfers: [], listed: entries, labels: null };
      const history = coveredHistory(
        warehouseHistory(opened(warehouse), () => NOW),
        { now: () => NOW, tipMaxAgeS: TIP_MAX_AGE_S },
      );
      const ports = { ...walkedPorts(world), history };
      const hops = { 1: 0, 2: 0, none: 0 };
      for (const subject of subjects.filter((one) => !onList.has(one))) {
        const near = [...(edges.get(subject) ?? [])].filter((one) => one !== subject);
        const far = near.flatMap((one) => [...(edges.get(one) ?? [])]);
        const expected = near.some((one) => onList.has(one))
          ? 1
          : far.some((one) => one !== subject && onList.has(one))
            ? 2
            : 'none';
        const parsed = parseAddress(subject);
        if (parsed === null) throw new Error(`${subject} is no address`);
        const { signal } = new AbortController();
        const walk = await proximity(ports, parsed, WALK_LIMITS, { signal });
        const known = rowsSeen(map(walk, (value) => [value]))?.[0];
        expect(known?.found?.way.length ?? 'none', subject).toBe(expected);
        // Nothing of the chain is held in full, so that no walk of it may deny anything.
        expect(walk).not.toBeInstanceOf(Read);
        expect(known?.causes.map(({ why }) => why.code)).toContain('partial_history');
        hops[expected] += 1;
      }
      for (const [hop, count] of Object.entries(hops)) expect(count, hop).toBeGreaterThan(3);
    },
    60_000,
  );
});

function opened(warehouse: EmbeddedWarehouse | undefined): EmbeddedWarehouse {
  if (warehouse === undefined) throw new Error('not opened');
  return warehouse;
}
