import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { parseConfig } from '../../config.ts';
import { addressReader } from '../../testing/address-records.ts';
import { addressNamed, evm } from '../../testing/addresses.ts';
import { ran } from '../../testing/recording-io.ts';
import { trialsOf } from '../../testing/trials.ts';
import { lookCommand } from './look.command.ts';
import { screenCommand } from './screen.command.ts';
import { csvCell } from './screened-file.command.ts';

/** Rows of the longest file. */
const ROWS = trialsOf('EXHIBIT_TEST_ROWS', 20_000, 100_000);

describe('screen', () => {
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
    const services = { started: parseConfig(env, { cwd }), ...addressReader };
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
  const bulk = (results: object[], { caveat = 'x', simulated = false } = {}): Answer => ({
    status: 200,
    body: { state: 'ok', simulated, data: { results, requested: results.length, caveat } },
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
        // The words name another position: a program reads none from them.
        const says = 'form not recognised; nothing was checked';
        const fields = [{ path: ['addresses', bad], says }];
        return { status: 400, body: { error: `addresses[0]: ${says}; and 2 more`, fields } };
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
        /in part\s+not_deployed\s+not checked\s+–\s+not checked\s+not asked\s+–\s+–\s+no record\s/,
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
      expect(said.lines[1]).toMatch(/LISTED\s+DPRK3, X/);
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
    const ofac = (data: object, simulated: boolean): Answer => ({
      status: 200,
      body: { state: 'ok', simulated, data },
    });
    const LIST = { name: 'OFAC SDN List', published: '2025-03-04', addresses: 701 };
    const UNWALKED = {
      checked: false,
      reason: 'No history is held.',
      found: null,
      hops: null,
      path: null,
      entity: null,
    };
    const listData = (more: object = {}, simulated = false) => {
      const data = {
        sanctioned: false,
        matches: [],
        list: LIST,
        other_lists: null,
        other_lists_reason: 'None was imported.',
        proximity: UNWALKED,
        caveat: 'A list, no clearance.',
        ...more,
      };
      return ofac(data, simulated);
    };
    const both = (list: Answer) => (one: Asked) =>
      one.path.startsWith('/api/v1/wallet/') ? list : everyone(one);

    test('says what each part rests on, and that what was not walked was not checked', async () => {
      answer = both(listData());
      const said = await run(`look 0xAb --part ofac --part screen --base-url ${base} --key k`);
      expect(said).toEqual({
        status: 3,
        lines: [
          '0xAb',
          'sanctions    no record on this list (701 addresses)',
          'list         OFAC SDN List, published 2025-03-04',
          'other lists  not checked: None was imported.',
          'proximity    not checked: No history is held.',
          'other forms  not checked',
          'exchange     no record',
          'launches     does not apply',
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
      const caveat = 'A list, no clearance.';
      const screened = bulk([result('0xa')], { caveat, simulated: true });
      const list = listData({}, true);
      answer = (one) => (one.path.startsWith('/api/v1/wallet/') ? list : screened);
      const said = await run(`look 0xa --part ofac --part screen --base-url ${base} --key k`);
      const [, ...rows] = said.lines;
      expect(rows.slice(0, -1)).toHaveLength(7);
      for (const row of rows.slice(0, -1)) expect(row).toMatch(/ \(simulated\)$/);
      expect(rows.at(-1)).toBe(caveat);
    });

    test.each([true, false])('the field alone labels, never the words: %s', async (simulated) => {
      const caveat = simulated ? 'A list.' : 'Simulated: so a caveat may begin.';
      const screened = bulk([result('0xa')], { caveat, simulated });
      const list = listData({ caveat }, simulated);
      answer = (one) => (one.path.startsWith('/api/v1/wallet/') ? list : screened);
      const looked = await run(`look 0xa --part ofac --part screen --base-url ${base} --key k`);
      expect(looked.lines.join('\n').includes('(simulated)')).toBe(simulated);
      writeFileSync(join(cwd, 'one.csv'), 'address\n0xa\n');
      const said = await run(`screen one.csv --base-url ${base} --key k --json`);
      expect(JSON.parse(String(said.lines[0]))).toMatchObject({ simulated, caveat });
    });

    test.each([true, false])(
      'an absence is labelled where it is made up: %s',
      async (simulated) => {
        const reason = 'No creation is on record.';
        answer = () => ({
          status: 200,
          body: { state: 'insufficient_evidence', simulated, data: null, reason },
        });
        const said = await run(`look 0xa --part token --base-url ${base} --key k`);
        expect(said.lines).toContain(
          `token  insufficient evidence: ${reason}${simulated ? ' (simulated)' : ''}`,
        );
      },
    );

    test('a listing names its entity and its programmes', async () => {
      const matches = [{ entity: 'DOE, John', programs: ['CYBER2'], uid: '17' }];
      const path = ['0xa', '0xb'];
      const proximity = { ...UNWALKED, found: true, hops: 1, path, entity: 'DOE, John' };
      answer = both(listData({ sanctioned: true, matches, proximity }));
      const said = await run(`look 0xa --part ofac --part screen --base-url ${base} --key k`);
      expect(said.lines).toContain('sanctions    LISTED: DOE, John (CYBER2), entry 17');
      expect(said.lines).toContain('proximity    1 hop to DOE, John: 0xa → 0xb');
    });

    test('shows a way of two hops whole', async () => {
      const path = [evm('one'), evm('two'), evm('three')];
      const proximity = { ...UNWALKED, found: true, hops: 2, path, entity: 'DOE, John' };
      answer = both(listData({ proximity }));
      const said = await run(`look 0xa --part ofac --part screen --base-url ${base} --key k`);
      expect(said.lines).toContain(`proximity    2 hops to DOE, John: ${path.join(' → ')}`);
    });

    test('of a walk that found nothing out says not checked, whatever its flag', async () => {
      answer = both(listData({ proximity: { ...UNWALKED, checked: true } }));
      const said = await run(`look 0xa --part ofac --part screen --base-url ${base} --key k`);
      expect(said.status).toBe(3);
      expect(said.lines).toContain('proximity    not checked: No history is held.');
    });

    test('has a line for each list of another authority, with its own date and whose word that is', async () => {
      const LISTS = {
        as_of: Date.UTC(2026, 10, 20) / 1_000,
        rows: 9,
        equivalent_matches: [],
        equivalent_listed: false,
        reason: null,
      };
      const entry = {
        listed_address: '0xa',
        entity: 'Doe, Jane',
        programs: 'EU-1',
        ended_at: null,
      };
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
          equivalent_listed: true,
        },
      ];
      answer = both(listData({ other_lists, other_lists_reason: null }));
      const said = await run(`look 0xa --part ofac --part screen --base-url ${base} --key k`);
      expect(said.lines.filter((line) => line.startsWith('other list'))).toEqual([
        'other list   LISTED: Doe, Jane, EU-1 (0xa); 0xa, until 2026-01-02; eu of 2026-11-20, ' +
          'the date of its file',
        'other list   no record on this list (9 rows); uk of 2026-11-20, as the operator states',
        'other list   not checked: Refused: 2 rows.; fr of 2026-11-20, the day of its import',
        'other list   FORM LISTED: another form: Doe, Jane, EU-1 (0xa); de of 2026-11-20, ' +
          'the date of its file',
      ]);
    });

    test.each([
      ['not deployed', { status: 200, body: { state: 'not_deployed', reason: 'Never loaded.' } }],
      ['a refusal', { status: 402, body: { error: 'no such key' } }],
      ['a fault', { status: 500, body: { error: 'fault' } }],
      ['an answer of another shape', { status: 200, body: { state: 'ok', data: {} } }],
    ])('%s is not a finding: exit status 3', async (_, list) => {
      answer = both(list);
      const said = await run(`look 0xa --part ofac --part screen --base-url ${base} --key k`);
      expect(said.status).toBe(3);
      expect(said.lines[1]).toMatch(/^sanctions {4}not checked: /);
    });

    test('a text that is no address is bad usage, asked once', async () => {
      const fields = [{ path: ['address'], says: 'form not recognised' }];
      answer = () => ({ status: 400, body: { error: 'address: form not recognised', fields } });
      const said = await run(`look oops --part ofac --part screen --base-url ${base} --key k`);
      expect(said.status).toBe(2);
      expect(asked).toHaveLength(1);
    });

    test('--json gives the answers as they came', async () => {
      answer = both(listData());
      const said = await run(
        `look 0xa --part ofac --part screen --base-url ${base} --key k --json`,
      );
      const raw: unknown = JSON.parse(String(said.lines[0]));
      expect(raw).toMatchObject({
        address: '0xa',
        ofac: { state: 'ok', data: { sanctioned: false } },
        screen: { state: 'ok' },
      });
    });
  });
});

describe('a file', () => {
  // A service that speaks the bulk screen's wire and has a quota; what it lists is told to it.
  const LISTED = evm('listed');
  const bodySent = z.object({
    addresses: z.array(z.string()),
    tables: z.array(z.string()).optional(),
  });
  const CAVEAT = 'Simulated: this answer rests on made-up data. A screen of the tables held here.';

  let cwd: string;
  let server: Server;
  let base: string;
  let asked: z.output<typeof bodySent>[];
  let quota: number;
  let listRead: boolean;

  function resultOf(address: string): object {
    const listed = address === LISTED;
    const sanctions = {
      listed,
      programs: listed ? ['CYBER2'] : [],
      entity: listed ? 'Doe; Ltd' : null,
      uids: listed ? ['12', '13'] : [],
      list_published: '2026-11-20',
      list_sha256: 'ab'.repeat(32),
    };
    const known = listRead || listed;
    return {
      address,
      kind: 'evm',
      state: listed ? 'ok' : listRead ? 'insufficient_evidence' : 'not_deployed',
      exchange: null,
      launches: null,
      sanctions: known ? sanctions : null,
      equivalent_forms: known ? [] : null,
      checked: { exchange_table: null, launch_corpus: null, sanctions_list: known },
    };
  }

  function said(text: string): { status: number; body: object } {
    const body = bodySent.parse(JSON.parse(text));
    const bad = body.addresses.flatMap((one, i) =>
      one.startsWith('0x') ? [] : [{ path: ['addresses', i], says: 'form not recognised' }],
    );
    if (bad.length > 0) return { status: 400, body: { error: 'no', fields: bad.slice(0, 20) } };
    if (quota === 0) return { status: 429, body: { error: 'the quota of the day is spent' } };
    quota -= 1;
    asked.push(body);
    const data = { results: body.addresses.map(resultOf), caveat: CAVEAT };
    return { status: 200, body: { state: 'ok', simulated: true, data } };
  }

  beforeEach(async () => {
    cwd = mkdtempSync(join(tmpdir(), 'exhibit-file-'));
    asked = [];
    quota = Number.POSITIVE_INFINITY;
    listRead = true;
    server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => {
        text += String(chunk);
      });
      request.on('end', () => {
        const { status, body } = said(text);
        response.writeHead(status).end(JSON.stringify(body));
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

  async function screen(content: string | null, more = '') {
    if (content !== null) writeFileSync(join(cwd, 'f.csv'), content);
    const services = { started: parseConfig({}, { cwd }), ...addressReader };
    const line = `screen f.csv --base-url ${base} --key k --require sanctions_list ${more}`;
    return ran(line, [screenCommand], services, { cwd });
  }

  const outRows = () =>
    z
      .array(z.record(z.string(), z.string()))
      .parse(
        parse(readFileSync(join(cwd, 'o.csv'), 'utf8'), { bom: true, columns: true, cast: false }),
      );

  // A row: a note with line ends and commas in quotes, two addresses, and text behind them.
  const rowOf = (i: number, to = evm(`to ${i}`)) =>
    `"note ${i},\r\nwith ""lines""",${evm(`from ${i}`)},${to},x`;
  const HEAD = '\ufeffnote,from,to,memo';
  const fileOf = (rows: readonly string[]) => `${[HEAD, ...rows].join('\r\n')}\r\n`;
  const SOME = 700;
  const some = (n = SOME) => Array.from({ length: n }, (_, i) => rowOf(i));

  describe('a file with two address columns, quoted line ends and a byte order mark', () => {
    test(`accounts for every row and column of ${ROWS}, by name and line`, async () => {
      const rows = ROWS;
      const done = await screen(fileOf(some(rows)), '--out o.csv');
      expect(done.status).toBe(0);
      expect(done.errors).toEqual([`${2 * rows} addresses (from, to), 0 on the sanctions list.`]);
      const written = outRows();
      expect(written).toHaveLength(2 * rows);
      for (const at of [0, 1, rows - 1, 2 * rows - 1]) {
        const i = Math.floor(at / 2);
        const column = at % 2 === 0 ? 'from' : 'to';
        const address = evm(`${column} ${i}`);
        expect(written[at]).toMatchObject({
          note: `note ${i}, with "lines"`,
          from: evm(`from ${i}`),
          memo: 'x',
          exhibit_line: String(2 + 2 * i),
          exhibit_column: column,
          exhibit_address: address,
          exhibit_checked: 'screened',
          exhibit_sanctions: 'no record',
          exhibit_simulated: 'simulated',
          exhibit_caveat: CAVEAT,
        });
      }
    }, 300_000);

    test('names a hit, and fails where that is asked for', async () => {
      const rows = [...some(), rowOf(SOME, LISTED)];
      const hit = await screen(fileOf(rows));
      expect(hit.status).toBe(0);
      expect(hit.errors.at(-1)).toBe('1402 addresses (from, to), 1 on the sanctions list.');
      expect(hit.lines.join('\n')).toMatch(/LISTED\s+CYBER2/);
      expect(hit.lines).toContain(CAVEAT);
      expect((await screen(null, '--fail-on-listed')).status).toBe(1);
    });

    test('says which row could not be read, screens its addresses all the same, and exits 3', async () => {
      const broken = `unquoted, comma,${evm('a')},${LISTED},x`;
      const typo = `n,${evm('b')},not-an-address-but-long-enough,x`;
      const done = await screen(fileOf([...some(2), broken, typo, 'n,,,x']));
      expect(done.status).toBe(3);
      expect(done.errors).toEqual([
        'Line 6: 5 values under 4 columns.',
        'Line 8: no address in this row.',
        '9 addresses (from, to), 1 on the sanctions list, 2 of no known form, not checked, ' +
          '2 rows not read in full.',
      ]);
    });

    test('stops where the quota is spent, and goes on with --resume without asking twice', async () => {
      quota = 2;
      const part = await screen(fileOf([...some(), rowOf(SOME, LISTED)]), '--out o.csv');
      expect(part.status).toBe(3);
      expect(part.errors.at(-1)).toBe(
        '1402 addresses (from, to), 402 not checked. Stopped: HTTP 429: the quota of the day is ' +
          'spent. The rest of the file was not reached; go on with --resume.',
      );
      expect(outRows()).toHaveLength(1_000);
      // A run that was killed while it wrote.
      writeFileSync(join(cwd, 'o.csv'), '"note 500, with', { flag: 'a' });
      quota = 5;
      const rest = await screen(null, '--out o.csv --resume');
      expect(rest.status).toBe(0);
      expect(rest.errors.at(-1)).toBe('1402 addresses (from, to), 1 on the sanctions list.');
      expect(outRows().map((row) => row['exhibit_address'])).toHaveLength(1_402);
      expect(asked.flatMap((one) => one.addresses)).toHaveLength(1_402);
      const again = await screen(null, '--out o.csv --resume --fail-on-listed');
      expect([again.status, quota]).toEqual([1, 4]);
    });

    test('of a list too old for a miss says so of each row, and exits 3', async () => {
      listRead = false;
      const done = await screen(fileOf([...some(2), rowOf(2, LISTED)]));
      expect(done.status).toBe(3);
      expect(done.errors).toEqual([
        '6 addresses (from, to), 1 on the sanctions list, 5 not checked in full.',
      ]);
      const none = await screen(fileOf(some(2)));
      expect(none.status).toBe(3);
      expect(none.errors).toEqual(['4 addresses (from, to), 4 not checked in full.']);
    });
  });

  describe('columns', () => {
    test('an address in a column of other texts is screened where it stands', async () => {
      const rows = ['id,memo', `1,paid`, `2,${LISTED}`, '3,late', `4,${'a'.repeat(10)}`];
      const done = await screen(`${rows.join('\n')}\n`, '--json');
      expect(done.lines).toHaveLength(1);
      expect(JSON.parse(String(done.lines[0]))).toMatchObject({
        line: 3,
        column: 'memo',
        address: LISTED,
        caveat: CAVEAT,
        simulated: true,
      });
    });

    test('--column takes one alone, and one that is not there is a fault', async () => {
      const done = await screen(fileOf(some(3)), '--column TO');
      expect(done.errors).toEqual(['3 addresses (to), 0 on the sanctions list.']);
      expect((await screen(null, '--column wallet')).status).toBe(1);
    });

    test('a first row of addresses is no heading', async () => {
      const done = await screen(
        `${LISTED},${evm('a')}\n${evm('b')},${addressNamed('tron', 'c')}\n`,
      );
      expect(done.errors[0]).toMatch(/^4 addresses \(1, 2\), 1 on the sanctions list/);
    });

    test('a quote that does not close is a fault before anything is asked', async () => {
      const done = await screen(`address\n${evm('a')}\n"${evm('b')}\n`);
      expect([done.status, asked.length]).toEqual([1, 0]);
      expect(done.errors[0]).toContain('a quote does not close');
    });
  });

  describe('the file that is written', () => {
    test.each(['=1+1', '+1', '-1', '@SUM(A1)', ' =x', '\t=x', '%0A', '|cmd'])(
      'begins no formula with %j',
      (text) => {
        expect(csvCell(text)).toMatch(/^"'/);
        expect(csvCell('0xab, "c"\nd')).toBe('"0xab, ""c"" d"');
      },
    );

    test('keeps a hostile address as text, and is not written over', async () => {
      const bad = '=HYPERLINK("http://x.example","y-and-more")';
      const done = await screen(`address,n\n"${bad.replaceAll('"', '""')}",1\n`, '--out o.csv');
      expect(done.status).toBe(3);
      expect(outRows()[0]).toMatchObject({ address: `'${bad}`, exhibit_checked: 'misformed' });
      const again = await screen(null, '--out o.csv');
      expect(again.status).toBe(1);
      expect(again.errors[0]).toContain('is there already; --resume goes on with it');
      expect(existsSync(join(cwd, 'o.csv'))).toBe(true);
    });

    test('keeps the columns, the order, the delimiter and the line ends of the caller', async () => {
      const head = '\ufeffid;exhibit_state;wallet;balance;memo';
      const rows = [
        `1;mine;${LISTED};-5,20;"a ""b"";\nc"`,
        `2;;${evm('a')};+1;=1+1`,
        '3;late;;0;nobody',
      ];
      const done = await screen(`${[head, ...rows].join('\r\n')}\r\n`, '--out o.csv');
      expect(done.status).toBe(3);
      expect(done.errors).toEqual([
        'The file has a column exhibit_state: that of this screen is exhibit_state_2.',
        'Line 5: no address in this row.',
        '2 addresses (wallet), 1 on the sanctions list, 1 rows not read in full.',
      ]);
      const text = readFileSync(join(cwd, 'o.csv'), 'utf8');
      const lines = text.split('\r\n');
      expect(lines[0]).toMatch(
        /^\ufeff"id";"exhibit_state";"wallet";"balance";"memo";"exhibit_line";"exhibit_column";/,
      );
      expect([lines.length, lines.at(-1), text.replaceAll('\r\n', '').includes('\n')]).toEqual([
        5,
        '',
        false,
      ]);
      expect(lines[1]).toContain(`"1";"mine";"${LISTED}";"-5,20";"a ""b""; c";2;"wallet"`);
      expect(lines[2]).toContain(`"+1";"'=1+1";`);
      const written: unknown = parse(text, { bom: true, delimiter: ';', columns: true });
      expect(written).toMatchObject([
        {
          exhibit_state: 'mine',
          exhibit_state_2: 'ok',
          exhibit_sanctions: 'LISTED',
          exhibit_list_published: '2026-11-20',
          exhibit_list_sha256: 'ab'.repeat(32),
          exhibit_entity: 'Doe; Ltd',
          exhibit_uid: '12 13',
        },
        { exhibit_sanctions: 'no record', exhibit_entity: '', exhibit_uid: '' },
        {
          memo: 'nobody',
          exhibit_checked: 'not read',
          exhibit_sanctions: '',
          exhibit_reason: 'no address in this row',
        },
      ]);
      const again = await screen(null, '--out o.csv --resume');
      expect([again.status, again.errors.at(-1), asked.length]).toEqual([3, done.errors.at(-1), 1]);
      expect(readFileSync(join(cwd, 'o.csv'), 'utf8')).toBe(text);
    });

    test('keeps rows that are longer than the headings beside the columns of the screen', async () => {
      const done = await screen(`address,n\n${evm('a')},1,extra\n${evm('b')}\n`, '--out o.csv');
      expect(done.status).toBe(3);
      expect(outRows()).toMatchObject([
        { n: '1', 3: 'extra', exhibit_address: evm('a'), exhibit_checked: 'screened' },
        { n: '', 3: '', exhibit_address: evm('b'), exhibit_checked: 'screened' },
      ]);
    });

    test.each([',', ';', '\t', '|'])('is read where %j stands between its cells', async (mark) => {
      const done = await screen(`n${mark}who\n1${mark}${LISTED}\n`);
      expect(done.errors).toEqual(['1 addresses (who), 1 on the sanctions list.']);
    });

    test('of another input is not gone on with', async () => {
      await screen(fileOf(some(3)), '--out o.csv');
      const other = await screen(fileOf(some(4).slice(1)), '--out o.csv --resume');
      expect(other.status).toBe(1);
      expect(other.errors[0]).toContain('its rows are not of this file from line 2 on');
      const shorter = await screen(fileOf(some(2)), '--out o.csv --resume');
      expect(shorter.errors[0]).toContain('it holds more rows than this file');
    });
  });
});
