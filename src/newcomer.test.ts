// Does a newcomer come from a file to screened rows, a watched address and a record on paper, by
// the commands of the guides alone? The service is that of `npm start`, without what nobody asks
// here: the signals and calls of its first minute cost more than all commands.

import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { evm } from './testing/addresses.ts';
import { CHROMIUM, NO_BROWSER } from './testing/browser.ts';
import {
  MAIN,
  onlySettings,
  type Simulated,
  startProgram,
  startSimulated,
} from './testing/program.ts';

const LISTED = '0x64144967c175997fc8526ba694021ae36965331c';
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'exhibit-newcomer-'));
let service: Simulated;

beforeAll(async () => {
  const env = { EXHIBIT_SURFACES: 'hosted,integrations,web' };
  service = await startSimulated({ cwd: home, env });
}, 200_000);
afterAll(async () => {
  service.program.child.kill('SIGTERM');
  await service.program.ended;
  rmSync(home, { recursive: true, force: true });
});

/** A command as it is typed, beside the running service. */
const run = (line: string) =>
  startProgram([...line.split(' '), '--base-url', service.base_url], { cwd: home }).ended;
const lineOf = (text: string, name: string) => new RegExp(`^${name} +(.*)$`, 'm').exec(text)?.[1];

test('3,000 rows are screened beside their own columns, with the list and the entry of a hit', async () => {
  const rows = Array.from({ length: 3_000 }, (_, i) => {
    return `${i};${i === 1_234 ? LISTED : evm(`customer ${i}`)};"Doe, ${i}";-${i},50`;
  });
  writeFileSync(join(home, 'customers.csv'), `id;wallet;name;balance\r\n${rows.join('\r\n')}\r\n`);
  const line = 'screen customers.csv --require sanctions_list --out screened.csv';
  const done = await run(line);
  expect([done.status, done.err]).toEqual([
    0,
    '3000 addresses (wallet), 1 on the sanctions list.\n',
  ]);
  const text = readFileSync(join(home, 'screened.csv'), 'utf8');
  const written = z
    .array(z.record(z.string(), z.string()))
    .parse(parse(text, { columns: true, delimiter: ';' }));
  expect(written).toHaveLength(3_000);
  const hits = written.filter((row) => row['exhibit_sanctions'] === 'LISTED');
  expect(hits).toMatchObject([
    { id: '1234', wallet: LISTED, name: 'Doe, 1234', balance: '-1234,50' },
  ]);
  for (const column of ['list_published', 'list_sha256', 'entity', 'uid', 'caveat']) {
    expect([column, hits[0]?.[`exhibit_${column}`]]).toEqual([column, expect.stringMatching(/./)]);
  }
}, 120_000);

describe('the watchlist', () => {
  test('is listed, added to and removed from, and an error names the next step', async () => {
    const none = await run('watchlist list');
    expect([none.status, none.out]).toEqual([
      0,
      'Nothing is watched. exhibit watchlist add ADDRESS begins it.\n',
    ]);
    const added = await run(`watchlist add ${LISTED} --json`);
    expect(JSON.parse(added.out)).toMatchObject({ address: LISTED, parts: [] });
    expect((await run('watchlist list')).out).toContain(LISTED);
    expect((await run('watchlist changes')).status).toBe(0);
    expect((await run(`watchlist remove ${LISTED}`)).status).toBe(0);
    expect(await run(`watchlist remove ${LISTED}`)).toMatchObject({
      status: 1,
      err: `${LISTED} is not watched. exhibit watchlist list names what is watched.\n`,
    });
    const stranger = await run('watchlist list --key sc_nobody');
    expect([stranger.status, stranger.err]).toEqual([1, expect.stringContaining('--key-file')]);
  }, 120_000);
});

/** The commands of a guide's block under a heading, as they are pasted. */
function commandsOf(guide: string, heading: string): string {
  const text = readFileSync(new URL(`../docs/guides/${guide}`, import.meta.url), 'utf8');
  const [, under = ''] = text.split(`${heading}\n`);
  const [, block = ''] = under.split('```');
  if (block === '') throw new Error(`${guide} has no commands under ${heading}`);
  return block.replaceAll('http://127.0.0.1:8080', service.base_url);
}

test('a watched address is told in a chat stand-in, by the commands of the guide as they stand', async () => {
  const before = service.program.err().length;
  const env = onlySettings({ EXHIBIT_API_KEY: service.api_key });
  const pasted = commandsOf('chats.md', '### Try it in the simulated world');
  const command = `bin() { ${process.execPath} ${MAIN} "$@"; }; ${pasted.replaceAll('bin/exhibit', 'bin')}`;
  const { stdout, stderr, status } = spawnSync('bash', ['-ec', command], {
    cwd: home,
    encoding: 'utf8',
    env,
  });
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toContain('"platform":"discord"');
  await vi.waitFor(
    () => {
      const told = service.program.err().slice(before).split('\n');
      const taken = told.filter((line) => line.includes('simulated chat: took a message'));
      expect(taken.join('\n')).toContain(LISTED);
    },
    { timeout: 60_000, interval: 200 },
  );
}, 120_000);

