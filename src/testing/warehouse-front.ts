// A ClickHouse server as far as @clickhouse/client can tell: its HTTP protocol over a chDB child.
// Proves the remote executor, and is the shared warehouse of tests with several processes.
// Fails on demand in the ways that servers and the proxies before them fail. Never for production.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startWarehouseEngine, type WarehouseEngine } from '../stores/warehouse/engine/embedded.ts';
import type { EngineJob } from '../stores/warehouse/engine/engine-protocol.ts';
import {
  quoteSql,
  WarehouseQueryError,
  WarehouseUnavailable,
} from '../stores/warehouse/engine/executor.ts';
import { fileInsert, insertTarget } from '../stores/warehouse/engine/insert-source.ts';

/** The fault of the next `times` requests (of all of them if it is absent). */
export type FrontFault = { readonly times?: number } & (
  | { readonly kind: 'down' }
  | { readonly kind: 'slow'; readonly ms: number }
  /** Half of the answer, then the connection is cut. */
  | { readonly kind: 'cut' }
  /** Half of the answer under status 200, then an exception's text, and a regular end. */
  | { readonly kind: 'exception_midway' }
  /** Half of the answer, and a regular end, as a faulty proxy does. */
  | { readonly kind: 'half' }
  /** ClickHouse's own exception of this code, before anything was run. */
  | { readonly kind: 'exception'; readonly code: number; readonly name: string }
  /** The same after everything was run, in the body of a 200: as text, or in a frame (25.11 on). */
  | {
      readonly kind: 'exception_after';
      readonly code: number;
      readonly name: string;
      readonly framed: boolean;
    }
  /** A proxy's page in place of an answer. */
  | { readonly kind: 'html'; readonly status: number }
);

/** A running front. */
export type WarehouseFront = {
  /** For `EXHIBIT_WAREHOUSE_URL` or `remoteWarehouse`. */
  readonly url: string;
  /** Sets the fault, or none with `undefined`. */
  fault(fault: FrontFault | undefined): void;
  /** The fields of the last request's URL: settings, as a server would have obeyed them. */
  lastFields(): Readonly<Record<string, string>>;
  /** The process id of the engine, to be killed by a test. */
  pid(): number | undefined;
  close(): Promise<void>;
};

/** Bytes of one request. */
const BODY_BYTES_MAX = 128 * 1024 * 1024;
/** Bytes of the URL and the headers together. */
const HEADER_BYTES_MAX = 1024 * 1024;
/** The longest statement that a test may run. */
const QUERY_MS_MAX = 120_000;

