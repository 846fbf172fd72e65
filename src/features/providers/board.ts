// Counts the calls of providers into the leaderboard. Rates are of scored calls alone, each beside
// its number, and of one version of their rule; calls about one subject hang together, and are
// worth one where an interval is told.

import { DAY_S, type UnixSeconds } from '../../chain/time.ts';
import { collect, present, rate, rowsUnder } from '../../evidence/measure.ts';
import type { Why } from '../../evidence/reasons.ts';
import {
  alike,
  brierOf,
  reliabilityOf,
  scoreGroups,
  shareOf,
  tiesOf,
} from '../../evidence/statistics.ts';
import type {
  AskCount,
  CallProduction,
  CountedCall,
  ProviderGap,
} from '../../ports/provider-calls.ts';
import { ruleInForce } from './rules.ts';
import { BOARD_WINDOWS, type BoardRow, type BoardWindow, type CountedBoard } from './shapes.ts';

const WINDOW_DAYS: { readonly [window in BoardWindow]: number | null } = {
  '30d': 30,
  '90d': 90,
  all: null,
};
const PAGE = 5_000;
const BINS = 10;

export type BoardParts = {
  readonly calls: Pick<CallProduction, 'counted' | 'gaps' | 'asks' | 'keepBoard'>;
  readonly now: () => UnixSeconds;
};

/** Counts every call and keeps the board; why it could not, or `null`. */
export async function makeBoard({ calls, now }: BoardParts): Promise<Why | null> {
  const all: CountedCall[] = [];
  for (let after: number | undefined = -1; after !== undefined; ) {
    const page = await calls.counted(after, PAGE);
    if (!page.checked) return page.why;
    for (const call of page.value) all.push(call);
    after = page.value.length < PAGE ? undefined : page.value.at(-1)?.leaf;
  }
  const gaps = await calls.gaps();
  if (!gaps.checked) return gaps.why;
  const made_at = Math.floor(now());
  const asked = new Map<BoardWindow, readonly AskCount[]>();
  for (const window of BOARD_WINDOWS) {
    const counts = await calls.asks(sinceOf(window, made_at));
    if (!counts.checked) return counts.why;
    asked.set(window, counts.value);
  }
  const text = JSON.stringify(countBoard({ calls: all, gaps: gaps.value, asked, made_at }));
  const kept = await calls.keepBoard({ made_at, text });
  return kept.checked ? null : kept.why;
}

/** The beginning of a window; everything begins with the epoch. */
function sinceOf(window: BoardWindow, made_at: UnixSeconds): UnixSeconds {
  const days = WINDOW_DAYS[window];
  return days === null ? 0 : made_at - days * DAY_S;
}

type Counted = {
  readonly calls: readonly CountedCall[];
  readonly gaps: readonly ProviderGap[];
  readonly asked: ReadonlyMap<BoardWindow, readonly AskCount[]>;
  readonly made_at: UnixSeconds;
};

/** The board of some calls. */
export function countBoard(counted: Counted): CountedBoard {
  const { calls, made_at } = counted;
  return {
    made_at,
    total_scores: calls.filter(({ state }) => state === 'scored').length,
    newest_call_at: calls.reduce<number | null>(
      (newest, { received_at: at }) => (newest === null || at > newest ? at : newest),
      null,
    ),
    windows: {
      '30d': windowOf('30d', counted),
      '90d': windowOf('90d', counted),
      all: windowOf('all', counted),
    },
  };
}

function windowOf(window: BoardWindow, { calls, gaps, asked, made_at }: Counted) {
  const since = sinceOf(window, made_at);
  const counts = new Map(rowsUnder(asked, window).map((one) => [one.provider, one]));
  const rowsOf = (isProspective: boolean): BoardRow[] => {
    // A provider that is asked has a row before its first call.
    const inForce = ruleInForce(ASKED).version;
    const rows = new Map<string, CountedCall[]>();
    if (isProspective) {
      for (const provider of counts.keys())
        rows.set(nameOf({ provider, kind: ASKED, rule_version: inForce }), []);
    }
    for (const call of calls) {
      if (call.received_at < since || call.prospective !== isProspective) continue;
      collect(rows, nameOf(call), call);
    }
    return [...rows]
      .map(([name, own]): BoardRow => {
        const [provider, kind, rule_version] = name.split(' ');
        const isAsked = isProspective && kind === ASKED && rule_version === inForce;
        const count = isAsked ? counts.get(String(provider)) : undefined;
        return {
          provider: String(provider),
          kind: kind === ASKED ? ASKED : MARKET,
          rule_version: String(rule_version),
          ...countRow(own),
          coverage: count === undefined ? null : shareIn(count.called, count.launches),
          missed_s: count === undefined ? null : missedS(gaps, count.provider, since),
        };
      })
      .toSorted(compareRows);
  };
  return {
    from: WINDOW_DAYS[window] === null ? null : since,
    rows: rowsOf(true),
    retrospective: rowsOf(false),
  };
}

