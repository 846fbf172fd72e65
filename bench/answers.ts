// Does the service answer the same bytes as before? Writes everything that it answers over the
// simulated world, at one moment and with one row of random numbers, into a file each:
//   npm run bench -- answers FOLDER [--repo CHECKOUT] [--only PATTERN_OF_NAMES] [--passes N]
//   npm run bench -- answers --compare BEFORE AFTER
// The checkout is a black box: it is built by its own means, started, and asked from outside.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runCommands, runHelp } from './answers-commands.ts';
import { compareFolders } from './answers-compare.ts';
import {
  browse,
  CHARGES,
  callTools,
  chargeOnce,
  connectChats,
  keepScreens,
  scanAddresses,
  screenBulk,
  watchAddresses,
} from './answers-flows.ts';
import { addressPages, walkPages } from './answers-pages.ts';
import {
  type Ask,
  askingAt,
  askUntilRead,
  type Files,
  filesUnder,
  type Request,
  transcript,
} from './answers-recorder.ts';
import {
  ADDRESSES,
  type Credentials,
  headersOf,
  type Operation,
  operationsOf,
  readingRequests,
  refusedRequests,
  strayRequests,
} from './answers-requests.ts';
import { build, type Place, run, serve } from './answers-service.ts';

const PORT = '41811';
/** The settings of every service: long enough deadlines that a busy machine changes no answer. */
const SETTINGS = {
  EXHIBIT_LIVE_BUDGET_S: '150',
  EXHIBIT_ADMIN_TOKEN: 'an-admin-token-of-the-answers',
};
const FAULTS =
  'publisher:html,explorer:error500,prices:error500,venue:error500,solana:error500,rpc:error500';
const READY = 'real data never mixes';
const PASSES_MAX = '12';
/** Requests that may start background work are repeated in each pass. */
const LATE = /deployer|creator|leaderboard/;
const BETWEEN_PASSES_MS = 4_000;
const SCREENED_WITHIN_S = 60;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    compare: { type: 'boolean', default: false },
    repo: { type: 'string', default: '.' },
    only: { type: 'string' },
    /** How often it is asked at most until nothing changes any more. */
    passes: { type: 'string', default: PASSES_MAX },
    port: { type: 'string', default: PORT },
  },
});

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** A service that is asked: how, and by what it knows who asks. */
type Asker = {
  readonly place: Place;
  readonly ask: Ask;
  readonly files: Files;
  readonly credentials: Credentials;
  readonly operations: readonly Operation[];
};

async function record({ ask, files }: Asker, request: Request) {
  const answer = await askUntilRead(ask, request);
  if (files.wants(request.name)) files.write(request.name, transcript(request, answer));
  return answer;
}

async function recordAll(asker: Asker, all: readonly Request[]): Promise<void> {
  for (const request of all) if (asker.files.wants(request.name)) await record(asker, request);
}

function keyIn(printed: string): string {
  return /"(?:key|token|text)":\s*"((?:scp?|sct)_[^"]+)"/.exec(printed)?.[1] ?? 'none';
}

function lineIn(said: string, name: string): string {
  return new RegExp(`^ *${name} +(\\S+)`, 'm').exec(said)?.[1] ?? 'none';
}

/** Makes a membership with a key of its own, so that what is repeated is charged to nobody else. */
async function mintKey(place: Place, id: string): Promise<string> {
  await run(place, ['members', 'add', '--plan', 'enterprise', '--id', id, '--json']);
  const made = await run(place, ['keys', 'create', '--membership', id, '--json']);
  return keyIn(made.out);
}

/**
 * Asks for everything that background work may still change, until nothing does: walks that a
 * question began, launches that are being collected and scored, histories that are being read.
 */
