// When a trader makes money: the analysis that is kept, for machines and for people, and the page
// that tells how it is made. What is asked for trims the answer and changes none of its figures.

import { z } from 'zod';
import { formatIsoTime } from '../../chain/time.ts';
import { html } from '../../contract/reply.ts';
import { type PlainHandler, plainRoute } from '../../contract/route.ts';
import { addressText, prose } from '../../contract/wire.ts';
import { claim, claimWhole } from '../../evidence/claim.ts';
import { basis, map, Read } from '../../evidence/reading.ts';
import { SIMULATED_CAVEAT } from '../../evidence/source.ts';
import { messagePage, type PageFacts, page } from '../../pages/layout.tsx';
import { FactList, Moment, Prose, Table, usd } from '../../pages/words.tsx';
import {
  MODES,
  type Mode,
  type NoLabelReason,
  PARTITIONS,
  type Partition,
  type QueuePlace,
  type TraderAnalyses,
  type TraderStanding,
} from '../../ports/traders.ts';
import { roleSentence } from './analyse.ts';
import { LABEL_NEEDS } from './classification.ts';
import { WINDOWS } from './concentration.ts';
import {
  analysesUnreadable,
  type Bucket,
  invalidAddress,
  METHODOLOGY_PATH,
  notAnalysed,
  type TemporalAnswer,
  type TraderAnalysis,
  temporalAnswer,
  type Unanalysable,
} from './shapes.ts';

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
/** An analysis older than this tells the queue that somebody still asks for it. */
const TOUCHED_S = 3_600;

const params = z.strictObject({ address: addressText });

export const traderTemporal = plainRoute({
  name: 'trader_temporal',
  surface: 'signals',
  method: 'GET',
  path: '/api/traders/{address}/temporal',
  summary: 'When a trader makes money, and whether that is more than chance.',
  access: 'open',
  params,
  query: z.strictObject({
    mode: z.enum(MODES).optional(),
    partition: z.enum(PARTITIONS).optional(),
  }),
  responses: {
    200: temporalAnswer.describe('Figures do not depend on `mode` and `partition`.'),
    400: z.union([invalidAddress, z.strictObject({ error: prose() })]),
    404: notAnalysed.describe('It was not analysed yet, or cannot be; `detail` says which.'),
    503: analysesUnreadable.describe('The analyses could not be read.'),
  },
});

export const traderPage = plainRoute({
  name: 'trader_page',
  surface: 'web',
  method: 'GET',
  path: '/traders/{address}',
  summary: 'When a trader makes money, for people.',
  access: 'open',
  params,
  responses: { 200: html(), 400: html(), 404: html(), 503: html() },
});

export const methodologyPage = plainRoute({
  name: 'traders_methodology_page',
  surface: 'web',
  method: 'GET',
  path: METHODOLOGY_PATH,
  summary: 'How traders are analysed, and what a label needs.',
  access: 'open',
  responses: { 200: html() },
});

export type TraderPorts = {
  readonly traderAnalyses: TraderAnalyses<TraderAnalysis, Unanalysable>;
};

/** @internal */
export const INVALID =
  'Expected an account of the venue: 0x and 40 hex digits. Letter case does not matter.';

type Found =
  | { readonly invalid: string }
  | { readonly unread: string }
  | { readonly detail: string; readonly outside: boolean; readonly signs_for: string | null }
  | { readonly read: Read<Held, 'trader_analyses'>; readonly held: Held };
type Held = {
  readonly analysis: TraderAnalysis;
  readonly made_at: number;
} & Pick<TraderStanding<TraderAnalysis, Unanalysable>, 'failed' | 'unanalysable'>;

async function findTrader(
  { traderAnalyses }: TraderPorts,
  text: string,
  now: number,
): Promise<Found> {
  if (!ADDRESS.test(text)) return { invalid: INVALID };
  const address = text.toLowerCase();
  const standing = await traderAnalyses.standingOf(address);
  if (!(standing instanceof Read)) return { unread: standing.why.reason };
  const { analysis: kept, failed, unanalysable } = standing.value;
  if (kept === null) {
    const place = await traderAnalyses.ask(address);
    const queued = place instanceof Read ? QUEUE[place.value] : place.why.reason;
    const isMadeUp = basis(standing).sources.some(({ simulated }) => simulated);
    const known = `${isMadeUp ? SIMULATED_CAVEAT : ''}${standingText(standing.value)}`;
    const signs_for = failed === null && unanalysable !== null ? unanalysable.of : null;
    return { detail: `${known} ${queued}`, outside: failed?.outside === true, signs_for };
  }
  // Whether somebody still asks changes nothing of the analysis that is held.
  if (now - kept.made_at > TOUCHED_S) await traderAnalyses.ask(address);
  const held = { analysis: kept.analysis, made_at: kept.made_at, failed, unanalysable };
  return { read: map(standing, () => held), held };
}

