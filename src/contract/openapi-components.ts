// The document as it is published: each shape has a name and stands once, so that what generators
// make of it has names too. References lead to names alone, never into paths.

import { ABSENCES } from './answer.ts';
import {
  type Content,
  type JsonSchema,
  jsonSchema,
  type OpenapiDocument,
  type Operation,
} from './openapi.ts';
import { REFUSALS } from './refusals.ts';
import { sourceShown } from './wire.ts';

type Schemas = { [name: string]: JsonSchema };
/** Names a shape and gives what stands in its place. `within` begins the names of its fields. */
type Hoist = (schema: JsonSchema, name: string, within: string) => JsonSchema;

/** The document with its shapes under `components.schemas`, and WebSockets apart from its paths. */
export function publishedDocument(document: OpenapiDocument): OpenapiDocument {
  const schemas: Schemas = {};
  const hoist = hoistInto(schemas, namesOfAnswers(document));
  const paths: { [path: string]: { [method: string]: Operation } } = {};
  const sockets: { [path: string]: Operation } = {};
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, one] of Object.entries(methods)) {
      // No generator makes a client of a path that answers 101 alone.
      if ('101' in one.responses) sockets[path] = one;
      else paths[path] = { ...paths[path], [method]: nameShapes(one, hoist) };
    }
  }
  const { headers } = document.components;
  const text = JSON.stringify(paths);
  const isUsed = ([name]: [string, unknown]) => text.includes(`"#/components/headers/${name}"`);
  const used = Object.fromEntries(Object.entries(Object(headers)).filter(isUsed));
  return {
    ...document,
    paths,
    components: { ...document.components, headers: used, schemas },
    ...(Object.keys(sockets).length === 0 ? {} : { 'x-websockets': sockets }),
  };
}

/** The name of a route's shape: `wallet_ofac` gives `WalletOfac`. */
function pascal(name: string): string {
  return name.replaceAll(/(?:^|[_\W]+)(\w)/g, (_, first: string) => first.toUpperCase());
}

/** The names of answers by the reference that a section of another route makes to them. */
function namesOfAnswers({ paths }: OpenapiDocument): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => {
        return [`${method} ${path}`, `${pascal(operationId)}Answer`] as const;
      }),
    ),
  );
}

function nameShapes(one: Operation, hoist: Hoist): Operation {
  const own = pascal(one.operationId);
  const responses = Object.entries(one.responses).map(([status, response]) => {
    if (response.content === undefined) return [status, response] as const;
    const isOk = status === '200' || status === '201';
    const content = nameContent(response.content, isOk ? `${own}Answer` : own + status, own, hoist);
    return [status, { ...response, content }] as const;
  });
  const { requestBody, 'x-messages': messages } = one;
  const nameEach = (kinds: { readonly [type: string]: JsonSchema }) =>
    Object.fromEntries(
      Object.entries(kinds).map(([type, schema]) => {
        const name = own.replace(/Events$/, '') + pascal(type);
        return [type, hoist(schema, name, name)] as const;
      }),
    );
  return {
    ...one,
    ...(requestBody === undefined
      ? {}
      : {
          requestBody: {
            ...requestBody,
            content: nameContent(requestBody.content, `${own}Request`, `${own}Request`, hoist),
          },
        }),
    responses: Object.fromEntries(responses),
    ...(messages === undefined
      ? {}
      : { 'x-messages': { sent: nameEach(messages.sent), heard: nameEach(messages.heard) } }),
  };
}

function nameContent(content: Content, name: string, within: string, hoist: Hoist): Content {
  return Object.fromEntries(
    Object.entries(content).map(([type, one]) => {
      const isStream = type === 'text/event-stream';
      const [own, inside] = isStream ? [`${within}Message`, within] : [name, within];
      return [type, { ...one, schema: hoist(one.schema, own, inside) }] as const;
    }),
  );
}

/** Shapes that many routes share, by what they hold. */
function sharedNames(): Map<string, string> {
  const shared = new Map([[JSON.stringify(jsonSchema(sourceShown, 'output')), 'Source']]);
  for (const [code, { body }] of Object.entries(REFUSALS)) {
    const key = JSON.stringify(jsonSchema(body, 'output'));
    if (!shared.has(key)) {
      shared.set(key, code === 'bad_input' ? 'Refusal' : `${pascal(code)}Refusal`);
    }
  }
  return shared;
}

