// Whatever bytes come to a parser, it parses or refuses them in its own words: it never throws
// another fault, and what it parses is written back as the same. `EXHIBIT_TEST_INPUTS` sets how
// many inputs each parser gets, `EXHIBIT_TEST_SEED` which: `npm run fuzz` sets both.

import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readPaymentEvent } from './access/payment.ts';
import { parseKey } from './access/secret.ts';
import { parseKnownAddress } from './chain/address.ts';
import { parseDecimal, parseRawAmount } from './chain/amount.ts';
import { parseBase64, parseBase64Url } from './chain/bytes.ts';
import {
  formatCheckpoint,
  formatLogProof,
  formatNoteKey,
  noteKey,
  parseCheckpoint,
  parseLogEnd,
  parseLogProof,
  parseNote,
  parseNoteKey,
} from './chain/signed-note.ts';
import {
  formatEntries,
  formatTilePath,
  parseEntries,
  parseTile,
  parseTilePath,
} from './chain/tile-tree.ts';
import { parseFrame } from './client/stream.ts';
import { parseCanonical, writeCanonical } from './contract/canonical.ts';
import { parseByteFields, parseSignatureInputs, readWish } from './contract/http-signature.ts';
import { parseRule, printRule } from './contract/rules.ts';
import { verifySavedAnswer } from './contract/saved-answer.ts';
import { parseJson, WrongFile } from './contract/saved-file.ts';
import { CALL_FIELDS } from './features/rules/shapes.ts';
import { parseStamp } from './features/series/local-times.ts';
import { readBundle } from './features/signals/verification.ts';
import { parseRuleTests } from './ports/verdicts.ts';
import { csvLines } from './sources/files/csv.ts';
import { followTheMoneyRows } from './sources/files/follow-the-money.ts';
import { parseReceipt } from './sources/files/receipts-folder.ts';
import { FileFault, jsonLineRows } from './sources/files/text-lines.ts';
import { documentRows } from './sources/files/yaml.ts';
import { ListRefused } from './sources/ofac/publication.ts';
import { readDocument } from './sources/ofac/read-publication.ts';
import { spoilBytes } from './testing/hostile-bytes.ts';
import { lotteryOf } from './testing/lottery.ts';
import { advanced, legacy } from './testing/sdn-recordings.ts';

const INPUTS = Number(process.env['EXHIBIT_TEST_INPUTS'] ?? 400);
const SEED = Number(process.env['EXHIBIT_TEST_SEED'] ?? 20_261_126);
/** A thousand inputs take a second of most parsers. */
const TIMEOUT_MS = Math.max(120_000, INPUTS * 50);
/** A fault tells so much of the input that made it. */
const SHOWN_CHARS = 400;

type Parser = {
  readonly name: string;
  /** Input that it parses; what is tried is made of it. */
  readonly seeds: readonly (string | Uint8Array)[];
  /** Parses; throws where what it parsed is not written back as the same. */
  readonly parse: (input: { readonly bytes: Buffer; readonly text: string }) => unknown;
  /** The faults that are its own refusals. None: it refuses by its result. */
  readonly refusals?: readonly (abstract new (
    ...args: never
  ) => Error)[];
};

const vector = (name: string) => readFileSync(`docs/reference/vectors/${name}`);
const RECEIPTS = 'registry/simulated-receipts';

async function* inPieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1_000) yield bytes.subarray(at, at + 1_000);
}

async function drain(rows: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of rows);
}

/** What was parsed and written again is the text that it was parsed from. */
function same<T>(parsed: T | null, text: string, write: (parsed: T) => string): void {
  if (parsed !== null) expect(write(parsed)).toBe(text);
}

const note = vector('checkpoint.txt').toString();
const keys = vector('keys.json').toString();
const bundles = z
  .array(z.looseObject({ bytes: z.base64() }))
  .parse(JSON.parse(vector('bundles.json').toString()))
  .map(({ bytes }) => Buffer.from(bytes, 'base64'));
const hash = Buffer.alloc(32, 7);
const proof = formatLogProof({ index: 3, hashes: [hash, hash], checkpoint: note });
const logKey = formatNoteKey(noteKey('log.exhibit.example', hash));
const signature =
  'sig1=("@status" "content-digest";req);created=1618884473;keyid="a";nonce="b";tag="c"';

