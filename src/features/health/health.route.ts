// Answers GET /health from what the process knows of itself, what the followers of chains told, and
// the rug model in force; it asks nobody else.

import type { z } from 'zod';
import type { AnyRoute } from '../../contract/any-route.ts';
import type { PlainHandler } from '../../contract/route.ts';
import { Read } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { PublishedModels } from '../../ports/flags/published-model.ts';
import type { RingGap } from '../../ports/history/counterparty-ring.ts';
import type { FollowReports } from '../../ports/indexing/follow-reports.ts';
import type { RingFillState } from '../../ports/indexing/ring-filling.ts';
import type { RingReport } from '../../ports/indexing/ring-keeping.ts';
import type { TableMoveReport } from '../../ports/indexing/table-move.ts';
import { health, type sourceFreshness, type streamingShown } from './health.contract.ts';

/** The age of one source as `/health` shows it. */
export type SourceFreshness = z.output<typeof sourceFreshness>;

/** What `/health` shows of the streams. */
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
  readonly ring: RingFacts;
  readonly tableMove: () => TableMoveReport;
};

/** What is known of the ring around the list. */
export type RingFacts = {
  readonly report: () => RingReport;
  /** Where reading ahead stands; `null` in a process that does not do it. */
  readonly filling: () => RingFillState | null;
};

/** The handler of `/health`. */
export function healthHandler(facts: HealthFacts): PlainHandler<typeof health> {
  const routes = Object.fromEntries(
    facts.routes.map((route) => [
      `${route.method} ${route.path}`,
      { access: route.access, summary: route.summary },
    ]),
  );
  return async () => {
    const [model, chains, streaming] = await Promise.all([
      modelOf(facts.modelInForce),
      following(facts.followers),
      facts.streaming(),
    ]);
    return health.reply(200, {
      status: 'ok',
      service: 'exhibit',
      version: facts.version,
      simulated: facts.simulated,
      auth: facts.anonymous ? 'anonymous' : 'bearer',
      model,
      routes,
      data_freshness: { ...(await facts.freshness()) },
      following: chains,
      ring: ringOf(facts.ring.report()),
      ring_read_ahead: readAhead(facts.ring.filling()),
      tables_by_chain: tablesByChain(facts.tableMove()),
      streaming,
    });
  };
}

function ringOf(report: RingReport) {
  if (report === null) return null;
  const { as_of, status } = report;
  if (!(status instanceof Read)) {
    return { state: 'unread' as const, reason: status.why.reason, as_of, chains: null };
  }
  const { chains, gaps } = status.value;
  const told = chains.map(({ chain, listed, held_in_full, pairs }) => {
    return [chain, { listed, held_in_full, counterparties: pairs }] as const;
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

function readAhead(state: RingFillState | null) {
  if (state === null) return null;
  const { why, ...told } = state;
  return { ...told, reason: why === null ? null : why.reason };
}

function tablesByChain(report: TableMoveReport) {
  if (report === null) return null;
  const { as_of, told } = report;
  if (!told.checked) {
    const { reason } = told.why;
    return { state: 'held_up' as const, reason, as_of, rows: null, rows_moved: null };
  }
  const known = { reason: null, as_of };
  if (told.value.state === 'moved') {
    return { state: 'moved' as const, ...known, rows: null, rows_moved: null };
  }
  const { rows, rows_moved } = told.value;
  return { state: 'moving' as const, ...known, rows, rows_moved };
}

/** What a store answers soon; `null` where it takes longer, which is not waited for. */
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
    return { published: true, version: reading.value.version, reason: null };
  }
  const { reason } = reading === null ? LATE : reading.why;
  return { published: false, version: null, reason };
}

/** The followers by their chain. */
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