describe('a record', () => {
  test('is made, listed, shown, printed on paper and replayed to the same answer', async () => {
    const made = await run(`records make ${LISTED}`);
    expect(made.status).toBe(0);
    const id = String(lineOf(made.out, 'record'));
    expect((await run('records list')).out).toContain(id);
    const shown = await run(`records show ${id}`);
    expect(lineOf(shown.out, 'answer sha256')).toMatch(/^[0-9a-f]{64}$/);
    expect(lineOf(shown.out, 'not read')).toMatch(/./);
    const printed = await run(`records print ${id}`);
    expect(printed.out).toContain('"sanctioned": true');
    const replayed = await run(`records replay ${id}`);
    expect([replayed.status, lineOf(replayed.out, 'result')]).toEqual([
      0,
      'The answer is the same, to the character.',
    ]);
    const unknown = await run('records show scr_unknown');
    expect([unknown.status, unknown.err]).toEqual([1, expect.stringContaining('records list')]);
    writeFileSync(join(home, 'record.txt'), printed.out);
  }, 180_000);

  test.skipIf(NO_BROWSER !== null)(
    `comes out of a browser as a PDF${NO_BROWSER === null ? '' : ` (${NO_BROWSER})`}`,
    () => {
      const pdf = join(home, 'record.pdf');
      const args = ['--headless', '--no-sandbox', `--print-to-pdf=${pdf}`];
      spawnSync(String(CHROMIUM), [...args, join(home, 'record.txt')], { timeout: 60_000 });
      expect(readFileSync(pdf).subarray(0, 5).toString()).toBe('%PDF-');
    },
    120_000,
  );
});

describe('the guide of policies', () => {
  const guide = readFileSync(join(ROOT, 'docs/guides/policies.md'), 'utf8');
  const blocks = [...guide.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => String(block));
  const at = join(home, 'policies');

  /** Runs the commands of a block as they are typed in a clone, and tells what came of each. */
  function runBlock(block: string) {
    mkdirSync(join(at, 'bin'), { recursive: true });
    for (const folder of ['examples', 'docs']) {
      if (!existsSync(join(at, folder))) symlinkSync(join(ROOT, folder), join(at, folder));
    }
    const own = `"${process.execPath}" "${MAIN}" "$@"`;
    const asks = `if [ "$1" = screen ]; then set -- "$@" --base-url ${service.base_url}; fi`;
    writeFileSync(join(at, 'bin/exhibit'), `#!/bin/sh\n${asks}\nexec ${own}\n`, { mode: 0o755 });
    const typed = block.replaceAll('http://127.0.0.1:8080', service.base_url);
    const { PATH = '' } = process.env;
    const env = onlySettings({
      PATH: `${join(at, 'bin')}:${PATH}`,
      EXHIBIT_API_KEY: service.api_key,
    });
    return spawnSync('bash', ['-c', typed], { cwd: at, encoding: 'utf8', env });
  }

  test('checks a policy and decides on a file', () => {
    const { status, stdout, stderr } = runBlock(String(blocks[0]));
    expect(stderr).toContain('The policy: 1 allowed, 1 held, 0 could not be checked.\n');
    expect(stdout).toContain('screen.form_sanctioned, screen.sanctioned');
    expect(status).toBe(1);
    const text = readFileSync(join(at, 'decided.csv'), 'utf8');
    const rows: unknown = parse(text, { columns: true });
    expect(rows).toMatchObject([{ exhibit_decision: 'hold' }, { exhibit_decision: 'allow' }]);
  }, 60_000);

  test('decides over saved answers by the command and by Python alike', () => {
    expect(blocks).toHaveLength(2);
    const { stdout, stderr, status } = runBlock(String(blocks[1]));
    const [byCommand, byPython] = stdout.trim().split('\n').map(parseDecision);
    expect([stderr, status]).toEqual(['', 0]);
    expect(byCommand).toMatchObject({ decision: 'hold', simulated: true, decided_by: ['listed'] });
    expect(byPython).toEqual(byCommand);
  }, 60_000);

  test('shows the policy that its example file holds', () => {
    const shown = /```json\n(.*?)```/s.exec(guide)?.[1];
    expect(shown).toBe(readFileSync(join(ROOT, 'examples/policies/payouts.json'), 'utf8'));
  });
});

function parseDecision(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return value;
}

test.each([
  'screen customers.csv --require sanctions_list',
  `look ${LISTED}`,
  'watchlist list',
  'records list',
  'completion bash',
])(
  '%s ends quietly where its reader has gone',
  (line) => {
    const of = line.startsWith('completion') ? '' : ` --base-url ${service.base_url}`;
    const piped = `set -o pipefail; ${process.execPath} ${MAIN} ${line}${of} | head -1`;
    const options = { cwd: home, encoding: 'utf8', env: onlySettings() } as const;
    const { stdout, stderr, status } = spawnSync('bash', ['-c', piped], options);
    expect(stdout.split('\n')).toHaveLength(2);
    expect([stderr.includes('EPIPE'), stderr.includes('Error')]).toEqual([false, false]);
    expect([0, 3]).toContain(status);
  },
  120_000,
);
