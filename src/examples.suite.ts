// Does each program that is there to be copied do what it says?

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { verdictOf, verdictOfResult } from '../examples/verdict.ts';
import { onlySettings, type Simulated } from './testing/program.ts';
import { SANDBOX_PARTY } from './world/listed-parties.ts';
import { WORLD_TRADERS } from './world/traders.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const COULD_NOT_CHECK = 3;
const CURL_REFUSED = 22;
const UNLISTED = '0x00000000219ab540356cbb839cbe05303d7705fa';
const SIGNS_ONLY = String(WORLD_TRADERS.find(({ kind }) => kind === 'agent')?.address);
const LISTED = String(SANDBOX_PARTY.addresses[0]?.address);

const bulk = z.object({ data: z.object({ results: z.array(z.unknown()) }) });

const HOUR_MS = 3_600_000;
/** Hours after a day's midnight in UTC at which it is over in Washington, in summer and winter. */
const DAY_OVER_H = { earliest: 28, latest: 29 };

/** Each program of `examples/` says what the service says, or that it could not check. */
export function examplesDoWhatTheySay(started: () => Simulated): void {
  describe('the programs', () => {
    const home = mkdtempSync(join(tmpdir(), 'exhibit-examples-'));
    let env: Record<string, string>;

    beforeAll(() => {
      compile();
      const { base_url, api_key } = started();
      env = onlySettings({ BASE_URL: base_url, API_KEY: api_key });
    });
    afterAll(() => rmSync(home, { recursive: true, force: true }));

    // Node.js before 22.18 does not run TypeScript as it is.
    function compile(): void {
      const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
      const args = [tsc, '-p', join(ROOT, 'examples'), '--noCheck', '--outDir', join(home, 'js')];
      expect(spawnSync(process.execPath, args, { encoding: 'utf8' })).toMatchObject({ status: 0 });
      writeFileSync(join(home, 'js/package.json'), '{"type":"module"}');
      mkdirSync(join(home, 'node_modules'));
      symlinkSync(ROOT, join(home, 'node_modules/exhibit'));
    }

    function run(name: string, args: readonly string[], more: Record<string, string> = {}) {
      const isShell = name.endsWith('.sh');
      const program = isShell ? 'bash' : process.execPath;
      const file = isShell ? join(ROOT, 'examples', name) : join(home, 'js', `${name}.js`);
      const child = spawnSync(program, [file, ...args], {
        env: { ...env, ...more },
        encoding: 'utf8',
      });
      return { status: child.status, lines: child.stdout.trim().split('\n') };
    }

    test('one address is listed or not, by the list of a day', () => {
      const listed = run('screen-one', [LISTED]);
      expect(listed).toMatchObject({ status: 0 });
      expect(listed.lines[0]).toMatch(/^0x\S+: listed \(the list of \d{4}-\d\d-\d\d\)$/);
      const day = String(/\d{4}-\d\d-\d\d/.exec(String(listed.lines[0])));
      const ofDay = run('screen-one', [LISTED, day]);
      const hoursSince = (Date.now() - Date.parse(day)) / HOUR_MS;
      // That a list was the newest of its day is known when the day is over in Washington.
      if (hoursSince < DAY_OVER_H.earliest) {
        expect(ofDay.lines[0]).toContain(`No held publication is known newest on ${day}.`);
      } else if (hoursSince > DAY_OVER_H.latest) expect(ofDay).toEqual(listed);
      const unlisted = [`${UNLISTED}: not listed (the list of ${day})`];
      expect(run('screen-one', [UNLISTED])).toEqual({ status: 0, lines: unlisted });
    });

    test('the typed client tells the same of one address, and why it could not check', () => {
      const listed = run('screen-by-client', [LISTED]);
      expect(listed).toEqual(run('screen-one', [LISTED]));
      expect(run('screen-by-client', [UNLISTED])).toEqual(run('screen-one', [UNLISTED]));
      for (const [address, more, says] of [
        ['nonsense', {}, '400: address: form not recognised'],
        [UNLISTED, { API_KEY: 'sc_wrong' }, '402: '],
        [UNLISTED, { BASE_URL: 'http://127.0.0.1:1' }, 'no answer: network'],
      ] as const) {
        const { status, lines } = run('screen-by-client', [address], more);
        expect(status).toBe(COULD_NOT_CHECK);
        expect(lines).toEqual([expect.stringContaining(`${address}: could not check (${says}`)]);
      }
    });

    test.each([
      {
        what: 'a day without a known list',
        args: [UNLISTED, '2020-01-01'],
        env: {},
        says: 'No held publication',
      },
      {
        what: 'no address',
        args: ['nonsense'],
        env: {},
        says: '400: address: form not recognised',
      },
      { what: 'a wrong key', args: [UNLISTED], env: { API_KEY: 'sc_wrong' }, says: '402: ' },
      {
        what: 'nobody there',
        args: [UNLISTED],
        env: { BASE_URL: 'http://127.0.0.1:1' },
        says: 'no answer: ',
      },
    ])('$what is said to be unchecked, never unlisted', ({ args, env: more, says }) => {
      const { status, lines } = run('screen-one', args, more);
      expect(status).toBe(COULD_NOT_CHECK);
      expect(lines).toEqual([expect.stringContaining(`${args[0]}: could not check (${says}`)]);
    });

    test('a file is screened in bulk, and one refused address spoils no other', () => {
      const file = join(home, 'addresses.txt');
      writeFileSync(file, `${UNLISTED}\nnonsense\n\n${LISTED}\nmore nonsense\n`);
      const { status, lines } = run('screen-file', [file]);
      expect(lines).toEqual([
        expect.stringMatching(`^${UNLISTED}: not listed \\(the list of `),
        expect.stringMatching(/^nonsense: could not check \(400: addresses\[1\]/),
        expect.stringMatching(`^${LISTED}: listed \\(`),
        expect.stringMatching(/^more nonsense: could not check \(400: /),
        '4 addresses, 2 could not be checked',
      ]);
      expect(status).toBe(COULD_NOT_CHECK);
    });

    test('the ages of the sources are polled, and nobody there is not fresh', () => {
      const { status, lines } = run('source-ages', ['0', '2']);
      expect(status).toBe(0);
      const list = lines.filter((line) => line.startsWith('sanctions_list: '));
      expect(list).toHaveLength(2);
      expect(list[0]).toMatch(/^sanctions_list: fresh, \d+ s \(604800 s at most\)$/);
      const gone = run('source-ages', ['0', '1'], { BASE_URL: 'http://127.0.0.1:1' });
      expect(gone).toMatchObject({ status: COULD_NOT_CHECK });
      expect(run('source-ages', ['0', 'often'])).toMatchObject({ status: COULD_NOT_CHECK });
    });

    test('curl prints the same answers, and fails where the service refuses', () => {
      const one = run('screen-one.sh', [LISTED]);
      const envelope: unknown = JSON.parse(String(one.lines[0]));
      expect(verdictOf(envelope)).toMatchObject({ word: 'listed' });
      const past = run('screen-one.sh', [LISTED, '2020-01-01']);
      expect(JSON.parse(String(past.lines[0]))).toMatchObject({ state: 'not_deployed' });
      const many = run('screen-many.sh', [LISTED, UNLISTED]);
      const { data } = bulk.parse(JSON.parse(String(many.lines[0])));
      expect(data.results.map((one) => verdictOfResult(one).word)).toEqual([
        'listed',
        'not listed',
      ]);
      expect(run('screen-one.sh', [LISTED], { API_KEY: 'sc_wrong' }).status).toBe(CURL_REFUSED);
    });

    test('a trader is asked about, and an answer without an analysis says why', () => {
      const { status, lines } = run('trader.sh', [SIGNS_ONLY, 'exposure']);
      expect(status).toBe(0);
      const about = { address: SIGNS_ONLY, analysed: false, error: 'not_analysed' };
      expect(JSON.parse(String(lines[0]))).toMatchObject(about);
      const refused = run('trader.sh', ['nonsense']);
      expect(JSON.parse(String(refused.lines[0]))).toMatchObject({ error: 'invalid_address' });
      expect(run('trader.sh', [SIGNS_ONLY], { BASE_URL: 'http://127.0.0.1:1' }).status).not.toBe(0);
    });

    test('each of them is run here', () => {
      const ran = [
        'screen-one.ts',
        'screen-by-client.ts',
        'screen-file.ts',
        'source-ages.ts',
        'screen-one.sh',
        'screen-many.sh',
        'trader.sh',
      ];
      const shared = ['ask.ts', 'verdict.ts', 'README.md', 'tsconfig.json'];
      // `src/policy-cases.test.ts` and `src/policy-guide.test.ts` run these.
      const ofPolicies = ['policies', 'policy.py'];
      // `src/verification-vectors.test.ts` runs these.
      const python = ['verify.py', 'verify_answer.py', 'verify_vectors.py'];
      expect(readdirSync(join(ROOT, 'examples')).sort()).toEqual(
        [...ran, ...shared, ...ofPolicies, ...python].sort(),
      );
    });
  });

  describe('a verdict', () => {
    const ok = (sanctioned: unknown) => ({
      state: 'ok',
      data: { sanctioned, list: { published: 'D' } },
    });

    test('only a `false` that was said is "not listed"', () => {
      expect(verdictOf(ok(false))).toEqual({ word: 'not listed', why: 'the list of D' });
      expect(verdictOf(ok(true))).toEqual({ word: 'listed', why: 'the list of D' });
      const others = [
        ...[ok(null), ok(undefined), ok('false'), ok(0), { state: 'ok', data: null }],
        ...['insufficient_evidence', 'not_supported', 'not_deployed', 'of tomorrow'].map(
          (state) => ({
            state,
            reason: 'because',
            data: null,
          }),
        ),
        ...[null, [], '', {}, 'html'],
      ];
      for (const other of others) expect(verdictOf(other).word).toBe('could not check');
      expect(verdictOf(others[6])).toEqual({ word: 'could not check', why: 'because' });
    });

    test('of a result in bulk, only one whose list was checked is "not listed"', () => {
      const result = (listed: boolean | null, looked: boolean) => ({
        sanctions: listed === null ? null : { listed, list_published: 'D' },
        checked: { sanctions_list: looked },
      });
      const word = (listed: boolean | null, looked: boolean) =>
        verdictOfResult(result(listed, looked)).word;
      expect([word(true, true), word(true, false)]).toEqual(['listed', 'listed']);
      expect(word(false, true)).toBe('not listed');
      expect([word(false, false), word(null, true), word(null, false)]).toEqual(
        Array.from({ length: 3 }, () => 'could not check'),
      );
      expect(verdictOfResult({}).word).toBe('could not check');
    });
  });
}
