// Declares the records of screens: /api/v1/screens makes and shows them, and asks them again.
// A record quotes the answer of the route that it is of, as text, so that its hash can be checked.

import { z } from 'zod';
import { plainRoute } from '../../contract/route.ts';
import {
  addressText,
  harmless,
  isoDay,
  isoTime,
  ofRow,
  oneOf,
  prose,
  sourceShown,
  words,
} from '../../contract/wire.ts';
import { walletOfac } from '../sanctions/wallet-ofac.contract.ts';
import {
  BULK_BODY_BYTES_MAX,
  bulkAsked,
  bulkWalletScreen,
} from '../screening/bulk-wallet-screen.contract.ts';

/** The routes whose answers are kept. */
export const RECORDED = { wallet_ofac: walletOfac, bulk_wallet_screen: bulkWalletScreen } as const;

const ID_CHARS_MAX = 64;
const sha256 = words(z.string().regex(/^[0-9a-f]{64}$/));
const asAsked = 'it is what was asked';
const asThen = 'it is what the answer of then rested on';

const tableVersion = z.strictObject({
  table: words(),
  source: words(),
  sha256,
  imported_at: isoTime,
});

const told = 'it lists the sentences of the answer';
const spoken = {
  caveats: harmless(z.array(prose()), told),
  not_read: harmless(z.array(prose()), told).describe('What the answer says was not looked at.'),
};

const screeningRecord = z.strictObject({
  id: words(),
  made_at: isoTime,
  kept_until: isoTime,
  key_id: words().describe('The key that asked.'),
  asked: z.strictObject({
    route: oneOf(['wallet_ofac', 'bulk_wallet_screen']),
    addresses: z.array(words()).min(1),
    on: isoDay.nullable(),
    tables: harmless(z.array(words()).nullable(), asAsked),
  }),
  list: z
    .strictObject({
      name: words(),
      published: isoDay,
      sha256,
      as_of: isoTime,
      reason: prose().nullable(),
    })
    .nullable()
    .describe('The sanctions list that answered. `reason`: why it showed listings only.'),
  list_reason: prose().nullable().describe('Why the list was not read.'),
  tables: harmless(z.array(tableVersion), asThen).describe('The imports that were served.'),
  code_version: words(),
  sources: harmless(z.array(sourceShown), asThen),
  state: oneOf(['ok', 'insufficient_evidence', 'not_supported', 'not_deployed']),
  answer: words().describe('The answer as JSON: `state`, `subject`, `data` and `reason`.'),
  answer_sha256: sha256.describe('Of the characters of `answer`, as UTF-8.'),
  ...spoken,
});

const input = z.strictObject({
  input: words(),
  state: oneOf(['same', 'former_held', 'moved', 'read_anew', 'not_read_then']).describe(
    '`former_held`: another version is in force, and the former one was asked. `moved`: the ' +
      'former one is gone. `read_anew`: it has no versions, and was read again.',
  ),
  recorded: words().nullable(),
  current: words().nullable(),
});

const replay = z.strictObject({
  id: words(),
  replayed_at: isoTime,
  same: ofRow(z.boolean()),
  recorded_sha256: sha256,
  answer_sha256: sha256,
  inputs: z.array(input).min(1),
  moved: ofRow(z.array(words())).describe('Inputs that may account for another answer.'),
  differs: ofRow(z.array(words())).describe('Where the answers differ, as paths; 50 at most.'),
  reason: prose(),
  answer: words().describe('The answer of now, as the record quotes that of then.'),
  ...spoken,
});

const unavailable = z
  .strictObject({ error: prose(), reason: prose() })
  .describe('Something that the record rests on could not be read; what was asked is not kept.');
const full = z
  .strictObject({ error: prose() })
  .describe('The membership holds as many records as its plan keeps; what was asked is not kept.');
const unknown = z
  .strictObject({ error: prose() })
  .describe('The membership that asks has no record of this id.');

const HOSTED = { surface: 'hosted', access: 'analyst' } as const;
const made = { 201: screeningRecord, 409: full, 503: unavailable };
const headers = { 201: { location: 'Where the record is.' } };
const one = { params: z.strictObject({ id: z.string().min(1).max(ID_CHARS_MAX) }) };

export const recordScreen = plainRoute({
  ...HOSTED,
  name: 'record_screen',
  method: 'POST',
  path: '/api/v1/screens',
  summary: 'Screens one address as wallet_ofac does, and keeps the answer as a record.',
  body: z.strictObject({ address: addressText, on: isoDay.optional() }),
  responses: made,
  headers,
});

export const recordBulkScreen = plainRoute({
  surface: 'hosted',
  access: 'desk',
  name: 'record_bulk_screen',
  method: 'POST',
  path: '/api/v1/screens/bulk',
  summary: 'Screens up to 500 addresses as bulk_wallet_screen does, and keeps one record of it.',
  bodyBytesMax: BULK_BODY_BYTES_MAX,
  body: bulkAsked,
  responses: made,
  headers,
});

export const screenRecord = plainRoute({
  ...HOSTED,
  ...one,
  name: 'screen_record',
  method: 'GET',
  path: '/api/v1/screens/{id}',
  summary: 'A record of a screen: what was asked, on which versions, and what was answered.',
  responses: { 200: screeningRecord, 404: unknown, 503: unavailable },
});

export const screenReplay = plainRoute({
  ...HOSTED,
  ...one,
  name: 'screen_replay',
  method: 'GET',
  path: '/api/v1/screens/{id}/replay',
  summary: 'Asks a recorded screen again on the versions held, and compares the answers.',
  responses: { 200: replay, 404: unknown, 503: unavailable },
});
