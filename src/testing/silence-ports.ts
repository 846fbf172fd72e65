// Answers one question: what was a handler told, and what if one of those answers had not come.
// It stands between a handler and its ports, writes each answer down, and can spoil any of them.

import { silentPorts } from '../adapters/silent.ts';
import { tally } from '../evidence/measure.ts';
import { decided, map, Part, type Partly, Read, Unread, weaken } from '../evidence/reading.ts';
import { type Why, why } from '../evidence/reasons.ts';
import type { ListLookUp } from '../ports/sanctions-list.ts';
import type { Neighbourhood, NeighbourhoodLimits } from '../ports/transfer-history.ts';
import type { EvidencePorts } from '../routes/handlers.ts';

/** The ports by the name that wires them, with the name that readings and contracts use. */
export const PORT_TAGS = {
  sanctionsList: 'sanctions_list',
  exchangeLabels: 'exchange_labels',
  launchCorpus: 'launch_corpus',
  transferHistory: 'transfer_history',
} as const satisfies { readonly [P in keyof EvidencePorts]: string };

export type PortName = keyof EvidencePorts;
export const PORT_NAMES: readonly PortName[] = [
  'sanctionsList',
  'exchangeLabels',
  'launchCorpus',
  'transferHistory',
];
/** The ports that can answer in part. */
export const PAGED_PORTS: readonly PortName[] = ['sanctionsList', 'transferHistory'];

/** How an answer is spoiled. Only what pages can be truncated or stale: the types say which. */
export type Fault = 'silent' | 'truncated' | 'stale';

/** One answer: its call by port, method, arguments and turn, and what can be done to it. */
export type Told = {
  readonly call: string;
  readonly port: PortName;
  readonly faults: readonly Fault[];
  /** Whether what was read is a fact that no older reading takes back. */
  readonly convicts: boolean;
};

/** What is to be done to an answer. */
export type Spoiler = (told: Told) => Fault | null;

const SILENT: Why = why('store_unreadable', { what: 'A store', fault: 'a planted silence' });
const CUT: Why = why('timed_out', { what: 'The rest of a page', limit: 'a planted second' });
const OLD: Why = why('timed_out', { what: 'A fresher reading', limit: 'a planted second' });

/** How the answers of a port that pages are spoiled. */
type Paging<T> = {
  /** What is left of a value where its page was cut. */
  readonly emptied: (value: T) => T;
  readonly convicts: (value: T) => boolean;
};

const LIST: Paging<ListLookUp> = {
  emptied: (look) => ({ ...look, found: new Map() }),
  convicts: ({ found }) => found.size > 0,
};
const HISTORY: Paging<Neighbourhood> = {
  emptied: (known) => ({ ...known, degree: 0, counterparties: [] }),
  // A hub, whose counterparties are left out: it cannot become less of one.
  convicts: ({ degree, counterparties }) => degree > counterparties.length,
};

function toldOf(port: PortName, call: string, reading: Partly<unknown, never>): Told {
  const told = { port, call, convicts: false };
  return { ...told, faults: reading instanceof Unread ? [] : ['silent'] };
}

function toldOfPage<T>(
  port: PortName,
  call: string,
  reading: Partly<T, never>,
  paging: Paging<T>,
): Told {
  const told = toldOf(port, call, reading);
  if (told.faults.length === 0) return told;
  const convicts = map(reading, paging.convicts);
  const known = decided(convicts, (does) => does);
  const paged =
    reading instanceof Part ? (['truncated'] as const) : (['truncated', 'stale'] as const);
  return {
    ...told,
    faults: [...told.faults, ...paged],
    convicts: known instanceof Read && known.value,
  };
}

function spoilt<T, P extends string>(
  reading: Partly<T, P>,
  fault: Fault | null,
  paging: Paging<T>,
): Partly<T, P> {
  if (fault === null) return reading;
  if (fault === 'silent') return silenced(reading);
  return fault === 'stale' ? weaken(reading, OLD) : weaken(map(reading, paging.emptied), CUT);
}

