// On 16,409 real launches the board of two plain providers is an independent count of the record.

import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { CountedCall } from '../../ports/provider-calls.ts';
import { EVM_LAUNCHES } from '../../testing/evm-launches.ts';
import { countBoard } from './board.ts';

const absent = !existsSync(EVM_LAUNCHES);
const title = absent ? 'recorded launches (skipped: no shared data)' : 'recorded launches';
const NOW = 1_800_000_000;

describe.skipIf(absent)(title, () => {
  const rows = absent
    ? []
    : readFileSync(EVM_LAUNCHES, 'utf8')
        .trim()
        .split(/\r?\n/)
        .slice(1)
        .map((line) => line.split(','))
        .map((cells) => ({
          deployer: String(cells[0]),
          token: String(cells[1]),
          block: Number(cells[4]),
          died: cells[14] === 'True',
        }))
        .sort((one, other) => one.block - other.block);

  /** Of those before it, whether at least half of the deployer's launches died; none: no word. */
  const past = new Map<string, { died: number; of: number }>();
  const pastSays = rows.map(({ deployer, died }) => {
    const before = past.get(deployer);
    past.set(deployer, {
      died: (before?.died ?? 0) + Number(died),
      of: (before?.of ?? 0) + 1,
    });
    return before === undefined ? null : before.died / before.of >= 0.5;
  });

  const call = (provider: string, says: boolean, at: number): CountedCall => ({
    provider,
    kind: 'token_risk',
    rule_version: 'token-risk-1',
    subject: String(rows[at]?.token),
    says,
    prospective: true,
    received_at: NOW,
    leaf: at,
    probability: null,
    state: 'scored',
    happened: rows[at]?.died === true,
  });
  const calls = rows.flatMap((_, at) => {
    const said = pastSays[at];
    const always = call('always-died', true, at);
    return said === null || said === undefined ? [always] : [always, call('past-rate', said, at)];
  });
  const board = countBoard({ calls, gaps: [], asked: new Map(), made_at: NOW });
  const rowOf = (provider: string) =>
    board.windows.all.rows.find((row) => row.provider === provider);

  test('“always died” is right as often as launches die', () => {
    const died = rows.filter((row) => row.died).length;
    expect(rowOf('always-died')).toMatchObject({
      calls: 16_409,
      scored: 16_409,
      hits: died,
      base_rate: died / 16_409,
      sensitivity: { rate: 1, of: died },
      specificity: { rate: 0, of: 16_409 - died },
      baselines: { always_yes: died, always_no: 16_409 - died },
    });
  });

  test('a deployer’s past has the table of confusion that a plain count gives', () => {
    const table = { saidDied: 0, saidLived: 0, deniedDied: 0, deniedLived: 0 };
    for (const [at, { died }] of rows.entries()) {
      if (pastSays[at] === true && died) table.saidDied += 1;
      else if (pastSays[at] === true) table.saidLived += 1;
      else if (pastSays[at] === false && died) table.deniedDied += 1;
      else if (pastSays[at] === false) table.deniedLived += 1;
    }
    const of = table.saidDied + table.saidLived + table.deniedDied + table.deniedLived;
    const row = rowOf('past-rate');
    expect(row).toMatchObject({
      scored: of,
      hits: table.saidDied + table.deniedLived,
      sensitivity: {
        rate: table.saidDied / (table.saidDied + table.deniedDied),
        of: table.saidDied + table.deniedDied,
      },
      specificity: {
        rate: table.deniedLived / (table.saidLived + table.deniedLived),
        of: table.saidLived + table.deniedLived,
      },
    });
    expect(table).toMatchInlineSnapshot(`
      {
        "deniedDied": 41,
        "deniedLived": 65,
        "saidDied": 3657,
        "saidLived": 62,
      }
    `);
  });
});
