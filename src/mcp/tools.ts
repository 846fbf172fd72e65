// Answers one question: which tools are there, and what does a call of one send to its route.
// A tool is a declared route that names one: its arguments are the route's path, query and body
// together, its answer is the route's envelope, and nothing of it is written twice.

import type { Tool } from '@modelcontextprotocol/server';
import type { AnyRoute } from '../contract/any-route.ts';
import { type JsonSchema, jsonSchema } from '../contract/json-schema.ts';
import { type AnyEvidenceRoute, envelopeSchema } from '../contract/route.ts';
import { given } from '../evidence/measure.ts';
import type { Sent } from '../transport/input.ts';

/** One tool: the route it asks, how a client sees it, and what its arguments are to the route. */
export type RouteTool = {
  readonly route: AnyEvidenceRoute;
  readonly listed: Tool;
  readonly sentOf: (sent: Arguments) => Sent;
};

/** The tools by name, in the order of their routes. */
export type Tools = ReadonlyMap<string, RouteTool>;

/** What a client sends to a tool, before anything is known of it. */
type Arguments = { readonly [name: string]: unknown } | undefined;

type Part = 'params' | 'query' | 'body';

/** The tools of the routes that are there. Throws where a declaration cannot be one. */
export function toolsOf(routes: readonly AnyRoute[]): Tools {
  const tools = new Map<string, RouteTool>();
  for (const route of routes) {
    if (route.kind !== 'evidence' || route.tool === null) continue;
    const { name } = route.tool;
    if (tools.has(name)) throw new Error(`${name}: two routes are this tool`);
    tools.set(name, toolOf(route, route.tool));
  }
  return tools;
}

function toolOf(route: AnyEvidenceRoute, tool: { name: string; description: string }): RouteTool {
  if (!('caveat' in route.data.shape)) throw new Error(`${tool.name}: a tool says its caveat`);
  const inputs = inputsOf(route);
  const places = new Map<string, Part>();
  for (const { part, schema } of inputs) {
    for (const name of Object.keys(propertiesOf(schema))) {
      if (places.has(name)) throw new Error(`${tool.name}: two arguments are called ${name}`);
      places.set(name, part);
    }
  }
  return {
    route,
    listed: {
      ...tool,
      inputSchema: inputSchemaOf(inputs.map(({ schema }) => schema)),
      outputSchema: outputSchemaOf(route),
      annotations: {
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: true,
      },
    },
    sentOf: (sent) => sentOf(sent, places, route.body !== null),
  };
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
