// On 16,409 real launches: do outcomes follow from what was left in the pool, do counts and rates
// equal an independent recount, and how far do they agree with the file's own verdict?

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { recordFields } from './features/deployers/record.ts';
import { EVM_LAUNCHES, readLaunches, STATED, walksOf } from './testing/evm-launches.ts';

const absent = !existsSync(EVM_LAUNCHES);
const title = absent ? 'recorded launches (skipped: no shared data)' : 'recorded launches';

/** A decimal text, with an exponent where it has one, as a fraction of whole numbers. */
function exact(text: string): { readonly over: bigint; readonly under: bigint } {
  const match = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(text);
  if (match === null) throw new Error(`no decimal: ${text}`);
  const [, whole = '', part = '', exponent = '0'] = match;
  const shift = Number(exponent) - part.length;
  const digits = BigInt(whole + part);
  return shift >= 0
    ? { over: digits * 10n ** BigInt(shift), under: 1n }
    : { over: digits, under: 10n ** BigInt(-shift) };
}

/** The recount: by the file's text alone, in whole numbers, without anything of the product. */
async function recounted() {
  const [heading = '', ...lines] = (await readFile(EVM_LAUNCHES, 'utf8')).trim().split(/\r?\n/);
  const columns = heading.split(',');
  const byDeployer = new Map<string, { listed: number; died: number }>();
  const confusion = { died_rug: 0, died_not: 0, live_rug: 0, live_not: 0 };
  for (const line of lines) {
    // A symbol may hold a comma: what stands after it is counted from the end.
    const cells = line.split(',');
    const fromEnd = (name: string) => String(cells.at(columns.indexOf(name) - columns.length));
    const { over, under } = exact(fromEnd('reserve_eth_at_snapshot'));
    const died = 2n * over * BigInt(STATED.ethUsd) < BigInt(STATED.exitLiquidityUsd) * under;
    const rug = fromEnd('is_rugpull') === 'True';
    confusion[`${died ? 'died' : 'live'}_${rug ? 'rug' : 'not'}`] += 1;
    const deployer = String(cells[0]);
    const held = byDeployer.get(deployer) ?? { listed: 0, died: 0 };
    byDeployer.set(deployer, { listed: held.listed + 1, died: held.died + (died ? 1 : 0) });
  }
  return { rows: lines.length, byDeployer, confusion };
}

describe.skipIf(absent)(title, () => {
  let rows: Awaited<ReturnType<typeof readLaunches>>;
  let recount: Awaited<ReturnType<typeof recounted>>;
  beforeAll(async () => {
    [rows, recount] = await Promise.all([readLaunches(), recounted()]);
  });

  test('every count and every rate equals the recount', () => {
    const walks = walksOf(rows);
    const told = new Map(
      [...walks].map(([deployer, walk]) => {
        const { listed_launches, died, survived, never_listed, death_rate, coverage } =
          recordFields({ ...walk, failed: null }, walk.captured_at);
        expect([survived, never_listed, coverage.unchecked]).toEqual([
          listed_launches - died,
          0,
          0,
        ]);
        expect(death_rate).toBe(died / listed_launches);
        return [deployer, { listed: listed_launches, died }];
      }),
    );
    expect(rows).toHaveLength(16_409);
    expect(recount.rows).toBe(16_409);
    expect(told).toEqual(recount.byDeployer);
  });

  test('the outcome does not follow the file’s verdict, and mostly agrees with it', () => {
    const said = { died_rug: 0, died_not: 0, live_rug: 0, live_not: 0 };
    for (const { launch, isRugpull } of rows) {
      const outcome = launch.outcome === 'died' ? 'died' : 'live';
      said[`${outcome}_${isRugpull ? 'rug' : 'not'}`] += 1;
    }
    expect(said).toEqual(recount.confusion);
    expect(said).toEqual({ died_rug: 14_804, died_not: 242, live_rug: 69, live_not: 1_294 });
  });
});
