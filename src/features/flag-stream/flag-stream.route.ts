import { z } from 'zod';
import { CHAIN_NAMES, type ChainName, parseChain } from '../../chain/chain.ts';
import { formatIsoTime } from '../../chain/time.ts';
import { Refusal } from '../../contract/refusals.ts';
import {
  type AnyStreamRoute,
  position,
  type StreamHandler,
  type StreamMessage,
  type StreamSource,
  streamRoute,
} from '../../contract/stream.ts';
import { shareLogs } from '../../contract/stream-log.ts';
import { isoTime, prose, words } from '../../contract/wire.ts';
import { map } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import {
  DEPLOYER_HISTORIES,
  FLAG_EVENTS_KEPT,
  type FlagEvent,
  type FlagEvents,
} from '../../ports/rug-flags.ts';
import { modelCardPath, SCORE_SENTENCE } from '../../ports/rug-model.ts';

/** How many names of chains may be sent at once, and how long each may be. */
const CHAINS_MAX = 50;
const CHAIN_CHARS_MAX = 40;

const chain = z.enum(CHAIN_NAMES);
/** Chains that are told of, and the names that were sent and are no chain of ours. */
const chosen = { chains: z.array(chain), unknown_chains: z.array(words()) };
/** Quiet says nothing where this is a reason. */
const unwatched = prose()
  .nullable()
  .describe('Why launches of the last 24 hours may have gone unseen; null: all were watched.');
const asked = z.strictObject({
  chains: z.array(z.string().min(1).max(CHAIN_CHARS_MAX)).min(1).max(CHAINS_MAX),
});

const model = {
  model_version: words(),
  /** Where the card of that version is answered. */
  model_card: words(),
  simulated: z.boolean(),
};
const subject = {
  chain,
  /** The wallet that launched the token. */
  address: words(),
  token: words(),
  ...model,
};

/** A stream of flags under a name and paths of its own. */
function flagsRoute<const N extends string>(
  of: Pick<AnyStreamRoute, 'surface' | 'path' | 'eventsPath' | 'access' | 'refusals'> & {
    readonly name: N;
  },
) {
  return streamRoute({
    ...of,
    family: 'Flags',
    summary:
      'Launches that the rug model flags, by the wallet that made them, and flags whose ground ' +
      'is gone, as it happens.',
    query: z.strictObject({
      chains: z
        .string()
        .min(1)
        .max(CHAINS_MAX * CHAIN_CHARS_MAX)
        .describe('Names of chains, comma-separated, or `all`. Left out: every chain.')
        .optional(),
    }),
    welcome: z.strictObject({ ...chosen, unwatched }),
    events: {
      flag: z.strictObject({
        ...subject,
        score: z.number().min(0).max(1).describe(SCORE_SENTENCE),
        evidence: prose(),
        deployer_history: z
          .enum(DEPLOYER_HISTORIES)
          .nullable()
          .describe(
            'Whether the fate of an earlier launch of the deployer was known: of `none` the ' +
              'score rests on the launch itself. Null of what an earlier version told.',
          ),
        flagged_at: isoTime,
      }),
      retraction: z.strictObject({
        ...subject,
        retracts: position,
        reason: prose(),
        retracted_at: isoTime,
      }),
      /** All flags of a model are withdrawn; those that stand are taken back after it. */
      withdrawal: z.strictObject({ ...model, reason: prose(), withdrawn_at: isoTime }),
    },
    notices: {
      subscribed: z.strictObject(chosen),
      window: z.strictObject({ unwatched }).describe('What the welcome says of it has changed.'),
    },
    asks: { subscribe: asked, unsubscribe: asked },
    refused: {},
  });
}

type FlagsRoute<N extends string> = ReturnType<typeof flagsRoute<N>>;

export const flagStreamRoute = flagsRoute({
  name: 'flag_stream',
  surface: 'intelligence',
  path: '/ws/flags',
  eventsPath: '/sse/flags',
  access: 'bearer',
});

/** The same for browsers that are signed in, whose session opens it. */
export const memberFlags = flagsRoute({
  name: 'member_flags',
  surface: 'web',
  path: '/leaderboard/ws',
  eventsPath: '/leaderboard/events',
  access: 'session',
  refusals: ['foreign_form'],
});

/** The parts of the stream: the log, and a call after each append. */
export type FlagStreamParts = {
  readonly flagEvents: Pick<FlagEvents, 'after'>;
  readonly onAppended: (call: () => void) => () => void;
  /** Why launches of the last 24 hours may have gone unseen; `null`: all were watched. */
  readonly unwatched: () => Promise<string | null>;
  /** How often that is looked at; left out, every half minute. */
  readonly watchEachMs?: number;
};

/** How long an event may go unnoticed where the bus is silent. */
const POLL_MS = 1_000;
/** How often it is looked whether launches are watched. */
const WATCH_EACH_MS = 30_000;
/** Readings of the log that may fail one after another before its streams end. */
const SILENT_READINGS_MAX = 10;
const ALL = 'all';