const QUEUE: { readonly [P in QueuePlace]: string } = {
  queued: 'It is queued; 5 of the addresses that were asked for are begun in a minute.',
  full: 'The queue is full, with 200 addresses that wait: ask again later.',
  not_asked: 'It was looked at within a day: ask after it to have it looked at again.',
  not_set_up: 'A venue is not set here (EXHIBIT_HYPERLIQUID_URL).',
};

function standingText({ unanalysable, failed }: TraderStanding<TraderAnalysis, Unanalysable>) {
  if (failed !== null) {
    return `The last attempt, at ${formatIsoTime(failed.at)}, failed: ${failed.reason}`;
  }
  return unanalysable === null ? 'This address was not analysed yet.' : unableText(unanalysable);
}

function unableText({ because, of }: NonNullable<Held['unanalysable']>): string {
  if (because !== 'agent') return UNABLE[because];
  return `It is an agent wallet, which signs for ${of}: ask about that account.`;
}

/** @internal What the venue said of an account without anything to analyse. */
export const UNABLE = {
  no_account: 'The venue was asked, and has no account at this address.',
  no_fills: 'The venue was asked, and holds no fills of this account.',
} as const;

const ABOUT_LABELS =
  'A label says where in time profit was made beyond what chance gives. Whether it will be made ' +
  'there again is another question, and it is not advice.';
const ABOUT_GROSS =
  'Profit is what the venue booked at closing, before fees and funding, which stand in `totals`.';
const ABOUT_LEFT_OUT =
  'Trades of the account with itself, spot, and tokens whose candles were not read are left out ' +
  'and counted.';
const ABOUT_CANDLES =
  'Exposed hours without a candle are unread: they are left out of the mode of exposure.';
const ABOUT_HORIZON =
  'The venue keeps the newest 10,000 fills alone, and tells at most 2,000 of one millisecond: ' +
  'trades of this account are unread, and a label is not given.';

function laterLook(unanalysable: NonNullable<Held['unanalysable']>): string {
  return `It was looked at again at ${formatIsoTime(unanalysable.at)}. ${unableText(unanalysable)}`;
}

function caveatsOf({ analysis, failed, unanalysable }: Held): string[] {
  const role = roleSentence(analysis);
  const { coverage } = analysis;
  const caveats = [
    ABOUT_LABELS,
    ABOUT_GROSS,
    ABOUT_LEFT_OUT,
    ...(coverage.missing_candle_h > 0 ? [ABOUT_CANDLES] : []),
    ...(coverage.horizon_reached ? [ABOUT_HORIZON] : []),
    ...(role === null ? [] : [role]),
    ...(failed === null
      ? []
      : [`A later attempt, at ${formatIsoTime(failed.at)}, failed: ${failed.reason}`]),
    ...(unanalysable === null ? [] : [laterLook(unanalysable)]),
  ];
  return analysis.simulated ? caveats.map((one) => `${SIMULATED_CAVEAT}${one}`) : caveats;
}

type Selection = { readonly mode?: Mode | undefined; readonly partition?: Partition | undefined };

