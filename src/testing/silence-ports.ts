// Records the results of a handler's ports, and replays the handler with one of them spoiled. It
// wraps any ports. A new port is one row of a table here, and no code.

import type { Ports } from '../compose/list.ts';
import { tally } from '../evidence/measure.ts';
import {
  basis,
  decide,
  map,
  Part,
  type Partly,
  Read,
  Unread,
  weaken,
} from '../evidence/reading.ts';
import { type Why, why } from '../evidence/reasons.ts';

/** Every port that a declared route reads; what streams alone read denies nothing. */
export type SilencePorts = Omit<Ports, 'flagEvents'>;
export type PortName = keyof SilencePorts;

type PartIn<R> = R extends Part<infer T, never> ? T : never;
type InMap<R> = R extends ReadonlyMap<unknown, infer V> ? PartIn<V> : never;
type InRecord<R> = R extends Read<unknown, never> | Unread<never>
  ? never
  : R extends ReadonlyMap<unknown, unknown>
    ? never
    : { [K in keyof R]: PartIn<R[K]> }[keyof R];
type PartsOf<M> = M extends (...args: never) => Promise<infer R>
  ? PartIn<R> | InMap<R> | InRecord<R>
  : never;
type Paging<T> = { [M in keyof T as [PartsOf<T[M]>] extends [never] ? never : M]: Cut };

/**
 * The fields that a cut page loses, or (none named) a value that is a list. `null`: one fact, which
 * cannot be cut in two and only ages.
 */
type Cut = readonly string[] | null;

type PagingPort = {
  [P in PortName]: keyof Paging<SilencePorts[P]> extends never ? never : P;
}[PortName];

/** Every method that can answer in part: the types say which, and all of them are named. */
const PAGES: { readonly [P in PagingPort]: Paging<SilencePorts[P]> } = {
  launchCorpus: { lookUp: ['found', 'launchers'] },
  sanctionsList: { lookUp: ['found'], lookUpOn: ['found'], listed: ['addresses'] },
  transferHistory: { neighbourhoods: ['counterparties', 'degree'] },
  counterpartyRing: { meet: ['meetings'] },
  entityClusters: { clusterOf: [], coinJoinsOf: ['forms', 'newest'] },
  chainFacts: { of: null, setBy: null },
  issuerFreezes: { of: [] },
  tokenApprovals: { given: ['events'], left: null },
  labelChanges: { newest: [] },
  otherListChanges: { newest: [], imports: [] },
  sanctionsChanges: { newest: [], files: [] },
  bridgeArrivals: { lookUp: ['found'], paidTo: ['payments'] },
  contractCreations: { around: [] },
  entityTies: { tiedTo: ['ties'], coinJoinsOf: ['forms', 'newest'] },
  rugFlags: { inWindow: ['flags'] },
  screeningRecords: { newest: [] },
  watchlist: { list: [] },
  marketSeries: { read: ['rows'] },
};

/** The same of what pages alone rest on, by the names of `twins/members.ts`. */
const PAGES_OF_PAGES: { readonly [port: string]: { readonly [method: string]: Cut } } = {
  keys: { list: [] },
  accessLog: { list: [] },
  sessions: { list: [] },
};

/** Methods that only keep something: who reads it back is told whether it was kept. */
const KEEPS: { readonly [P in PortName]?: readonly (keyof SilencePorts[P])[] } = {
  entityTies: ['keep', 'settle', 'keepBlocks'],
  marketSeries: ['add'],
  traderAnalyses: ['ask'],
};

/** The name that readings and contracts use for each port, by the name that wires it. */
export type PortTags = { readonly [port: string]: string };

/** The contracts' names of ports that are made from another one. */
const MADE_OF: { readonly [P in PortName]?: string } = { entityTies: 'entity_clusters' };

/** The names under which contracts rest on a port. */
export function tagsOf(tags: PortTags, port: PortName): string[] {
  const made = MADE_OF[port];
  return made === undefined ? [tagOf(tags, port)] : [tagOf(tags, port), made];
}

/** The name that readings use for a port. */
export function tagOf(tags: PortTags, port: PortName): string {
  const tag = tags[port];
  if (tag === undefined) throw new Error(`silence: ${port} is handed over by no feature`);
  return tag;
}

/** Whether a port can answer in part. */
export function isPaged(port: PortName): boolean {
  return port in PAGES;
}

