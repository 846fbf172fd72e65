// Which fault of the simulated world stands for each kind of fault of each source, or why none can.

import { DERIVATIVES_FAULTS } from '../src/world/binance-api.ts';
import { CHAT_FAULTS } from '../src/world/chat-api.ts';
import { EXPLORER_FAULTS } from '../src/world/explorer-api.ts';
import { HYPERLIQUID_FAULTS } from '../src/world/hyperliquid-api.ts';
import { RPC_FAULTS } from '../src/world/json-rpc.ts';
import { PRICE_FAULTS } from '../src/world/price-api.ts';
import { PUBLISHER_FAULTS } from '../src/world/publisher.ts';
import { SOLANA_FAULTS } from '../src/world/solana-api.ts';
import { WIRE_FAULTS } from '../src/world/stand-in.ts';
import { TOKEN_RISK_FAULTS } from '../src/world/token-risk-api.ts';
import { VENUE_FAULTS } from '../src/world/venue-api.ts';
import { FEED_FAULTS } from '../src/world/venue-streams.ts';

/** The kinds, in the order of the table. */
export const KINDS = [
  'missing',
  'refused',
  'slow',
  'rate-limited',
  'cut',
  'empty',
  'stale',
  'wrong type',
  'wrong chain',
  'flapping',
  'page count',
] as const;
export type Kind = (typeof KINDS)[number];

/** A fault of the world, or a sentence that says why there is none. */
type Mapped = { readonly fault: string } | { readonly none: string };

/** Faults of a source, and which of them stands for each kind. */
export type FaultSource = {
  readonly name: string;
  readonly faults: readonly string[];
  readonly kinds: Readonly<Record<Kind, Mapped>>;
  /** A source that no route reads beside this one: its faults run in the same services. */
  readonly beside?: string;
};

const of = (fault: string): Mapped => ({ fault });
const ONE_ANSWER: Mapped = { none: 'one answer holds everything: it has no pages' };
const ON_THE_WIRE = {
  missing: of('missing'),
  refused: of('unreachable'),
  slow: of('timeout'),
  'rate-limited': of('rate-limited'),
  cut: of('cut'),
  empty: of('empty'),
  flapping: of('flapping'),
} as const;

function withWire(own: readonly string[]): readonly string[] {
  return [...own, ...WIRE_FAULTS.filter((one) => !own.includes(one))];
}

const DERIVATIVES: FaultSource['kinds'] = {
  ...ON_THE_WIRE,
  cut: of('cut-body'),
  stale: {
    none: 'a span is asked for, and rows outside it are refused as those of Hyperliquid are',
  },
  'wrong type': of('wrong-shape'),
  'wrong chain': of('other-instrument'),
  'page count': { none: 'spans are asked for by time, and the venue counts no pages' },
};
const STREAM: FaultSource['kinds'] = {
  missing: of('refused'),
  refused: of('refused'),
  slow: of('no-heartbeat'),
  'rate-limited': { none: 'the venue closes such a socket, which is `closes`' },
  cut: of('closes'),
  empty: of('silent'),
  stale: of('no-heartbeat'),
  'wrong type': of('garbage'),
  'wrong chain': of('no-acknowledgement'),
  flapping: of('closes'),
  'page count': { none: 'a stream has no pages' },
};