/** @internal */
export function temporalHandler(ports: TraderPorts): PlainHandler<typeof traderTemporal> {
  return async ({ params: { address }, query }, { now }) => {
    const found = await findTrader(ports, address, now());
    if ('invalid' in found) {
      return traderTemporal.reply(400, { error: 'invalid_address', detail: found.invalid });
    }
    if ('unread' in found) {
      return traderTemporal.reply(503, { error: 'analyses_unreadable', detail: found.unread });
    }
    if ('detail' in found) {
      return traderTemporal.reply(404, {
        address: address.toLowerCase(),
        analysed: false,
        error: 'not_analysed',
        detail: found.detail,
        methodology_url: METHODOLOGY_PATH,
        engine_unreachable: found.outside,
      });
    }
    const { read, held } = found;
    const { analysis, made_at } = held;
    const { coverage, null_model, classification } = analysis;
    return traderTemporal.reply(200, {
      address: analysis.address,
      analysed: claimWhole(read),
      role: analysis.role,
      master: analysis.master,
      modes: modesShown(analysis, query),
      partitions: {
        session: windowsShown('session'),
        weekpart: windowsShown('weekpart'),
        hour_of_day: windowsShown('hour_of_day'),
      },
      classification: {
        labels: claim(read, ({ analysis: { classification: c } }) => [...c.labels]),
        no_label: claim(read, () =>
          classification.no_label === null ? ('labelled' as const) : classification.no_label,
        ),
        needs: LABEL_NEEDS,
      },
      coverage: {
        ...coverage,
        from: formatIsoTime(coverage.from),
        to: formatIsoTime(coverage.to),
      },
      totals: analysis.totals,
      seed: null_model.seed,
      generator: null_model.generator,
      permutations: null_model.permutations,
      tests: null_model.tests,
      block_mean: null_model.block_mean,
      caveats: caveatsOf(held),
      analysed_at: formatIsoTime(made_at),
      age_s: Math.max(0, Math.floor(now() - made_at)),
      simulated: analysis.simulated,
      methodology_url: METHODOLOGY_PATH,
    });
  };
}

function modesShown({ modes }: TraderAnalysis, asked: Selection): TemporalAnswer['modes'] {
  const partitionsIn = (mode: Mode) => ({
    ...(isAsked(asked.partition, 'session') ? { session: modes[mode].session } : {}),
    ...(isAsked(asked.partition, 'weekpart') ? { weekpart: modes[mode].weekpart } : {}),
    ...(isAsked(asked.partition, 'hour_of_day') ? { hour_of_day: modes[mode].hour_of_day } : {}),
  });
  return {
    ...(isAsked(asked.mode, 'realization') ? { realization: partitionsIn('realization') } : {}),
    ...(isAsked(asked.mode, 'exposure') ? { exposure: partitionsIn('exposure') } : {}),
  };
}

function isAsked<T>(asked: T | undefined, one: T): boolean {
  return asked === undefined || asked === one;
}

function windowsShown(partition: Partition) {
  return WINDOWS[partition].map(({ bucket, definition }) => ({ bucket, definition }));
}

const TITLE = 'Trader through time';

/** @internal */
export function traderPageHandler(
  ports: TraderPorts,
  facts: PageFacts,
): PlainHandler<typeof traderPage> {
  const how = { path: METHODOLOGY_PATH, text: 'How traders are analysed' };
  const message = (title: string, why: string, back = how) =>
    messagePage(facts, { title, why, current: METHODOLOGY_PATH, back });
  return async ({ params: { address } }, { now }) => {
    const found = await findTrader(ports, address, now());
    if ('invalid' in found) {
      return traderPage.reply(400, message('This is an address of another form', found.invalid));
    }
    if ('unread' in found) {
      return traderPage.reply(503, message('This analysis could not be read', found.unread));
    }
    if ('detail' in found) {
      const { detail, signs_for: account } = found;
      const back =
        account === null ? how : { path: `/traders/${account}`, text: `The account ${account}` };
      return traderPage.reply(404, message('Not analysed', detail, back));
    }
    const children = <Trader held={found.held} />;
    return traderPage.reply(
      200,
      page({ ...facts, title: TITLE, current: METHODOLOGY_PATH, children }),
    );
  };
}

