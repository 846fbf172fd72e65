// Makes the requests of a declared route in a world, by the names of its fields. A field that it
// cannot fill is an error, so that no route is left out.

import { z } from 'zod';
import { parseAddress } from '../chain/address.ts';
import type { AnyEvidenceRoute, AnyPlainRoute } from '../contract/route.ts';
import { defOf } from '../contract/writer.ts';
import { evm } from './addresses.ts';
import type { World } from './planted.ts';
import { isRecord } from './silence-answer.ts';
import { PLANTED_CALL_DAY } from './twins/emitted-calls.ts';
import { KEPT_VERSION } from './twins/rug-flags.ts';
import { RECORD_ID } from './twins/screening.ts';
import { SIGNAL_ID } from './twins/signals.ts';

/** A route that the check can ask. */
export type SilenceRoute = AnyEvidenceRoute | AnyPlainRoute;

/** Routes of the process and of keys. */
const OF_NO_ADDRESS = ['health', 'usage', 'leaked_key'];

/** Whether a route may be about an address; those of a member's chats are not. */
export function isOfAddresses({ name, surface }: SilenceRoute): boolean {
  return !OF_NO_ADDRESS.includes(name) && surface !== 'integrations';
}

/** One question: its input as the handler takes it, and what it is about. */
export type Ask = {
  readonly name: string;
  readonly input: { readonly params: unknown; readonly query: unknown; readonly body: unknown };
  readonly addresses: readonly string[];
  /** The day asked about, `null` for today. */
  readonly on: string | null;
  /** Which other answer of the route is asked for; `null`: the one that it gives by itself. */
  readonly variant: string | null;
  /** The chain that was named, `null` for the one that a route takes by itself. */
  readonly chain: string | null;
};

type Fill = Pick<Ask, 'addresses' | 'on' | 'chain' | 'variant'>;

/** The list that the backtest has. */
const LISTED = 'filters';

/** The values of a field by its name; `undefined` leaves it out. */
const FIELDS: { readonly [field: string]: (fill: Fill) => unknown } = {
  address: ({ addresses }) => addresses[0],
  addresses: ({ addresses }) => addresses,
  on: ({ on }) => (on === null ? undefined : on),
  chain: ({ chain }) => (chain === null ? undefined : chain),
  // Somebody whom no world holds, in the form of an address of the same kind.
  explain: ({ addresses: [address] }) =>
    address !== undefined && parseAddress(address)?.kind === 'evm' ? evm('third') : undefined,
  // All of them, so that a denial rests on every port that a field names.
  tables: () => undefined,
  // Pages: the first, of the size that a route takes by itself.
  before: () => undefined,
  after: () => undefined,
  since: () => undefined,
  // It opens a route, and is no question.
  token: () => undefined,
  // Of every list; of calls, the listed filters too.
  list: ({ variant }) => (variant === LISTED ? LISTED : undefined),
  // Spans of days: all of them.
  from: () => undefined,
  to: () => undefined,
  limit: () => undefined,
  // All of an analysis.
  mode: () => undefined,
  partition: () => undefined,
  // Words: none, so that all that is about the address is found.
  q: () => undefined,
  // A record that is kept of whoever asks; of signals, the one that a world may hold.
  id: () => RECORD_ID,
  // Pages of the feed: the first, of the target that is asked about.
  cursor: () => undefined,
  target: ({ addresses }) => addresses[0],
  // Every window of the leaderboard of providers.
  window: () => undefined,
  // A filter of calls: none, so that each of them is kept; the dates, and the day of a call.
  kinds: () => undefined,
  asset: () => undefined,
  direction: () => undefined,
  horizon_h: () => undefined,
  days: () => undefined,
  cost_bps: () => undefined,
  min_conviction: () => undefined,
  trials: () => undefined,
  date: ({ variant }) => (variant === null ? undefined : variant),
  // A leaf, and the log and the tile that hold it.
  leaf: () => '0',
  log: () => '1',
  tile: () => '0/000.p/1',
  // A model that was published.
  version: () => KEPT_VERSION,
  // A scan asks all of its sections by itself.
  sections: () => undefined,
  pair: () => 'BTC',
  rule: () => 'kind in (funding, liq) and not funding > 0.05 or exchange = "A"',
};

/** The chain of a path, if the request is not about another one. */
const PATH_CHAIN = 'ethereum';