const PARSERS: readonly Parser[] = [
  {
    name: 'canonical JSON',
    seeds: bundles,
    parse: ({ bytes }) => {
      const parsed = parseCanonical(bytes);
      if (parsed.ok) expect(Buffer.from(writeCanonical(parsed.value)).equals(bytes)).toBe(true);
    },
  },
  { name: 'a bundle of a signal', seeds: bundles, parse: ({ bytes }) => readBundle(bytes) },
  {
    name: 'a saved file',
    seeds: [keys],
    parse: ({ bytes }) => parseJson(bytes),
    refusals: [WrongFile],
  },
  {
    name: 'a saved answer',
    seeds: [vector('answer.json'), vector('signal.json')],
    parse: ({ text }) => verifySavedAnswer(text, keys, { now: 1_780_000_000 }),
  },
  {
    name: 'a key set',
    seeds: [keys],
    parse: ({ text }) =>
      verifySavedAnswer(vector('answer.json').toString(), text, { now: 1_780_000_000 }),
  },
  {
    name: 'the signatures that a header names',
    seeds: [signature],
    parse: ({ text }) => [parseSignatureInputs(text), readWish(text)],
  },
  {
    name: 'a header of bytes',
    seeds: [
      'sig1=:AAEC:, sig2=:AQ==:;a=1',
      'sha-256=:2QtGAIUQ2VABI39AfFVFADMpFVpdq27apDNqZGeXwS4=:',
    ],
    parse: ({ text }) => parseByteFields(text),
  },
  {
    name: 'a rule',
    seeds: [
      'detector = funding and not (confidence >= 0.5 or side = long)',
      'a = "b c" and d in (1h, 2d)',
    ],
    parse: ({ text }) => {
      const parsed = parseRule(text, CALL_FIELDS);
      if (!parsed.ok) return;
      const printed = printRule(parsed.nodes, CALL_FIELDS);
      expect(parseRule(printed, CALL_FIELDS)).toEqual({ ok: true, nodes: parsed.nodes });
    },
  },
  {
    name: 'an event of the payment platform',
    seeds: [
      '{"type":"membership.activated","timestamp":"2026-11-20T10:00:00Z","data":{"id":"mem_1",' +
        '"user":{"id":"user_1","email":"a@b.example"},"plan":{"id":"plan_1"},"status":"active"}}',
    ],
    parse: ({ bytes }) => {
      const event = readPaymentEvent(bytes, 1_780_000_000);
      expect(JSON.stringify(event)).not.toContain('a@b.example');
    },
  },
  {
    name: 'a key',
    seeds: ['exk_live_0123456789abcdefghijklmnop'],
    parse: ({ text }) => parseKey(text),
  },
  {
    name: 'the path of a tile',
    seeds: ['0/x001/x234/067', 'entries/x001/067.p/12', '1/000.p/255'],
    parse: ({ text }) => same(parseTilePath(text), text, formatTilePath),
  },
  { name: 'a tile', seeds: [Buffer.alloc(64, 3)], parse: ({ bytes }) => parseTile(bytes) },
  {
    name: 'the entries of a tile',
    seeds: [formatEntries([Buffer.from('one'), Buffer.alloc(300, 1)])],
    parse: ({ bytes }) => {
      const entries = parseEntries(bytes);
      if (entries !== null) expect(bytes.equals(Buffer.from(formatEntries(entries)))).toBe(true);
    },
  },
  {
    name: 'a key of a note',
    seeds: [logKey],
    parse: ({ text }) => same(parseNoteKey(text), text, formatNoteKey),
  },
  { name: 'a signed note', seeds: [note], parse: ({ text }) => parseNote(text) },
  {
    name: 'a checkpoint',
    seeds: [note.slice(0, note.indexOf('\n\n') + 1)],
    parse: ({ text }) => {
      const checkpoint = parseCheckpoint(text);
      if (checkpoint !== null) expect(text.startsWith(formatCheckpoint(checkpoint))).toBe(true);
    },
  },
  { name: 'a proof of the log', seeds: [proof], parse: ({ text }) => parseLogProof(text) },
  { name: 'the end of a log', seeds: [note, proof], parse: ({ text }) => parseLogEnd(text) },
  {
    name: 'an address',
    seeds: [
      '0x64144967c175997FC8526ba694021ae36965331c',
      'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
      'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
      'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a',
      'rEb8TK3gBgk5auZkwc6sHnwrGVJH8DuaLh',
    ],
    parse: ({ text }) => {
      const known = parseKnownAddress(text);
      if (known !== null) expect(parseKnownAddress(known.address)).toEqual(known);
    },
  },
  {
    name: 'an amount',
    seeds: ['115792089237316195423570985008687907853269984665640564039457', '-0001.500', '0x1f'],
    parse: ({ text }) => {
      const decimal = parseDecimal(text);
      if (decimal !== null) expect(parseDecimal(decimal)).toBe(decimal);
      const raw = parseRawAmount(text);
      if (raw !== null) expect(parseRawAmount(raw.toString())).toBe(raw);
    },
  },
  {
    name: 'base64',
    seeds: ['AAECAwQ=', 'aGVsbG8', '-_-_'],
    parse: ({ text }) => {
      same(parseBase64(text), text, (bytes) => Buffer.from(bytes).toString('base64'));
      same(parseBase64Url(text), text, (bytes) => Buffer.from(bytes).toString('base64url'));
    },
  },
  {
    name: 'a message of a stream',
    seeds: [
      '{"type":"flag","seq":12,"gap":{"from":1,"to":3}}',
      '{"type":"hello","heartbeat_s":15}',
    ],
    parse: ({ text }) => parseFrame(text),
    refusals: [SyntaxError, Error],
  },
  {
    name: 'a cell of the verdict rules',
    seeds: ['sanctions.entries >= 1 & labels.name = exchange|mixer', 'a.b >= c.d'],
    parse: ({ text }) => parseRuleTests(text),
  },
  {
    name: 'a time of a market file',
    seeds: ['2026-11-20T10:00:00.123+02:00', '1780000000', '2026-11-20 10:00'],
    parse: ({ text }) => parseStamp(text),
  },
  {
    name: 'a receipt',
    seeds: readdirSync(RECEIPTS).map((file) => readFileSync(`${RECEIPTS}/${file}`)),
    parse: ({ text }) => parseReceipt('a-case.md', text),
  },
  {
    name: 'a sanctions list',
    seeds: [legacy, advanced],
    parse: ({ bytes }) => readDocument(inPieces(bytes)),
    refusals: [ListRefused],
  },
  {
    name: 'a table of CSV',
    seeds: ['address,name,"since, when"\n0x1,"a ""b""",2026\r\n0x2,c,\n'],
    parse: ({ text }) => csvLines(text),
    refusals: [FileFault],
  },
  {
    name: 'rows of JSON lines',
    seeds: ['{"address":"0x1","name":"a","n":1,"is":true}\n{"address":"0x2"}\n'],
    parse: ({ bytes }) => drain(jsonLineRows(inPieces(bytes))),
    refusals: [FileFault],
  },
  {
    name: 'entities of FollowTheMoney',
    seeds: [
      '{"id":"a","schema":"CryptoWallet","properties":{"publicKey":["0x1"],"holder":["b"]}}\n' +
        '{"id":"b","schema":"Person","properties":{"name":["N"],"topics":["sanction"]}}\n',
    ],
    parse: ({ bytes }) => drain(followTheMoneyRows(() => inPieces(bytes))),
    refusals: [FileFault],
  },
  {
    name: 'a tag pack',
    seeds: [
      'title: a\ncreator: b\nlabel: &l exchange\ncurrency: ETH\ntags:\n  - address: "0x1"\n' +
        '    label: *l\n  - address: "0x2"\n    source: "https://a.example"\n',
    ],
    parse: async ({ bytes }) => drain((await documentRows(inPieces(bytes))).rows),
    refusals: [FileFault],
  },
];

