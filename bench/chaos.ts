// npm run chaos [-- --only PATTERN_OF_FAULTS] [--all-addresses]: starts a service of the simulated
// world in each fault and asks it what a service without faults was asked at the same moment. A
// cell is one answer in one fault. It is false where it denies what the whole answer did not deny,
// where it is not as declared, and where it is a fault without an id.

import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { CONTRACTS } from '../src/compose/list.ts';
import { type AnyEvidenceRoute, envelopeSchema } from '../src/contract/route.ts';
import { missRests } from '../src/contract/wire.ts';
import { isDenial, leavesOf } from '../src/testing/silence-answer.ts';
import { DERIVATIVES_FAULTS } from '../src/world/binance-api.ts';
import { CHAT_FAULTS } from '../src/world/chat-api.ts';
import { EXPLORER_FAULTS } from '../src/world/explorer-api.ts';
import { HYPERLIQUID_FAULTS } from '../src/world/hyperliquid-api.ts';
import { RPC_FAULTS } from '../src/world/json-rpc.ts';
import { PRICE_FAULTS } from '../src/world/price-api.ts';
import { PUBLISHER_FAULTS } from '../src/world/publisher.ts';
import { SOLANA_FAULTS } from '../src/world/solana-api.ts';
import { TOKEN_RISK_FAULTS } from '../src/world/token-risk-api.ts';
import { VENUE_FAULTS } from '../src/world/venue-api.ts';
import { FEED_FAULTS } from '../src/world/venue-streams.ts';
import { type Answer, askingAt, askUntilRead, type Request } from './answers-recorder.ts';
import { ADDRESSES, type Operation, operationsOf, readingRequests } from './answers-requests.ts';
import { build, type Place, serve } from './answers-service.ts';

const READY = 'real data never mixes';
/** A deadline that no busy machine passes: what is slow is a source, and not the service. */
const LIVE_BUDGET_S = '60';
/** Addresses of each kind of fact; `--all-addresses` takes those of the whole guide. */
const SAMPLED: readonly string[] = [
  'listed-evm',
  'listed-bitcoin',
  'unlisted',
  'one-hop',
  'two-hops',
  'hub',
  'bridger',
  'cex',
  'entity',
  'deployer-died',
  'launcher-flagged',
];
const SOURCES: readonly (readonly [provider: string, faults: readonly string[]])[] = [
  ['publisher', PUBLISHER_FAULTS],
  ['explorer', EXPLORER_FAULTS],
  ['rpc', RPC_FAULTS],
  ['solana', SOLANA_FAULTS],
  ['prices', PRICE_FAULTS],
  ['venue', VENUE_FAULTS],
  ['hyperliquid', HYPERLIQUID_FAULTS],
  ['token-risk', TOKEN_RISK_FAULTS],
  ['binance', DERIVATIVES_FAULTS],
  ['binance-stream', FEED_FAULTS],
  ['bybit', DERIVATIVES_FAULTS],
  ['bybit-stream', FEED_FAULTS],
  ['chats', CHAT_FAULTS],
];

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '.' },
    'all-addresses': { type: 'boolean', default: false },
  },
});

const say = (line: string) => process.stdout.write(`${line}\n`);

/** What an answer says: its state, what it denies, and what is wrong with it by itself. */
type Said = {
  readonly status: number;
  readonly state: string;
  readonly denied: ReadonlySet<string>;
  readonly wrong: string | null;
};
type Answers = ReadonlyMap<string, Said>;

const ROUTES = new Map(CONTRACTS.map((route) => [route.name, route]));
const envelope = z.looseObject({ state: z.string(), data: z.unknown() });

function envelopeSaid(route: AnyEvidenceRoute, { status, body }: Answer): Said {
  const parsed = envelopeSchema(route).safeParse(JSON.parse(body));
  if (!parsed.success) {
    return { status, state: 'none', denied: new Set(), wrong: parsed.error.message };
  }
  const { state, data } = envelope.parse(parsed.data);
  const leaves = data === null || data === undefined ? [] : leavesOf(route.data, data);
  // An empty list or text that no claim declares is judged by the silence test, port by port.
  const denied = leaves.filter((leaf) => leaf.declared && isDenial(leaf)).map(({ path }) => path);
  // A miss that rests on named ports rests on imported tables, which no source of the world feeds.
  const isDenied = state === 'insufficient_evidence' && missRests(route.data) === null;
  const missed = isDenied ? ['the whole answer'] : [];
  return { status, state, denied: new Set([...denied, ...missed]), wrong: null };
}

