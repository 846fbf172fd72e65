// The public keys with which GitHub signs what its secret scanning tells partners, from its REST
// API (`GET /meta/public_keys/secret_scanning`). A name that is not held makes one question in a
// while, however many reports claim unknown names.

import { z } from 'zod';
import { type Reading, read, Unread, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { PartnerKeys, PartnerKeysPort } from '../../ports/access.ts';
import { fetchJson, outsideBody, outsideRow } from '../http/fetch.ts';
import { FetchFault, originText } from '../http/outbound-call.ts';
import { attempt, observation } from '../http/provider.ts';

const PORT = 'partner_keys';
const PATH = '/meta/public_keys/secret_scanning';
const LIMITS = { deadlineMs: 5_000, bytesMax: 256 * 1024 };
/** A list is asked for again after so long, and sooner for a name that it does not hold. */
const HELD_S = 3_600;
const ASKED_EACH_S = 30;
/** A list that cannot be had anew serves for so long, and not beyond. */
const HELD_MAX_S = 86_400;

const answer = outsideBody({
  public_keys: z
    .array(
      outsideRow({
        key_identifier: z.string().regex(/^[0-9a-f]{64}$/),
        key: z.string().startsWith('-----BEGIN PUBLIC KEY-----').max(2_000),
      }),
    )
    .min(1)
    .max(100),
});

type Options = {
  /** The root of the API, with user info where it has any. */
  readonly url: string;
  /** Unix seconds. */
  readonly now: () => number;
};

type Held = { readonly keys: ReadonlyMap<string, string>; readonly at: number };

/** The keys at a root of GitHub's API. */
export function secretScanningKeys({ url, now }: Options): PartnerKeys {
  const root = new URL(url);
  const provider = originText(root);
  const silent = (fault: string) => unread(PORT, why('provider_failed', { provider, fault }));
  const source = { name: 'GitHub secret scanning', url: provider, simulated: false };
  let held: Held | null = null;
  let last: {
    readonly at: number;
    readonly listed: Promise<Held | Unread<PartnerKeysPort>>;
  } | null = null;

  async function ask(): Promise<Held | Unread<PartnerKeysPort>> {
    const target = new URL(root);
    target.pathname = root.pathname.replace(/\/+$/, '') + PATH;
    const signal = AbortSignal.timeout(LIMITS.deadlineMs);
    const headers = { accept: 'application/vnd.github+json' };
    const said = await attempt(FetchFault, () =>
      fetchJson({ url: target, body: null, limits: LIMITS, signal, headers }),
    );
    if (said instanceof FetchFault) return silent(said.fault);
    const parsed = answer.safeParse(said);
    if (!parsed.success) return silent('answered another form');
    const keys = parsed.data.public_keys.map(
      ({ key_identifier, key }) => [key_identifier, key] as const,
    );
    held = { keys: new Map(keys), at: now() };
    return held;
  }

  /** The newest list: all who wait share a question, and none is asked within the pause. */
  function askOnce(): Promise<Held | Unread<PartnerKeysPort>> {
    if (last === null || now() - last.at >= ASKED_EACH_S) last = { at: now(), listed: ask() };
    return last.listed;
  }

  const readingOf = (key: string | null): Reading<string | null, PartnerKeysPort> =>
    read(key, { port: PORT, source: observation(source, now) });

  return {
    keyOf: async (identifier) => {
      const known = held?.keys.get(identifier);
      const ageS = held === null ? null : now() - held.at;
      if (known !== undefined && ageS !== null && ageS < HELD_S) return readingOf(known);
      const listed = await askOnce();
      if (!(listed instanceof Unread)) {
        const key = listed.keys.get(identifier);
        return readingOf(key === undefined ? null : key);
      }
      const serves = known !== undefined && ageS !== null && ageS < HELD_MAX_S;
      return serves ? readingOf(known) : listed;
    },
  };
}
