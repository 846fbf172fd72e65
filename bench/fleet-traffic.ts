// The traffic of a fleet under faults or upgrades, which notes what was acknowledged and denies it.

import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import {
  type Answered,
  askOnce,
  bearer,
  type Question,
  type Traffic,
} from '../src/fleet-load.suite.ts';
import { evm } from '../src/testing/addresses.ts';
import { lotteryOf } from '../src/testing/lottery.ts';

const identified = z.looseObject({ id: z.string() });
const screened = z.looseObject({
  data: z.looseObject({ sanctioned: z.boolean().nullable() }).nullable(),
});
const feed = z.looseObject({ signals: z.array(z.looseObject({ signal_id: z.string() })) });
const sequence = z.looseObject({
  changes: z.array(z.looseObject({ seq: z.number() })),
  next_since: z.number(),
});

const watchPage = z.looseObject({
  watched: z.array(z.looseObject({ id: z.string() })),
  next_after: z.string().nullable(),
});

/** What was read back: how much of each kind, and what of it is gone. */
export type ReadBack = { readonly counts: string; readonly lost: readonly string[] };

const TOLD_MS_MAX = 60_000;
const TOLD_EACH_MS = 250;

/** Asks until the answer is none that tells to come again. */
export async function askUntilTold(
  url: string,
  question: Question,
): Promise<NonNullable<Answered>> {
  for (const began = performance.now(); ; await wait(TOLD_EACH_MS)) {
    const said = await askOnce(url, question);
    const isTold = !('fault' in said) && said.status !== 429 && said.status !== 503;
    if (isTold) return said;
    if (performance.now() - began > TOLD_MS_MAX) {
      throw new Error(`${url} tells nothing: ${'fault' in said ? said.fault : said.status}`);
    }
  }
}

/** The ids of all watched addresses, page by page. */
async function watchedIds(url: string, ask: () => Question): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for (let after: string | null = null; ; ) {
    const query: string = after === null ? '' : `?after=${after}`;
    const { status, body } = await askUntilTold(`${url}/api/v1/watchlist${query}`, ask());
    if (status !== 200) throw new Error(`the watchlist is not told: ${status} ${body}`);
    const page = watchPage.parse(JSON.parse(body));
    for (const { id } of page.watched) ids.add(id);
    after = page.next_after;
    if (after === null) return ids;
  }
}

/** What was acknowledged; of changes, the newest number that was told. */
type Acknowledged = {
  readonly watches: readonly string[];
  readonly records: readonly string[];
  readonly signals: readonly string[];
  readonly changes: number;
};

async function readBackAll(
  url: string,
  ask: () => Question,
  { watches, changes: newest, ...more }: Acknowledged,
): Promise<ReadBack> {
  // More may be acknowledged meanwhile.
  const [records, signals] = [[...more.records], [...more.signals]];
  const there = await watchedIds(url, ask);
  const gone = async (what: string, path: string) => {
    const { status, body } = await askUntilTold(`${url}${path}`, ask());
    return status === 200 ? [] : [`${what} ${path}: ${status} ${body.slice(0, 120)}`];
  };
  const lost = watches.filter((id) => !there.has(id)).map((id) => `watch ${id}`);
  for (const id of records) lost.push(...(await gone('record', `/api/v1/screens/${id}`)));
  for (const id of signals) lost.push(...(await gone('signal', `/api/signals/${id}`)));
  for (let place = 0; place < newest; ) {
    const path = `/api/v1/watchlist/changes?since=${place}`;
    const { status, body } = await askUntilTold(`${url}${path}`, ask());
    if (status !== 200) throw new Error(`the changes are not told: ${status} ${body}`);
    const { changes, next_since } = sequence.parse(JSON.parse(body));
    const first = place;
    const isWhole = changes.length > 0 && changes.every(({ seq }, n) => seq === first + n + 1);
    if (!isWhole) {
      lost.push(`changes after ${place}, of which ${newest} were told`);
      break;
    }
    place = next_since;
  }
  const [some, kept, told] = [watches.length, records.length, signals.length];
  const counts = `${some} watches, ${kept} records, ${told} signals, ${newest} changes`;
  return { counts, lost };
}

