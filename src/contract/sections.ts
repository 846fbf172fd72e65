// Answers one question: what is a field that holds the answers of other routes, each of them whole?
// It takes answers that their routes made, and nothing else; the bytes of each are kept.

import type { z } from 'zod';
import type { Source } from '../evidence/source.ts';
import type { Answer } from './answer.ts';

/** The routes whose answers such a field holds, by the name of their section. */
export type SectionRoutes = {
  readonly [section: string]: {
    readonly name: string;
    readonly method: 'GET' | 'POST' | 'DELETE';
    readonly path: string;
  };
};

type Whole = Pick<Answer<never>, 'bytes' | 'sources'>;

/** Answers of other routes, as the field takes them. */
export class Sections<out R extends SectionRoutes> {
  declare protected readonly of: R;
  readonly #answers: readonly (readonly [section: string, answer: Whole])[];
  readonly #now: number;
  /** `null`: left out. `now` (Unix seconds) dates an answer that rests on no observation. */
  constructor(answers: { readonly [K in keyof R]: Answer<R[K]['name']> | null }, now: number) {
    this.#answers = Object.entries<Whole | null>(answers).flatMap(([section, answer]) =>
      answer === null ? [] : [[section, answer]],
    );
    this.#now = now;
  }
  /** Every source that one of the answers rests on. */
  get sources(): readonly Source[] {
    return this.#answers.flatMap(([, answer]) => answer.sources);
  }
  /** The answers as JSON, each as its own route gives it. */
  get text(): string {
    const fields = this.#answers.map(
      ([section, answer]) => `${JSON.stringify(section)}:${answer.bytes(this.#now).toString()}`,
    );
    return `{${fields.join()}}`;
  }
}

const ROUTES = new WeakMap<object, SectionRoutes>();

/** Marks the schema of such a field with the routes of its sections. */
export function markSections(schema: z.ZodType, routes: SectionRoutes): void {
  ROUTES.set(schema, routes);
}

/** The routes of the sections that a schema was marked with, or `null`. */
export function sectionRoutes(schema: z.core.$ZodType): SectionRoutes | null {
  const routes = ROUTES.get(schema);
  return routes === undefined ? null : routes;
}
