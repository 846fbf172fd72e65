import { z } from 'zod';
import { html } from '../../contract/reply.ts';
import { type PlainHandler, plainRoute } from '../../contract/route.ts';
import type { AnyRoute } from '../../contract/stream.ts';
import { isoDay, unixSeconds } from '../../contract/wire.ts';
import { Read } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { type PageFacts, page } from '../../pages/layout.tsx';
import { ageText, countWords, FactList, Moment, Table } from '../../pages/words.tsx';
import type { AnchoringReport } from '../../ports/anchoring.ts';
import {
  RING_FILL_STATES,
  RING_STATES,
  type RingFillState,
  type RingGap,
  type RingReport,
} from '../../ports/history.ts';
import { FOLLOW_STATES, type FollowReports } from '../../ports/indexing.ts';
import type { ProviderReport } from '../../ports/providers.ts';
import { modelCardPath, modelPagePath, type PublishedModels } from '../../ports/rug-model.ts';
import { Providers } from './providers.page.tsx';
import { providerShown } from './shapes.ts';

/**
 * One source's age. A source that was never loaded has no age, and neither has one whose answers
 * each have a date of their own (`per_answer`): that is not an age of zero. `frozen`: it was read,
 * and nothing is added to it until the operator acts.
 */
export const sourceFreshness = z.strictObject({
  state: z.enum(['fresh', 'stale', 'per_answer', 'frozen', 'never_loaded', 'unreadable']),
  as_of: unixSeconds.nullable(),
  published: isoDay.nullable(),
  age_s: z.int().nonnegative().nullable(),
  max_age_s: z.int().positive().nullable(),
  reason: z.string().nullable(),
});

/**
 * The state of following a chain from its node. `held_up`: a known fault; following continues by
 * itself. `stopped`: following cannot continue by itself, or its process has ended. `since`: the
 * start of this state.
 */
const followedChain = z.strictObject({
  state: z.enum(FOLLOW_STATES),
  reason: z.string().nullable(),
  since: unixSeconds,
  last_block: z.int().nonnegative().nullable(),
  lag_blocks: z.int().nonnegative().nullable(),
});

/**
 * The ring of all who dealt with listed addresses. `whole`: each listed address is held from its
 * first block to a fresh tip on each chain that is read; walks then need not read their second hop.
 * Until a chain is whole, a walk that left a busy address out has not looked.
 */
const ring = z.strictObject({
  state: z.enum(['whole', 'not_whole', 'unread']),
  reason: z.string().nullable(),
  as_of: unixSeconds,
  chains: z
    .record(
      z.string(),
      z.strictObject({
        state: z.enum(RING_STATES),
        listed: z.int().nonnegative(),
        held_in_full: z.int().nonnegative(),
        counterparties: z.int().nonnegative(),
      }),
    )
    .nullable(),
});

/**
 * Where reading the histories of listed addresses through explorers stands, in lists: one for each
 * address, chain and kind. `held_up`: what failed is asked again; `off`: nobody reads them here.
 */
const readAhead = z.strictObject({
  state: z.enum(RING_FILL_STATES),
  reason: z.string().nullable(),
  since: unixSeconds,
  lists_held: z.int().nonnegative(),
  lists: z.int().nonnegative(),
  calls_today: z.int().nonnegative(),
  calls_a_day: z.int().nonnegative(),
});

/**
 * Whether roots of the log go to the contract that is set. `off`: none is. `elsewhere`: another
 * process sends them, and tells. `not_looked`: no turn has ended since the start, or the last one
 * ended by a fault. `waits_for` is null where this process did not look, which is not that nothing
 * is waited for.
 */
const anchoring = z.strictObject({
  state: z.enum(['off', 'elsewhere', 'not_looked', 'sending', 'waiting']),
  as_of: unixSeconds.nullable(),
  waits_for: z.array(z.strictObject({ code: z.string(), reason: z.string() })).nullable(),
});

