// The OpenAPI 3.1 document. Everything in it comes from the declarations; nothing is written twice.

import { z } from 'zod';
import { listOrNone } from '../evidence/measure.ts';
import { type SectionRoutes, sectionRoutes } from './answer.ts';
import { INPUTS } from './inputs.ts';
import { REFUSALS, type RefusalCode } from './refusals.ts';
import { html, isPage, isRevalidated, isSentByPages, mediaOf } from './reply.ts';
import { type AccessRule, deprecationSentence, envelopeSchema, opensToPages } from './route.ts';
import { type AnyRoute, type AnyStreamRoute, positionText } from './stream.ts';
import { CLAIM_META } from './wire.ts';

type JsonObject = { [key: string]: unknown };

/** The body of a request or of a response, by its content type. */
export type Content = {
  readonly [type: string]: { readonly schema: JsonSchema; readonly example?: unknown };
};

export type Operation = {
  readonly operationId: string;
  readonly summary: string;
  /** The credential that opens it, in a sentence. */
  readonly description: string;
  readonly deprecated?: true;
  readonly tags: readonly string[];
  readonly security: readonly { readonly [scheme: string]: readonly string[] }[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly description: string;
    readonly example?: unknown;
    readonly schema: JsonSchema;
  }[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: {
    readonly [status: string]: {
      readonly description: string;
      readonly headers: JsonObject;
      readonly content?: Content;
    };
  };
  /** The messages of a stream and the frames of its clients, by type. */
  readonly 'x-messages'?: { readonly sent: Schemas; readonly heard: Schemas };
};

type Schemas = { readonly [type: string]: JsonSchema };

export type OpenapiDocument = {
  readonly openapi: '3.1.0';
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description: string;
    readonly contact: { readonly name: string; readonly url: string };
    readonly license: { readonly name: string; readonly identifier: string };
  };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components: JsonObject;
  /** The operations that a WebSocket opens, by their paths. */
  readonly 'x-websockets'?: { readonly [path: string]: Operation };
};

/** The facts of the document about the service itself. */
export type DocumentFacts = {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly serverUrl: string;
};