/** Every question that a world holds for a route. */
export function asksOf(route: SilenceRoute, world: World): Ask[] {
  const fields = fieldsOf(route);
  const alone = [...new Set(world.subjects)].filter((one) => takes(route, one)).map((one) => [one]);
  const takesList = fields.has('addresses');
  const each = takesList && world.subjects.length > 1 ? [world.subjects, ...alone] : alone;
  const days = fields.has('on') ? [null, ...world.days] : [null];
  // A chain beside sections is that of one section: its own route is asked for each. One in a path
  // is always named, and facts are of that chain.
  const inPath = isRecord(route.params.shape) && Object.hasOwn(route.params.shape, 'chain');
  const chain = fields.has('sections') || inPath ? undefined : fields.get('chain');
  // Every chain that can be named is named where nothing is held; elsewhere facts are of one.
  const chains = [null, ...(chain === undefined || !world.empty ? [] : wordsOf(chain))];
  return days.flatMap((on) =>
    each.flatMap((addresses) =>
      chains.flatMap((one) =>
        variantsOf(fields).map((variant) => askOf(route, { addresses, on, chain: one, variant })),
      ),
    ),
  );
}

/** Whether a route takes an address of that form at all: what its declaration refuses is a 400. */
function takes({ params: { shape } }: SilenceRoute, address: string): boolean {
  if (!isRecord(shape) || !(shape['address'] instanceof z.ZodType)) return true;
  return shape['address'].safeParse(address).success;
}

/** What a route is asked for: what it answers by itself, and its other answers. */
function variantsOf(fields: ReadonlyMap<string, z.ZodType>): readonly (string | null)[] {
  if (fields.has('date')) return [null, PLANTED_CALL_DAY];
  return fields.has('list') && fields.has('trials') ? [null, LISTED] : [null];
}

function askOf(route: SilenceRoute, fill: Fill): Ask {
  const { addresses, on, chain, variant } = fill;
  const named = { ...fill, chain: fill.chain === null ? PATH_CHAIN : fill.chain };
  const params = fillInput(route.params.shape, named, route.name);
  const query = fillInput(route.query.shape, fill, route.name);
  const shape = bodyShape(route);
  const body = shape === undefined ? null : fillInput(shape, fill, route.name);
  const about = addresses.length === 1 ? addresses[0] : `${addresses.length} addresses`;
  const input = {
    params: route.params.parse(params),
    query: route.query.parse(query),
    body: route.body === null ? undefined : route.body.parse(body),
  };
  const others = [on === null ? '' : ` on ${on}`, variant === null ? '' : ` as ${variant}`];
  const name = `${about}${others.join('')}${chain === null ? '' : ` on ${chain}`}`;
  return { ...fill, name, input };
}

/** The fields of a route's body, also of one that may be left out. */
function bodyShape({ body }: SilenceRoute) {
  if (body === null) return undefined;
  const { shape, innerType } = defOf(body);
  return innerType === undefined ? shape : defOf(innerType).shape;
}

function fieldsOf(route: SilenceRoute): Map<string, z.ZodType> {
  const shapes = [route.params.shape, route.query.shape, bodyShape(route)];
  return new Map(
    shapes.flatMap((shape) => (isRecord(shape) ? Object.entries(shape) : [])) as [
      string,
      z.ZodType,
    ][],
  );
}

/** The words that a closed set takes, also inside what may be left out. */
function wordsOf(schema: z.ZodType): string[] {
  const { type, innerType, entries } = defOf(schema) as ReturnType<typeof defOf> & {
    readonly entries?: { readonly [word: string]: string };
  };
  if (innerType !== undefined) return wordsOf(innerType);
  if (type !== 'enum' || entries === undefined) {
    throw new Error('silence: a chain is asked for, and not as one of a closed set');
  }
  return Object.values(entries);
}

function isOfSignals(route: string): boolean {
  return route.startsWith('signal');
}

function fillInput(shape: object, fill: Fill, route: string): { [field: string]: unknown } {
  const values: { [field: string]: unknown } = {};
  for (const name of Object.keys(shape)) {
    const sample = FIELDS[name];
    if (sample === undefined)
      throw new Error(`silence: ${route} asks for ${name}: how to fill it? Add it to FIELDS.`);
    const value = name === 'id' && isOfSignals(route) ? SIGNAL_ID : sample(fill);
    if (value !== undefined) values[name] = value;
  }
  return values;
}