/** The streams: how they are reached, what carries them and what they tell of. */
export const streamingShown = z.strictObject({
  /** Each stream by WebSocket, and its twin of server-sent events after it. */
  paths: z.array(z.string()),
  heartbeat_s: z.int().positive(),
  bus: z.strictObject({
    kind: z.enum(['in_process', 'postgres']),
    /** `false`: events come by looking each second, and caps hold for each process alone. */
    ok: z.boolean(),
    reason: z.string().nullable(),
  }),
  /** Open streams of the tokens of a tier together. */
  connections: z.record(z.string(), z.int().nonnegative()),
  connections_of: z.enum(['all_processes', 'this_process']),
  /** How many streams each token of a tier may hold open. */
  limits_per_token: z.record(z.string(), z.int().positive()),
  /** The log of flags. `oldest_seq` can still be had; both are null where it was not read. */
  source: z.strictObject({
    kind: z.literal('flag_log'),
    ok: z.boolean(),
    newest_seq: z.int().nonnegative().nullable(),
    oldest_seq: z.int().positive().nullable(),
    reason: z.string().nullable(),
  }),
});

const served = z.strictObject({ access: z.string(), summary: z.string() });

export const healthRoute = plainRoute({
  name: 'health',
  surface: 'intelligence',
  method: 'GET',
  path: '/health',
  summary: 'Whether the service runs, its route table, and the age of each source.',
  access: 'open',
  isLight: true,
  responses: {
    200: z
      .strictObject({
        status: z.literal('ok'),
        service: z.literal('exhibit'),
        version: z.string(),
        simulated: z.boolean(),
        auth: z.enum(['bearer', 'anonymous']),
        model: z
          .strictObject({
            published: z.boolean(),
            version: z.string().nullable(),
            reason: z.string().nullable(),
            card: z.string().nullable(),
            withdrawn: z.string().nullable(),
          })
          .describe(
            'The rug model in force. `reason` says why there is none to score with, `card` where ' +
              'its card is answered, `withdrawn` why its flags were withdrawn by rule.',
          ),
        routes: z.record(z.string(), served),
        data_freshness: z.record(z.string(), sourceFreshness),
        providers: z
          .array(providerShown)
          .describe(
            'Each provider that this process asks, with the calls of its last day by hour. ' +
              '`calls` is null in an hour in which nobody asked it.',
          ),
        following: z
          .record(z.string(), followedChain)
          .nullable()
          .describe('By chain. Null where it could not be read, which is not that none is.'),
        ring: ring.nullable().describe('Null before it was first looked at after a start.'),
        ring_read_ahead: readAhead.nullable().describe('Null in a process that does no such work.'),
        anchoring,
        streaming: streamingShown.nullable().describe('Null where this process serves none.'),
      })
      .describe('The service answers. The age of a source says whether it can carry a negative.'),
  },
});

/** The age of one source as `/health` shows it. */
export type SourceFreshness = z.output<typeof sourceFreshness>;

/** The facts of `/health` about the streams. */
export type StreamingFacts = z.output<typeof streamingShown>;

/** The facts of the composition that `/health` shows. */
type HealthFacts = {
  readonly version: string;
  readonly simulated: boolean;
  readonly anonymous: boolean;
  readonly routes: readonly AnyRoute[];
  /** By the source's name; what is in memory answers while stores are down. */
  readonly freshness: () => Promise<{ readonly [source: string]: SourceFreshness }>;
  readonly followers: FollowReports['all'];
  readonly modelInForce: PublishedModels['inForce'];
  /** `null` where no stream is served. */
  readonly streaming: () => Promise<StreamingFacts | null>;
  readonly ring: RingHealth;
  readonly providers: () => readonly ProviderReport[];
  /** What keeps roots of the log from the contract, as this process knows it. */
  readonly anchoring: () => AnchoringReport;
};

/** The facts about the ring around the list. */
export type RingHealth = {
  readonly report: () => RingReport;
  /** Where reading ahead stands; `null` in a process that does not do it. */
  readonly filling: () => RingFillState | null;
};

/** @internal */
export function healthHandler(facts: HealthFacts): PlainHandler<typeof healthRoute> {
  const routes = Object.fromEntries(
    facts.routes.flatMap((route) => {
      const { access, summary } = route;
      const paths = 'eventsPath' in route ? [route.path, route.eventsPath] : [route.path];
      return paths.map((path) => [`${route.method} ${path}`, { access, summary }]);
    }),
  );
  const make = async () => {
    const [model, chains, streaming] = await Promise.all([
      modelOf(facts.modelInForce),
      following(facts.followers),
      facts.streaming(),
    ]);
    return healthRoute.reply(200, {
      status: 'ok',
      service: 'exhibit',
      version: facts.version,
      simulated: facts.simulated,
      auth: facts.anonymous ? 'anonymous' : 'bearer',
      model,
      routes,
      data_freshness: { ...(await facts.freshness()) },
      providers: providersOf(facts.providers()),
      following: chains,
      ring: ringOf(facts.ring.report()),
      ring_read_ahead: readAheadOf(facts.ring.filling()),
      anchoring: anchoringOf(facts.anchoring()),
      streaming,
    });
  };
  // Anybody may ask, as often as they like: it is made once a second, and shared.
  let made: { readonly at: number; readonly reply: ReturnType<typeof make> } | null = null;
  return async (_, { now }) => {
    const at = now();
    if (made === null || made.at !== at) made = { at, reply: make() };
    return made.reply;
  };
}

