// Answers one question: what is a schema as JSON schema, as far as our documents read it?

import { z } from 'zod';
import type { RouteFacts } from './route.ts';
import { type SectionRoutes, sectionRoutes } from './sections.ts';
import { CLAIM_META } from './wire.ts';

type Json = { [key: string]: unknown };

/** A JSON schema of the document, as far as the reference page reads it. */
export type JsonSchema = {
  readonly type?: string | readonly string[];
  readonly properties?: { readonly [field: string]: JsonSchema };
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly $ref?: string;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  /** The ports on which a negative in this field rests. */
  readonly 'x-exhibit-claim'?: { readonly rests_on: readonly string[] };
};

/** A schema as JSON schema. Unknown fields stay allowed, so that a field can be added later. */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const made: Json = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema: node }) => {
      const sections = sectionRoutes(zodSchema);
      if (sections !== null) node.properties = referencesTo(sections);
      if (io === 'output') delete node.additionalProperties;
      if (CLAIM_META in node) {
        node['x-exhibit-claim'] = node[CLAIM_META];
        delete node[CLAIM_META];
      }
    },
  });
  delete made['$schema'];
  return made as JsonSchema;
}

/** Answers of other routes are declared where those routes are. */
function referencesTo(routes: SectionRoutes): { [section: string]: { $ref: string } } {
  const references = Object.entries(routes).map(([section, route]) => {
    return [section, { $ref: `#${answerPointer(route, 200)}` }] as const;
  });
  return Object.fromEntries(references);
}

/** Where the document declares an answer of a route, as the fragment of a URI. */
export function answerPointer(
  { path, method }: Pick<RouteFacts, 'path' | 'method'>,
  status: number,
): string {
  const steps = ['paths', path, method.toLowerCase(), 'responses', String(status)];
  const pointer = [...steps, 'content', 'application/json', 'schema'].map((step) =>
    encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')),
  );
  return `/${pointer.join('/')}`;
}
