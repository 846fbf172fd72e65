// Answers one question: what can a declared route be asked in a world.
// By the names of its fields: a field that it cannot fill is an error, so that no route slips by.

import type { AnyEvidenceRoute } from '../contract/route.ts';
import { defOf } from '../contract/schema.ts';
import { isRecord } from './silence-answer.ts';
import type { World } from './worlds.ts';

/** One question: its input as the handler takes it, and what it is about. */
export type Ask = {
  readonly name: string;
  readonly input: { readonly params: unknown; readonly query: unknown; readonly body: unknown };
  readonly addresses: readonly string[];
  /** The day asked about, `null` for today. */
  readonly on: string | null;
};

type Fill = { readonly addresses: readonly string[]; readonly on: string | null };

/** What stands in a field of that name; `undefined` leaves it out. */
const FIELDS: { readonly [field: string]: (fill: Fill) => unknown } = {
  address: ({ addresses }) => addresses[0],
  addresses: ({ addresses }) => addresses,
  on: ({ on }) => (on === null ? undefined : on),
  // The chain that a route takes where none is named.
  chain: () => undefined,
};

/** Every question that a world holds for a route. */
export function asksOf(route: AnyEvidenceRoute, world: World): Ask[] {
  const takesList = fieldNames(route).includes('addresses');
  const takesDay = fieldNames(route).includes('on');
  const alone = [...new Set(world.subjects)].map((one) => [one]);
  const each = takesList && world.subjects.length > 1 ? [world.subjects, ...alone] : alone;
  const days = takesDay ? [null, ...world.days] : [null];
  return days.flatMap((on) => each.map((addresses) => askOf(route, { addresses, on })));
}

function askOf(route: AnyEvidenceRoute, fill: Fill): Ask {
  const { addresses, on } = fill;
  const params = filled(route.params.shape, fill, route.name);
  const query = filled(route.query.shape, fill, route.name);
  const shape = route.body === null ? null : defOf(route.body).shape;
  const body = shape === null || shape === undefined ? null : filled(shape, fill, route.name);
  const about = addresses.length === 1 ? addresses[0] : `${addresses.length} addresses`;
  const input = {
    params: route.params.parse(params),
    query: route.query.parse(query),
    body: route.body === null ? undefined : route.body.parse(body),
  };
  return { name: on === null ? `${about}` : `${about} on ${on}`, input, addresses, on };
}

function fieldNames(route: AnyEvidenceRoute): string[] {
  const body = route.body === null ? undefined : defOf(route.body).shape;
  return [route.params.shape, route.query.shape, body].flatMap((shape) =>
    isRecord(shape) ? Object.keys(shape) : [],
  );
}

function filled(shape: object, fill: Fill, route: string): { [field: string]: unknown } {
  const values: { [field: string]: unknown } = {};
  for (const name of Object.keys(shape)) {
    const sample = FIELDS[name];
    if (sample === undefined)
      throw new Error(`silence: ${route} asks for ${name}: how to fill it?`);
    const value = sample(fill);
    if (value !== undefined) values[name] = value;
  }
  return values;
}