const CUTS: typeof PAGES_OF_PAGES = { ...PAGES, ...PAGES_OF_PAGES };

function cutsOf(port: PortName, method: string): Cut | undefined {
  return CUTS[port]?.[method];
}

function keeps(port: PortName, method: string): boolean {
  const kept: { readonly [port: string]: readonly string[] } = KEEPS;
  return kept[port]?.includes(method) === true;
}

/** The kinds of fault. Only paging results can be truncated or stale: the types say which. */
export type Fault = 'silent' | 'truncated' | 'stale';

/** One answer: its call by port, method, arguments and turn, and what can be done to it. */
export type PortAnswer = {
  readonly call: string;
  readonly port: PortName;
  /** The call alone, where it gave several answers: of a chain that falls silent none comes. */
  readonly together: string | null;
  readonly faults: readonly Fault[];
  /** Whether it stopped early by itself. */
  readonly isPart: boolean;
  /** Whether what was read is a fact that no older reading takes back. */
  readonly isConviction: () => boolean;
};

/** The fault of a result: it depends on the result alone, and is the same each time. */
export type Spoiler = (told: PortAnswer) => Fault | null;

/** An answer, and what was done to it. */
export type Spoiled = { readonly told: PortAnswer; readonly fault: Fault | null };

/** Limits so small that whatever there is lies behind them. */
export type Tightness = { readonly rowsMax?: number; readonly batchRowsMax?: number };

const SILENT: Why = why('store_unreadable', { what: 'A store', fault: 'a planted silence' });
const CUT: Why = why('timed_out', { what: 'The rest of a page', limit: 'a planted second' });
const OLD: Why = why('timed_out', { what: 'A fresher reading', limit: 'a planted second' });

/** Any reading. */
type AnyReading = Partly<unknown, never>;
/** A reading on its way: its port, its method, its call in words, and how its method pages. */
export type Passing = {
  readonly port: PortName;
  readonly method: string;
  /** Its name in a record of readings, else empty. */
  readonly field: string;
  readonly call: string;
  readonly pages: Cut | undefined;
};
type Take = (passing: Passing, reading: AnyReading) => AnyReading;

/** The ports with every reading passed through `take`: alone, in a map, a list or a record. */
export function throughPorts(ports: SilencePorts, take: Take, tight: Tightness = {}): SilencePorts {
  const names = Object.keys(ports) as PortName[];
  const passed = names.map((name) => [name, throughPort(name, ports[name], take, tight)]);
  return Object.fromEntries(passed) as SilencePorts;
}

type Method = (...args: readonly unknown[]) => unknown;

// A method is wrapped when a handler takes it: one request takes few of some hundred.
function throughPort(port: PortName, real: object, take: Take, tight: Tightness): object {
  return new Proxy(real, {
    get: (_, method) => {
      const held: unknown = Reflect.get(real, method);
      const isCall = typeof held === 'function' && typeof method === 'string';
      if (!isCall || keeps(port, method)) return held;
      return throughCall(port, method, (...args) => Reflect.apply(held, real, args), take, tight);
    },
  });
}

function throughCall(
  port: PortName,
  method: string,
  call: Method,
  take: Take,
  tight: Tightness,
): Method {
  const pages = cutsOf(port, method);
  return (...args) => {
    const answer = call(...args.map((one) => (isLimits(one) ? { ...one, ...tight } : one)));
    // A synchronous result used no source: it is a rule, and no reading.
    if (!(answer instanceof Promise)) return answer;
    return answer.then((told: unknown) =>
      through(told, args, (asked, field, reading) =>
        take({ port, method, field, call: `${port}.${method}${asked}`, pages }, reading),
      ),
    );
  };
}

function isLimits(one: unknown): one is object {
  return typeof one === 'object' && one !== null && 'rowsMax' in one;
}

function through(
  answer: unknown,
  args: readonly unknown[],
  take: (call: string, field: string, reading: AnyReading) => AnyReading,
): unknown {
  const asked = JSON.stringify(
    args.filter((one) => !(one instanceof AbortSignal || isLimits(one))),
    (_, one: unknown) => (typeof one === 'bigint' ? one.toString() : one),
  );
  if (isReading(answer)) return take(`(${asked})`, '', answer);
  if (answer instanceof Map) {
    const each = [...answer].map(([key, one]: [unknown, unknown]) => [
      key,
      isReading(one) ? take(`[${String(key)}]`, '', one) : one,
    ]);
    return new Map(each as [unknown, unknown][]);
  }
  if (typeof answer !== 'object' || answer === null) return answer;
  const entries = Object.entries(answer).map(([key, one]: [string, unknown]) => [
    key,
    isReading(one) ? take(`.${key}(${asked})`, key, one) : one,
  ]);
  return Object.fromEntries(entries);
}

