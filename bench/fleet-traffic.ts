// The traffic of a fleet under faults or upgrades, which notes what was acknowledged and denies it.

import { z } from 'zod';
import { type Answered, bearer, type Question, type Traffic } from '../src/fleet-load.suite.ts';
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
  return { traffic, denied, watched, records };
}
