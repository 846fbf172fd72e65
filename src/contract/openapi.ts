// Answers one question: what does the service's OpenAPI 3.1 document say.
// Everything in it comes from the declarations; nothing is written twice.

import { z } from 'zod';
import { REFUSALS, type RefusalCode } from './refusals.ts';
import { type AccessRule, type AnyRoute, envelopeSchema, type RouteFacts } from './route.ts';
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

type Content = { readonly 'application/json': { readonly schema: JsonSchema } };

/** One operation of the document. */
export type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security: readonly { readonly [scheme: string]: readonly string[] }[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: JsonSchema;
  }[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: {
    readonly [status: string]: {
      readonly description: string;
      readonly headers: Json;
      readonly content: Content;
    };
  };
};

/** The whole document. */
export type OpenapiDocument = {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components: Json;
};

/** What the document says about the service itself. */
export type DocumentFacts = {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly serverUrl: string;
};

const QUOTA_HEADERS: Json = {
  'X-RateLimit-Limit': { $ref: '#/components/headers/X-RateLimit-Limit' },
  'X-RateLimit-Remaining': { $ref: '#/components/headers/X-RateLimit-Remaining' },
  'X-RateLimit-Reset': { $ref: '#/components/headers/X-RateLimit-Reset' },
  'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
};
const PLAIN_HEADERS: Json = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } };

/** The OpenAPI 3.1 document of the declared routes. */
export function openapiDocument(
  routes: readonly AnyRoute[],
  facts: DocumentFacts,
): OpenapiDocument {
  const paths: { [path: string]: { [method: string]: Operation } } = {};
  for (const route of routes) {
    const at = paths[route.path];
    const operations = at === undefined ? {} : at;
    operations[route.method.toLowerCase()] = operation(route);
    paths[route.path] = operations;
  }
  return {
    openapi: '3.1.0',
    info: { title: facts.title, version: facts.version, description: facts.description },
    servers: [{ url: facts.serverUrl }],
    tags: [...new Set(routes.map((route) => route.surface))].map((name) => ({ name })),
    paths,
    components: components(),
  };
}

function components(): Json {
  const count = (description: string) => ({ description, schema: { type: 'integer', minimum: 0 } });
  return {
    securitySchemes: {
      key: { type: 'http', scheme: 'bearer', description: 'A hosted API key (prefix `sc_`).' },
      partner: { type: 'http', scheme: 'bearer', description: 'A partner key (prefix `scp_`).' },
      membership: { type: 'apiKey', in: 'header', name: 'x-service-membership' },
      token: { type: 'http', scheme: 'bearer', description: 'An intelligence access token.' },
    },
    headers: {
      'X-RateLimit-Limit': count('The allowance of the period.'),
      'X-RateLimit-Remaining': count('What is left of it.'),
      'X-RateLimit-Reset': count('Whole seconds until it resets.'),
      'X-Request-Id': { description: 'The id of this request.', schema: { type: 'string' } },
    },
  };
}

function operation(route: AnyRoute): Operation {
  const parameters = [
    ...('params' in route ? fields(route.params, 'path') : []),
    ...fields(route.query, 'query'),
  ];
  const charged = CHARGED.has(SECURITY[route.access]);
  return {
    operationId: route.name,
    summary: route.summary,
    tags: [route.surface],
    security: SECURITY[route.access],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...bodyOf(route),
    responses: { ...answers(route, charged), ...refusals(route, charged) },
  };
}

const KEY = [{ key: [] }, { membership: [] }];
const PARTNER = [{ partner: [] }, { membership: [] }];
const CHARGED: ReadonlySet<Operation['security']> = new Set([KEY, PARTNER]);
const SECURITY: { readonly [rule in AccessRule]: Operation['security'] } = {
  analyst: KEY,
  desk: KEY,
  enterprise: KEY,
  partner: PARTNER,
  bearer: [{ token: [] }],
  session: [{ session: [] }],
  open: [],
};

function bodyOf(route: AnyRoute): Pick<Operation, 'requestBody'> {
  if (!('body' in route) || route.body === null) return {};
  const schema = jsonSchema(route.body, 'input');
  const required = !route.body.safeParse(undefined).success;
  return { requestBody: { required, content: { 'application/json': { schema } } } };
}

function fields(object: z.ZodObject, where: 'path' | 'query') {
  return Object.entries<z.ZodType>(object.shape).map(([name, schema]) => ({
    name,
    in: where,
    required: where === 'path' || !schema.safeParse(undefined).success,
    schema: jsonSchema(schema, 'input'),
  }));
}

function answers(route: AnyRoute, charged: boolean): Operation['responses'] {
  const headers = charged ? QUOTA_HEADERS : PLAIN_HEADERS;
  if (route.kind === 'evidence') {
    const schema = jsonSchema(envelopeSchema(route), 'output');
    const { anyOf = [], ...rest } = schema;
    const content = { 'application/json': { schema: { oneOf: anyOf, ...rest } } };
    return { 200: { description: statesSentence(route.absences), headers, content } };
  }
  const declared = route.kind === 'plain' ? route.responses : route.refused;
  const said = Object.entries<z.ZodType>(declared).map(([status, schema]) => [
    status,
    {
      description: schema.description === undefined ? route.summary : schema.description,
      headers,
      content: { 'application/json': { schema: jsonSchema(schema, 'output') } },
    },
  ]);
  return Object.fromEntries(said);
}

function statesSentence(absences: readonly string[]): string {
  if (absences.length === 0) return 'The envelope, state `ok`.';
  const named = absences.map((state) => `\`${state}\``).join(', ');
  return `The envelope: \`ok\`, or an absence (${named}), which is never a negative.`;
}

function refusals(route: AnyRoute, charged: boolean): Operation['responses'] {
  const codes = new Set<RefusalCode>(['bad_input', 'wrong_method', 'fault']);
  if (charged) {
    codes.add('credential');
    codes.add('quota');
  }
  if (route.access === 'bearer' || route.access === 'session') codes.add('unauthorized');
  if ('body' in route && route.body !== null) {
    codes.add('body_too_large');
    codes.add('wrong_content_type');
  }
  for (const own of route.refusals === undefined ? [] : route.refusals) codes.add(own);
  const said = [...codes].map((code) => {
    const row = REFUSALS[code];
    return [
      row.status,
      {
        description: row.means,
        headers: charged ? QUOTA_HEADERS : PLAIN_HEADERS,
        content: { 'application/json': { schema: jsonSchema(row.body, 'output') } },
      },
    ];
  });
  return Object.fromEntries(said);
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