function Trader({ held }: { held: Held }) {
  const { analysis, made_at } = held;
  const { address, classification, modes } = analysis;
  return (
    <>
      <h1>{TITLE}</h1>
      <p class="lead">
        <code>{address}</code>
      </p>
      {analysis.simulated && (
        <p class="notice" role="note">
          <strong>Simulated.</strong> The trades behind these figures are made up.
        </p>
      )}
      <p class="notice" role="note">
        {classification.no_label === null
          ? `More than chance: ${classification.labels.map(labelText).join('; ')}.`
          : `${NO_LABEL[classification.no_label]}`}
      </p>
      <FactList rows={factsOf(analysis, made_at)} />
      {MODES.map((mode) => (
        <section key={mode}>
          <h2 class="section">{MODE_TITLES[mode]}</h2>
          <Buckets partition="session" rows={modes[mode].session} />
          <Buckets partition="weekpart" rows={modes[mode].weekpart} />
          <details>
            <summary>{hoursText(modes[mode].hour_of_day)}</summary>
            <Buckets partition="hour_of_day" rows={modes[mode].hour_of_day} />
          </details>
        </section>
      ))}
      <ul>
        {caveatsOf(held).map((one) => (
          <li key={one}>
            <Prose text={one} />
          </li>
        ))}
      </ul>
      <p class="quiet">
        <a href={METHODOLOGY_PATH}>How traders are analysed</a>. As a machine reads it:{' '}
        <a href={`/api/traders/${address}/temporal`}>/api/traders/{address}/temporal</a>
      </p>
    </>
  );
}

/** What is in the folded table: how many hours were tested, and which were found. */
function hoursText(rows: readonly Bucket[]): string {
  const tested = rows.filter((row) => row.tested).length;
  const found = rows.filter((row) => readsAs(row) === FOUND).map(({ bucket }) => bucket);
  const more = found.length === 0 ? '' : `; more than chance: ${found.join(', ')}`;
  return `Hours of the day: ${tested} of ${rows.length} tested${more}`;
}

const MODE_TITLES: { readonly [M in Mode]: string } = {
  realization: 'By the hour in which positions closed',
  exposure: 'By the hours in which positions were open',
};
const PARTITION_TITLES: { readonly [P in Partition]: string } = {
  session: 'Sessions',
  weekpart: 'Days',
  hour_of_day: 'Hours of the day',
};

/** @internal Why there is no label, for people. */
export const NO_LABEL: { readonly [R in NoLabelReason]: string } = {
  no_trades: 'No label: the record holds no closing order.',
  record_too_short:
    `No label: the record is shorter than ${LABEL_NEEDS.record_days_min} days, so that no bucket ` +
    'was tested.',
  horizon_reached: 'No label: the venue keeps only a part of the record.',
  too_few_trades: `No label: no bucket holds ${LABEL_NEEDS.trades_min} trades.`,
  not_more_than_chance: 'No label: the times of its profit look as chance makes them.',
  too_small: `No label: what is beyond chance is under ${LABEL_NEEDS.ratio_min} times the rest.`,
  no_profit: 'No label: where it does better, it still makes no profit.',
};

function labelText({ label, ratio, q_value }: TraderAnalysis['classification']['labels'][number]) {
  const size = ratio === null ? 'all of its gains' : `${ratio.toFixed(2)} times the rest`;
  return `${label.replaceAll('_', ' ')} (${size}, q ${q_value.toFixed(4)})`;
}

function factsOf({ coverage, totals, null_model }: TraderAnalysis, made_at: number) {
  return [
    ['Analysed', <Moment at={made_at} />] as const,
    ['Fills', coverage.fills] as const,
    ['From', <Moment at={coverage.from} />] as const,
    ['To', <Moment at={coverage.to} />] as const,
    ['Other fills', coverage.horizon_reached ? 'not told by the venue' : 'all read'] as const,
    ['Trades with itself, left out', coverage.self_trades] as const,
    ['Fills of spot, left out', coverage.spot_left_out] as const,
    [
      'Fills of tokens whose candles were not read, left out',
      coverage.without_candles_left_out,
    ] as const,
    ['Exposed hours without a candle', coverage.missing_candle_h] as const,
    ['Exposed hours without funding read', coverage.unpriced_funding_h] as const,
    ['Closed profit', usd(totals.closed_pnl_usd)] as const,
    ['Fees', usd(totals.fees_usd)] as const,
    ['Funding', usd(totals.funding_usd)] as const,
    ['Net', usd(totals.net_usd)] as const,
    ['Tests', `${null_model.tests}, seed ${null_model.seed}`] as const,
  ];
}