const headerRefs = (...names: string[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
const PLAIN_HEADERS = headerRefs('X-Request-Id');
const QUOTA_HEADERS = headerRefs(
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
);
const KEPT_HEADERS = headerRefs('Cache-Control', 'ETag');

/** The OpenAPI 3.1 document of the declared routes. */
export function openapiDocument(
  routes: readonly AnyRoute[],
  facts: DocumentFacts,
): OpenapiDocument {
  const paths: { [path: string]: { [method: string]: Operation } } = {};
  for (const route of routes) {
    for (const [path, one] of operationsOf(route)) {
      const at = paths[path];
      const operations = at === undefined ? {} : at;
      operations[route.method.toLowerCase()] = one;
      paths[path] = operations;
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: facts.title,
      version: facts.version,
      description: facts.description,
      contact: { name: 'Whoever runs this service', url: facts.serverUrl },
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: facts.serverUrl }],
    tags: [...new Set(routes.map((route) => route.surface))].map((name) => ({
      name,
      description: SURFACES[name],
    })),
    paths,
    components: components(routes),
  };
}

const SURFACES: { readonly [surface in AnyRoute['surface']]: string } = {
  edge: 'The record of emitted signals: backtest, replay, performance, ranking and rules.',
  hosted: 'Evidence about addresses, by a key of a membership or of a partner.',
  integrations: 'Chats of a membership that are told of what happens.',
  intelligence: 'Entities, flags and streams, by an access token.',
  signals: 'Published signals with their evidence, their log, traders and providers.',
  web: 'What is open to all: the state of the service, and pages.',
};

const words = (description: string) => ({ description, schema: { type: 'string' } });
const bearer = (description: string) => ({ type: 'http', scheme: 'bearer', description });
const SCHEMES: JsonObject = {
  key: bearer('A hosted API key (prefix `sc_`).'),
  publishable: bearer(
    'A publishable key (prefix `sc_pub_`), sent by pages of the origins that it lists.',
  ),
  partner: bearer('A partner key (prefix `scp_`).'),
  membership: { type: 'apiKey', in: 'header', name: 'x-service-membership' },
  token: bearer('An intelligence access token.'),
  query_token: { type: 'apiKey', in: 'query', name: 'token' },
  session: { type: 'apiKey', in: 'cookie', name: '__Host-exhibit' },
  operator: bearer("The operator's token."),
};

function components(routes: readonly AnyRoute[]): JsonObject {
  const count = (description: string) => ({ description, schema: { type: 'integer', minimum: 0 } });
  const ways = new Set(routes.flatMap((route) => securityOf(route).flatMap(Object.keys)));
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

function operationsOf(route: AnyRoute): readonly (readonly [string, Operation])[] {
  if (route.kind !== 'stream') return [[route.path, operation(route)]];
  return [
    [route.path, streamOperation(route, 'websocket')],
    [route.eventsPath, streamOperation(route, 'events')],
  ];
}

function streamOperation(route: AnyStreamRoute, door: 'websocket' | 'events'): Operation {
  const charged = CHARGED.has(SECURITY[route.access]);
  const isSocket = door === 'websocket';
  const own = { ...route.query.shape, since: route.sent.query.shape['since'] };
  const headers = charged ? QUOTA_HEADERS : PLAIN_HEADERS;
  const sent = schemasOf(route.messages);
  const opened = isSocket
    ? { 101: { description: 'A WebSocket: each frame is one JSON message.', headers } }
    : {
        200: {
          description: 'Server-sent events: the data of each is one JSON message.',
          headers,
          content: {
            'text/event-stream': {
              schema: {
                ...(route.family === undefined ? {} : { title: `${route.family}Message` }),
                oneOf: Object.values(sent),
              },
            },
          },
        },
      };
  const codes: RefusalCode[] = isSocket ? ['upgrade_required', 'at_capacity'] : ['at_capacity'];
  const refused = { ...route, refusals: [...listOrNone(route.refusals), ...codes] };
  return {
    operationId: isSocket ? route.name : `${route.name}_events`,
    summary: `${route.summary} ${isSocket ? 'As a WebSocket.' : 'As server-sent events.'}`,
    description: accessSentence(securityOf(route)),
    tags: [route.surface],
    security: securityOf(route),
    parameters: [
      ...fields(z.object(own), 'query'),
      ...(isSocket ? [] : fields(z.object({ 'Last-Event-ID': positionText.optional() }), 'header')),
    ],
    responses: together({ ...opened, ...answers(route, charged) }, refusals(refused, charged)),
    'x-messages': { sent, heard: isSocket ? schemasOf(route.heard) : {} },
  };
}

function schemasOf(kinds: { readonly [type: string]: z.ZodObject }): Schemas {
  return Object.fromEntries(
    Object.entries(kinds).map(([type, schema]) => [type, jsonSchema(schema, 'output')]),
  );
}

function operation(route: Exclude<AnyRoute, AnyStreamRoute>): Operation {
  const parameters = [
    ...fields(route.params, 'path'),
    ...fields(route.query, 'query'),
    ...(route.kind === 'plain' && route.requestHeaders !== null
      ? fields(route.requestHeaders, 'header')
      : []),
  ];
  const charged = CHARGED.has(SECURITY[route.access]);
  return {
    operationId: route.name,
    ...summaryOf(route),
    description: accessSentence(securityOf(route)),
    tags: [route.surface],
    security: securityOf(route),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...bodyOf(route),
    responses: together(answers(route, charged), refusals(route, charged)),
  };
}

function summaryOf({ summary, deprecated }: AnyRoute): Pick<Operation, 'summary' | 'deprecated'> {
  if (deprecated === undefined) return { summary };
  return { summary: `${summary} ${deprecationSentence(deprecated)}`, deprecated: true };
}

const KEY = [{ key: [] }, { membership: [] }];
const PARTNER = [{ partner: [] }, { membership: [] }];
/** A key may be sent and none has to be. */
const OPTIONAL_KEY = [{}, ...KEY];
const CHARGED: ReadonlySet<Operation['security']> = new Set([KEY, PARTNER]);
const SECURITY: { readonly [rule in AccessRule]: Operation['security'] } = {
  analyst: KEY,
  desk: KEY,
  enterprise: KEY,
  partner: PARTNER,
  bearer: [{ token: [] }],
  session: [{ session: [] }],
  operator: [{ operator: [] }],
  visitor: [],
  optional_key: OPTIONAL_KEY,
  open: [],
};

function securityOf(route: AnyRoute): Operation['security'] {
  const { kind, access, query } = route;
  const opens = SECURITY[access];
  if (opens === KEY && kind !== 'stream' && opensToPages(route)) {
    return [...opens, { publishable: [] }];
  }
  const inQuery = kind === 'stream' || 'token' in query.shape;
  return inQuery && access === 'bearer' ? [...opens, { query_token: [] }] : opens;
}

/** The credential that opens an operation, in a sentence. */
export function accessSentence(security: Operation['security']): string {
  const ways = security.flatMap((way) => Object.keys(way));
  if (ways.length === 0) return 'Open: no credential.';
  if (security.some((way) => Object.keys(way).length === 0)) {
    return 'Open: no credential. Where a key is sent, the answer is told of its membership.';
  }
  if (ways.includes('partner')) return 'Needs a partner key: Authorization: Bearer.';
  if (ways.includes('query_token')) return 'Needs an access token, as a bearer or as ?token=.';
  if (ways.includes('token')) return 'Needs a bearer access token.';
  const key = 'Needs a key: Authorization: Bearer, or x-service-membership.';
  if (!ways.includes('publishable')) return key;
  return `${key} A publishable key opens it from pages of the origins that it lists.`;
}

function bodyOf(route: Exclude<AnyRoute, AnyStreamRoute>): Pick<Operation, 'requestBody'> {
  if (route.body === null) return {};
  const schema = withMeanings(jsonSchema(route.body, 'input'));
  const required = !route.body.safeParse(undefined).success;
  const content = { schema, example: exampleOf(onlyRequired(schema), 'body') };
  return { requestBody: { required, content: { 'application/json': content } } };
}

function fields(object: z.ZodObject, where: 'path' | 'query' | 'header') {
  return Object.entries<z.ZodType>(object.shape).map(([name, declared]) => {
    const { description = meaningOf(name), ...schema } = jsonSchema(declared, 'input');
    const required = where === 'path' || !declared.safeParse(undefined).success;
    const shown = required || INPUTS.get(name)?.examples !== undefined;
    const example = shown ? { example: exampleOf(schema, name) } : {};
    return { name, in: where, required, description, ...example, schema };
  });
}

function meaningOf(name: string): string {
  const input = INPUTS.get(name);
  return input === undefined ? name : input.means;
}

/** The input of a route with what each of its fields means. */
export function withMeanings(schema: JsonSchema): JsonSchema {
  if (schema.properties === undefined) return schema;
  const fields = Object.entries(schema.properties).map(([name, field]) => {
    return [name, withMeanings({ description: meaningOf(name), ...field })] as const;
  });
  return { ...schema, properties: Object.fromEntries(fields) };
}

function onlyRequired(schema: JsonSchema): JsonSchema {
  const { properties, required } = schema;
  const kept = Object.entries({ ...properties }).filter(([name]) => required?.includes(name));
  return { ...schema, properties: Object.fromEntries(kept) };
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

function ownHeaders(route: AnyRoute, status: string): JsonObject {
  if (route.kind !== 'plain') return {};
  const own = route.headers[Number(status)];
  const declared = own === undefined ? [] : Object.entries(own);
  const kept = route.keptS !== undefined && status === '200';
  return {
    ...Object.fromEntries(declared.map(([name, means]) => [name, words(means)])),
    ...(kept ? KEPT_HEADERS : {}),
  };
}

function notModified(route: AnyRoute, headers: JsonObject): Operation['responses'] {
  if (route.kind !== 'plain' || !isRevalidated(route)) return {};
  const description = 'The answer that If-None-Match names is still the one.';
  return { 304: { description, headers: { ...headers, ...headerRefs('ETag') } } };
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
  } else if (route.access === 'optional_key') codes.add('credential');
  else if (route.access !== 'open' && route.access !== 'visitor') codes.add('unauthorized');
  if ('body' in route && route.body !== null) {
    codes.add('body_too_large');
    codes.add('wrong_content_type');
  }
  if (isSentByPages(route)) codes.add('foreign_form');
  if (securityOf(route).some((way) => 'publishable' in way)) codes.add('wrong_origin');
  for (const own of listOrNone(route.refusals)) codes.add(own);
  const said = [...codes].map((code) => {
    const { status, means, body } = REFUSALS[code];
    const own = route.access === 'session' && status === 401 ? undefined : REFUSAL_HEADERS[code];
    const headers = {
      ...(charged ? QUOTA_HEADERS : PLAIN_HEADERS),
      ...(own === undefined ? {} : headerRefs(own)),
    };
    const shown = isPage(route) ? html() : body;
    return { [status]: { description: means, headers, ...contentOf(shown, 'output') } };
  });
  // Two refusals may have one status.
  let all: Operation['responses'] = {};
  for (const one of said) all = together(one, all);
  return all;
}

const REFUSAL_HEADERS: { readonly [code in RefusalCode]?: string } = {
  unauthorized: 'WWW-Authenticate',
  wrong_method: 'Allow',
  quota: 'Retry-After',
  overloaded: 'Retry-After',
  at_capacity: 'Retry-After',
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
  readonly description?: string;
  /** The name of a shape that several routes share. */
  readonly title?: string;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly pattern?: string;
  readonly format?: string;
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
  const made: { [key: string]: unknown } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema: node }) => {
      const sections = sectionRoutes(zodSchema);
      if (sections !== null) node.properties = referencesTo(sections);
      if (io === 'output') delete node.additionalProperties;
      // A list that our own code may not change is any list to whoever reads it.
      delete node.readOnly;
      if (CLAIM_META in node) {
        node['x-exhibit-claim'] = node[CLAIM_META];
        delete node[CLAIM_META];
      }
    },
  });
  delete made['$schema'];
  return made as JsonSchema;
}