export const SOURCES: readonly FaultSource[] = [
  {
    name: 'publisher',
    beside: 'bybit-stream',
    faults: withWire(PUBLISHER_FAULTS),
    kinds: {
      ...ON_THE_WIRE,
      missing: of('not-found'),
      slow: of('slow'),
      'rate-limited': of('busy'),
      cut: of('cut-connection'),
      empty: of('empty-list'),
      stale: of('older'),
      'wrong type': of('renamed-root'),
      'wrong chain': { none: 'the list names the chain of each address itself' },
      'page count': of('shrunk'),
    },
  },
  {
    name: 'explorer',
    beside: 'hyperliquid',
    faults: withWire(EXPLORER_FAULTS),
    kinds: {
      ...ON_THE_WIRE,
      missing: of('refused-chain'),
      slow: of('slow'),
      cut: of('cut-connection'),
      empty: of('unknown-empty'),
      stale: of('lagging'),
      'wrong type': of('wrong-type'),
      'wrong chain': of('wrong-chain-id'),
      'page count': of('truncated-page'),
    },
  },
  {
    name: 'rpc',
    beside: 'binance',
    faults: withWire(RPC_FAULTS),
    kinds: {
      ...ON_THE_WIRE,
      slow: of('slow'),
      stale: of('lagging'),
      'wrong type': of('wrong-shape'),
      'wrong chain': of('wrong-chain-id'),
      'page count': of('range-too-large'),
    },
  },
  {
    name: 'solana',
    beside: 'bybit',
    faults: withWire(SOLANA_FAULTS),
    kinds: {
      ...ON_THE_WIRE,
      cut: of('cut-body'),
      stale: of('lagging'),
      'wrong type': of('broken-transactions'),
      'wrong chain': of('wrong-network'),
      'page count': of('forgets-transactions'),
    },
  },
  {
    name: 'prices',
    beside: 'token-risk',
    faults: withWire(PRICE_FAULTS),
    kinds: {
      ...ON_THE_WIRE,
      empty: of('forgets-all'),
      stale: of('stale'),
      'wrong type': of('wrong-shape'),
      'wrong chain': of('other-coin'),
      'page count': ONE_ANSWER,
    },
  },
  {
    name: 'venue',
    beside: 'binance-stream',
    faults: withWire(VENUE_FAULTS),
    kinds: {
      ...ON_THE_WIRE,
      cut: of('cut-body'),
      stale: { none: 'the venue dates no reading of a pool' },
      'wrong type': of('wrong-shape'),
      'wrong chain': of('other-token'),
      'page count': ONE_ANSWER,
    },
  },
  {
    name: 'hyperliquid',
    faults: withWire(HYPERLIQUID_FAULTS),
    kinds: {
      ...ON_THE_WIRE,
      cut: of('cut-body'),
      empty: of('null'),
      stale: of('other-time'),
      'wrong type': of('wrong-shape'),
      'wrong chain': of('other-asset'),
      'page count': of('newest-first'),
    },
  },
  {
    name: 'token-risk',
    faults: withWire(TOKEN_RISK_FAULTS),
    kinds: {
      ...ON_THE_WIRE,
      cut: of('cut-body'),
      stale: of('syncing'),
      'wrong type': of('wrong-shape'),
      'wrong chain': of('other-token'),
      'page count': ONE_ANSWER,
    },
  },
  { name: 'binance', faults: withWire(DERIVATIVES_FAULTS), kinds: DERIVATIVES },
  { name: 'binance-stream', faults: FEED_FAULTS, kinds: STREAM },
  { name: 'bybit', faults: withWire(DERIVATIVES_FAULTS), kinds: DERIVATIVES },
  { name: 'bybit-stream', faults: FEED_FAULTS, kinds: STREAM },
  {
    name: 'chats',
    faults: withWire(CHAT_FAULTS),
    kinds: {
      ...ON_THE_WIRE,
      cut: of('closes'),
      stale: { none: 'a chat tells nothing that could be old' },
      'wrong type': of('html'),
      'wrong chain': of('moved'),
      'page count': ONE_ANSWER,
    },
  },
];

/** The kinds that a fault of a source stands for. */
export function kindsOf({ kinds }: FaultSource, fault: string): readonly Kind[] {
  return KINDS.filter((kind) => {
    const mapped = kinds[kind];
    return 'fault' in mapped && mapped.fault === fault;
  });
}

/** Where the table names a fault that its source does not have. */
export function misnamed(): string[] {
  return SOURCES.flatMap(({ name, faults, kinds }) =>
    KINDS.flatMap((kind) => {
      const mapped = kinds[kind];
      return 'fault' in mapped && !faults.includes(mapped.fault) ? [`${name}:${mapped.fault}`] : [];
    }),
  );
}

/** A fault of a source, with the kinds that it stands for. */
export type NamedFault = {
  readonly source: string;
  readonly fault: string;
  readonly kinds: readonly Kind[];
};

/**
 * The faults, by the services in which they run: one, or two of sources that no route joins. The
 * sources take turns, so that a run that is cut short has met each of them.
 */
export function rounds(isWanted: (one: NamedFault) => boolean): NamedFault[][] {
  const faultsOf = new Map(
    SOURCES.map((source) => {
      const all = source.faults.map((fault) => ({
        source: source.name,
        fault,
        kinds: kindsOf(source, fault),
      }));
      return [source.name, all.filter(isWanted)] as const;
    }),
  );
  const riders = new Set(SOURCES.flatMap(({ beside }) => beside ?? []));
  const services = SOURCES.filter(({ name }) => !riders.has(name)).flatMap(({ name, beside }) => {
    const own = faultsOf.get(name) ?? [];
    const other = (beside === undefined ? undefined : faultsOf.get(beside)) ?? [];
    return Array.from({ length: Math.max(own.length, other.length) }, (_, turn) => {
      return { turn, faults: [own[turn], other[turn]].filter((one) => one !== undefined) };
    });
  });
  return services.sort((a, b) => a.turn - b.turn).map(({ faults }) => faults);
}
