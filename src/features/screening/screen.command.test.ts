import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { parseConfig } from '../../config.ts';
import { addressRecords } from '../../testing/address-records.ts';
import { evm } from '../../testing/addresses.ts';
import { ran } from '../../testing/recording-io.ts';
import { lookCommand } from './look.command.ts';
import { screenCommand } from './screen.command.ts';

const bodySent = z.object({ addresses: z.array(z.string()) });
const rowShown = z.looseObject({
  line: z.number(),
  address: z.string(),
  state: z.string(),
  reason: z.string().optional(),
});
const rowOf = (line: string | undefined) => rowShown.parse(JSON.parse(String(line)));

type Asked = { path: string; key: string | undefined; addresses: string[] };
type Answer = { status: number; body: unknown };

let cwd: string;
let server: Server;
let base: string;
let asked: Asked[];
let answer: (asked: Asked) => Answer | string;

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'exhibit-screen-'));
  asked = [];
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += String(chunk);
    });
    request.on('end', () => {
      const one = {
        path: String(request.url),
        key: request.headers.authorization,
        addresses: text === '' ? [] : bodySent.parse(JSON.parse(text)).addresses,
      };
      asked.push(one);
      const said = answer(one);
      if (typeof said === 'string') response.writeHead(200).end(said);
      else response.writeHead(said.status).end(JSON.stringify(said.body));
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  rmSync(cwd, { recursive: true, force: true });
});

const COMMANDS = [screenCommand, lookCommand];
function run(line: string, env: { readonly [name: string]: string } = {}) {
  const services = { started: parseConfig(env, { cwd }), readRecords: addressRecords };
  return ran(line, COMMANDS, services, { cwd });
}
const screen = (text: string, more = '--key sc_key --json') => {
  writeFileSync(join(cwd, 'f.csv'), text);
  return run(`screen f.csv --base-url ${base} ${more}`);
};

const A = evm('a');
const B = evm('b');
const HELD = { exchange_table: true, launch_corpus: null, sanctions_list: true };
function result(address: string, more: object = {}) {
  return {
    address,
    kind: 'evm',
    state: 'insufficient_evidence',
    exchange: null,
    launches: null,
    sanctions: { listed: false, programs: [], list_published: '2025-03-04' },
    checked: HELD,
    ...more,
  };
}
const bulk = (results: object[], caveat = 'x'): Answer => ({
  status: 200,
  body: { state: 'ok', data: { results, requested: results.length, caveat } },
});
const everyone = ({ addresses }: Asked) => bulk(addresses.map((one) => result(one)));