function providersOf(reports: readonly ProviderReport[]) {
  return reports.map(({ ports, hours, ...one }) => ({
    ...one,
    ports: [...ports],
    hours: [...hours],
  }));
}

function ringOf(report: RingReport) {
  if (report === null) return null;
  const { as_of, status } = report;
  if (!(status instanceof Read)) {
    return { state: 'unread' as const, reason: status.why.reason, as_of, chains: null };
  }
  const { chains, gaps } = status.value;
  const told = chains.map(({ chain, pairs, ...reach }) => {
    return [chain, { ...reach, counterparties: pairs }] as const;
  });
  const reason = chains.length === 0 ? NO_CHAIN : lackOf(gaps);
  const state = reason === null ? ('whole' as const) : ('not_whole' as const);
  return { state, reason, as_of, chains: Object.fromEntries(told) };
}

const NO_CHAIN = 'No chain is read here.';

function lackOf([first, ...more]: readonly RingGap[]): string | null {
  if (first === undefined) return null;
  const rest = more.length === 0 ? '' : `, and ${more.length} more`;
  return `${first.listed}: ${first.chain} ${first.kind} ${first.held}${rest}.`;
}

function readAheadOf(state: RingFillState | null) {
  if (state === null) return null;
  const { why, ...told } = state;
  return { ...told, reason: why === null ? null : why.reason };
}

function anchoringOf(report: AnchoringReport): z.output<typeof anchoring> {
  if (report.state !== 'looked') return { state: report.state, as_of: null, waits_for: null };
  const { at: as_of, whys } = report;
  return { state: whys.length === 0 ? 'sending' : 'waiting', as_of, waits_for: [...whys] };
}

/** The answer of a store if it comes soon; `null` otherwise, without waiting longer. */
async function soon<T>(asked: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ASK_MS_MAX);
  });
  const answer = await Promise.race([asked, late]);
  clearTimeout(timer);
  return answer;
}

/** The rug model in force, or why there is none to score with. */
async function modelOf(asked: PublishedModels['inForce']) {
  const reading = await soon(asked());
  if (reading?.checked === true) {
    const { version, withdrawn } = reading.value;
    const card = modelCardPath(version);
    const notice = withdrawn === null ? null : withdrawn.reason;
    return { published: true, version, reason: null, card, withdrawn: notice };
  }
  const { reason } = reading === null ? LATE : reading.why;
  return { published: false, version: null, reason, card: null, withdrawn: null };
}

async function following(asked: FollowReports['all']) {
  const reading = await soon(asked());
  if (reading === null || !reading.checked) return null;
  return Object.fromEntries(
    reading.value.map(({ chain, head_block, ...report }) => {
      const { state, reason, since, last_block } = report;
      const isKnown = head_block !== null && last_block !== null;
      const lag_blocks = isKnown ? Math.max(0, head_block - last_block) : null;
      return [chain, { state, reason, since, last_block, lag_blocks }];
    }),
  );
}

const ASK_MS_MAX = 1_000;
const LATE = why('timed_out', { what: 'The published rug model', limit: '1 s' });

export const statusPage = plainRoute({
  name: 'status_page',
  surface: 'web',
  method: 'GET',
  path: '/status',
  summary: 'How old each source is, and whether it can deny anything now.',
  access: 'open',
  isLight: true,
  responses: { 200: html() },
});

export type HealthView = z.output<(typeof healthRoute.responses)[200]>;

/** A source by its tag, in words. */
export type SourceWords = { readonly tag: string; readonly title: string; readonly says: string };

// The same as /health, for people.

