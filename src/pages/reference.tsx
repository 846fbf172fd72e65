// The reference of the API. Rendered from the OpenAPI document, so that the page cannot say
// anything that the declarations do not.

import {
  type Content,
  exampleOf,
  type JsonSchema,
  type OpenapiDocument,
  type Operation,
} from '../contract/openapi.ts';

import { type CommandWord, shellCommand } from '../contract/shell-command.ts';
import { listFrom } from '../evidence/measure.ts';
import { type PageFacts, page } from './layout.tsx';
import { Table } from './words.tsx';

type Entry = { readonly path: string; readonly method: string; readonly one: Operation };

function entriesOf(read: OpenapiDocument): readonly Entry[] {
  return Object.entries(read.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({ path, method, one })),
  );
}

function serverOf({ servers }: OpenapiDocument): string {
  return servers.map(({ url }) => url).join(', ');
}

/** The API reference: every route, from the OpenAPI document as it is served. */
export function referencePage(facts: PageFacts, read: OpenapiDocument): string {
  return page({
    ...facts,
    title: 'API reference',
    current: '/docs',
    children: (
      <>
        <h1>API reference</h1>
        <p class="lead">{read.info.description}</p>
        <p>
          Base address <code>{serverOf(read)}</code>. The same as a machine reads it:{' '}
          <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1).
        </p>
        <ul class="entries">
          {entriesOf(read).map(({ path, method, one }) => (
            <li key={one.operationId}>
              <a href={`/docs/api/${one.operationId}`}>
                <span class="verb">{method.toUpperCase()}</span> <code>{path}</code>
              </a>
              <p>{one.summary}</p>
            </li>
          ))}
        </ul>
      </>
    ),
  });
}

/** The reference of one route; `null` where the document has no such operation. */
export function operationPage(facts: PageFacts, read: OpenapiDocument, id: string): string | null {
  const entry = entriesOf(read).find(({ one }) => one.operationId === id);
  if (entry === undefined) return null;
  const { path, method, one } = entry;
  const body = schemaOf(one.requestBody?.content);
  return page({
    ...facts,
    title: `API reference: ${path}`,
    current: '/docs',
    children: (
      <>
        <p class="eyebrow">
          <a href="/docs">API reference</a>
        </p>
        <section class="route" aria-labelledby={one.operationId}>
          <h1 id={one.operationId}>
            <span class="verb">{method.toUpperCase()}</span> <code>{path}</code>
          </h1>
          <p>{one.summary}</p>
          <p class="quiet">{one.description}</p>
          <pre tabindex={0}>
            <code>{example(path, method, one, serverOf(read))}</code>
          </pre>
          {one.parameters !== undefined && (
            <Fields
              caption="Parameters"
              rows={one.parameters.map((p) => ({
                name: p.name,
                kind: `${p.in}, ${typeWords(p.schema)}`,
                needed: p.required,
                claim: null,
              }))}
            />
          )}
          {body !== undefined && <Fields caption="Body" rows={rowsOf(body, '', 0)} />}
          {Object.entries(one.responses).map(([status, response]) => (
            <Response key={status} status={status} response={response} />
          ))}
          {Object.entries({ ...one['x-messages']?.sent }).map(([type, schema]) => (
            <Fields key={type} caption={`Message ${type}`} rows={rowsOf(schema, '', 0)} />
          ))}
          {Object.entries({ ...one['x-messages']?.heard }).map(([type, schema]) => (
            <Fields key={type} caption={`Frame ${type} of a client`} rows={rowsOf(schema, '', 0)} />
          ))}
        </section>
      </>
    ),
  });
}

type ResponseProps = { status: string; response: Operation['responses'][string] };

function Response({ status, response }: ResponseProps) {
  const found = schemaOf(response.content);
  const [first] = found?.oneOf === undefined ? [found] : found.oneOf;
  const rows = first === undefined ? [] : rowsOf(first, '', 0);
  // The document's descriptions are Markdown: a text between backticks is code.
  const words = response.description
    .split('`')
    .map((piece, i) => (i % 2 === 0 ? piece : <code key={piece}>{piece}</code>));
  return (
    <details open={status === '200'}>
      <summary>
        <span class="status">{status}</span> {words}
      </summary>
      {rows.length > 0 && <Fields caption={`Fields of a ${status}`} rows={rows} />}
    </details>
  );
}

function schemaOf(content: Content | undefined): JsonSchema | undefined {
  return content === undefined ? undefined : Object.values(content)[0]?.schema;
}

type Row = { name: string; kind: string; needed: boolean; claim: string | null };

function Fields({ caption, rows }: { caption: string; rows: readonly Row[] }) {
  const claims = rows.some((row) => row.claim !== null);
  return (
    <Table
      caption={caption}
      look="wide"
      rows={rows}
      columns={[
        { head: 'Field', cell: ({ name }) => <code>{name}</code> },
        { head: 'Type', cell: ({ kind }) => kind },
        { head: 'Present', cell: ({ needed }) => (needed ? 'always' : 'optional') },
        ...(claims ? [{ head: 'A negative rests on', cell: ({ claim }: Row) => claim }] : []),
      ]}
    />
  );
}