describe('screen', () => {
  test('rows keep the order and the lines of the file, 500 to a request', async () => {
    answer = everyone;
    const rows = Array.from({ length: 1_001 }, (_, i) => evm(`row ${i}`));
    const said = await screen(`name,address\n${rows.map((row) => `"a, b",${row}`).join('\n')}\n`);
    expect(said.status).toBe(0);
    expect(asked.map((one) => one.addresses.length)).toEqual([500, 500, 1]);
    expect(asked[0]?.key).toBe('Bearer sc_key');
    expect(said.lines.map((line) => rowOf(line).address)).toEqual(rows);
    expect(rowOf(said.lines[0]).line).toBe(2);
    expect(said.errors).toEqual(['1001 addresses (address), 0 on the sanctions list.']);
  });

  test('a misformed row is named and not screened; the others are', async () => {
    answer = (one) => {
      const bad = one.addresses.indexOf('oops');
      if (bad < 0) return everyone(one);
      const error = `addresses[${bad}]: form not recognised; nothing was checked; and 2 more`;
      return { status: 400, body: { error } };
    };
    const said = await screen(`${A}\noops\n${B}\n`);
    expect(said.status).toBe(3);
    expect(rowOf(said.lines[1])).toEqual({
      line: 2,
      column: '1',
      address: 'oops',
      state: 'misformed',
      reason: 'form not recognised; nothing was checked',
    });
    expect(said.lines.map((line) => rowOf(line).state)).toEqual([
      'insufficient_evidence',
      'misformed',
      'insufficient_evidence',
    ]);
  });

  test.each([
    ['a refusal', { status: 429, body: { error: 'quota spent' } }, 'HTTP 429: quota spent'],
    ['no JSON', '<html>', 'not JSON'],
    ['no such answer', { status: 200, body: { state: 'ok' } }, 'not one of this interface'],
    ['too few results', bulk([]), 'another number of results'],
    [
      'silence',
      { status: 200, body: { state: 'not_deployed', reason: 'No table was read.' } },
      'No table was read.',
    ],
  ])('%s is no result: every row says not checked, exit status 3', async (_, said, reason) => {
    answer = () => said;
    const screened = await screen(`${A}\n${B}\n`);
    expect(screened.status).toBe(3);
    for (const line of screened.lines) {
      expect(rowOf(line)).toMatchObject({ state: 'unchecked' });
      expect(rowOf(line).reason).toContain(reason);
    }
    expect(screened.lines).toHaveLength(2);
  });

  test('a service that is not there is no result either', async () => {
    const said = await run(`screen f.csv --base-url http://127.0.0.1:1 --key k`).catch(String);
    expect(said).toMatchObject({ status: 1 });
    writeFileSync(join(cwd, 'f.csv'), A);
    const absent = await run('screen f.csv --base-url http://127.0.0.1:1 --key k --json');
    expect(absent.status).toBe(3);
    expect(absent.lines[0]).toContain('ECONNREFUSED');
  });

  test('a table that was not read makes the exit status 3, and its cell says so', async () => {
    answer = ({ addresses }) =>
      bulk(
        addresses.map((one) =>
          result(one, {
            state: 'not_deployed',
            sanctions: null,
            checked: { ...HELD, sanctions_list: false },
            reason: 'unread: the list',
          }),
        ),
      );
    const said = await screen(A, '--key k');
    expect(said.status).toBe(3);
    expect(said.lines[1]).toMatch(
      /in part\s+not_deployed\s+not checked\s+–\s+does not apply\s+no record\s+does not apply/,
    );
  });

  test('a hit stands out for people', async () => {
    answer = ({ addresses }) =>
      bulk(
        addresses.map((one) =>
          result(one, { state: 'ok', sanctions: { listed: true, programs: ['DPRK3', 'X'] } }),
        ),
      );
    const said = await screen(`address\n${A}`, '--key k');
    expect(said.lines[1]).toContain('LISTED DPRK3, X');
    expect(said.errors).toEqual(['1 addresses (address), 1 on the sanctions list.']);
  });

  test('a file without rows could not check anything; an empty one or a folder is no file', async () => {
    answer = everyone;
    expect((await screen('\n\n')).status).toBe(1);
    expect((await screen('address\n')).status).toBe(3);
    mkdirSync(join(cwd, 'd'));
    expect((await run(`screen d --base-url ${base} --key k`)).status).toBe(1);
    expect(asked).toEqual([]);
  });

  test('without a key, a URL or a file it is bad usage', async () => {
    expect((await screen(A, '')).status).toBe(2);
    expect((await run('screen --key k')).status).toBe(2);
    expect((await run('screen f.csv --key k --base-url ftp://x')).status).toBe(2);
  });
});

describe('the demo key', () => {
  const demo = () =>
    JSON.stringify({ base_url: base, api_key: 'sc_demo', simulated: true, plan: 'desk' });
  function written(): void {
    mkdirSync(join(cwd, 'data', 'simulated'), { recursive: true });
    writeFileSync(join(cwd, 'data', 'simulated', 'demo-credentials.json'), demo());
  }

  test('is used with the simulated service, and its address too', async () => {
    written();
    answer = everyone;
    writeFileSync(join(cwd, 'f.csv'), A);
    expect((await run('screen f.csv', { EXHIBIT_SIMULATE: '1' })).status).toBe(0);
    expect(asked[0]?.key).toBe('Bearer sc_demo');
  });

  test('is shown to no other service, and not outside simulation', async () => {
    written();
    writeFileSync(join(cwd, 'f.csv'), A);
    const other = base.replace('127.0.0.1', 'localhost');
    const elsewhere = `screen f.csv --base-url ${other}`;
    expect((await run(elsewhere, { EXHIBIT_SIMULATE: '1' })).status).toBe(2);
    expect((await run(`screen f.csv --base-url ${base}`)).status).toBe(2);
    expect(asked).toEqual([]);
  });
});