/** @internal The page of the state. `now` is Unix seconds. */
export function statusHtml(
  facts: PageFacts,
  shown: HealthView,
  sources: readonly SourceWords[],
  now: number,
): string {
  const { streaming, following, ring } = shown;
  const titles = new Map(sources.map(({ tag, title }) => [tag, title]));
  return page({
    ...facts,
    title: 'Status',
    current: '/status',
    children: (
      <>
        <h1>Status</h1>
        <p class="lead">{leadOf(shown)}</p>
        <Sources ages={shown.data_freshness} sources={sources} now={now} />
        {shown.providers.length > 0 && (
          <>
            <h2 class="section">Who is asked</h2>
            <Providers providers={shown.providers} titles={titles} now={now} />
          </>
        )}
        <h2 class="section">Chains that are followed</h2>
        <Following following={following} now={now} />
        <h2 class="section">The ring around the list</h2>
        <Ring ring={ring} now={now} />
        <h2 class="section">The service</h2>
        <FactList
          rows={[
            ['Version', shown.version],
            [
              'Rug model',
              shown.model.version === null ? (
                (shown.model.reason ?? 'not told')
              ) : (
                <a href={modelPagePath(shown.model.version)}>{shown.model.version}</a>
              ),
            ],
            ...(shown.model.withdrawn === null
              ? []
              : [['Flags of the rug model', shown.model.withdrawn] as const]),
            ['Roots sent to a chain', anchoringText(shown.anchoring)],
            ['Stream of flags', streaming === null ? 'not served here' : streamText(streaming)],
          ]}
        />
        <p class="quiet">
          Drawn at <Moment at={now} />. As a machine reads it: <a href="/health">/health</a>
        </p>
      </>
    ),
  });
}

function leadOf({ data_freshness: ages }: HealthView): string {
  const states = Object.values(ages).map(({ state }) => state);
  const silent = states.filter((state) => !ASKED.includes(state)).length;
  const frozen = states.filter((state) => state === 'frozen').length;
  const still =
    frozen === 0
      ? ''
      : ` Frozen: ${countWords(frozen, 'source')}. Nothing is added there until the operator acts.`;
  if (silent === 0) {
    return `Each of ${states.length} sources can be asked and is within its age.${still}`;
  }
  return (
    `${silent} of ${states.length} sources cannot be asked now, or are past their age: what ` +
    `rests on them is answered as not checked.${still}`
  );
}

/** The states of sources that answer. */
const ASKED: readonly string[] = ['fresh', 'per_answer', 'frozen'];

const STATES: { readonly [S in HealthView['data_freshness'][string]['state']]: string } = {
  fresh: 'fresh',
  per_answer: 'dated by answer',
  stale: 'past its age',
  frozen: 'frozen',
  never_loaded: 'never loaded',
  unreadable: 'unreadable',
};

type SourcesProps = {
  ages: HealthView['data_freshness'];
  sources: readonly SourceWords[];
  now: number;
};

/** The sources that deny nothing now, those within their age, and folded those dated by answer. */
function Sources({ ages, sources, now }: SourcesProps) {
  const all = Object.entries(ages);
  const byAnswer = all.filter(([, { state }]) => state === 'per_answer');
  const held = all.filter(([, { state }]) => state === 'fresh');
  const others = all.filter((one) => !byAnswer.includes(one) && !held.includes(one));
  const table = (rows: typeof all, caption: string) => (
    <SourceTable ages={Object.fromEntries(rows)} sources={sources} now={now} caption={caption} />
  );
  return (
    <>
      {others.length > 0 && table(others, 'Silent, frozen or past their age')}
      {held.length > 0 && table(held, 'Held, and within their age')}
      {byAnswer.length > 0 && (
        <details>
          <summary>{countWords(byAnswer.length, 'source')} dated by each answer</summary>
          {table(byAnswer, 'Sources whose age each answer tells')}
        </details>
      )}
    </>
  );
}

function SourceTable({ ages, sources, now, caption }: SourcesProps & { caption: string }) {
  const words = new Map(sources.map((one) => [one.tag, one]));
  const titleOf = (tag: string) => {
    const known = words.get(tag);
    return known === undefined ? tag : known.title;
  };
  return (
    <Table
      caption={caption}
      look="lines"
      rows={Object.entries(ages)}
      columns={[
        { head: 'Source', cell: ([tag]) => <strong>{titleOf(tag)}</strong> },
        {
          head: 'State',
          cell: ([, { state, max_age_s }]) => (
            <span class={`state ${state}`}>
              {state === 'fresh' && max_age_s === null ? 'held' : STATES[state]}
            </span>
          ),
        },
        {
          head: 'As of',
          look: ([, { as_of }]) => (as_of === null ? 'blank' : ''),
          cell: ([, { as_of, max_age_s: most }]) =>
            as_of === null ? (
              '–'
            ) : (
              <>
                <Moment at={as_of} />{' '}
                <span class="quiet">
                  {ageText(now - as_of)}
                  {most !== null && `, may be ${ageText(most).replace(/ ago$/, '')} old`}
                </span>
              </>
            ),
        },
        {
          head: 'What it tells',
          cell: ([tag, { reason }]) => (
            <>
              {words.get(tag)?.says}
              {reason !== null && <span class="quiet"> {reason}</span>}
            </>
          ),
        },
      ]}
    />
  );
}