const DEPTH_MAX = 6;

function rowsOf(of: JsonSchema, prefix: string, depth: number): readonly Row[] {
  if (depth > DEPTH_MAX) return [];
  return listFrom(of.properties, Object.entries<JsonSchema>).flatMap(([name, field]) => {
    const full = prefix === '' ? name : `${prefix}.${name}`;
    const some = field.anyOf?.find((one) => one.type !== 'null');
    const plain = some === undefined ? field : some;
    const items = plain.items;
    const claim = field['x-exhibit-claim'];
    const row: Row = {
      name: full,
      kind: typeWords(field),
      needed: of.required?.includes(name) === true,
      claim: claim === undefined ? null : claim.rests_on.join(', '),
    };
    const [inner, place] = items === undefined ? [plain, full] : [items, `${full}[]`];
    return [row, ...rowsOf(inner, place, depth + 1)];
  });
}

function typeWords(field: JsonSchema): string {
  if (field.$ref !== undefined) return 'the answer of its own route';
  if (field.anyOf !== undefined) return field.anyOf.map(typeWords).join(' or ');
  if (field.const !== undefined) return JSON.stringify(field.const);
  if (field.enum !== undefined) return field.enum.map((one) => JSON.stringify(one)).join(', ');
  if (field.items !== undefined) return `list${itemsWords(field)} of ${typeWords(field.items)}`;
  const type = Array.isArray(field.type) ? field.type.join(' or ') : field.type;
  if (type === undefined) return 'any';
  const matching = field.pattern === undefined ? '' : ` matching ${field.pattern}`;
  return `${type}${lengthWords(field)}${rangeWords(field)}${matching}`;
}

function itemsWords({ minItems, maxItems }: JsonSchema): string {
  const span = spanWords(minItems, maxItems);
  return span === null ? '' : ` (${span} ${one(minItems, maxItems) ? 'item' : 'items'})`;
}

function lengthWords({ minLength, maxLength }: JsonSchema): string {
  const span = spanWords(minLength, maxLength);
  return span === null
    ? ''
    : ` of ${span} ${one(minLength, maxLength) ? 'character' : 'characters'}`;
}

/** Whether the last number of a span is one. */
function one(low: number | undefined, high: number | undefined): boolean {
  return (high === undefined ? low : high) === 1;
}

function spanWords(low: number | undefined, high: number | undefined): string | null {
  if (low === undefined && high === undefined) return null;
  if (high === undefined) return `at least ${low}`;
  if (low === undefined) return `at most ${high}`;
  return low === high ? `exactly ${low}` : `${low} to ${high}`;
}

// The bounds of what a double holds exactly are every whole number's, and say nothing of a field.
function rangeWords(field: JsonSchema): string {
  const low = field.minimum === Number.MIN_SAFE_INTEGER ? undefined : field.minimum;
  const high = field.maximum === Number.MAX_SAFE_INTEGER ? undefined : field.maximum;
  const { exclusiveMinimum: above, exclusiveMaximum: below } = field;
  const said = [
    low !== undefined && high !== undefined ? `from ${low} to ${high}` : null,
    low !== undefined && high === undefined ? `of at least ${low}` : null,
    low === undefined && high !== undefined ? `of at most ${high}` : null,
    above === undefined ? null : `above ${above}`,
    below === undefined ? null : `below ${below}`,
  ].filter((words) => words !== null);
  return said.length === 0 ? '' : ` ${said.join(' and ')}`;
}

function example(path: string, method: string, of: Operation, server: string): string {
  const url = urlOf(path, of, server);
  const how = of['x-messages'] === undefined ? [] : ['-N'];
  const asked = method === 'get' ? [] : ['-X', method.toUpperCase()];
  const isSocket = '101' in of.responses;
  const lines: (readonly CommandWord[])[] = [
    isSocket ? ['npx', 'wscat', '-c', url.replace(/^http/, 'ws')] : ['curl', ...how, ...asked, url],
  ];
  if (of.security.length > 0) {
    const isToken = of.security.some((way) => 'token' in way);
    const variable = isToken ? 'EXHIBIT_STREAM_TOKEN' : 'EXHIBIT_API_KEY';
    lines.push(['-H', { before: 'Authorization: Bearer ', variable }]);
  }
  for (const [type, { schema }] of Object.entries({ ...of.requestBody?.content }).slice(0, 1)) {
    const body = JSON.stringify(exampleOf(schema, 'body'));
    lines.push(['-H', `content-type: ${type}`], ['-d', body]);
  }
  return shellCommand(...lines);
}

function urlOf(path: string, { parameters }: Operation, server: string): string {
  const given = listFrom(parameters, (all) => all.filter(({ required }) => required));
  const text = (p: { name: string; schema: JsonSchema }) => String(exampleOf(p.schema, p.name));
  let url = server + path;
  for (const p of given) if (p.in === 'path') url = url.replace(`{${p.name}}`, () => text(p));
  const query = given.filter((p) => p.in === 'query').map((p) => `${p.name}=${text(p)}`);
  return query.length === 0 ? url : `${url}?${query.join('&')}`;
}