type Reference = { $ref: string } | { anyOf: { $ref: string }[] };

/** Answers of other routes are declared where those routes are. */
function referencesTo(routes: SectionRoutes): { [section: string]: Reference } {
  const references = Object.entries(routes).map(([section, among]) => {
    const anyOf = among.map((route) => ({ $ref: `#${answerPointer(route, 200)}` }));
    const [only] = anyOf;
    return [section, anyOf.length === 1 && only !== undefined ? only : { anyOf }] as const;
  });
  return Object.fromEntries(references);
}

/** Where the document declares an answer of a route, as the fragment of a URI. */
export function answerPointer(
  { path, method }: { readonly path: string; readonly method: string },
  status: number,
): string {
  const steps = ['paths', path, method.toLowerCase(), 'responses', String(status)];
  const pointer = [...steps, 'content', 'application/json', 'schema'].map((step) =>
    encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')),
  );
  return `/${pointer.join('/')}`;
}

// An example is made from the schema alone, so that a route's example cannot be another route's.

/** A value that the schema takes. `name` is the field in which it stands. */
export function exampleOf(schema: JsonSchema, name: string): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const known = INPUTS.get(name)?.examples?.find((one) => isTakenBy(schema, one));
  if (known !== undefined) return known;
  const choices = schema.anyOf ?? schema.oneOf;
  const chosen = choices?.find(({ type }) => type !== 'null');
  if (chosen !== undefined) return exampleOf(chosen, name);
  const [type] = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? NO_TYPES);
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries({ ...schema.properties }).map(([field, one]) => [
          field,
          exampleOf(one, field),
        ]),
      );
    case 'array': {
      const { items, minItems } = schema;
      if (items === undefined) return [];
      const length = minItems === undefined ? 1 : Math.max(minItems, 1);
      return Array.from({ length }, () => exampleOf(items, name));
    }
    case 'integer':
    case 'number': {
      const { minimum, exclusiveMinimum } = schema;
      if (exclusiveMinimum !== undefined) return exclusiveMinimum + 1;
      return minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? 1 : minimum;
    }
    case 'boolean':
      return true;
    case 'null':
      return null;
    default: {
      const { minLength } = schema;
      return minLength === undefined ? name : name.padEnd(minLength, 'x');
    }
  }
}

function isTakenBy({ type, pattern, maximum }: JsonSchema, value: unknown): boolean {
  if (type === 'integer') {
    return Number.isInteger(value) && (maximum === undefined || Number(value) <= maximum);
  }
  if (type !== 'string' || typeof value !== 'string') return false;
  return pattern === undefined || new RegExp(pattern).test(value);
}

const NO_TYPES: readonly string[] = [];
