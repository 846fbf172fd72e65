// Answers one question: how does a route declare that it answers with the answers of others?

import { z } from 'zod';
import { type AnyEvidenceRoute, envelopeSchema } from './route.ts';
import { markSections, type Sections } from './sections.ts';
import type { ShownBy } from './shown.ts';

type EvidenceRoutes = { readonly [section: string]: AnyEvidenceRoute };

/** The answers as their reader finds them: those that were asked for. */
type Shown<R> = { readonly [K in keyof R]?: ShownBy<R[K]> };

/** A field that holds answers of other routes, each under its section and as its route gives it. */
export function sectionsOf<const R extends EvidenceRoutes>(
  routes: R,
): z.ZodType<Shown<R>, Sections<R>> {
  const envelopes = Object.entries(routes).map(([section, route]) => {
    return [section, envelopeSchema(route).optional()] as const;
  });
  const schema: unknown = z.strictObject(Object.fromEntries(envelopes));
  const marked = schema as z.ZodType<Shown<R>, Sections<R>>;
  markSections(marked, routes);
  return marked;
}