/** Starts a front over a directory, on a free port of the loopback. */
export async function startWarehouseFront(directory: string): Promise<WarehouseFront> {
  const engine = await startWarehouseEngine(directory);
  const faults = faultBox();
  let last: Record<string, string> = {};
  const server = createServer({ maxHeaderSize: HEADER_BYTES_MAX }, (request, response) => {
    last = Object.fromEntries(new URL(String(request.url), 'http://front').searchParams);
    handle(engine, faults.take(), request, response).then(
      () => undefined,
      (error: unknown) => refuse(response, error),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address === 'string' || address === null) throw new Error('The front has no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    fault: faults.set,
    lastFields: () => last,
    pid: engine.pid,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await engine.close();
    },
  };
}

function faultBox() {
  let fault: FrontFault | undefined;
  let left = 0;
  return {
    set: (next: FrontFault | undefined) => {
      fault = next;
      left = next?.times === undefined ? Number.POSITIVE_INFINITY : next.times;
    },
    take: (): FrontFault | undefined => {
      left -= 1;
      return left < 0 ? undefined : fault;
    },
  };
}

async function handle(
  engine: WarehouseEngine,
  fault: FrontFault | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (fault?.kind === 'down') {
    request.socket.destroy();
    return;
  }
  const url = new URL(String(request.url), 'http://front');
  const asked = question(url, request, await bodyOf(request));
  if (fault?.kind === 'slow') await new Promise((resolve) => setTimeout(resolve, fault.ms));
  if (fault?.kind === 'html') {
    response.writeHead(fault.status, { 'content-type': 'text/html' });
    response.end('<html><body>Bad gateway</body></html>');
    return;
  }
  if (fault?.kind === 'exception') {
    throw new WarehouseQueryError(fault.code, fault.name, exceptionText(fault.code, fault.name));
  }
  if (url.pathname === '/ping') {
    response.end('Ok.\n');
    return;
  }
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const call = { timeoutMs: QUERY_MS_MAX, signal: gone.signal };
  if (asked.fromFile === undefined) {
    answer(response, await engine.run(asked.job, asked.body, call), fault);
    return;
  }
  const folder = await mkdtemp(join(tmpdir(), 'warehouse-front-'));
  try {
    const path = join(folder, 'body');
    await writeFile(path, asked.body);
    const sql = Buffer.from(asked.fromFile(path));
    answer(response, await engine.run(asked.job, sql, call), fault);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function answer(response: ServerResponse, bytes: Buffer, fault: FrontFault | undefined): void {
  response.setHeader('X-ClickHouse-Summary', '{}');
  const half = bytes.subarray(0, bytes.length / 2);
  if (fault?.kind === 'cut') {
    response.write(half, () => response.destroy());
  } else if (fault?.kind === 'exception_midway') {
    response.end(`${half.toString('utf8')}\n${exceptionText(241, 'MEMORY_LIMIT_EXCEEDED')}`);
  } else if (fault?.kind === 'exception_after') {
    const said = exceptionText(fault.code, fault.name);
    if (fault.framed) response.setHeader('X-ClickHouse-Exception-Tag', EXCEPTION_TAG);
    response.end(`${half.toString('utf8')}${fault.framed ? exceptionFrame(said) : said}`);
  } else if (fault?.kind === 'half') {
    response.end(half);
  } else {
    response.end(bytes);
  }
}

const EXCEPTION_TAG = 'dmrdfnujjqvszhav';

/** An exception as servers of 25.11 and newer put it behind what they had sent already. */
function exceptionFrame(said: string): string {
  const length = Buffer.byteLength(said);
  const mark = '\r\n__exception__\r\n';
  return `${mark}${EXCEPTION_TAG}\r\n${said}${length} ${EXCEPTION_TAG}${mark}`;
}

function exceptionText(code: number, name: string, said = 'as the test asked'): string {
  return `Code: ${code}. DB::Exception: ${said}. (${name}) (version 26.7.3.1)\n`;
}

/** ClickHouse's shape of an exception; what has no code looks as it does behind a proxy. */
function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
  } else if (error instanceof WarehouseQueryError) {
    response.writeHead(500, { 'X-ClickHouse-Exception-Code': String(error.code) });
    response.end(error.detail);
  } else {
    const code =
      error instanceof WarehouseUnavailable ? UNAVAILABLE_ANSWERS[error.code] : undefined;
    if (code === undefined) {
      response.writeHead(503);
      response.end('no engine');
      return;
    }
    response.writeHead(500, { 'X-ClickHouse-Exception-Code': String(code[0]) });
    response.end(exceptionText(...code));
  }
}

const UNAVAILABLE_ANSWERS: Readonly<Record<string, readonly [number, string, string?]>> = {
  timeout: [159, 'TIMEOUT_EXCEEDED'],
  overloaded: [241, 'MEMORY_LIMIT_EXCEEDED'],
  too_large: [241, 'MEMORY_LIMIT_EXCEEDED', 'Query memory limit exceeded'],
};

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let held = 0;
  for await (const piece of request) {
    if (!Buffer.isBuffer(piece)) throw new Error('A request body is bytes.');
    held += piece.length;
    if (held > BODY_BYTES_MAX) throw new Error('The request is over the bound.');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

type Question = {
  readonly job: EngineJob;
  readonly body: Buffer;
  /** The statement that reads the body out of a file, where the engine takes it in no other way. */
  readonly fromFile?: (path: string) => string;
};

const MULTIPART = /^multipart\/form-data; boundary=(.+)$/;
const INSERT = /^\s*INSERT INTO ([\w.]+)(?: \(([^)]*)\))? FORMAT (\w+)\s*$/;
/** An INSERT … SELECT out of the request's body. */
const FROM_INPUT =
  /^(\s*INSERT INTO [\s\S]*)\binput\(('(?:[^'\\]|\\.)*')\)([\s\S]*?) FORMAT (\w+)\s*$/;
const LINE_FORMATS = ['JSONEachRow', 'JSONCompactEachRow', 'CSV', 'TabSeparated'] as const;

function question(url: URL, request: IncomingMessage, body: Buffer): Question {
  const boundary = MULTIPART.exec(String(request.headers['content-type']))?.[1];
  const fields = new Map(url.searchParams);
  if (boundary !== undefined)
    for (const [name, text] of parts(body, boundary)) fields.set(name, text);
  const query = fields.get('query');
  const statement = query === undefined ? body.toString('utf8') : query;
  const insert = INSERT.exec(statement);
  if (insert !== null && boundary === undefined) return insertion(insert, body);
  const uploaded = FROM_INPUT.exec(statement);
  if (uploaded !== null && boundary === undefined) {
    const [, head, structure, tail, named] = uploaded;
    const settings = Object.fromEntries(settingsOf(fields));
    const fromFile = (path: string) =>
      `${head}file(${quoteSql(path)}, '${named}', ${structure})${tail}`;
    return { job: { do: 'run', format: 'Null', settings }, body, fromFile };
  }
  const format = fields.get('default_format');
  const job: EngineJob = {
    do: 'run',
    format: format === undefined ? 'TabSeparated' : format,
    settings: Object.fromEntries(settingsOf(fields)),
  };
  return { job, body: Buffer.from(bindTexts(statement, fields)) };
}

function insertion(match: RegExpExecArray, body: Buffer): Question {
  const [, table, columns, named] = match;
  if (table !== undefined && named === 'Parquet') {
    const job: EngineJob = { do: 'run', format: 'Null', settings: {} };
    const target = insertTarget(table, columns?.split(/,\s*/));
    return { job, body, fromFile: (path) => fileInsert(target, path) };
  }
  const format = LINE_FORMATS.find((known) => known === named);
  if (table === undefined || format === undefined) {
    throw new WarehouseQueryError(73, 'UNKNOWN_FORMAT', exceptionText(73, 'UNKNOWN_FORMAT'));
  }
  const job: EngineJob = { do: 'insert', table, columns: columns?.split(/,\s*/), format };
  return { job, body };
}

/** The text parts of a form, by name. */
function parts(body: Buffer, boundary: string): [string, string][] {
  return body
    .toString('utf8')
    .split(`--${boundary}`)
    .flatMap((part): [string, string][] => {
      const found = /^\r\nContent-Disposition: form-data; name="(\w+)"\r\n\r\n([\s\S]*)\r\n$/.exec(
        part,
      );
      return found?.[1] === undefined || found[2] === undefined ? [] : [[found[1], found[2]]];
    });
}

/** URL fields that only an HTTP server knows; the rest are settings of the statement. */
const HTTP_ONLY = new Set([
  'query',
  'query_id',
  'database',
  'session_id',
  'role',
  'default_format',
  'wait_end_of_query',
  'enable_http_compression',
]);

function* settingsOf(fields: ReadonlyMap<string, string>): Iterable<[string, string]> {
  for (const [name, value] of fields) {
    if (!HTTP_ONLY.has(name) && !name.startsWith('param_')) yield [name, value];
  }
}

const PLACEHOLDER = /\{\s*(\w+)\s*:\s*([^{}]+?)\s*\}/g;
const UNESCAPES: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['b', '\b'],
  ['f', '\f'],
  ['0', '\0'],
]);

/** Binds as a server does: escaped text for a scalar, literal text for an array, \N for null. */
function bindTexts(sql: string, fields: ReadonlyMap<string, string>): string {
  return sql.replace(PLACEHOLDER, (_, name: string, type: string) => {
    const text = fields.get(`param_${name}`);
    if (text === undefined) {
      const said = `Code: 456. DB::Exception: Substitution is not set. (UNKNOWN_QUERY_PARAMETER)`;
      throw new WarehouseQueryError(456, 'UNKNOWN_QUERY_PARAMETER', said);
    }
    if (type === 'Identifier') return text;
    if (text === '\\N') return `_CAST(NULL, ${quoteSql(type)})`;
    const value = type.startsWith('Array(') ? text : unescapeText(text);
    return `_CAST(${quoteSql(value)}, ${quoteSql(type)})`;
  });
}

function unescapeText(text: string): string {
  return text.replace(/\\(.)/g, (_, character: string) => UNESCAPES.get(character) ?? character);
}
