// Answers one question: what does the service's OpenAPI 3.1 document say.
// Everything in it comes from the declarations; nothing is written twice.

import { z } from 'zod';
import { html, mediaOf } from './media.ts';
import { REFUSALS, type RefusalCode } from './refusals.ts';
import { isPage, isRevalidated, isSentByPages } from './reply.ts';
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

/** The body of a request or of a response, by its content type. */
export type Content = { readonly [type: string]: { readonly schema: JsonSchema } };

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
      readonly content?: Content;
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

const shared = (...names: string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
const PLAIN_HEADERS = shared('X-Request-Id');
const QUOTA_HEADERS = shared(
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
);
const KEPT_HEADERS = shared('Cache-Control', 'ETag');

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
    components: components(routes),
  };
}

const words = (description: string) => ({ description, schema: { type: 'string' } });
const bearer = (description: string) => ({ type: 'http', scheme: 'bearer', description });
const SCHEMES: Json = {
  key: bearer('A hosted API key (prefix `sc_`).'),
  partner: bearer('A partner key (prefix `scp_`).'),
  membership: { type: 'apiKey', in: 'header', name: 'x-service-membership' },
  token: bearer('An intelligence access token.'),
  session: { type: 'apiKey', in: 'cookie', name: '__Host-exhibit' },
  operator: bearer("The operator's token."),
};

function components(routes: readonly AnyRoute[]): Json {
  const count = (description: string) => ({ description, schema: { type: 'integer', minimum: 0 } });
  const ways = new Set(routes.flatMap(({ access }) => SECURITY[access].flatMap(Object.keys)));
  return {
    securitySchemes: Object.fromEntries(Object.entries(SCHEMES).filter(([name]) => ways.has(name))),
    headers: {
      'X-RateLimit-Limit': count('The allowance of the period.'),
      'X-RateLimit-Remaining': count('What is left of it.'),
      'X-RateLimit-Reset': count('Whole seconds until it resets.'),
      'X-Request-Id': words('The id of this request.'),
      'Cache-Control': words('How long anybody may keep the answer.'),
      ETag: words('Names the answer; sent as If-None-Match it saves its bytes (304).'),
      Allow: words('The methods that the path takes.'),
      'Retry-After': count('Whole seconds after which it is worth asking again.'),
      'WWW-Authenticate': words('How to authenticate.'),
    },
  };
}

function operation(route: AnyRoute): Operation {
  const parameters = [
    ...('params' in route ? fields(route.params, 'path') : []),
    ...fields(route.query, 'query'),
    ...(route.kind === 'plain' && route.requestHeaders !== null
      ? fields(route.requestHeaders, 'header')
      : []),
  ];
  const charged = CHARGED.has(SECURITY[route.access]);
  return {
    operationId: route.name,
    summary: route.summary,
    tags: [route.surface],
    security: SECURITY[route.access],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...bodyOf(route),
    responses: together(answers(route, charged), refusals(route, charged)),
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
  operator: [{ operator: [] }],
  open: [],
};

function bodyOf(route: AnyRoute): Pick<Operation, 'requestBody'> {
  if (!('body' in route) || route.body === null) return {};
  const schema = jsonSchema(route.body, 'input');
  const required = !route.body.safeParse(undefined).success;
  return { requestBody: { required, content: { 'application/json': { schema } } } };
}

function fields(object: z.ZodObject, where: 'path' | 'query' | 'header') {
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
      headers: { ...headers, ...ownHeaders(route, status) },
      ...contentOf(schema, 'output'),
    },
  ]);
  return { ...Object.fromEntries(said), ...notModified(route, headers) };
}

function contentOf(schema: z.ZodType, io: 'input' | 'output') {
  const { kind, type } = mediaOf(schema);
  if (kind === 'none') return {};
  const [name = '*/*'] = type === null ? [] : kind === 'text' ? [type] : type.split(';');
  return { content: { [name]: { schema: jsonSchema(schema, io) } } };
}

function ownHeaders(route: AnyRoute, status: string): Json {
  if (route.kind !== 'plain') return {};
  const own = route.headers[Number(status)];
  const declared = own === undefined ? [] : Object.entries(own);
  const kept = route.keptS !== undefined && status === '200';
  return {
    ...Object.fromEntries(declared.map(([name, means]) => [name, words(means)])),
    ...(kept ? KEPT_HEADERS : {}),
  };
}

function notModified(route: AnyRoute, headers: Json): Operation['responses'] {
  if (route.kind !== 'plain' || !isRevalidated(route)) return {};
  const description = 'The answer that If-None-Match names is still the one.';
  return { 304: { description, headers: { ...headers, ...shared('ETag') } } };
}

function statesSentence(absences: readonly string[]): string {
  if (absences.length === 0) return 'The envelope, state `ok`.';
  const named = absences.map((state) => `\`${state}\``).join(', ');
  return `The envelope: \`ok\`, or an absence (${named}), which is never a negative.`;
}

function refusals(route: AnyRoute, charged: boolean): Operation['responses'] {
  const codes = new Set<RefusalCode>(['bad_input', 'wrong_method', 'fault', 'overloaded']);
  if (charged) {
    codes.add('credential');
    codes.add('quota');
  } else if (route.access !== 'open') codes.add('unauthorized');
  if ('body' in route && route.body !== null) {
    codes.add('body_too_large');
    codes.add('wrong_content_type');
  }
  if (isSentByPages(route)) codes.add('foreign_form');
  for (const own of route.refusals === undefined ? [] : route.refusals) codes.add(own);
  const said = [...codes].map((code) => {
    const { status, means, body } = REFUSALS[code];
    const own = route.access === 'session' && status === 401 ? undefined : REFUSAL_HEADERS[code];
    const headers = {
      ...(charged ? QUOTA_HEADERS : PLAIN_HEADERS),
      ...(own === undefined ? {} : shared(own)),
    };
    const shown = isPage(route) ? html() : body;
    return [status, { description: means, headers, ...contentOf(shown, 'output') }];
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

const REFUSAL_HEADERS: { readonly [code in RefusalCode]?: string } = {
  unauthorized: 'WWW-Authenticate',
  wrong_method: 'Allow',
  quota: 'Retry-After',
  overloaded: 'Retry-After',
};

// A status that a route answers by itself may be a refusal of the server's too.
function together(
  own: Operation['responses'],
  refused: Operation['responses'],
): Operation['responses'] {
  const both = Object.entries(own).flatMap(([status, answer]) => {
    const refusal = refused[status];
    if (refusal === undefined) return [];
    const headers = { ...refusal.headers, ...answer.headers };
    return [[status, { ...answer, headers, ...eitherContent(answer.content, refusal.content) }]];
  });
  return { ...refused, ...own, ...Object.fromEntries(both) };
}

function eitherContent(one: Content | undefined, other: Content | undefined) {
  const content: { [type: string]: { schema: JsonSchema } } = { ...other, ...one };
  for (const [type, { schema }] of Object.entries({ ...one })) {
    const more = other?.[type]?.schema;
    if (more !== undefined) content[type] = { schema: { anyOf: [schema, more] } };
  }
  return { content };
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
