import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Read } from '../../evidence/reading.ts';
import type { BrokenRow, RawRow } from '../../ports/tables.ts';
import { csvLines, csvTable } from './csv.ts';
import { localTableFiles, WHOLE_BYTES_MAX } from './files.ts';
import { FileFault } from './text-lines.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'exhibit-test-files-'));
});
afterAll(() => rm(folder, { recursive: true }));

const files = localTableFiles();
let count = 0;

async function written(name: string, content: string | Uint8Array): Promise<string> {
  count += 1;
  await mkdir(join(folder, String(count)));
  const path = join(folder, String(count), name);
  await writeFile(path, content);
  return path;
}

type Held = {
  readonly layout: string | null;
  readonly rows: readonly unknown[];
  readonly fault: string | null;
};

/** The contents of a file: its rows as `[line, values]`, its broken rows as `[line, problem]`. */
async function held(path: string): Promise<Held> {
  const opened = await files.open(path);
  if (!(opened instanceof Read)) return { layout: null, rows: [], fault: opened.why.reason };
  const { layout, rows } = opened.value;
  const all: unknown[] = [];
  for await (const batch of rows()) {
    if (!(batch instanceof Read)) return { layout, rows: all, fault: batch.why.reason };
    all.push(...batch.value.map(shownAs));
  }
  return { layout, rows: all, fault: null };
}

function shownAs(row: RawRow | BrokenRow): readonly [number, unknown] {
  if ('problem' in row) return [row.line, row.problem];
  return [row.line, Object.fromEntries(row.fields)];
}

const at = async (name: string, content: string | Uint8Array) => held(await written(name, content));

describe('CSV', () => {
  test('columns go by the names of the header; empty values are absent', async () => {
    const { layout, rows } = await at(
      'a.csv',
      '\ufeffAddress, Entity ,label\r\na,b,\r\n\r\nc,,"d, e"\r\n',
    );
    expect(layout).toBe('rows');
    expect(rows).toEqual([
      [2, { address: 'a', entity: 'b' }],
      [4, { address: 'c', label: 'd, e' }],
    ]);
  });

  test.each([';', '\t', '|'])(
    'cells apart by %j are read, behind a byte order mark too',
    async (mark) => {
      const csv = ['address,label', 'a,"d, e"'].map((line) => line.replace(',', mark)).join('\r\n');
      const { rows, fault } = await at('a.csv', `\ufeff${csv}\r\n`);
      expect(rows).toEqual([[2, { address: 'a', label: 'd, e' }]]);
      expect(fault).toBeNull();
    },
  );

  test('a record with too many or too few values is named and the rest is read', async () => {
    const { rows, fault } = await at('a.csv', 'address,entity\na\nb,c,d\ne,f\n');
    expect(rows).toEqual([
      [2, '1 values under 2 columns'],
      [3, '3 values under 2 columns'],
      [4, { address: 'e', entity: 'f' }],
    ]);
    expect(fault).toBeNull();
  });

  test('a header may name 64 columns, and one more is a fault of the file', async () => {
    const names = Array.from({ length: 65 }, (_, i) => `c${i}`);
    const { rows } = await at('a.csv', `${names.slice(1).join()}\n${names.slice(1).join()}\n`);
    expect(rows).toHaveLength(1);
    const { fault } = await at('a.csv', `${names.join()}\n`);
    expect(fault).toContain('it has over 64 columns');
  });

  test('a quote that does not close is a fault of the file: rows could be swallowed', async () => {
    const { fault } = await at('a.csv', 'address,entity\na,b\n"c,d\ne,f\n');
    expect(fault).toBe('The file could not be read: a quote does not close, up to line 4.');
  });

  test.each([
    ['a record over its bound', `address\n${'x'.repeat(70_000)}\ny\n`, 'CSV_MAX_RECORD_SIZE'],
    ['an empty file', '', 'it has no header'],
    ['two columns of one name', 'a,A\n1,2\n', 'two columns have the same name'],
    ['too many columns', `${Array.from({ length: 65 }, (_, i) => i).join(',')}\n`, 'over 64'],
  ])('%s is a fault of the file', async (_name, content, words) => {
    expect((await at('a.csv', content)).fault).toContain(words);
  });
});