/** @internal The handler of a stream. All that can be had again is held once for its readers. */
export function flagStreamHandler<N extends string>(
  route: FlagsRoute<N>,
  { flagEvents, onAppended, unwatched, watchEachMs = WATCH_EACH_MS }: FlagStreamParts,
): StreamHandler<FlagsRoute<N>> {
  const joinWatch = shareWatch(unwatched, watchEachMs);
  const openLog = shareLogs({
    route,
    after: async (_, seq) =>
      map(await flagEvents.after(seq), ({ events, ...ends }) => ({
        ...ends,
        entries: events.map((event) => {
          const of = event.kind === 'withdrawal' ? null : event.chain;
          return { of, message: write(route, event) };
        }),
      })),
    heldMax: FLAG_EVENTS_KEPT.eventsMax,
    readsForEach: false,
    onAppended,
    pollMs: POLL_MS,
    silentReadingsMax: SILENT_READINGS_MAX,
  });
  return async ({ query, since, signal }) => {
    const { chains } = query;
    const chosen = chainsIn(chains === undefined ? [ALL] : chains.split(','));
    const wanted = new Set(chosen.chains);
    const log = await openLog('flags', { since, signal }, (chain) => {
      return chain === null || wanted.has(chain);
    });
    if (log instanceof Refusal) return log;
    const watch = await joinWatch(signal);
    return {
      welcome: route.welcome({
        ...log.standing,
        ...chosen,
        unwatched: watch.unwatched(),
      }),
      messages: withWatch(route, log.messages, watch),
      hear: (ask) => {
        const named = chainsIn(ask.chains);
        for (const chain of named.chains) {
          if (ask.type === 'subscribe') wanted.add(chain);
          else wanted.delete(chain);
        }
        return route.notice('subscribed', {
          chains: CHAIN_NAMES.filter((chain) => {
            return chain === null || wanted.has(chain);
          }),
          unknown_chains: named.unknown_chains,
        });
      },
    };
  };
}

const FAULT = { what: 'The watch over launches', fault: 'a fault of the service' };

/** The watch as all readers of a process share it: what it says now, and a call at each change. */
type SharedWatch = {
  readonly unwatched: () => string | null;
  readonly onChange: (call: () => void) => void;
};

/** Looks at the watch while anybody reads, once for all of them. */
function shareWatch(look: () => Promise<string | null>, eachMs: number) {
  const calls = new Set<() => void>();
  let readers = 0;
  let held: string | null = null;
  let looking: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  const lookOnce = async () => {
    const before = held;
    try {
      held = await look();
    } catch {
      held = why('store_unreadable', FAULT).reason;
    }
    if (held !== before) for (const call of calls) call();
  };
  const lookAgain = () => {
    looking = lookOnce();
  };
  return async (signal: AbortSignal): Promise<SharedWatch> => {
    readers += 1;
    if (readers === 1) {
      lookAgain();
      timer = setInterval(lookAgain, eachMs);
    }
    const leave = () => {
      readers -= 1;
      if (readers === 0) clearInterval(timer);
    };
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave);
    await looking;
    return {
      unwatched: () => held,
      onChange: (call) => {
        calls.add(call);
        signal.addEventListener('abort', () => calls.delete(call));
      },
    };
  };
}

/** The messages of a log, with what the watch says at each change. */
function withWatch<N extends string>(
  route: FlagsRoute<N>,
  messages: StreamSource<StreamMessage<N>>,
  watch: SharedWatch,
): StreamSource<StreamMessage<N>> {
  let told = watch.unwatched();
  return {
    next: () => {
      const unwatched = watch.unwatched();
      if (unwatched === told) return messages.next();
      told = unwatched;
      return route.notice('window', { unwatched });
    },
    onMore: (call) => {
      messages.onMore(call);
      watch.onChange(call);
    },
  };
}

type Chosen = { readonly chains: ChainName[]; readonly unknown_chains: string[] };

/** The chains that names mean, in the order in which answers list them, and the other names. */
function chainsIn(names: readonly string[]): Chosen {
  const asked = new Set(names.map((name) => name.trim()));
  const isAll = asked.delete(ALL);
  return {
    chains: CHAIN_NAMES.filter((chain) => isAll || asked.has(chain)),
    unknown_chains: [...asked].filter((name) => parseChain(name) === null),
  };
}

function write<N extends string>(route: FlagsRoute<N>, event: FlagEvent): StreamMessage<N> {
  const { seq, kind, model_version, simulated } = event;
  const model = { model_version, model_card: modelCardPath(model_version), simulated };
  if (kind === 'withdrawal') {
    const at = formatIsoTime(event.withdrawn_at);
    return route.event(kind, seq, { ...model, reason: event.reason, withdrawn_at: at });
  }
  const { chain, address, token } = event;
  const subject = { chain, address, token, ...model };
  if (kind === 'retraction') {
    const { retracts, reason, retracted_at } = event;
    const at = formatIsoTime(retracted_at);
    return route.event(kind, seq, { ...subject, retracts, reason, retracted_at: at });
  }
  const { score, evidence, deployer_history, flagged_at } = event;
  const at = formatIsoTime(flagged_at);
  const told = { ...subject, score, evidence, deployer_history, flagged_at: at };
  return route.event(kind, seq, told);
}