function plainSaid(name: string, { status, headers, body }: Answer): Said {
  const state = String(status);
  const none = { status, state, denied: new Set<string>() };
  const hasId = headers.some(([header]) => header === 'x-request-id');
  if (status >= 500 && !hasId) return { ...none, wrong: 'a fault without an id' };
  const route = ROUTES.get(name);
  if (status === 500) return { ...none, wrong: body.slice(0, 200) };
  const schema = route?.kind === 'plain' ? route.responses[status] : undefined;
  const isJson = headers.some(([header, value]) => {
    return header === 'content-type' && value.startsWith('application/json');
  });
  if (schema === undefined || !isJson) return { ...none, wrong: null };
  const parsed = schema.safeParse(JSON.parse(body));
  if (!parsed.success) return { ...none, wrong: parsed.error.message };
  const leaves = leavesOf(schema, parsed.data);
  const denied = leaves.filter((leaf) => leaf.declared && isDenial(leaf)).map(({ path }) => path);
  return { ...none, denied: new Set(denied), wrong: null };
}

function saidBy({ id }: Operation, answer: Answer): Said {
  const route = ROUTES.get(id);
  const isEnvelope = route?.kind === 'evidence' && /^\{"state":/.test(answer.body);
  return isEnvelope ? envelopeSaid(route, answer) : plainSaid(id, answer);
}

function isAsked({ name }: Request): boolean {
  if (name.includes('@')) return false;
  const who = name.slice(name.lastIndexOf('/') + 1);
  const isOfWorld = values['all-addresses'] ? who in ADDRESSES : SAMPLED.includes(who);
  return who === 'plain' || isOfWorld;
}

const lineIn = (said: string, name: string) =>
  String(new RegExp(`^ *${name} +(\\S+)`, 'm').exec(said)?.[1]);

/** Asks a service in a fault everything; `null`: none. */
async function askIn(fault: string | null): Promise<Answers> {
  const folder = mkdtempSync(join(tmpdir(), 'exhibit-chaos-'));
  const faults = fault === null ? {} : { EXHIBIT_WORLD_FAULTS: fault };
  const settings = { EXHIBIT_LIVE_BUDGET_S: LIVE_BUDGET_S, EXHIBIT_SIMULATE: 'true', ...faults };
  const place: Place = { repo: process.cwd(), folder, port: 0, settings };
  const service = await serve(place, ['start'], READY);
  const port = Number(new URL(lineIn(service.said, 'Base URL')).port);
  const { ask, close } = askingAt(port);
  try {
    const [key, token] = ['API key', 'Stream token'].map((name) => lineIn(service.said, name));
    const credentials = { key: String(key), token: String(token), partner: 'none' };
    const document = await ask({ name: '', path: '/openapi.json' });
    const answers = new Map<string, Said>();
    for (const operation of operationsOf(JSON.parse(document.body) as unknown)) {
      if (operation.method !== 'GET' || operation.scheme === 'partner') continue;
      for (const request of readingRequests(operation, credentials).filter(isAsked)) {
        // A source that fails is asked once: what is asked again would be let off.
        const answer = await (fault === null ? askUntilRead(ask, request) : ask(request));
        answers.set(request.name, saidBy(operation, answer));
      }
    }
    return answers;
  } finally {
    close();
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Row = { readonly cells: number; readonly changed: number; readonly lies: readonly string[] };

function judge(whole: Answers, spoiled: Answers): Row {
  const lies: string[] = [];
  let changed = 0;
  for (const [name, said] of spoiled) {
    const before = whole.get(name);
    if (said.wrong !== null) lies.push(`${name}: ${said.wrong.slice(0, 300)}`);
    if (before === undefined) continue;
    if (before.state !== said.state || before.denied.size !== said.denied.size) changed += 1;
    for (const path of said.denied) {
      if (!before.denied.has(path)) lies.push(`${name}: denies ${path}`);
    }
  }
  return { cells: spoiled.size, changed, lies };
}

const [FAULT_CHARS, NUMBER_CHARS] = [34, 10];

function line(fault: string, cells: readonly (string | number)[]): string {
  return (
    fault.padEnd(FAULT_CHARS) + cells.map((one) => String(one).padStart(NUMBER_CHARS)).join('')
  );
}

async function main(): Promise<void> {
  await build(process.cwd());
  const wanted = new RegExp(values.only);
  const faults = SOURCES.flatMap(([provider, named]) =>
    named.map((fault) => `${provider}:${fault}`),
  ).filter((fault) => wanted.test(fault));
  say(`${faults.length} faults; ${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}`);
  const whole = await askIn(null);
  const wrong = judge(whole, whole).lies;
  say(line('fault', ['cells', 'changed', 'false']));
  say(line('none', [whole.size, 0, wrong.length]));
  for (const lie of wrong) say(`  ${lie}`);
  let [cells, lies] = [whole.size, wrong.length];
  for (const fault of faults) {
    const row = judge(whole, await askIn(fault));
    say(line(fault, [row.cells, row.changed, row.lies.length]));
    for (const lie of row.lies) say(`  ${lie}`);
    cells += row.cells;
    lies += row.lies.length;
  }
  say(`${cells} cells, ${lies} false`);
  if (lies > 0) process.exitCode = 1;
}

await main();
