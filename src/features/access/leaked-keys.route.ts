// Whoever holds a key may end it. The answer to a text is the same for any text, and so is the work
// before it: a report is kept, and looked at afterwards (`leaked-keys.job.ts`).

import { z } from 'zod';
import {
  bucketOf,
  claimedKey,
  isSignatureOf,
  partnerKey,
  REPORTED_CHARS_MAX,
  REPORTS_SIGNED_MAX,
  readSignedReport,
  reportOf,
} from '../../access/leaked-key.ts';
import type { Secrets } from '../../access/secret.ts';
import { bytes } from '../../contract/reply.ts';
import { type PlainHandler, plainRoute } from '../../contract/route.ts';
import { harmless, notSetUp, prose, sharedShape, unavailable } from '../../contract/wire.ts';
import { Unread } from '../../evidence/reading.ts';
import type { LeakStore, PartnerKeys } from '../../ports/access.ts';

const OPEN = { method: 'POST', access: 'open' } as const;
const SIGNED_BYTES_MAX = 2 * 1024 * 1024;

const received = z.literal(true);
const receipt = sharedShape('ReportReceived', z.strictObject({ received, caveat: prose() }));
const error = z.strictObject({ error: prose() });
const unread = unavailable.describe('The report could not be kept: send it again.');
const tooMany = error.describe('The network of the caller reported as many as are taken.');

export const leakedKey = plainRoute({
  ...OPEN,
  name: 'leaked_key',
  surface: 'hosted',
  path: '/api/v1/keys/leaked',
  summary: 'Ends a key that leaked. Whoever holds it may, and the answer is the same for any text.',
  bodyBytesMax: 4_096,
  body: z.strictObject({ key: z.string().min(1).max(REPORTED_CHARS_MAX) }),
  responses: { 202: receipt, 429: tooMany, 503: unread },
  headers: { 429: { 'retry-after': 'Seconds until reports of that network are taken again.' } },
});

export const leakedKeysFound = plainRoute({
  ...OPEN,
  name: 'leaked_keys_found',
  surface: 'web',
  path: '/api/v1/keys/leaked/github',
  summary: 'Takes what secret scanning of GitHub found, in its signed form, and ends those keys.',
  bodyBytesMax: SIGNED_BYTES_MAX,
  requestHeaders: z.strictObject({
    'github-public-key-identifier': z.string().max(200).optional(),
    'github-public-key-signature': z.string().max(500).optional(),
  }),
  body: bytes('application/json'),
  responses: {
    202: z.strictObject({
      received,
      matches: z.int().positive(),
      unreadable: harmless(z.int().nonnegative(), 'it counts what was sent in another form'),
    }),
    400: error,
    401: error.describe('It was not signed by a key that GitHub names: it did nothing.'),
    404: notSetUp.describe('Nothing here can tell a report of GitHub from a forgery.'),
    503: unread,
  },
});

/** @internal What becomes of reports. `wake` has what was kept looked at now. */
export type LeakPorts = {
  readonly store: Pick<LeakStore, 'report'>;
  readonly secrets: Secrets;
  /** `null`: no address of GitHub is set. */
  readonly github: PartnerKeys | null;
  readonly wake: () => void;
};

const CAVEAT =
  'Whichever key or token of this service this text is, it is ended within five seconds, and ' +
  'its owner is told. The answer is the same for any text. A publishable key (sc_pub_) stays, ' +
  'because it is made to be read: its owner revokes it in the settings.';
const TOO_MANY = 'Your network has reported as many keys as are taken for now.';
const NOT_KEPT = 'The report could not be kept. Send it again.';
const FULL = 'As many reports wait as are kept at once.';
const FORGED = 'The body is not signed by a key of secret scanning that GitHub names.';
const UNNAMED = 'EXHIBIT_GITHUB_URL is not set: nothing was taken.';
const FORM = `body: expected a list of 1 to ${REPORTS_SIGNED_MAX} matches, each with a token`;
const UNCHECKED = 'The signature could not be checked. Send it again.';

/** @internal */
export function leakedKeyHandler(ports: LeakPorts): PlainHandler<typeof leakedKey> {
  const { store, secrets, wake } = ports;
  return async ({ body: { key } }, { now, network }) => {
    const report = reportOf(key, null, secrets);
    const bucket = bucketOf(network === undefined ? 'unknown' : network, secrets);
    const kept = await store.report([report], now(), bucket);
    if (kept instanceof Unread) {
      return leakedKey.reply(503, { error: NOT_KEPT, reason: kept.why.reason });
    }
    if (kept.value.outcome === 'full') {
      return leakedKey.reply(503, { error: NOT_KEPT, reason: FULL });
    }
    if (kept.value.outcome === 'too_many') {
      const waitS = Math.max(Math.ceil(kept.value.again_at - now()), 1);
      return leakedKey.reply(429, { error: TOO_MANY }, { 'retry-after': String(waitS) });
    }
    wake();
    return leakedKey.reply(202, { received: true, caveat: CAVEAT });
  };
}

/** @internal */
export function leakedKeysFoundHandler(ports: LeakPorts): PlainHandler<typeof leakedKeysFound> {
  return async ({ headers, body }, { now }) => {
    const { store, secrets, github, wake } = ports;
    if (github === null) {
      return leakedKeysFound.reply(404, { error: 'not_set_up', reason: UNNAMED });
    }
    const signature = headers['github-public-key-signature'];
    const identifier = headers['github-public-key-identifier'];
    const claimed = claimedKey({ identifier, signature });
    if (claimed === null || signature === undefined) {
      return leakedKeysFound.reply(401, { error: FORGED });
    }
    const pem = await github.keyOf(claimed);
    if (pem instanceof Unread) {
      return leakedKeysFound.reply(503, { error: UNCHECKED, reason: pem.why.reason });
    }
    const key = pem.value === null ? null : partnerKey(pem.value);
    if (key === null || !isSignatureOf(key, body, signature)) {
      return leakedKeysFound.reply(401, { error: FORGED });
    }
    const report = readSignedReport(body, secrets);
    if (report === null) return leakedKeysFound.reply(400, { error: FORM });
    const { reports, unreadable } = report;
    const kept = reports.length === 0 ? null : await store.report(reports, now(), null);
    if (kept instanceof Unread) {
      return leakedKeysFound.reply(503, { error: NOT_KEPT, reason: kept.why.reason });
    }
    if (kept !== null && kept.value.outcome !== 'kept') {
      return leakedKeysFound.reply(503, { error: NOT_KEPT, reason: FULL });
    }
    wake();
    const matches = reports.length + unreadable;
    return leakedKeysFound.reply(202, { received: true, matches, unreadable });
  };
}
