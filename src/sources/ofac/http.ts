// Answers one question: what does a web server that publishes the list serve now.
// It follows the publisher's redirect to an expiring link and never keeps where it led.

import { MS_PER_S } from '../../chain/time.ts';
import { present } from '../../evidence/measure.ts';
import { read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Mirror, Validators } from '../../ports/sanctions/publisher.ts';
import { type Fetched, type FetchLimits, fetchBytes } from '../http/fetch-bytes.ts';
import { type IsInside, isInsideAddress } from '../http/network.ts';
import { FetchFault } from '../http/outbound-call.ts';
import { addressKey, publicAddress } from './address.ts';
import { type Spool, type Spooling, systemFault } from './spool.ts';

/** The publisher's largest file took over five minutes at 190 KB/s; four times that is the end. */
export const DOWNLOAD_LIMITS: FetchLimits = {
  deadlineMs: 20 * 60 * 1_000,
  headersMs: 30_000,
  bytesMax: 512 * 1024 * 1024,
  redirectsMax: 5,
  dripWindowMs: 30_000,
  dripBytesMin: 64 * 1024,
};

/** How the list is asked for: the publisher's firewall refuses what does not begin as a browser. */
export function listUserAgent(version: string): string {
  return `Mozilla/5.0 (compatible; exhibit/${version}; sanctions list refresh)`;
}

/** The longest validator that is kept; a longer one is as good as none. */
const VALIDATOR_CHARS_MAX = 256;

/** What a mirror on the web needs. */
export type HttpMirrorOptions = {
  readonly url: URL;
  readonly spool: Spool;
  /** The publisher's firewall refuses what does not look like a browser's. */
  readonly userAgent: string;
  readonly now: () => number;
  readonly limits: FetchLimits;
  /** Which addresses lie inside this network; the real ones unless a test names others. */
  readonly isInside?: IsInside;
};

/** A mirror on the web. */
export function httpMirror({ isInside = isInsideAddress, ...options }: HttpMirrorOptions): Mirror {
  const { url, spool, now } = options;
  const shown = publicAddress(url);
  const origin = () =>
    ({
      port: 'publisher',
      source: { name: shown, url: shown, as_of: now(), kind: 'observation', simulated: false },
    }) as const;

  return {
    key: addressKey(url),
    url: shown,
    kind: 'http',
    obtained_at: null,
    deliver: async (known, signal) => {
      let spooling: Spooling | null = null;
      try {
        spooling = await spool.begin();
        const answer = await fetchBytes({
          url,
          signal,
          limits: options.limits,
          isInside,
          headers: { 'user-agent': options.userAgent, accept: '*/*', ...conditions(known) },
          into: spooling.write,
        });
        if (answer.status === 304) {
          await spooling.abandon();
          if (known === null) throw new FetchFault('answered 304 to an unconditional request');
          return read({ kind: 'unchanged', validators: known }, origin());
        }
        const file = await spooling.finish();
        return read({ kind: 'file', validators: validatorsOf(answer), file }, origin());
      } catch (error) {
        await spooling?.abandon();
        const fault = faultOf(error);
        if (fault === null) throw error;
        const because = why('provider_failed', { provider: shown, fault });
        const waitMs = error instanceof FetchFault ? error.waitMs : null;
        if (waitMs === null) return unread('publisher', because);
        const after_s = Math.ceil(waitMs / MS_PER_S);
        return read({ kind: 'later', reason: because.reason, after_s }, origin());
      }
    },
  };
}

/** What went wrong, of the network or of the disk; `null` for a bug. */
function faultOf(error: unknown): string | null {
  if (error instanceof FetchFault) return error.fault;
  const code = systemFault(error);
  return code === null ? null : `what it sent could not be written here (${code})`;
}

function conditions(known: Validators | null): Record<string, string> {
  const sent = [
    ['if-none-match', known?.etag],
    ['if-modified-since', known?.last_modified],
  ] as const;
  return Object.fromEntries(
    present(sent.map(([name, value]) => (value == null ? null : ([name, value] as const)))),
  );
}

function validatorsOf(answer: Fetched): Validators {
  return { etag: kept(answer.header('etag')), last_modified: kept(answer.header('last-modified')) };
}

function kept(value: string | null): string | null {
  return value !== null && value.length <= VALIDATOR_CHARS_MAX ? value : null;
}
