import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { parseConfig } from '../../config.ts';
import { addressRecords } from '../../testing/address-records.ts';
import { evm, named } from '../../testing/addresses.ts';
import { ran } from '../../testing/recording-io.ts';
import { csvCell, screenCommand } from './screen.command.ts';

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
  const sanctions = { listed, programs: listed ? ['CYBER2'] : [], list_published: '2026-11-20' };
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
    one.startsWith('0x') ? [] : [`addresses[${i}]: form not recognised; nothing was checked`],
  );
  if (bad.length > 0) return { status: 400, body: { error: bad.slice(0, 20).join('; ') } };
  if (quota === 0) return { status: 429, body: { error: 'the quota of the day is spent' } };
  quota -= 1;
  asked.push(body);
  const data = { results: body.addresses.map(resultOf), caveat: CAVEAT };
  return { status: 200, body: { state: 'ok', data } };
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
  const services = { started: parseConfig({}, { cwd }), readRecords: addressRecords };
  const line = `screen f.csv --base-url ${base} --key k --require sanctions_list ${more}`;
  return ran(line, [screenCommand], services, { cwd });
}

const outRows = () =>
  z
    .array(z.record(z.string(), z.string()))
    .parse(parse(readFileSync(join(cwd, 'o.csv'), 'utf8'), { columns: true, cast: false }));

// A row: a note with line ends and commas in quotes, two addresses, and text behind them.
const rowOf = (i: number, to = evm(`to ${i}`)) =>
  `"note ${i},\r\nwith ""lines""",${evm(`from ${i}`)},${to},x`;
const HEAD = '\ufeffnote,from,to,memo';
const fileOf = (rows: readonly string[]) => `${[HEAD, ...rows].join('\r\n')}\r\n`;
const SOME = 700;
const some = (n = SOME) => Array.from({ length: n }, (_, i) => rowOf(i));

describe('a file with two address columns, quoted line ends and a byte order mark', () => {
  test('accounts for every row and column of 100,000, by name and line', async () => {
    const rows = 100_000;
    const done = await screen(fileOf(some(rows)), '--out o.csv');
    expect(done.status).toBe(0);
    expect(done.errors).toEqual(['200000 addresses (from, to), 0 on the sanctions list.']);
    const written = outRows();
    expect(written).toHaveLength(2 * rows);
    for (const at of [0, 1, 99_999, 2 * rows - 1]) {
      const i = Math.floor(at / 2);
      const column = at % 2 === 0 ? 'from' : 'to';
      const place = { line: String(2 + 2 * i), column, address: evm(`${column} ${i}`) };
      expect(written[at]).toMatchObject({ ...place, checked: 'screened', caveat: CAVEAT });
      expect(written[at]).toMatchObject({ sanctions: 'not on the list', simulated: 'simulated' });
    }
  }, 300_000);

  test('names a hit, and fails where that is asked for', async () => {
    const rows = [...some(), rowOf(SOME, LISTED)];
    const hit = await screen(fileOf(rows));
    expect(hit.status).toBe(0);
    expect(hit.errors.at(-1)).toBe('1402 addresses (from, to), 1 on the sanctions list.');
    expect(hit.lines.join('\n')).toContain('LISTED CYBER2');
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
    writeFileSync(join(cwd, 'o.csv'), '2,"fr', { flag: 'a' });
    quota = 5;
    const rest = await screen(null, '--out o.csv --resume');
    expect(rest.status).toBe(0);
    expect(rest.errors.at(-1)).toBe('1402 addresses (from, to), 1 on the sanctions list.');
    expect(outRows().map((row) => row['address'])).toHaveLength(1_402);
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
    const done = await screen(`${LISTED},${evm('a')}\n${evm('b')},${named('tron', 'c')}\n`);
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
    expect(outRows()[0]).toMatchObject({ address: `'${bad}`, checked: 'misformed' });
    const again = await screen(null, '--out o.csv');
    expect(again.status).toBe(1);
    expect(again.errors[0]).toContain('is there already; --resume goes on with it');
    expect(existsSync(join(cwd, 'o.csv'))).toBe(true);
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