function Buckets({ partition, rows }: { partition: Partition; rows: readonly Bucket[] }) {
  return (
    <Table
      caption={PARTITION_TITLES[partition]}
      look="tight"
      rows={rows}
      columns={[
        { head: 'UTC', cell: ({ bucket }) => bucket, isName: true },
        // Before the figures, so that noise is told as noise where a phone cuts the table.
        { head: 'Reads as', cell: readsAs },
        { head: 'Trades', cell: ({ trades }) => trades },
        { head: 'Hours open', cell: ({ exposure_h }) => exposure_h.toFixed(1) },
        { head: 'Profit, USD', cell: ({ pnl_usd }) => pnl_usd.toFixed(2) },
        { head: 'Of all gains', cell: shareCell },
        { head: 'Of hours open', cell: ({ expected_share }) => percent(expected_share) },
        { head: 'Ratio', cell: ({ ratio }) => (ratio === null ? '–' : ratio.toFixed(2)) },
        { head: 'q', cell: ({ q_value }) => (q_value === null ? '–' : q_value.toFixed(4)) },
      ]}
    />
  );
}

const FOUND = 'more than chance';

function readsAs({ tested, q_value }: Bucket): string {
  if (!tested || q_value === null) return 'not tested';
  return q_value <= LABEL_NEEDS.q_value_max ? FOUND : 'noise';
}

function percent(share: number | null): string {
  return share === null ? '–' : `${(100 * share).toFixed(1)}%`;
}

function shareCell({ share, share_low, share_high }: Bucket): string {
  if (share_low === null || share_high === null) return percent(share);
  return `${percent(share)} (${percent(share_low)} to ${percent(share_high)})`;
}

/** @internal */
export function methodologyHandler(facts: PageFacts): PlainHandler<typeof methodologyPage> {
  const children = <Methodology />;
  const body = page({
    ...facts,
    title: 'How traders are analysed',
    current: METHODOLOGY_PATH,
    children,
  });
  return async () => methodologyPage.reply(200, body);
}

function Methodology() {
  return (
    <>
      <h1>How traders are analysed</h1>
      <p class="lead">
        When does an account make money, and is that more than chance? The answer is made of its
        fills, of hourly candles and of its funding, as the venue told them.
      </p>
      <h2 class="section">What is counted</h2>
      <p>
        A trade is a closing order: its partial fills are one. Profit is what the venue booked,
        before fees and funding, which stand apart. Trades of the account with itself, spot, and
        tokens whose candles were not read are left out and counted. By realization, profit belongs
        to the hour in which the order closed; by exposure, open positions are marked to the candle
        of each hour. An hour whose candle is missing is unread, and not flat.
      </p>
      <h2 class="section">Whether it is more than chance</h2>
      <p>
        Outcomes are moved along their own sequence in blocks of random length, 10 or longer in the
        mean, as their autocorrelation asks for, while times and buckets stay. The p-value is the
        share of 10,000 arrangements in which a bucket has as much more profit than the rest as the
        record shows (Welch’s t of outcomes, each limited at the 90% quantile of their sizes). All
        buckets with {LABEL_NEEDS.trades_min} trades or more, of both modes and of all partitions,
        are one family, corrected after Benjamini and Hochberg, whatever was asked for. The seed is
        made of the address.
      </p>
      <p>
        Volatility alone makes no label: a market that moves more on weekdays makes gains and losses
        larger there, and profit no larger. The ratio tells how much faster gains came.
      </p>
      <h2 class="section">What a label needs</h2>
      <FactList
        rows={[
          ['q at most', String(LABEL_NEEDS.q_value_max)],
          ['Ratio at least', `${LABEL_NEEDS.ratio_min}, or all gains in the bucket`],
          ['Trades in the bucket at least', String(LABEL_NEEDS.trades_min)],
          ['Days of record at least', String(LABEL_NEEDS.record_days_min)],
          ['Profit in the bucket', 'over zero'],
          ['Record', 'all fills that there are, fewer than the 10,000 that the venue keeps'],
        ]}
      />
      {(['session', 'weekpart'] as const).map((partition) => (
        <Table
          key={partition}
          caption={PARTITION_TITLES[partition]}
          look="tight"
          rows={[...WINDOWS[partition]]}
          columns={[
            { head: 'Bucket', cell: ({ bucket }) => bucket, isName: true },
            { head: 'Covers', cell: ({ definition }) => definition },
          ]}
        />
      ))}
      <p>
        Each hour of the day is a bucket too: 14 covers 14:00 to 14:59 UTC. The analysis of an
        account is the page <code>/traders/ADDRESS</code>, which queues one that nobody asked for
        before. <a href="/docs/guides/traders">The guide</a> tells how to read it.
      </p>
    </>
  );
}