function isReading(one: unknown): one is AnyReading {
  return one instanceof Read || one instanceof Part || one instanceof Unread;
}

/** The ports, spoiled and written down: `log` is filled as the handler asks. */
export function spoiledPorts(
  ports: SilencePorts,
  spoiler: Spoiler,
  log: Spoiled[] = [],
  tight: Tightness = {},
): SilencePorts {
  const turns = new Map<string, number>();
  const take: Take = (passing, reading) => {
    tally(turns, passing.call);
    const told = answerOf(passing, `${passing.call} #${turns.get(passing.call)}`, reading);
    const fault = spoiler(told);
    log.push({ told, fault });
    return fault === null ? reading : spoilt(reading, fault, passing.pages);
  };
  return throughPorts(ports, take, tight);
}

/** Ports of which some are silent whatever is asked. */
export function silencing(silent: ReadonlySet<PortName>): Spoiler {
  return ({ port }) => (silent.has(port) ? 'silent' : null);
}

function answerOf({ port, field, pages }: Passing, call: string, reading: AnyReading): PortAnswer {
  const together = field === '' ? null : call.replace(`.${field}(`, '(');
  const isPart = reading instanceof Part;
  const told = { port, call, together, isPart, isConviction: () => false };
  if (reading instanceof Unread) return { ...told, faults: [] };
  if (pages === undefined) return { ...told, faults: ['silent'] };
  const isConviction = () => {
    const value = decide(
      map(reading, (one) => convicts(one, pages)),
      (does) => does,
    );
    return value instanceof Read && value.value;
  };
  const truncated = pages === null ? [] : (['truncated'] as const);
  const stale = isPart ? [] : (['stale'] as const);
  return { ...told, faults: ['silent', ...truncated, ...stale], isConviction };
}

/**
 * Whether a value is what it was, however old: a fact that shows something, somebody found, and a
 * number of more than are listed (a hub cannot become less of one).
 */
function convicts(value: unknown, pages: Cut): boolean {
  if (pages === null) return isShown(value);
  if (Array.isArray(value)) return value.length > 0;
  if (pages.length === 0) return value !== null;
  const cut = pages.map((field) => fieldOf(value, field));
  if (cut.some((one) => one instanceof Map && one.size > 0)) return true;
  const listed = cut.flatMap((one) => (Array.isArray(one) ? [one.length] : []));
  return cut.some((one) => typeof one === 'number' && listed.some((length) => one > length));
}

/** A fact that shows something is what it was, however old; one that shows nothing denies it. */
function isShown(fact: unknown): boolean {
  if (typeof fact === 'object' && fact !== null && 'size' in fact) return isShown(fact.size);
  if (typeof fact === 'bigint') return fact > 0n;
  return fact === true || (typeof fact === 'number' && fact > 0) || typeof fact === 'string';
}

function fieldOf(value: unknown, field: string): unknown {
  return new Map<string, unknown>(Object.entries(Object(value))).get(field);
}

function spoilt(reading: AnyReading, fault: Fault, pages: Cut | undefined): AnyReading {
  if (fault === 'silent') return new Unread<string>(basis(reading).ports, SILENT);
  if (fault === 'stale' || pages === undefined || pages === null) return weaken(reading, OLD);
  return weaken(
    map(reading, (value) => emptyOf(value, pages)),
    CUT,
  );
}

/** A value without what these fields hold; without anything, where it is a list or a map itself. */
export function emptyOf(value: unknown, fields: readonly string[]): unknown {
  if (Array.isArray(value)) return [];
  if (value instanceof Map) return new Map();
  if (value instanceof Set) return new Set();
  if (typeof value === 'number') return 0;
  if (typeof value === 'bigint') return 0n;
  if (typeof value === 'boolean') return false;
  if (typeof value !== 'object' || value === null || fields.length === 0) return value;
  const rest = Object.entries(value).map(([name, one]: [string, unknown]) => [
    name,
    fields.includes(name) ? emptyOf(one, []) : one,
  ]);
  return Object.fromEntries(rest);
}