describe('a table that is read whole', () => {
  test('may hold commas, quotes and line ends in quotes; each line has its number', () => {
    expect(csvLines('\ufeffa,"b,""c""\nd",\r\n\r\n1,2,3\n')).toEqual([
      { line: 2, cells: ['a', 'b,"c"\nd', ''] },
      { line: 4, cells: ['1', '2', '3'] },
    ]);
  });

  test.each(['a,b\n"open', 'a,b\n"shut"after,c\n', 'a,b\nin"side,c\n'])(
    'refuses a quote that stands wrong, with its line: %j',
    (text) => {
      expect(() => csvLines(text)).toThrow(FileFault);
      expect(() => csvLines(text)).toThrow('line 2');
    },
  );

  test('is refused where it has too many lines or bytes', async () => {
    expect(() => csvLines('a\n'.repeat(20_001))).toThrow('over 20000 lines');
    const path = await written('a.csv', '');
    await truncate(path, 16 * 1024 * 1024);
    await expect(csvTable(path)).rejects.toThrow('too large');
  });
});

describe('JSON lines', () => {
  test('one object a line; texts, numbers and flags are values, null is none', async () => {
    const { layout, rows } = await at(
      'a.jsonl',
      '\ufeff{"mint":"m","launched_at":5,"listed":false,"x":null}\n\n  \r\n{"Mint":"n"}',
    );
    expect(layout).toBe('rows');
    expect(rows).toEqual([
      [1, { mint: 'm', launched_at: '5', listed: 'false' }],
      [4, { mint: 'n' }],
    ]);
  });

  test('a line that is no object of plain values is named and the rest is read', async () => {
    const { rows, fault } = await at('a.ndjson', '{"a":\n[1]\n"x"\n{"a":{"b":1}}\n{"a":1}\n');
    expect(rows).toEqual([
      [1, 'not JSON'],
      [2, 'not an object'],
      [3, 'not an object'],
      [4, 'a value is neither text, number nor flag'],
      [5, { a: '1' }],
    ]);
    expect(fault).toBeNull();
  });

  test('a line of 64 KiB is read, and one that is longer by a character is named', async () => {
    const line = (chars: number) => `{"a":"${'x'.repeat(chars - '{"a":""}'.length)}"}`;
    const longest = 64 * 1_024;
    const { rows } = await at('a.jsonl', [longest, longest + 1, 10].map(line).join('\n'));
    expect(rows.map((row) => (JSON.stringify(row).length > 100 ? 'whole' : row))).toEqual([
      'whole',
      [2, 'the line is too long'],
      [3, { a: 'xx' }],
    ]);
  });

  test('a line without end is a fault of the file', async () => {
    const { fault } = await at('a.jsonl', `{"a":"${'x'.repeat(200_000)}`);
    expect(fault).toBe('The file could not be read: a line is too long.');
  });

  test('a letter cut between two reads of the file is whole', async () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => JSON.stringify({ n: i, name: 'é–漢' }));
    const { rows } = await at('a.jsonl', lines.join('\n'));
    expect(rows).toHaveLength(20_000);
    expect(rows.every((row) => JSON.stringify(row).includes('é–漢'))).toBe(true);
  });
});

const PACK = `---
# made up
title: Exemplar wallets
creator: Tests
category: exchange
confidence: service_data
currency: BTC
actor: exemplar
label: exemplar reserves
lastmod: 2026-01-15
tags:
- address: 0x1111111111111111111111111111111111111111
  currency: ETH
- address: '1BoatSLRHtKNngkdXEeobR76b53LETtpyT'
  label: |
    two
    - lines
- address: c
  category: mixer
- address: d
  concepts: [exchange, hosted]
- just a word
source: https://example.org/pack
`;

const INHERITED = {
  confidence: 'service_data',
  actor: 'exemplar',
  lastmod: '2026-01-15',
  source: 'https://example.org/pack',
};
const TAGS = [
  [
    12,
    {
      ...INHERITED,
      address: '0x1111111111111111111111111111111111111111',
      currency: 'ETH',
      category: 'exchange',
      label: 'exemplar reserves',
    },
  ],
  [
    14,
    {
      ...INHERITED,
      address: '1BoatSLRHtKNngkdXEeobR76b53LETtpyT',
      currency: 'BTC',
      category: 'exchange',
      label: 'two\n- lines\n',
    },
  ],
  [
    18,
    {
      ...INHERITED,
      address: 'c',
      currency: 'BTC',
      category: 'mixer',
      label: 'exemplar reserves',
    },
  ],
  [
    20,
    {
      ...INHERITED,
      address: 'd',
      currency: 'BTC',
      concepts: 'exchange hosted',
      label: 'exemplar reserves',
    },
  ],
  [22, 'the tag is no mapping'],
];

