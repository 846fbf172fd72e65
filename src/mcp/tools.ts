// Answers one question: which tools are there, and what does a call of one send to its route.
// A tool is a declared route that names one: its arguments are the route's path, query and body
// together, its answer is the route's envelope, and nothing of it is written twice. Another route
// may stand in for it where one argument has one value.

import type { Tool } from '@modelcontextprotocol/server';
import type { AnyRoute } from '../contract/any-route.ts';
import { type JsonSchema, jsonSchema } from '../contract/json-schema.ts';
import { type AnyEvidenceRoute, envelopeSchema } from '../contract/route.ts';
import { given } from '../evidence/measure.ts';
import type { Sent } from '../transport/input.ts';

/** A route and what it is sent. */
export type Asked = { readonly route: AnyEvidenceRoute; readonly sent: Sent };

/** One tool: the routes it may ask, how a client sees it, and what its arguments ask of which. */
type RouteTool = {
  readonly routes: readonly AnyEvidenceRoute[];
  readonly listed: Tool;
  readonly askedBy: (sent: Arguments) => Asked;
};

/** The tools by name, in the order of their routes. */
export type Tools = ReadonlyMap<string, RouteTool>;

/** What a client sends to a tool, before anything is known of it. */
type Arguments = { readonly [name: string]: unknown } | undefined;

type Part = 'params' | 'query' | 'body';

/** The tools of the routes that are there. Throws where a declaration cannot be one. */
export function toolsOf(routes: readonly AnyRoute[]): Tools {
  const own = new Map<string, RouteTool>();
  const standIns: { readonly route: AnyEvidenceRoute; readonly name: string }[] = [];
  for (const route of routes) {
    if (route.kind !== 'evidence' || route.tool === null) continue;
    const { name, when } = route.tool;
    if (!('caveat' in route.data.shape)) throw new Error(`${name}: a tool says its caveat`);
    if (when !== undefined) standIns.push({ route, name });
    else if (own.has(name)) throw new Error(`${name}: two routes are this tool`);
    else own.set(name, toolOf(route, route.tool));
  }
  for (const { route, name } of standIns) {
    const tool = own.get(name);
    if (tool === undefined) throw new Error(`${name}: no route of its own is this tool`);
    own.set(name, withStandIn(tool, route));
  }
  return own;
}

function toolOf(
  route: AnyEvidenceRoute,
  { name, description }: { readonly name: string; readonly description: string },
): RouteTool {
  const inputs = inputsOf(route);
  const places = new Map<string, Part>();
  for (const { part, schema } of inputs) {
    for (const argument of Object.keys(propertiesOf(schema))) {
      if (places.has(argument)) throw new Error(`${name}: two arguments are called ${argument}`);
      places.set(argument, part);
    }
  }
  return {
    routes: [route],
    listed: {
      name,
      description,
      inputSchema: inputSchemaOf(inputs.map(({ schema }) => schema)),
      outputSchema: outputSchemaOf(route),
      annotations: {
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: true,
      },
    },
    askedBy: (sent) => ({ route, sent: sentOf(sent, places, route.body !== null) }),
  };
}

/** The tool with another route in its place where the argument of that route has its value. */
function withStandIn(tool: RouteTool, route: AnyEvidenceRoute): RouteTool {
  if (route.tool?.when === undefined) throw new Error(`${route.name}: it says when it is asked`);
  const { argument, is } = route.tool.when;
  const standIn = toolOf(route, route.tool);
  const { listed } = tool;
  return {
    routes: [...tool.routes, route],
    listed: {
      ...listed,
      description: `${listed.description} ${route.tool.description}`,
      outputSchema: joined(listed.outputSchema, standIn.listed.outputSchema),
    },
    askedBy: (sent) => {
      const given = new Map(sent === undefined ? [] : Object.entries(sent));
      if (given.get(argument) !== is) return tool.askedBy(sent);
      given.delete(argument);
      return standIn.askedBy(Object.fromEntries(given));
    },
  };
}

function joined(one: Tool['outputSchema'], other: Tool['outputSchema']): Tool['outputSchema'] {
  return { type: 'object', oneOf: [one, other].flatMap((schema) => alternatives(schema)) };
}

function alternatives(schema: Tool['outputSchema']): JsonSchema[] {
  const oneOf = schema?.['oneOf'];
  if (!Array.isArray(oneOf)) throw new Error('the answers of a tool are a union of its states');
  return oneOf;
}

type Input = { readonly part: Part; readonly schema: JsonSchema };

function inputsOf({ params, query, body }: AnyEvidenceRoute): Input[] {
  const inputs: Input[] = [
    { part: 'params', schema: jsonSchema(params, 'input') },
    { part: 'query', schema: jsonSchema(query, 'input') },
  ];
  if (body !== null) inputs.push({ part: 'body', schema: jsonSchema(body, 'input') });
  return inputs;
}

function propertiesOf({ properties }: JsonSchema): { readonly [name: string]: JsonSchema } {
  if (properties === undefined) throw new Error('the input of a tool has named fields');
  return properties;
}

function inputSchemaOf(schemas: readonly JsonSchema[]): Tool['inputSchema'] {
  const required = schemas.flatMap((one) => given(one.required));
  return {
    type: 'object',
    properties: Object.assign({}, ...schemas.map(propertiesOf)),
    required,
    additionalProperties: false,
  };
}

// The older revision wants an object at the root; the union of the states stands inside it.
function outputSchemaOf(route: AnyEvidenceRoute): NonNullable<Tool['outputSchema']> {
  const { anyOf, ...rest } = jsonSchema(envelopeSchema(route), 'output');
  return { type: 'object', oneOf: anyOf, ...rest };
}

// An argument that no part knows goes to the query, which refuses it by name.
function sentOf(sent: Arguments, places: ReadonlyMap<string, Part>, hasBody: boolean): Sent {
  const entries = sent === undefined ? [] : Object.entries(sent);
  const of = (part: Part) =>
    Object.fromEntries(
      entries
        .filter(([name]) => (places.get(name) ?? 'query') === part)
        .map(([name, value]) => [name, part === 'body' ? value : asText(value)]),
    );
  return { params: of('params'), query: of('query'), body: hasBody ? of('body') : undefined };
}

// A path and a query are text: a number means the digits that a caller of the route would write.
function asText(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
}