/** The reading as one that was not read, of the same ports. */
function silenced<P extends string>(reading: Partly<unknown, P>): Unread<P> {
  const nothing = decided(weaken(reading, SILENT), () => false);
  if (nothing instanceof Read) throw new Error('silence: a weakened reading is decided');
  return nothing;
}

/** Limits so small that whatever there is lies behind them. */
export type Tightness = Partial<Pick<NeighbourhoodLimits, 'rowsMax' | 'batchRowsMax'>>;

/** The ports, spoiled and written down: `log` is filled as the handler asks. */
export function spoiledPorts(
  ports: EvidencePorts,
  spoiler: Spoiler,
  log: Told[] = [],
  tight: Tightness = {},
): EvidencePorts {
  const turns = new Map<string, number>();
  const callOf = (method: string, args: unknown) => {
    const text = `${method}(${JSON.stringify(args)})`;
    tally(turns, text);
    return `${text} #${turns.get(text)}`;
  };
  const faultOn = (told: Told) => {
    log.push(told);
    return spoiler(told);
  };
  const { sanctionsList, exchangeLabels, launchCorpus, transferHistory } = ports;
  return {
    sanctionsList: {
      lookUp: async (addresses) => {
        const call = callOf('sanctionsList.lookUp', addresses);
        const reading = await sanctionsList.lookUp(addresses);
        return spoilt(reading, faultOn(toldOfPage('sanctionsList', call, reading, LIST)), LIST);
      },
      lookUpOn: async (on, addresses) => {
        const call = callOf('sanctionsList.lookUpOn', [on, addresses]);
        const reading = await sanctionsList.lookUpOn(on, addresses);
        return spoilt(reading, faultOn(toldOfPage('sanctionsList', call, reading, LIST)), LIST);
      },
    },
    exchangeLabels: {
      lookUp: async (addresses) => {
        const call = callOf('exchangeLabels.lookUp', addresses);
        const reading = await exchangeLabels.lookUp(addresses);
        const fault = faultOn(toldOf('exchangeLabels', call, reading));
        return fault === null ? reading : silenced(reading);
      },
    },
    launchCorpus: {
      lookUp: async (wallets) => {
        const call = callOf('launchCorpus.lookUp', wallets);
        const reading = await launchCorpus.lookUp(wallets);
        const fault = faultOn(toldOf('launchCorpus', call, reading));
        return fault === null ? reading : silenced(reading);
      },
    },
    transferHistory: {
      chainsRead: async () => {
        const call = callOf('transferHistory.chainsRead', []);
        const reading = await transferHistory.chainsRead();
        const fault = faultOn(toldOf('transferHistory', call, reading));
        return fault === null ? reading : silenced(reading);
      },
      neighbourhoods: async (addresses, limits) => {
        const readings = await transferHistory.neighbourhoods(addresses, { ...limits, ...tight });
        const each = [...readings].map(([address, reading]) => {
          const call = callOf('transferHistory.neighbourhoods', address);
          const told = toldOfPage('transferHistory', call, reading, HISTORY);
          return [address, spoilt(reading, faultOn(told), HISTORY)] as const;
        });
        return new Map(each);
      },
    },
  };
}

/** Ports of which some are silent whatever is asked. */
export function partlySilent(ports: EvidencePorts, silent: ReadonlySet<PortName>): EvidencePorts {
  const nothing = silentPorts(SILENT);
  const of = <P extends PortName>(name: P): EvidencePorts[P] =>
    (silent.has(name) ? nothing : ports)[name];
  return {
    sanctionsList: of('sanctionsList'),
    exchangeLabels: of('exchangeLabels'),
    launchCorpus: of('launchCorpus'),
    transferHistory: of('transferHistory'),
  };
}