describe('TagPacks', () => {
  test('a tag inherits from the head of its pack what it does not say of itself', async () => {
    const { layout, rows, fault } = await at('pack.yaml', PACK);
    expect(fault).toBeNull();
    expect(layout).toBe('tagpack');
    expect(rows).toEqual(TAGS);
  });

  test('a value that is neither text nor a list of texts is named, and the rest is read', async () => {
    const tags = [
      '{address: a, label: {b: c}}',
      '{address: d, label: [e, f]}',
      '{address: g, label: [[h]]}',
    ];
    const { rows } = await at(
      'pack.yaml',
      `title: a\ntags:\n${tags.map((one) => `- ${one}\n`).join('')}`,
    );
    expect(rows).toEqual([
      [3, 'label is neither text nor a list of texts'],
      [4, { address: 'd', label: 'e f' }],
      [5, 'label is neither text nor a list of texts'],
    ]);
  });

  test('a long pack, cut at its tags, gives what a short one gives', async () => {
    const [head, tags] = [PACK.slice(0, PACK.indexOf('- address')), PACK.slice(PACK.indexOf('- '))];
    const body = tags.slice(0, tags.indexOf('source:'));
    const times = 4_000;
    const { rows, fault } = await at(
      'pack.yml',
      `${head}${body.repeat(times)}source: https://example.org/pack\n`,
    );
    expect(fault).toBeNull();
    expect(rows).toHaveLength(5 * times);
    expect(rows.slice(0, 5)).toEqual(TAGS);
    const last = TAGS.map(([line, row]) => [Number(line) + 11 * (times - 1), row]);
    expect(rows.slice(-5)).toEqual(last);
  });

  test('a fault of a long pack is named by its line in the file', async () => {
    const tags = Array.from({ length: 30_000 }, (_, i) => `- address: a${i}\n  label: exemplar\n`);
    const twice = '- address: b\n  address: c\n';
    const { fault } = await at('pack.yaml', `title: a\ntags:\n${tags.join('')}${twice}`);
    expect(fault).toContain(`line ${2 + 2 * tags.length + 2}: DUPLICATE_KEY`);
  });

  test('an alias that reaches across a cut is a fault of the file, not a lost row', async () => {
    const tags = Array.from({ length: 30_000 }, (_, i) => `- address: a${i}\n  label: *l\n`);
    const { fault } = await at('pack.yaml', `label: &l exemplar\ntags:\n${tags.join('')}`);
    expect(fault).toContain('an alias names nothing in reach');
  });

  test.each([
    ['broken indentation', 'title: a\n tags:\n- address: b\n', 'line '],
    ['the same key twice', 'title: a\ntitle: b\ntags: []\n', 'DUPLICATE_KEY'],
    ['no tags', 'title: a\n', 'it holds no list of rows'],
    ['a scalar', 'hello\n', 'it holds no list of rows'],
    ['endless nesting', `tags: ${'['.repeat(30_000)}`, 'The file could not be read'],
    [
      'a document that multiplies itself',
      'a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n' +
        'c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\ntags: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n',
      'it repeats itself too often',
    ],
  ])('%s is a fault of the file', async (_name, content, words) => {
    const { fault, rows } = await at('pack.yaml', content);
    expect(fault).toContain(words);
    expect(rows).toEqual([]);
  });

  test('a type of its own in a document is taken as plain text', async () => {
    const { rows } = await at('pack.yaml', 'tags:\n- address: !!js/function "x"\n');
    expect(rows).toEqual([[2, { address: 'x' }]]);
  });

  test('a JSON list is rows', async () => {
    const { layout, rows } = await at('a.json', '[{"address":"a","role":null},\n {"address":7}]');
    expect(layout).toBe('rows');
    expect(rows).toEqual([
      [1, { address: 'a' }],
      [2, { address: '7' }],
    ]);
  });
});

describe('any file', () => {
  test('its hash is that of its bytes, and is not had before its end', async () => {
    const content = 'address\na\n';
    const opened = await files.open(await written('a.csv', content));
    if (!(opened instanceof Read)) throw new Error('not opened');
    expect(() => opened.value.sha256()).toThrow('to its end');
    for await (const batch of opened.value.rows()) expect(batch).toBeInstanceOf(Read);
    expect(opened.value.sha256()).toBe(createHash('sha256').update(content).digest('hex'));
    expect(opened.value.bytesRead()).toBe(content.length);
  });

  test('a missing file, a folder and an unknown ending are unread with their words', async () => {
    const missing = await held(join(folder, 'nowhere.csv'));
    expect(missing.fault).toBe('The file could not be read: there is no such file.');
    await mkdir(join(folder, 'folder.csv'));
    expect((await held(join(folder, 'folder.csv'))).fault).toContain('EISDIR');
    expect((await at('a.xlsx', '')).fault).toContain('its name ends in none of .yaml');
  });

  test('a document over its bound is refused before it is read', async () => {
    const path = await written('a.yaml', 'tags: []');
    await truncate(path, WHOLE_BYTES_MAX + 1);
    expect((await held(path)).fault).toContain('split it');
  });
});