type FollowingProps = { following: HealthView['following']; now: number };

function Following({ following, now }: FollowingProps) {
  if (following === null) {
    return <p class="nothing unread">How chains are followed could not be read.</p>;
  }
  const chains = Object.entries(following);
  if (chains.length === 0) {
    return <p class="nothing">No chain is followed: history is read as it is asked for.</p>;
  }
  return (
    <Table
      caption="Chains, as their followers told last"
      rows={chains}
      columns={[
        { head: 'Chain', cell: ([chain]) => chain },
        {
          head: 'State',
          cell: ([, one]) =>
            `${one.state.replaceAll('_', ' ')}${one.reason === null ? '' : `: ${one.reason}`}`,
        },
        {
          head: 'Last block',
          cell: ([, one]) =>
            one.last_block === null ? 'not known' : one.last_block.toLocaleString('en'),
        },
        {
          head: 'Blocks behind',
          cell: ([, one]) =>
            one.lag_blocks === null ? 'not known' : one.lag_blocks.toLocaleString('en'),
        },
        { head: 'Since', cell: ([, one]) => ageText(now - one.since) },
      ]}
    />
  );
}

type RingProps = { ring: HealthView['ring']; now: number };

const RING_WORDS: { readonly [S in z.output<typeof ring>['state']]: string } = {
  whole: 'Whole: everybody who dealt with a listed address is held.',
  not_whole:
    'Not whole: the second hop of a walk is read address by address, and one that leaves a busy ' +
    'address out is not checked.',
  unread: 'Not read: whether everybody who dealt with a listed address is held is not known.',
};

function Ring({ ring, now }: RingProps) {
  if (ring === null) return <p class="nothing">It has not been looked at since the start.</p>;
  const { state, reason, chains, as_of } = ring;
  return (
    <>
      <p>
        {RING_WORDS[state]}{' '}
        <span class="quiet">
          {reason} Looked at {ageText(now - as_of)}.
        </span>
      </p>
      {chains !== null && Object.keys(chains).length > 0 && (
        <details>
          <summary>{countWords(Object.keys(chains).length, 'chain')}, one by one</summary>
          <Table
            caption="Listed addresses by chain"
            look="tight"
            rows={Object.entries(chains)}
            columns={[
              { head: 'Chain', cell: ([chain]) => chain, look: 'whole' },
              { head: 'State', cell: ([, one]) => one.state },
              {
                head: 'Held in full',
                cell: ([, { held_in_full: held, listed }]) =>
                  `${held.toLocaleString('en')} of ${listed.toLocaleString('en')}`,
              },
              {
                head: 'Counterparties',
                cell: ([, one]) => one.counterparties.toLocaleString('en'),
              },
            ]}
          />
        </details>
      )}
    </>
  );
}

const ANCHORING: { readonly [S in z.output<typeof anchoring>['state']]: string } = {
  off: 'off: it begins where the operator names a contract',
  elsewhere: 'not by this process: one that has the key tells of it',
  not_looked: 'not looked at: no turn of it has ended',
  sending: 'as they fall due',
  waiting: 'waiting',
};

function anchoringText({ state, waits_for }: z.output<typeof anchoring>): string {
  const whys = waits_for === null ? '' : waits_for.map(({ reason }) => reason).join(' ');
  return whys === '' ? ANCHORING[state] : `${ANCHORING[state]}. ${whys}`;
}

function streamText({ bus, source, connections }: NonNullable<HealthView['streaming']>): string {
  const open = Object.values(connections).reduce((sum, one) => sum + one, 0);
  const log = source.ok ? `newest event ${source.newest_seq}` : 'log not read';
  return `${open.toLocaleString('en')} open, bus ${bus.ok ? 'answers' : 'silent'}, ${log}`;
}