function hoistInto(schemas: Schemas, answers: ReadonlyMap<string, string>): Hoist {
  const names = sharedNames();
  const taken = new Set(names.values());

  const refer = (shape: JsonSchema, proposed: string): JsonSchema => {
    const key = JSON.stringify(shape);
    const known = names.get(key);
    const name = known === undefined ? proposed : known;
    if (known === undefined && taken.has(name)) {
      throw new Error(`${name} would be the name of two shapes: name one where it is declared`);
    }
    names.set(key, name);
    taken.add(name);
    schemas[name] = shape;
    return { $ref: `#/components/schemas/${name}` };
  };

  const hoist: Hoist = (schema, name, within) => {
    if (schema.$ref !== undefined) return answerNamed(schema.$ref, answers);
    const { description, title, 'x-exhibit-claim': claim, ...shape } = schema;
    // A name given at the declaration begins the names of its fields too.
    const [own, inside] = title === undefined ? [name, within] : [title, title];
    // The words of a field stand beside the reference: the shape stands in other places too.
    const beside = {
      ...(description === undefined ? {} : { description }),
      ...(claim === undefined ? {} : { 'x-exhibit-claim': claim }),
    };
    const made = withNamedParts(shape, own, inside, hoist);
    const isUnion = made.oneOf !== undefined;
    if (made.properties === undefined && !isUnion) return { ...made, ...beside };
    return { ...refer(made, nameOf(made, own)), ...beside };
  };
  return hoist;
}

function withNamedParts(shape: JsonSchema, name: string, within: string, hoist: Hoist): JsonSchema {
  const { properties, items, additionalProperties } = shape;
  const optionOf = (option: JsonSchema, _at: number, all: readonly JsonSchema[]) => {
    const objects = all.filter(({ type }) => type !== 'null');
    const told = wordsThatTell(objects).find((field) => option.properties?.[field] !== undefined);
    const word = told === undefined ? undefined : option.properties?.[told]?.const;
    return hoist(option, typeof word === 'string' ? within + pascal(word) : name, within);
  };
  return {
    ...shape,
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([field, one]) => {
              const own = within + pascal(field);
              // Of the data of an answer the fields are named, not the way to them.
              return [field, hoist(one, own, field === 'data' ? within : own)] as const;
            }),
          ),
        }),
    ...(items === undefined ? {} : { items: hoist(items, name, name) }),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: hoist(additionalProperties, `${name}Value`, `${name}Value`) }
      : {}),
    ...(shape.anyOf === undefined ? {} : { anyOf: shape.anyOf.map(optionOf) }),
    ...(shape.oneOf === undefined ? {} : { oneOf: shape.oneOf.map(optionOf) }),
  };
}

/** The fields whose words tell the shapes of a union apart. */
function wordsThatTell(objects: readonly JsonSchema[]): readonly string[] {
  const fields = objects.flatMap(({ properties }) => Object.keys({ ...properties }));
  const isApart = (field: string) => {
    const words = objects.map(({ properties }) => properties?.[field]?.const);
    return words.every((word) => typeof word === 'string') && new Set(words).size === words.length;
  };
  return ['state', 'type', ...(objects.length === 1 ? [] : fields.filter(isApart))];
}

/** An absence and a problem are the same of every route, and have the name of what they say. */
function nameOf({ properties }: JsonSchema, name: string): string {
  const state = properties?.['state']?.const;
  const isAbsence = ABSENCES.some((one) => one === state) && properties?.['data']?.type === 'null';
  if (isAbsence) return pascal(String(state));
  return Object.keys({ ...properties }).join() === 'error' ? 'Problem' : name;
}

function answerNamed(reference: string, answers: ReadonlyMap<string, string>): JsonSchema {
  const [, , path = '', method = ''] = reference
    .split('/')
    .map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'));
  const name = answers.get(`${method} ${path}`);
  if (name === undefined) throw new Error(`${reference}: the document has no such answer`);
  return { $ref: `#/components/schemas/${name}` };
}