const ASKED = 'token_risk';
const MARKET = 'market_call';

/** Figures are of one provider, one kind and one version of its rule. */
type RowName = Pick<BoardRow, 'provider' | 'kind' | 'rule_version'>;
type Own = Omit<BoardRow, keyof RowName | 'coverage' | 'missed_s'>;
type Outcome = CountedCall & { readonly happened: boolean };

function isScored(call: CountedCall): call is Outcome {
  return call.happened !== null;
}

function countRow(calls: readonly CountedCall[]): Own {
  const scored = calls.filter(isScored);
  const pending = calls.filter(({ state }) => state === 'pending').length;
  const happened = scored.filter((call) => call.happened);
  const not = scored.filter((call) => !call.happened);
  const hits = scored.filter((call) => call.says === call.happened).length;
  const share = shareOf(alike(scored.map((_, row) => row)), {
    outcomes: Uint8Array.from(scored, (call) => Number(call.says === call.happened)),
    clusters: clustersOf(scored),
  });
  const { low, high } = share === null ? NO_INTERVAL : share;
  const base_rate = rate(happened.length, scored.length);
  return {
    calls: calls.length,
    pending,
    scored: scored.length,
    unscorable: calls.length - pending - scored.length,
    hits,
    hit_rate: rate(hits, scored.length),
    interval: low === null || high === null ? null : { low, high },
    ...countProbabilities(scored),
    base_rate,
    sensitivity: shareIn(happened.filter(({ says }) => says).length, happened.length),
    specificity: shareIn(not.filter(({ says }) => !says).length, not.length),
    baselines: {
      always_yes: happened.length,
      always_no: not.length,
      base_rate_brier: base_rate === null ? null : base_rate * (1 - base_rate),
    },
  };
}

const NO_INTERVAL = { low: null, high: null };

function shareIn(count: number, of: number) {
  return { rate: rate(count, of), of };
}

/** The calls about one subject, by a number for each subject. */
function clustersOf(calls: readonly CountedCall[]): Uint32Array {
  const numbers = new Map<string, number>();
  return Uint32Array.from(calls, ({ subject }) => {
    const known = numbers.get(subject);
    if (known !== undefined) return known;
    numbers.set(subject, numbers.size);
    return numbers.size - 1;
  });
}

function countProbabilities(calls: readonly Outcome[]): Pick<Own, 'brier' | 'brier_n' | 'bins'> {
  const told = calls.flatMap((call) =>
    call.probability === null ? [] : [{ ...call, probability: call.probability }],
  );
  const scored = {
    scores: Float64Array.from(told, ({ probability }) => probability),
    outcomes: Uint8Array.from(told, ({ happened }) => Number(happened)),
    clusters: clustersOf(told),
  };
  const groups = scoreGroups(tiesOf(scored.scores), BINS);
  const bins = present(groups.map((rows) => reliabilityOf(rows, scored))).map((bin) => {
    const { score_from: from, score_to: to, rows: n, mean_score, hits: happened } = bin;
    return { from, to, n, mean_probability: mean_score, happened };
  });
  return { brier: brierOf(scored, null), brier_n: told.length, bins };
}

function missedS(gaps: readonly ProviderGap[], provider: string, since: UnixSeconds): number {
  return gaps
    .filter((gap) => gap.provider === provider && gap.to_at > since)
    .reduce((sum, { from_at, to_at }) => sum + to_at - Math.max(from_at, since), 0);
}

/** By the lower end of the interval, then by the scored calls, then by name and rule. */
function compareRows(one: BoardRow, other: BoardRow): number {
  const [low, otherLow] = [lowerEnd(one), lowerEnd(other)];
  if (low !== otherLow) return otherLow - low;
  if (one.scored !== other.scored) return other.scored - one.scored;
  const [name, otherName] = [nameOf(one), nameOf(other)];
  return name < otherName ? -1 : Number(name > otherName);
}

function nameOf({ provider, kind, rule_version }: RowName): string {
  return `${provider} ${kind} ${rule_version}`;
}

/** Whoever has no rate comes last. */
function lowerEnd({ interval }: BoardRow): number {
  return interval === null ? -1 : interval.low;
}