test('an e-mail address is kept of no event of the payment platform, whatever its field is called', () => {
  const data = { id: 'mem_1', owner_contact: 'a@b.example', notes: ['write to a@b.example'] };
  const bytes = Buffer.from(JSON.stringify({ type: 'membership.activated', data }));
  const kept: unknown = JSON.parse(String(readPaymentEvent(bytes, 1_780_000_000)?.body));
  const left = '[left out]';
  expect(kept).toMatchObject({ data: { id: 'mem_1', owner_contact: left, notes: [left] } });
});

test.each(PARSERS)(
  '$name is parsed, or refused in its own words',
  async (parser) => {
    const { name, seeds, parse, refusals = [] } = parser;
    const good = seeds.map((seed) => Buffer.from(seed));
    const lottery = lotteryOf(SEED);
    const clean = Object.getOwnPropertyNames(Object.prototype).length;
    for (let turn = 0; turn < INPUTS; turn += 1) {
      const bytes = spoilBytes(good, lottery);
      try {
        await parse({ bytes, text: bytes.toString('utf8') });
      } catch (fault) {
        const isRefusal = refusals.some((one) => fault instanceof one && fault.constructor === one);
        if (isRefusal) continue;
        const input = JSON.stringify(bytes.toString('latin1')).slice(0, SHOWN_CHARS);
        throw new Error(`${name}, input ${turn} of seed ${SEED}: ${input}`, { cause: fault });
      }
    }
    expect(Object.getOwnPropertyNames(Object.prototype)).toHaveLength(clean);
  },
  TIMEOUT_MS,
);
