// Answers one question: how is the API called. Rendered from the OpenAPI document, so that the page
// cannot say anything that the declarations do not.

import type { JsonSchema, OpenapiDocument, Operation } from '../contract/openapi.ts';
import { listFrom } from '../evidence/measure.ts';
import { type PageFacts, page } from './layout.tsx';

/** The API reference page, from the OpenAPI document as it is served. */
export function referencePage(facts: PageFacts, read: OpenapiDocument): string {
  const server = read.servers.map(({ url }) => url).join(', ');
  const entries = Object.entries(read.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({ path, method, one })),
  );
  return page({
    ...facts,
    title: 'API reference',
    current: '/docs',
    children: (
      <>
        <h1>API reference</h1>
        <p class="lead">{read.info.description}</p>
        <p>
          Base address <code>{server}</code>. The same as a machine reads it:{' '}
          <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1).
        </p>
        <nav class="contents" aria-label="Routes">
          <ul>
            {entries.map(({ path, method, one }) => (
              <li key={one.operationId}>
                <a href={`#${one.operationId}`}>
                  <span class="verb">{method.toUpperCase()}</span> <code>{path}</code>
                </a>
              </li>
            ))}
          </ul>
        </nav>
        {entries.map(({ path, method, one }) => (
          <RouteEntry key={one.operationId} path={path} method={method} one={one} server={server} />
        ))}
      </>
    ),
  });
}

type EntryProps = { path: string; method: string; one: Operation; server: string };

function RouteEntry({ path, method, one, server }: EntryProps) {
  const body = one.requestBody?.content['application/json'].schema;
  return (
    <section class="route" id={one.operationId} aria-labelledby={`${one.operationId}-title`}>
      <h2 id={`${one.operationId}-title`}>
        <span class="verb">{method.toUpperCase()}</span> <code>{path}</code>
      </h2>
      <p>{one.summary}</p>
      <p class="quiet">{accessSentence(one)}</p>
      <pre tabindex={0}>
        <code>{example(path, method, one, server)}</code>
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
    </section>
  );
}

type ResponseProps = { status: string; response: Operation['responses'][string] };

function Response({ status, response }: ResponseProps) {
  const found = response.content['application/json'].schema;
  const [first] = found.oneOf === undefined ? [found] : found.oneOf;
  const rows = first === undefined ? [] : rowsOf(first, '', 0);
  return (
    <details open={status === '200'}>
      <summary>
        <span class="status">{status}</span> {withCode(response.description)}
      </summary>
      {rows.length > 0 && <Fields caption={`Fields of a ${status}`} rows={rows} />}
    </details>
  );
}

// The document's descriptions are Markdown: what stands between backticks is code.
function withCode(text: string) {
  return text
    .split('`')
    .map((piece, i) => (i % 2 === 0 ? piece : <code key={piece}>{piece}</code>));
}

type Row = { name: string; kind: string; needed: boolean; claim: string | null };

function Fields({ caption, rows }: { caption: string; rows: readonly Row[] }) {
  const claims = rows.some((row) => row.claim !== null);
  return (
    <div class="scroll">
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Type</th>
            <th scope="col">Present</th>
            {claims && <th scope="col">A negative rests on</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}>
              <td>
                <code>{row.name}</code>
              </td>
              <td>{row.kind}</td>
              <td>{row.needed ? 'always' : 'optional'}</td>
              {claims && <td>{row.claim}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const DEPTH_MAX = 6;

function rowsOf(of: JsonSchema, prefix: string, depth: number): readonly Row[] {
  if (depth > DEPTH_MAX) return [];
  return listFrom(of.properties, Object.entries<JsonSchema>).flatMap(([name, field]) => {
    const full = prefix === '' ? name : `${prefix}.${name}`;
    const inner = innerOf(field);
    const claim = field['x-exhibit-claim'];
    const row: Row = {
      name: full,
      kind: typeWords(field),
      needed: of.required?.includes(name) === true,
      claim: claim === undefined ? null : claim.rests_on.join(', '),
    };
    return [row, ...rowsOf(inner.of, inner.list ? `${full}[]` : full, depth + 1)];
  });
}

function innerOf(field: JsonSchema): { of: JsonSchema; list: boolean } {
  const some = field.anyOf?.find((one) => one.type !== 'null');
  const plain = some === undefined ? field : some;
  return plain.items === undefined ? { of: plain, list: false } : { of: plain.items, list: true };
}

function typeWords(field: JsonSchema): string {
  if (field.$ref !== undefined) return 'the answer of its own route';
  if (field.anyOf !== undefined) return field.anyOf.map(typeWords).join(' or ');
  if (field.const !== undefined) return JSON.stringify(field.const);
  if (field.enum !== undefined) return field.enum.map((one) => JSON.stringify(one)).join(', ');
  if (field.items !== undefined) return `list of ${typeWords(field.items)}${bounds(field)}`;
  const type = Array.isArray(field.type) ? field.type.join(' or ') : field.type;
  if (field.pattern !== undefined) return `${type} matching ${field.pattern}`;
  return type === undefined ? 'any' : `${type}${bounds(field)}`;
}

function textOf(bound: number | undefined): string {
  return bound === undefined ? '' : String(bound);
}

function bounds(field: JsonSchema): string {
  const low = [field.minItems, field.minLength].find((one) => one !== undefined);
  const high = [field.maxItems, field.maxLength].find((one) => one !== undefined);
  return low === undefined && high === undefined ? '' : ` (${textOf(low)}–${textOf(high)})`;
}

function accessSentence(one: Operation): string {
  const ways = one.security.flatMap((way) => Object.keys(way));
  if (ways.length === 0) return 'Open: no credential.';
  if (ways.includes('partner')) return 'Needs a partner key: Authorization: Bearer.';
  if (ways.includes('token')) return 'Needs a bearer access token.';
  return 'Needs a key: Authorization: Bearer, or x-service-membership.';
}

function example(path: string, method: string, one: Operation, server: string): string {
  const url = server + path.replace('{address}', '0x00000000219ab540356cbb839cbe05303d7705fa');
  const key = one.security.length > 0 ? " \\\n  -H 'Authorization: Bearer <API_KEY>'" : '';
  if (method !== 'post') return `curl '${url}'${key}`;
  if (one.requestBody?.required === false) return `curl -X POST '${url}'${key}`;
  const body = '{"addresses":["0x00000000219ab540356cbb839cbe05303d7705fa"]}';
  return `curl -X POST '${url}'${key} \\\n  -H 'content-type: application/json' \\\n  -d '${body}'`;
}