describe('look', () => {
  const ofac = (data: object): Answer => ({ status: 200, body: { state: 'ok', data } });
  const LIST = { name: 'OFAC SDN List', published: '2025-03-04', addresses: 701 };
  const UNWALKED = {
    checked: false,
    reason: 'No history is held.',
    found: null,
    hops: null,
    path: null,
    entity: null,
  };
  const listData = (more: object = {}) =>
    ofac({
      sanctioned: false,
      matches: [],
      list: LIST,
      other_lists: null,
      other_lists_reason: 'None was imported.',
      proximity: UNWALKED,
      caveat: 'A list, no clearance.',
      ...more,
    });
  const both = (list: Answer) => (one: Asked) =>
    one.path.startsWith('/api/v1/wallet/') ? list : everyone(one);

  test('says what each part rests on, and that what was not walked was not checked', async () => {
    answer = both(listData());
    const said = await run(`look 0xAb --base-url ${base} --key k`);
    expect(said).toEqual({
      status: 3,
      lines: [
        '0xAb',
        'sanctions    no entry on this list (701 addresses)',
        'list         OFAC SDN List, published 2025-03-04',
        'other lists  not asked: None was imported.',
        'proximity    not checked: No history is held.',
        'exchange     no record',
        'A list, no clearance.',
        'x',
      ],
      errors: [],
    });
    expect(asked.map((one) => one.path)).toEqual([
      '/api/v1/wallet/0xAb/ofac',
      '/api/v1/bulk/wallet-screen',
    ]);
  });

  test('of made-up data every row says so', async () => {
    const caveat = 'Simulated: this answer rests on made-up data. A list, no clearance.';
    const screened = bulk([result('0xa')], caveat);
    const list = listData({ caveat });
    answer = (one) => (one.path.startsWith('/api/v1/wallet/') ? list : screened);
    const said = await run(`look 0xa --base-url ${base} --key k`);
    const [, ...rows] = said.lines;
    expect(rows.slice(0, -1)).toHaveLength(5);
    for (const row of rows.slice(0, -1)) expect(row).toMatch(/ \(simulated\)$/);
    expect(rows.at(-1)).toBe(caveat);
  });

  test('a listing names its entity and its programmes', async () => {
    const matches = [{ entity: 'DOE, John', programs: ['CYBER2'], uid: '17' }];
    const path = ['0xa', '0xb'];
    const proximity = { ...UNWALKED, found: true, hops: 1, path, entity: 'DOE, John' };
    answer = both(listData({ sanctioned: true, matches, proximity }));
    const said = await run(`look 0xa --base-url ${base} --key k`);
    expect(said.lines).toContain('sanctions    LISTED: DOE, John (CYBER2), entry 17');
    expect(said.lines).toContain('proximity    1 hop to DOE, John: 0xa → 0xb');
  });

  test('has a line for each list of another authority, with its own date and whose word that is', async () => {
    const LISTS = {
      as_of: Date.UTC(2026, 10, 20) / 1_000,
      rows: 9,
      equivalent_matches: [],
      reason: null,
    };
    const entry = { listed_address: '0xa', entity: 'Doe, Jane', programs: 'EU-1', ended_at: null };
    const ended = { ...entry, entity: null, programs: null, ended_at: '2026-01-02' };
    const other_lists = [
      { ...LISTS, list: 'eu', dated_by: 'file', listed: true, matches: [entry, ended] },
      { ...LISTS, list: 'uk', dated_by: 'operator', listed: false, matches: [] },
      {
        ...LISTS,
        list: 'fr',
        dated_by: 'import',
        listed: null,
        matches: null,
        reason: 'Refused: 2 rows.',
      },
      {
        ...LISTS,
        list: 'de',
        dated_by: 'file',
        listed: false,
        matches: [],
        equivalent_matches: [entry],
      },
    ];
    answer = both(listData({ other_lists, other_lists_reason: null }));
    const said = await run(`look 0xa --base-url ${base} --key k`);
    expect(said.lines.filter((line) => line.startsWith('other list'))).toEqual([
      'other list  LISTED: Doe, Jane, EU-1 (0xa); 0xa, until 2026-01-02; eu of 2026-11-20, ' +
        'the date of its file',
      'other list  no entry on this list (9 rows); uk of 2026-11-20, as the operator states',
      'other list  not checked: Refused: 2 rows.; fr of 2026-11-20, the day of its import',
      'other list  another form: Doe, Jane, EU-1 (0xa); de of 2026-11-20, the date of its file',
    ]);
  });

  test.each([
    ['not deployed', { status: 200, body: { state: 'not_deployed', reason: 'Never loaded.' } }],
    ['a refusal', { status: 402, body: { error: 'no such key' } }],
    ['a fault', { status: 500, body: { error: 'fault' } }],
    ['an answer of another shape', { status: 200, body: { state: 'ok', data: {} } }],
  ])('%s is not a finding: exit status 3', async (_, list) => {
    answer = both(list);
    const said = await run(`look 0xa --base-url ${base} --key k`);
    expect(said.status).toBe(3);
    expect(said.lines[1]).toMatch(/^sanctions {2}not checked: /);
  });

  test('a text that is no address is bad usage, asked once', async () => {
    answer = () => ({ status: 400, body: { error: 'address: form not recognised' } });
    const said = await run(`look oops --base-url ${base} --key k`);
    expect(said.status).toBe(2);
    expect(asked).toHaveLength(1);
  });

  test('--json gives the answers as they came', async () => {
    answer = both(listData());
    const said = await run(`look 0xa --base-url ${base} --key k --json`);
    const raw: unknown = JSON.parse(String(said.lines[0]));
    expect(raw).toMatchObject({
      address: '0xa',
      ofac: { state: 'ok', data: { sanctioned: false } },
      screen: { state: 'ok' },
    });
  });
});