type TrafficOptions = {
  /** More may be added while it runs. */
  readonly keys: readonly string[];
  readonly listed: readonly string[];
  readonly everyMs: number;
  /** Whether a screen may say that it was not made; without, each has to say that it is listed. */
  readonly mayBeSilent: boolean;
};

/** Traffic of nine kinds, and what was `denied` of that which had been acknowledged. */
export function fleetTraffic({ keys, listed, everyMs, mayBeSilent }: TrafficOptions) {
  const denied: string[] = [];
  const watched = new Map<string, number>();
  const records: string[] = [];
  const signals: string[] = [];
  const asking = lotteryOf(41);
  let since = 0;
  let known = new Map<string, number>();
  const ask = (body?: object): Question => ({
    headers: bearer(asking.oneOf(keys)),
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  });
  const of = (n: number) => String(listed[n % listed.length]);
  const deny = (what: string, told: NonNullable<Answered>) =>
    denied.push(`${what}: ${told.status} ${told.body.slice(0, 200)}`);
  const kind = (name: string, every: number, more: Omit<Traffic, 'name' | 'everyMs'>) => {
    return { name, everyMs: every, ...more };
  };
  const traffic: Traffic[] = [
    kind('a listed address is screened', everyMs, {
      path: (n) => `/api/v1/wallet/${of(n)}/ofac`,
      question: () => ask(),
      onTold: (n, told) => {
        if (told.status !== 200) return;
        const { data } = screened.parse(JSON.parse(told.body));
        const said = data === null ? null : data.sanctioned;
        if (said === false || (said === null && !mayBeSilent)) deny(of(n), told);
      },
    }),
    kind('an address is watched', everyMs * 3, {
      path: () => '/api/v1/watchlist',
      question: (n) => ask({ address: n % 3 === 0 ? of(n) : evm(`watched ${n}`) }),
      onTold: (_, told) => {
        if (told.status < 202) watched.set(identified.parse(JSON.parse(told.body)).id, Date.now());
      },
    }),
    kind('the watchlist is read', everyMs * 3, {
      path: () => '/api/v1/watchlist',
      question: () => {
        known = new Map(watched);
        return ask();
      },
      onTold: (_, told) => {
        if (told.status !== 200) return;
        for (const id of known.keys()) if (!told.body.includes(`"${id}"`)) deny(id, told);
      },
    }),
    kind('changes of watched addresses are read', everyMs * 3, {
      path: () => `/api/v1/watchlist/changes?since=${since}`,
      question: () => ask(),
      onTold: (_, told) => {
        if (told.status !== 200) return;
        const { changes, next_since } = sequence.parse(JSON.parse(told.body));
        const seqs = changes.map(({ seq }) => seq);
        if (seqs.some((seq, n) => seq !== since + n + 1)) deny(`changes after ${since}`, told);
        since = next_since;
      },
    }),
    kind('a screen is recorded', everyMs * 3, {
      path: () => '/api/v1/screens',
      question: (n) => ask({ address: of(n) }),
      onTold: (_, told) => {
        if (told.status === 201) records.push(identified.parse(JSON.parse(told.body)).id);
      },
    }),
    kind('a record is read', everyMs * 3, {
      path: () => (records.length === 0 ? '/health' : `/api/v1/screens/${asking.oneOf(records)}`),
      question: () => ask(),
      onTold: (n, told) => {
        if (told.status === 404) deny(`record ${n}`, told);
      },
    }),
    kind('the feed of signals is read', everyMs * 5, {
      path: () => '/api/signals',
      question: () => ({}),
      onTold: (_, told) => {
        if (told.status !== 200) return;
        for (const { signal_id } of feed.parse(JSON.parse(told.body)).signals) {
          if (!signals.includes(signal_id)) signals.push(signal_id);
        }
      },
    }),
    kind('a signal is read', everyMs * 3, {
      path: () => (signals.length === 0 ? '/health' : `/api/signals/${asking.oneOf(signals)}`),
      question: () => ({}),
      onTold: (n, told) => {
        if (told.status === 404) deny(`signal ${n}`, told);
      },
    }),
    kind('the health is read', everyMs * 5, { path: () => '/health', question: () => ({}) }),
  ];
  /** Reads back everything that was acknowledged so far. */
  const readBack = (url: string): Promise<ReadBack> =>
    readBackAll(url, ask, { watches: [...watched.keys()], records, signals, changes: since });
  return { traffic, denied, watched, records, readBack };
}