async function settle({ ask, operations }: Asker, credentials: Credentials): Promise<void> {
  const pages = ['/leaderboard', '/status', '/'].map((path) => ({ name: path, path }));
  const plain = operations
    .filter(({ method, path }) => method === 'GET' && !/^\/(ws|sse)\//.test(path))
    .flatMap((operation) => readingRequests(operation, credentials))
    .filter(({ name }) => !name.includes('@'));
  const answers = new Map<string, string>();
  let open: readonly Request[] = [...plain, ...pages];
  for (let pass = 1; pass <= Number(values.passes); pass += 1) {
    const changed: Request[] = [];
    for (const request of open) {
      const { body } = await askUntilRead(ask, request);
      if (answers.get(request.path) !== body) changed.push(request);
      answers.set(request.path, body);
    }
    say(`pass ${pass} of settling: ${changed.length} of ${open.length} answers changed`);
    if (changed.length === 0) return;
    open = pass === 1 ? open : open.filter((one) => changed.includes(one) || LATE.test(one.path));
    await sleep(BETWEEN_PASSES_MS);
  }
}

async function untilScreened({ ask, credentials }: Asker): Promise<void> {
  const headers = headersOf('key', credentials);
  for (let pass = 1; pass <= SCREENED_WITHIN_S; pass += 1) {
    const { body } = await ask({ name: '', path: '/api/v1/watchlist', headers });
    const unread = body.includes('"parts":[]') || body.includes('"read_at":null');
    if (!unread) return;
    await sleep(1_000);
  }
}

async function connect(place: Place, files: Files, said: string) {
  const { ask, close } = askingAt(place.port);
  const key = lineIn(said, 'API key');
  const token = lineIn(said, 'Stream token');
  const partner = await run(place, [
    'keys',
    'create',
    '--partner',
    'x',
    '--budget',
    '9999',
    '--json',
  ]);
  const credentials = { key, token, partner: keyIn(partner.out) };
  const document = await ask({ name: '', path: '/openapi.json' });
  const operations = operationsOf(JSON.parse(document.body) as unknown);
  return { asker: { place, ask, files, credentials, operations }, close };
}

/** What stores something, step by step, a browser that signs in, and an MCP client. */
async function recordFlows(asker: Asker, said: string): Promise<void> {
  say('asking in an order');
  const { place, files, credentials } = asker;
  const step = (request: Request) => record(asker, request);
  await screenBulk(step, credentials);
  await scanAddresses(step, credentials);
  await keepScreens(step, credentials);
  await watchAddresses(step, credentials, () => untilScreened(asker));
  await connectChats(step, credentials);
  await callTools(step, credentials);
  await chargeOnce(step, await mintKey(place, 'mem_charged'));
  files.write('flows/charges/left', CHARGES.join('\n'));
  const link = /once and within a day: (\S+)/.exec(said)?.[1];
  if (link !== undefined) await browse(step, new URL(link).origin, link);
}

/** The simulated world with all of its providers. */
async function recordWorld(place: Place, files: Files): Promise<void> {
  const service = await serve(place, ['start'], READY);
  if (files.wants('text/start')) files.write('text/start', service.said);
  const { asker, close } = await connect(place, files, service.said);
  const { credentials, operations } = asker;
  const first = ADDRESSES['deployer-unwalked'];
  const path = `/api/v1/evm/deployer/ethereum/${first}`;
  const headers = headersOf('key', credentials);
  await record(asker, { name: 'api/first-request', path, headers });
  const spare = { ...credentials, key: await mintKey(place, 'mem_settling') };
  await settle(asker, spare);
  say('asking what is read');
  for (const operation of operations.filter(({ method }) => method === 'GET')) {
    await recordAll(asker, readingRequests(operation, credentials));
  }
  await recordAll(asker, addressPages());
  await walkPages((request) => record(asker, request));
  say('asking what is refused');
  for (const operation of operations) {
    await recordAll(asker, refusedRequests(operation, credentials));
  }
  await recordAll(asker, strayRequests(credentials));
  const { only } = values;
  if (only === undefined || only.includes('flows')) await recordFlows(asker, service.said);
  say('running commands');
  await runHelp(place, files);
  // The browser has replaced the first key.
  await runCommands(place, files, { ...credentials, key: await mintKey(place, 'mem_commands') });
  close();
  const ended = await service.stop();
  if (files.wants('text/end')) {
    files.write('text/end', `status ${ended.status}\n${ended.out.slice(service.said.length)}`);
  }
}

const SILENT_NAMES = ['listed-evm', 'unlisted', 'hub', 'bridger', 'inferred', 'entity'] as const;

/** The same world where every provider fails: what is left unsaid, and why. */
async function recordSilence(place: Place, files: Files): Promise<void> {
  const service = await serve(place, ['start'], READY);
  if (files.wants('silent/start')) files.write('silent/start', service.said);
  const { asker, close } = await connect(place, files, service.said);
  const isAsked = ({ name }: Request) =>
    SILENT_NAMES.some((one) => name.endsWith(`/${one}`)) || name.endsWith('/plain');
  // Asked once: a provider that is left alone says so, which elsewhere is a lack of time.
  const silently = (request: Request) => {
    return { ...request, name: `silent/${request.name}`, repeats: false };
  };
  for (const operation of asker.operations.filter(({ method }) => method === 'GET')) {
    const request = readingRequests(operation, asker.credentials).filter(isAsked);
    await recordAll(asker, request.map(silently));
  }
  const pages = addressPages().filter(({ name }) => SILENT_NAMES.some((one) => name.includes(one)));
  await recordAll(asker, pages.map(silently));
  for (const path of ['/status', '/leaderboard', '/registry/sanctions', '/ready']) {
    await recordAll(asker, [silently({ name: path.slice(1), path })]);
  }
  for (const words of ['sanctions status', `sanctions check ${ADDRESSES['listed-evm']}`]) {
    const name = `silent/commands/${words.split(' ')[1]}`;
    if (!files.wants(name)) continue;
    const { status, out, err } = await run(place, [...words.split(' '), '--json']);
    files.write(name, `status ${status}\n${out}\n${err}`);
  }
  close();
  await service.stop();
}

/** A live service without a source: what is absent, said at the start. */
async function recordUnset(place: Place, files: Files): Promise<void> {
  const service = await serve(place, ['up', '--allow-anonymous'], 'Data directory');
  if (files.wants('unset/start')) files.write('unset/start', service.said);
  const { ask, close } = askingAt(place.port);
  for (const path of ['/health', '/status', `/api/wallet/${ADDRESSES.unlisted}/entity`]) {
    const request = { name: `unset${path}`, path };
    if (files.wants(request.name))
      files.write(request.name, transcript(request, await ask(request)));
  }
  close();
  await service.stop();
}

const SCENES = [
  { name: 'world', settings: {}, play: recordWorld },
  { name: 'silent', settings: { EXHIBIT_WORLD_FAULTS: FAULTS }, play: recordSilence },
  {
    name: 'unset',
    settings: { EXHIBIT_SIMULATE: 'false', EXHIBIT_SDN_URL: 'http://127.0.0.1:9/' },
    play: recordUnset,
  },
] as const;

async function writeAnswers(out: string, repo: string, port: number, only: string | null) {
  await build(repo);
  let count = 0;
  for (const { name, settings, play } of SCENES) {
    if (only !== null && name !== 'world' && !only.startsWith(name)) continue;
    if (only !== null && name === 'world' && /^(silent|unset)/.test(only)) continue;
    const folder = mkdtempSync(join(tmpdir(), 'exhibit-answers-'));
    const place = { repo, folder, port, settings: { ...SETTINGS, ...settings } };
    const files = filesUnder(out, folder, only);
    try {
      await play(place, files);
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }
    count += files.count();
    say(`${name}: ${files.count()} files`);
  }
  say(`${count} answers in ${out}`);
}

const [folder, other] = positionals;
if (folder === undefined || values.compare !== (other !== undefined)) {
  throw new Error('npm run bench -- answers FOLDER, or answers --compare BEFORE AFTER');
}
if (other !== undefined) {
  if (compareFolders(resolve(folder), resolve(other)) > 0) process.exitCode = 1;
} else {
  const only = values.only ?? null;
  await writeAnswers(resolve(folder), resolve(values.repo), Number(values.port), only);
}
