// Asks a service over HTTP and writes each answer into a file of its own, byte for byte but for
// what no two runs can have in common.

import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent, request as send } from 'node:http';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** One request. `name` is the file of its answer, without an ending. */
export type Request = {
  readonly name: string;
  readonly path: string;
  readonly method?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
  /** Whether it may be asked again; what only reads may be. */
  readonly repeats?: boolean;
};

/** An answer as it came, with its headers in the order of the server. */
export type Answer = {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
};

/** Values that always differ between runs, and their replacements. */
const NORMALISED: readonly (readonly [why: string, what: RegExp, by: string])[] = [
  [
    'a key is as random as the number of draws before it',
    /\b(scp?|sct)_[A-Za-z0-9]{8}(?:[A-Za-z0-9]{30,50})?\b/g,
    '$1_KEY',
  ],
  ['the system chose the port of a stand-in', /\b(127\.0\.0\.1|localhost):\d{4,5}\b/g, '$1:PORT'],
  [
    'the number of a request counts those that settled the service',
    /\b[0-9a-f]{8}-[0-9a-z]{1,5}(?=["\s<])/g,
    'REQUEST',
  ],
  [
    'how many calls failed before a provider is left alone depends on which came first',
    /is left alone for [\d.]+ s after \d+ failures in a row, the last of which was: /g,
    '',
  ],
  ['repeated requests were charged too', /^(< x-ratelimit-remaining: )\d+$/gim, '$1NUMBER'],
  [
    'uses of keys are counted and dated while requests are repeated',
    /("(?:last_used_at|used)":)("[^"]*"|\d+|null)/g,
    '$1"USE"',
  ],
];
/** Headers of node itself, and the date, whose clock the fixed one does not reach. */
const LEFT_OUT = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding']);

/** Answers that a machine under load produces; such a request is repeated after growing delays. */
const OUT_OF_TIME =
  /not answer within \d|left alone for \d|time_budget: the|out of time before|arrived ran out/;
const ATTEMPTS_MAX = 8;
const PAUSE_MS = 2_000;
const REQUEST_MS_MAX = 180_000;
/** A stream is read until it says nothing for so long. */
const QUIET_MS = 2_000;
const STREAM = 'text/event-stream';

/** Makes the text of a file the same in every run. `folder` is where this run keeps its data. */
export function normalise(text: string, folder: string): string {
  return NORMALISED.reduce(
    (changed, [, what, by]) => changed.replace(what, by),
    text.replaceAll(folder, 'FOLDER'),
  );
}

/** Asks the service at a port of this machine. */
export function askingAt(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (request: Request) =>
    new Promise<Answer>((settle, fail) => {
      const { path, method = 'GET', headers = {}, body } = request;
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
      const sent = send(
        { port, host: '127.0.0.1', path, method, agent, headers: { ...headers, ...length } },
        (response) => {
          const chunks: Buffer[] = [];
          const raw = response.rawHeaders;
          const pairs = raw.flatMap((name, at) =>
            at % 2 === 0 ? [[name.toLowerCase(), String(raw[at + 1])] as const] : [],
          );
          const finish = () =>
            settle({
              status: response.statusCode ?? 0,
              headers: pairs,
              body: Buffer.concat(chunks).toString(),
            });
          const quiet = response.headers['content-type']?.startsWith(STREAM) === true;
          const timer = quiet ? setTimeout(() => response.destroy(), QUIET_MS) : null;
          response.on('data', (bytes: Buffer) => {
            chunks.push(bytes);
            timer?.refresh();
          });
          response.once('close', finish);
        },
      );
      sent.setTimeout(REQUEST_MS_MAX, () => sent.destroy(new Error(`${path}: no answer`)));
      sent.once('error', fail);
      sent.end(body);
    });
  return { ask, close: () => agent.destroy() };
}

export type Ask = ReturnType<typeof askingAt>['ask'];

/** Asks until the answer says nothing of a lack of time. */
export async function askUntilRead(ask: Ask, request: Request): Promise<Answer> {
  const repeats = request.repeats ?? (request.method ?? 'GET') === 'GET';
  for (let attempt = 1; ; attempt += 1) {
    const answer = await ask(request);
    if (!repeats || attempt === ATTEMPTS_MAX || !OUT_OF_TIME.test(answer.body)) return answer;
    await sleep(PAUSE_MS * attempt);
  }
}

/** A request and its answer as a text. */
export function transcript(request: Request, { status, headers, body }: Answer): string {
  const own = Object.entries(request.headers ?? {}).map(([name, value]) => `> ${name}: ${value}`);
  const shown = headers.filter(([name]) => !LEFT_OUT.has(name));
  const cut = request.body === undefined ? [] : [`> ${request.body.slice(0, SENT_CHARS_MAX)}`];
  return [
    `> ${request.method ?? 'GET'} ${request.path}`,
    ...own,
    ...cut,
    '',
    `< ${status}`,
    ...shown.map(([name, value]) => `< ${name}: ${value}`),
    '',
    body,
  ].join('\n');
}

const SENT_CHARS_MAX = 2_000;
const NAME_CHARS_MAX = 150;

/** Writes files of a run under a folder. Two that come to the same name get a number. */
export function filesUnder(out: string, dataFolder: string, only: string | null) {
  const written = new Set<string>();
  return {
    wants: (name: string) => only === null || new RegExp(only).test(name),
    write: (name: string, text: string) => {
      const plain = name.replaceAll(/[^\w./@=-]+/g, '_').slice(0, NAME_CHARS_MAX);
      const file = `${written.has(`${plain}.txt`) ? `${plain}~${written.size}` : plain}.txt`;
      written.add(file);
      const path = join(out, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `${normalise(text, dataFolder)}\n`);
    },
    count: () => written.size,
  };
}

export type Files = ReturnType<typeof filesUnder>;
