// Which entities of FollowTheMoney stand in a value of JSON, at any depth, and what do they say?
// What is cosmetic may be of any kind; what is no entity where one should stand is told.

import { z } from 'zod';
import { outsideRow } from '../http/forms.ts';
import { FileFault } from './fault.ts';

/** How deep entities may stand inside each other; a file that goes deeper is not read. */
const DEPTH_MAX = 16;

/** An entity. Its properties hold texts, entities, or a list of either. */
export type Entity = {
  readonly id: string;
  readonly schema: string;
  readonly caption?: unknown;
  readonly first_seen?: unknown;
  readonly last_seen?: unknown;
  readonly last_change?: unknown;
  readonly properties: { readonly [name: string]: unknown };
};

const entity: z.ZodType<Entity> = outsideRow({
  id: z.string().min(1),
  schema: z.string().min(1),
  caption: z.unknown().optional(),
  first_seen: z.unknown().optional(),
  last_seen: z.unknown().optional(),
  last_change: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()),
});

/** An entity that another stands inside, and under which of its properties. */
type Around = { readonly entity: Entity; readonly property: string };

/** An entity with those around it, the outermost first; `null` where something else stands. */
export type Placed = { readonly entity: Entity | null; readonly around: readonly Around[] };

/** A value as an entity, and every entity inside it. Throws `FileFault` beyond the depth. */
export function entitiesInside(value: unknown): Generator<Placed> {
  return entitiesBelow(value, []);
}

function* entitiesBelow(value: unknown, around: readonly Around[]): Generator<Placed> {
  if (around.length > DEPTH_MAX) {
    throw new FileFault(`entities stand over ${DEPTH_MAX} deep inside each other`);
  }
  const parsed = entity.safeParse(value);
  if (!parsed.success) {
    yield { entity: null, around };
    return;
  }
  const one = parsed.data;
  yield { entity: one, around };
  for (const property of Object.keys(one.properties)) {
    // What stands in the place of an address is no entity, and is told as such.
    if (one.schema === 'CryptoWallet' && property === 'publicKey') continue;
    for (const inner of valuesOf(one, property)) {
      if (typeof inner !== 'object') continue;
      yield* entitiesBelow(inner, [...around, { entity: one, property }]);
    }
  }
}

/** The values of a property, without those that are null. */
export function valuesOf({ properties }: Entity, name: string): readonly unknown[] {
  const held = properties[name];
  const values: readonly unknown[] = Array.isArray(held) ? held : [held];
  return values.filter((value) => value !== null && value !== undefined);
}

const withId = z.union([z.string(), outsideRow({ id: z.string() }).transform(({ id }) => id)]);

/** The ids that a property names, of entities elsewhere or inside. */
export function idsOf(one: Entity, name: string): string[] {
  return valuesOf(one, name).flatMap((value) => {
    const parsed = withId.safeParse(value);
    return parsed.success ? [parsed.data] : [];
  });
}

/** The texts of a property, without white space around them and without empty ones. */
export function textsOf(one: Entity, name: string): string[] {
  return valuesOf(one, name)
    .map(textIn)
    .filter((text) => text !== null);
}

/** The text of a value; `null` where it is none, or blank. */
export function textIn(value: unknown): string | null {
  const text = typeof value === 'string' ? value.trim() : '';
  return text === '' ? null : text;
}
