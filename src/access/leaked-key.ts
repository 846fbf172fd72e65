// Reports of leaked keys: what is kept of a text, and the signed form in which GitHub's secret
// scanning tells its partners.

import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { LeakReport } from '../ports/access.ts';
import { hashesOf, type Secrets } from './secret.ts';

/** The longest text that is taken for a key: every key is shorter. */
export const REPORTED_CHARS_MAX = 500;
/** Reports that one network may send within the window, and those that sign, in one body. */
export const REPORTS_OF_NETWORK_MAX = 60;
export const REPORTS_SIGNED_MAX = 5_000;
export const REPORTS_WINDOW_S = 900;

const BUCKETS = 65_536;
const FOUND_CHARS_MAX = 500;

/** What is kept of a reported text. It is the same work for any text, a key or not. */
export function reportOf(text: string, found: string | null, secrets: Secrets): LeakReport {
  return { hashes: hashesOf(text.trim(), secrets), found };
}

/** The bucket in which a network's reports are counted; nobody outside can compute it. */
export function bucketOf(network: string, [secret]: Secrets): number {
  const [{ hash }] = hashesOf(`leak reports from ${network}`, [secret]);
  return Buffer.from(hash).readUInt32BE() % BUCKETS;
}

// GitHub signs the raw body by ECDSA over P-256 with SHA-256, in DER as base64. The two headers and
// the list of keys: docs.github.com, "Secret scanning partner program".

const SIGNATURE = /^[0-9A-Za-z+/]{64,120}={0,2}$/;
const IDENTIFIER = /^[0-9a-f]{64}$/;

/** The headers of a signed report. */
type SignedBy = {
  readonly identifier: string | undefined;
  readonly signature: string | undefined;
};

/** The name of the signing key that a report claims; `null`: it cannot be a report of GitHub. */
export function claimedKey({ identifier, signature }: SignedBy): string | null {
  if (identifier === undefined || signature === undefined) return null;
  return IDENTIFIER.test(identifier) && SIGNATURE.test(signature) ? identifier : null;
}

/** The public key of a PEM text; `null` where it is none of ECDSA over P-256. */
export function partnerKey(pem: string): KeyObject | null {
  try {
    const key = createPublicKey(pem);
    const isOfCurve = key.asymmetricKeyDetails?.namedCurve === 'prime256v1';
    return key.asymmetricKeyType === 'ec' && isOfCurve ? key : null;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return null;
  }
}

/** Whether a body was signed by a key. */
export function isSignatureOf(key: KeyObject, body: Uint8Array, signature: string): boolean {
  return verify('sha256', body, { key, dsaEncoding: 'der' }, Buffer.from(signature, 'base64'));
}

/** The reports of a signed body; `null` where it is no list of matches. */
export function readSignedReport(
  body: Uint8Array,
  secrets: Secrets,
): { readonly reports: readonly LeakReport[]; readonly unreadable: number } | null {
  const listed = listIn(body);
  if (listed === null || listed.length === 0 || listed.length > REPORTS_SIGNED_MAX) return null;
  const reports = listed.flatMap((one) => {
    const { token, url, source } = Object(one);
    const isMatch = typeof token === 'string' && token !== '' && token.length <= REPORTED_CHARS_MAX;
    return isMatch ? [reportOf(token, placeOf(url, source), secrets)] : [];
  });
  return { reports, unreadable: listed.length - reports.length };
}

function listIn(body: Uint8Array): readonly unknown[] | null {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    return Array.isArray(parsed) ? parsed : null;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return null;
  }
}

/** Where a match was found, without what a URL may hold of secrets: user info, query, fragment. */
function placeOf(url: unknown, source: unknown): string {
  if (typeof url === 'string' && URL.canParse(url)) {
    const { protocol, host, pathname } = new URL(url);
    if (/^https?:$/.test(protocol)) {
      return `${protocol}//${host}${pathname}`.slice(0, FOUND_CHARS_MAX);
    }
  }
  const isWord = typeof source === 'string' && /^[A-Za-z_]{1,40}$/.test(source);
  return isWord ? `GitHub (${source})` : 'GitHub';
}
