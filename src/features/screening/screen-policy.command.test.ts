// `exhibit screen --policy`: each row is decided on by its own result, in the caller's process.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { evaluatePolicy, parsePolicy, screenOf } from '../../client/policy.ts';
import { parseConfig } from '../../config.ts';
import { addressReader } from '../../testing/address-records.ts';
import { evm } from '../../testing/addresses.ts';
import { ran } from '../../testing/recording-io.ts';
import { screenCommand } from './screen.command.ts';

const POLICY = {
  format: 'exhibit-policy/1',
  name: 'Ours',
  clauses: {
    listed: { rule: 'screen.sanctioned = true' },
    clear: { rule: 'screen.sanctioned = false' },
  },
  hold: ['listed'],
  allow: ['clear'],
};
const [CLEAR, LISTED, UNREAD] = [evm('clear'), evm('listed'), evm('unread')];
const bodySent = z.object({ addresses: z.array(z.string()) });
const rowShown = z.looseObject({ address: z.string(), decision: z.unknown() });

/** What the service says of some addresses, one by its name here. */
function answerTo(addresses: readonly string[]) {
  const results = addresses.map((address) => ({
    address,
    kind: 'evm',
    state: address === UNREAD ? 'not_deployed' : 'ok',
    exchange: null,
    launches: null,
    sanctions:
      address === UNREAD ? null : { listed: address === LISTED, programs: [], entity: null },
    checked: { exchange_table: true, launch_corpus: null, sanctions_list: address !== UNREAD },
  }));
  return { state: 'ok', simulated: false, data: { results, caveat: 'x' } };
}

let cwd: string;
let server: Server;
let refuses: boolean;

beforeEach(async () => {
  refuses = false;
  cwd = mkdtempSync(join(tmpdir(), 'exhibit-screen-policy-'));
  writeFileSync(join(cwd, 'p.json'), JSON.stringify(POLICY));
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += String(chunk);
    });
    request.on('end', () => {
      const { addresses } = bodySent.parse(JSON.parse(text));
      const isRefused = refuses || addresses.some((one) => !one.startsWith('0x'));
      const body = isRefused ? { error: 'Not now.' } : answerTo(addresses);
      response.writeHead(isRefused ? 503 : 200).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  rmSync(cwd, { recursive: true, force: true });
});

function screen(addresses: readonly string[], more = '--json') {
  writeFileSync(join(cwd, 'f.csv'), `address\n${addresses.join('\n')}\n`);
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const line = `screen f.csv --base-url ${base} --key sc_key --policy p.json ${more}`;
  const services = { started: parseConfig({}, { cwd }), ...addressReader };
  return ran(line, [screenCommand], services, { cwd });
}

describe('says', () => {
  test('of each address what the client decides over its result alone', async () => {
    const said = await screen([CLEAR, LISTED, UNREAD]);
    const parsed = parsePolicy(new TextEncoder().encode(JSON.stringify(POLICY)));
    if (!parsed.ok) throw new Error('it is no policy');
    const whole = answerTo([CLEAR, LISTED, UNREAD]);
    const rows = said.lines.map((line) => rowShown.parse(JSON.parse(line)));
    const own = [0, 1, 2].map((place) =>
      evaluatePolicy(parsed.policy, { screen: screenOf(whole, place) }),
    );
    expect(rows.map(({ decision }) => decision)).toEqual(await Promise.all(own));
    expect(rows).toMatchObject([
      { decision: { decision: 'allow', address: CLEAR } },
      { decision: { decision: 'hold', address: LISTED } },
      { decision: { decision: 'could_not_check', address: UNREAD } },
    ]);
    expect(said.errors.at(-1)).toBe('The policy: 1 allowed, 1 held, 1 could not be checked.');
    expect(said.status).toBe(1);
  });

  test('by its exit status whether all is allowed, one is held, or one could not be checked', async () => {
    expect((await screen([CLEAR])).status).toBe(0);
    expect((await screen([CLEAR, UNREAD])).status).toBe(3);
    expect((await screen([UNREAD, LISTED])).status).toBe(1);
  });

  test('in columns of a file, with the hashes, and a resumed run counts them', async () => {
    const first = await screen([CLEAR, LISTED], '--out o.csv');
    const cells = z
      .array(z.record(z.string(), z.string()))
      .parse(parse(readFileSync(join(cwd, 'o.csv'), 'utf8'), { columns: true }));
    const sha256 = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(cells).toMatchObject([
      { exhibit_decision: 'allow', exhibit_decided_by: 'listed clear' },
      { exhibit_decision: 'hold', exhibit_decided_by: 'listed', exhibit_policy_sha256: sha256 },
    ]);
    const again = await screen([CLEAR, LISTED], '--out o.csv --resume');
    expect([again.status, again.errors]).toEqual([first.status, first.errors]);
    const other = { ...POLICY, name: 'Another' };
    writeFileSync(join(cwd, 'p.json'), JSON.stringify(other));
    const refused = await screen([CLEAR, LISTED], '--out o.csv --resume');
    expect(refused.errors).toContain(
      'The file cannot be written: a row of the file was not decided on by this policy.',
    );
  });
});

describe('is silent', () => {
  test('where the service refuses: no address is allowed', async () => {
    refuses = true;
    const said = await screen([CLEAR]);
    expect(said.status).toBe(3);
    expect(rowShown.parse(JSON.parse(String(said.lines[0])))).toMatchObject({
      decision: {
        decision: 'could_not_check',
        unread: [{ field: 'screen.sanctioned', code: 'not_given' }],
      },
    });
  });
});

describe('refuses', () => {
  test('a policy that is none, one that is not there, and one of other answers', async () => {
    writeFileSync(join(cwd, 'p.json'), ' '.repeat(10 * 1024 * 1024));
    expect(await screen([CLEAR])).toEqual({
      status: 1,
      lines: [],
      errors: ['too_large: A policy has at most 65536 bytes.'],
    });
    const clauses = { clear: { rule: 'ofac.sanctioned = false' } };
    writeFileSync(join(cwd, 'p.json'), JSON.stringify({ ...POLICY, clauses, hold: [] }));
    const other = await screen([CLEAR]);
    expect([other.status, other.errors.join('\n')]).toEqual([
      2,
      expect.stringContaining('--policy names ofac.sanctioned'),
    ]);
    rmSync(join(cwd, 'p.json'));
    expect(await screen([CLEAR])).toMatchObject({
      status: 1,
      errors: ['The policy cannot be read: ENOENT.'],
    });
  });
});
