import { z } from 'zod';
import { CHAIN_NAMES, type ChainName, parseChain } from '../../chain/chain.ts';
import { formatIsoTime } from '../../chain/time.ts';
import { Refusal } from '../../contract/refusals.ts';
import {
  position,
  type StreamHandler,
  type StreamMessage,
  standingIn,
  streamRoute,
} from '../../contract/stream.ts';
import { isoTime, prose, words } from '../../contract/wire.ts';
import type { FlagEvent, FlagEvents } from '../../ports/rug-flags.ts';
import { FlagFeed } from './feed.ts';

/** How many names of chains may be sent at once, and how long each may be. */
const CHAINS_MAX = 50;
const CHAIN_CHARS_MAX = 40;

const chain = z.enum(CHAIN_NAMES);
/** Chains that are told of, and the names that were sent and are no chain of ours. */
const chosen = { chains: z.array(chain), unknown_chains: z.array(words()) };
const asked = z.strictObject({
  chains: z.array(z.string().min(1).max(CHAIN_CHARS_MAX)).min(1).max(CHAINS_MAX),
});

const subject = {
  chain,
  /** The wallet that launched the token. */
  address: words(),
  token: words(),
  model_version: words(),
  simulated: z.boolean(),
};

export const flagStreamRoute = streamRoute({
  name: 'flag_stream',
  surface: 'intelligence',
  path: '/ws/flags',
  eventsPath: '/sse/flags',
  summary:
    'Launches that the rug model flags, by the wallet that made them, and flags whose ground is ' +
    'gone, as it happens.',
  access: 'bearer',
  query: z.strictObject({
    chains: z
      .string()
      .min(1)
      .max(CHAINS_MAX * CHAIN_CHARS_MAX)
      .describe('Names of chains, comma-separated, or `all`. Left out: every chain.')
      .optional(),
  }),
  welcome: z.strictObject(chosen),
  events: {
    flag: z.strictObject({
      ...subject,
      score: z.number().min(0).max(1),
      evidence: prose(),
      flagged_at: isoTime,
    }),
    retraction: z.strictObject({
      ...subject,
      retracts: position,
      reason: prose(),
      retracted_at: isoTime,
    }),
  },
  notices: { subscribed: z.strictObject(chosen) },
  asks: { subscribe: asked, unsubscribe: asked },
  refused: {},
});

/** What the stream needs: the log, and a call when something was appended to it. */
export type FlagStreamParts = {
  readonly flagEvents: Pick<FlagEvents, 'after'>;
  readonly onAppended: (call: () => void) => () => void;
};

/** How long an event may go unnoticed where the bus is silent. */
const POLL_MS = 1_000;
/** After this a reader may ask again whether the log can be read. */
const RETRY = { 'retry-after': '5' };
const ALL = 'all';

type FlagMessage = StreamMessage<'flag_stream'>;

/** @internal The handler of the stream. All its readers share one feed. */
export function flagStreamHandler({
  flagEvents: log,
  onAppended,
}: FlagStreamParts): StreamHandler<typeof flagStreamRoute> {
  const feed = new FlagFeed<FlagMessage>({
    log,
    write,
    writeGap: flagStreamRoute.gap,
    writeUnread: flagStreamRoute.unread,
    onAppended,
    pollMs: POLL_MS,
  });
  return async ({ query, since, signal }) => {
    const { chains } = query;
    const chosen = chainsIn(chains === undefined ? [ALL] : chains.split(','));
    const wanted = new Set(chosen.chains);
    feed.join(signal);
    const bounds = await feed.boundsFor(since);
    if ('why' in bounds) return new Refusal('overloaded', { error: bounds.why.reason }, RETRY);
    const standing = standingIn(bounds, since);
    return {
      welcome: flagStreamRoute.welcome({ ...standing, ...chosen }),
      messages: feed.after(standing.seq, (chain) => wanted.has(chain), signal),
      hear: (ask) => {
        const named = chainsIn(ask.chains);
        for (const chain of named.chains) {
          if (ask.type === 'subscribe') wanted.add(chain);
          else wanted.delete(chain);
        }
        return flagStreamRoute.notice('subscribed', {
          chains: CHAIN_NAMES.filter((chain) => wanted.has(chain)),
          unknown_chains: named.unknown_chains,
        });
      },
    };
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

function write(event: FlagEvent): FlagMessage {
  const { seq, kind, chain, address, token, model_version, simulated } = event;
  const subject = { chain, address, token, model_version, simulated };
  if (kind === 'retraction') {
    const { retracts, reason, retracted_at } = event;
    const at = formatIsoTime(retracted_at);
    return flagStreamRoute.event(kind, seq, { ...subject, retracts, reason, retracted_at: at });
  }
  const { score, evidence, flagged_at } = event;
  const at = formatIsoTime(flagged_at);
  return flagStreamRoute.event(kind, seq, { ...subject, score, evidence, flagged_at: at });
}
