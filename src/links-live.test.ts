// Through a started service, beside an explorer and a node that answer or do not: `score` and
// `bridges` agree, an entity does not depend on who asked first, the official client takes every
// tool in each state, and files and feeds come in and go out as their readers want.

import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { evm } from './testing/addresses.ts';
import { logOf } from './testing/event-logs.ts';
import { joinLive, type LiveProgram, startLive } from './testing/live-program.ts';
import { connectClient, REVISIONS } from './testing/mcp-clients.ts';
import { fetchPatiently } from './testing/patient-fetch.ts';
import { runPrinting, startProgram } from './testing/program.ts';
import type { ExplorerRow } from './world/chain-types.ts';
import { type StartedExplorer, startExplorer } from './world/explorer-api.ts';
import { bodyOf } from './world/stand-in.ts';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });
const HEAD = 20_000_000;
const POLL = { timeout: 120_000, interval: 500 };
const BODY_CHARS_MAX = 100_000;
const POOL = '0x5c7bcd6e7de5423a257d81b442095a1a6ced35c5';
const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
const NOBODY = `0x${'0'.repeat(40)}`;
const [RELAYER, PAYER, OTHER, DEPOSIT, HOT, LISTED] = [
  ...['relayer', 'payer of shops', 'other payer', 'deposit', 'hot', 'listed'],
].map(evm) as [string, string, string, string, string, string];
const SHOPS = 24;
const SOLANA = 'NXwt11psf5yJvnrrbhLGTP6nRa8xuKD1RMHesUtETfS';

const rows = new Map<string, ExplorerRow[]>();
let made = 0;
const timeOf = (block: number) => Math.floor(Date.now() / 1_000) - (HEAD - block) * 12;

function happened(block: number, from: string, to: string, over: Partial<ExplorerRow> = {}) {
  made += 1;
  const place = { tx: `0x${made.toString(16).padStart(64, '0')}`, block, at: timeOf(block) };
  const moved = { kind: 'native', value: 10n ** 18n, token: null, success: true } as const;
  const row: ExplorerRow = { ...moved, ...place, from, to, ...over };
  for (const one of [from, to]) rows.set(one, [...(rows.get(one) ?? []), row]);
  return row;
}

const AMOUNT = 70_000_000n;
const FILLED = [
  'event FilledV3Relay(address inputToken, address outputToken, uint256 inputAmount,',
  'uint256 outputAmount, uint256 repaymentChainId, uint256 indexed originChainId,',
  'uint32 indexed depositId, uint32 fillDeadline, uint32 exclusivityDeadline,',
  'address exclusiveRelayer, address indexed relayer, address depositor, address recipient,',
  'bytes message, (address updatedRecipient, bytes updatedMessage, uint256 updatedOutputAmount,',
  'uint8 fillType) relayExecutionInfo)',
].join(' ');

/** The log of a bridge that pays an address out of its relayer's wallet. */
function filledLog(to: string) {
  const info = { updatedRecipient: to, updatedMessage: '0x', updatedOutputAmount: AMOUNT };
  return logOf(POOL, FILLED, [
    ...[USDC, USDC, 71_000_000n, AMOUNT, 1n, 8453n, 9, 0, 0, NOBODY, RELAYER],
    ...[evm('depositor'), to, '0x', { ...info, fillType: 0 }],
  ]);
}

const token = { address: USDC, symbol: 'USDC', decimals: 6 };
/** What was read to its end is kept, so that each case has a subject of its own. */
const SUBJECTS = ['subject', 'beside a silent node', 'behind a silent explorer'].map(evm);
const FILLS = SUBJECTS.map((one, n) => {
  const fill = happened(19_000_000 + n, RELAYER, one, { kind: 'token', token, value: AMOUNT });
  return { ...fill, log: filledLog(one) };
});
// Each shop twice, so that whom the payer pays most often comes before the deposit address.
for (let n = 0; n < 2 * SHOPS; n += 1) happened(18_000_000 + n, PAYER, evm(`shop ${n % SHOPS}`));
for (const [n, who] of [PAYER, OTHER].entries()) {
  happened(18_100_000 + n * 100_000, who, DEPOSIT);
  happened(18_100_010 + n * 100_000, DEPOSIT, HOT);
}

const question = z.object({ id: z.unknown(), method: z.string(), params: z.array(z.unknown()) });
let isNodeDown = false;

/** A node that knows the transactions of the fills, and nothing else. */
function nodeAnswer({ id, method, params }: z.output<typeof question>): object {
  const of = { jsonrpc: '2.0', id };
  if (isNodeDown) return { ...of, error: { code: -32_000, message: 'down' } };
  const result = nodeResult(method, params[0]);
  if (result !== undefined) return { ...of, result };
  return { ...of, error: { code: -32_601, message: 'method not found' } };
}

function nodeResult(method: string, tx: unknown): unknown {
  if (method === 'eth_chainId') return '0x1';
  if (method === 'eth_blockNumber') return `0x${HEAD.toString(16)}`;
  if (method === 'eth_getCode') return '0x';
  const fill = FILLS.find((one) => one.tx === tx);
  if (fill === undefined) return undefined;
  const sent = { from: RELAYER, to: POOL };
  if (method === 'eth_getTransactionByHash') {
    return { hash: fill.tx, ...sent, value: '0x0', input: '0x', chainId: '0x1' };
  }
  if (method !== 'eth_getTransactionReceipt') return undefined;
  const blockNumber = `0x${fill.block.toString(16)}`;
  const logs = [{ ...fill.log, logIndex: '0x0' }];
  return { transactionHash: fill.tx, blockNumber, status: '0x1', logs, ...sent };
}

let node: Server;
let explorer: StartedExplorer;
let live: LiveProgram;
let key: string;

beforeAll(async () => {
  node = createServer((request, response) => {
    void bodyOf(request, BODY_CHARS_MAX).then((text) => {
      const asked = z.union([z.array(question), question]).parse(JSON.parse(text));
      const answer = Array.isArray(asked) ? asked.map(nodeAnswer) : nodeAnswer(asked);
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((ready) => node.listen(0, '127.0.0.1', ready));
  explorer = await startExplorer({
    headOf: () => HEAD,
    timeOf: (_, block) => timeOf(block),
    rowsOf: (_, address) => rows.get(address) ?? [],
    rowsOfToken: () => [],
  });
  live = await startLive({
    words: ['up'],
    listed: [LISTED],
    explorer,
    settings: {
      EXHIBIT_RING_CALLS: '0',
      EXHIBIT_SURFACES: 'hosted,integrations,intelligence,mcp,web',
      EXHIBIT_ALLOW_ANONYMOUS: 'true',
      // Each question is asked anew, so that a fault shows at once.
      EXHIBIT_LIVE_HOLD: '0s',
      EXHIBIT_RPC_ETHEREUM: `http://127.0.0.1:${(node.address() as AddressInfo).port}`,
    },
  });
  ({ key } = await joinLive(live, 'enterprise'));
});
afterAll(async () => {
  await live.close();
  await explorer.close();
  node.closeAllConnections();
  node.close();
});
beforeEach(() => {
  explorer.fault(() => null);
  isNodeDown = false;
});

async function ask<S extends z.ZodType>(shape: S, path: string): Promise<z.output<S>> {
  const headers = { authorization: `Bearer ${key}` };
  return shape.parse(await (await fetchPatiently(live.base() + path, { headers })).json());
}

const bridged = z.object({
  state: z.string(),
  data: z
    .object({
      coverage: z.object({ checked: z.boolean() }),
      contacts: z.array(z.object({ tx: z.string() })).nullable(),
    })
    .nullable()
    .optional(),
});
const scored = z.object({
  data: z.object({
    findings_coverage: z.array(z.object({ kind: z.string(), checked: z.boolean() })),
    findings: z.array(z.object({ kind: z.string(), evidence_count: z.int() })),
  }),
});

describe('a fill among the newest payments', () => {
  const bothSay = async (at: number) => {
    const wallet = `/api/v1/wallet/${SUBJECTS[at]}`;
    const { state, data } = await ask(bridged, `${wallet}/bridges?chain=ethereum`);
    const { data: score } = await ask(scored, `${wallet}/score`);
    const isBridge = ({ kind }: { readonly kind: string }) => kind === 'bridge_contact';
    return {
      state,
      contacts: data?.contacts?.map(({ tx }) => tx),
      bridges: data?.coverage.checked,
      score: score.findings_coverage.find(isBridge)?.checked,
      found: score.findings.filter(isBridge).map((one) => one.evidence_count),
    };
  };

  test('is a contact of bridges and a finding of score', async () => {
    const seen = { state: 'ok', contacts: [FILLS[0]?.tx], found: [1] };
    expect(await bothSay(0)).toMatchObject(seen);
  });

  test('is denied by neither where the node does not tell its receipt', async () => {
    isNodeDown = true;
    const said = await bothSay(1);
    expect([said.bridges === true, said.score, said.found]).toEqual([false, false, []]);
  });

  test('is denied by neither where the explorer tells no payments', async () => {
    // Its lists alone fail, with 200: a head that is not told either would silence everything.
    explorer.fault((call) => (call.address === SUBJECTS[2] ? 'notok' : null));
    const said = await bothSay(2);
    // What the relayer's own history tells of it may be shown, and is all that is said.
    expect([said.bridges === true, said.score]).toEqual([false, false]);
  });
});

const entity = z.object({
  checked: z.boolean(),
  members: z.array(z.object({ address: z.string() })),
});

test('who pays 24 shops and one deposit address is tied to its other payer, whoever asks first', async () => {
  const labels = join(live.cwd, 'labels.csv');
  await writeFile(labels, `address,label,entity\n${HOT},Exemplar: hot,Exemplar\n`);
  const words = ['labels', 'import', labels, '--source', 'tries', '--role', 'hot'];
  await runPrinting(z.looseObject({}), words, live);
  const membersOf = async (address: string) => {
    const { checked, members } = await ask(entity, `/api/wallet/${address}/entity`);
    return { checked, members: members.map((one) => one.address).sort() };
  };
  const alone = await vi.waitFor(async () => {
    const said = await membersOf(PAYER);
    expect(said.members).toEqual([DEPOSIT, OTHER].sort());
    return said;
  }, POLL);
  await membersOf(DEPOSIT);
  expect(await membersOf(PAYER)).toEqual(alone);
  explorer.fault((call) => (call.address === DEPOSIT ? 'rate-limited' : null));
  // What was kept of the deposit address stands; that nobody else uses it is not said.
  expect(await membersOf(PAYER)).toMatchObject({ members: alone.members });
});

test.each(REVISIONS)('every state of every tool passes the client of %s', async (revision) => {
  const headers = { authorization: `Bearer ${key}` };
  const states = new Set<string>();
  for (const fault of [null, 'rate-limited'] as const) {
    explorer.fault(() => fault);
    isNodeDown = fault !== null;
    const client = await connectClient(revision, { url: `${live.base()}/mcp`, headers });
    for (const { name, inputSchema } of await client.list()) {
      const fields = Object.keys(Object(inputSchema['properties']));
      const chains = fields.includes('chain') ? ['ethereum', 'base', 'solana'] : [null];
      for (const chain of chains) {
        const address = chain === 'solana' ? SOLANA : String(SUBJECTS[0]);
        const given = { address, ...(chain === null ? {} : { chain }) };
        // The client throws at an answer that is not what the listed schema says.
        const { structuredContent } = await client.call(name, given);
        if (structuredContent !== undefined) states.add(`${name} ${structuredContent['state']}`);
      }
    }
    await client.close();
  }
  for (const said of ['deployer_record not_deployed', 'wallet_ofac ok', 'wallet_bridges ok']) {
    expect([...states]).toContain(said);
  }
});

const imported = z.looseObject({ rows_accepted: z.int(), rows_refused: z.int() });
const PACK = `title: Made up
creator: Tests
lastmod: 2026-08-16
currency: ETH
source: https://example.org/list
confidence: web_crawl
tags:
- address: '${evm('wallet of an exchange').toLowerCase()}'
  label: Exemplar Market
  category: exchange
- address: '${evm('a ransom').toLowerCase()}'
  label: A ransom
  abuse: ransomware
- address: '${evm('a fraud').toLowerCase()}'
  label: A fraud
  category: scam
`;

describe('files of others', () => {
  test('a TagPack gives its exchanges to labels and its abuse to findings', async () => {
    const pack = join(live.cwd, 'pack.yaml');
    await writeFile(pack, PACK);
    const take = (what: string) =>
      startProgram([what, 'import', pack, '--source', 'packs', '--json'], live).ended;
    const labels = await take('labels');
    expect([labels.status, imported.parse(JSON.parse(labels.out))]).toMatchObject([
      0,
      { rows_accepted: 1, rows_refused: 2 },
    ]);
    const findings = await take('findings');
    expect([findings.status, imported.parse(JSON.parse(findings.out))]).toMatchObject([
      0,
      { rows_accepted: 2, rows_refused: 1 },
    ]);
  });

  test('CSV with semicolons and a byte order mark is read', async () => {
    const csv = join(live.cwd, 'semicolons.csv');
    const address = evm('listed by another').toLowerCase();
    await writeFile(csv, `\ufeffaddress;entity;program\r\n${address};"A; B";X\r\n`);
    const words = ['lists', 'import', csv, '--list', 'eu'];
    expect(await runPrinting(imported, words, live)).toMatchObject({ rows_accepted: 1 });
    const other = z.object({ data: z.object({ other_lists: z.unknown() }) });
    await vi.waitFor(async () => {
      const { data } = await ask(other, `/api/v1/wallet/${address}/ofac`);
      expect(JSON.stringify(data.other_lists)).toContain('A; B');
    }, POLL);
  });
});

test('each link of the feed of changes is absolute and is served', async () => {
  const feed = await (
    await fetchPatiently(`${live.base()}/registry/sanctions/changes.atom`)
  ).text();
  const links = [...feed.matchAll(/<link [^>]*href="([^"]+)"/g)].map(([, href]) => String(href));
  const ids = [...feed.matchAll(/<id>([^<]+)<\/id>/g)].map(([, id]) => String(id));
  expect([links.length > 2, ids.length > 1]).toEqual([true, true]);
  for (const one of [...links, ...ids]) expect(one.startsWith(live.base())).toBe(true);
  for (const link of new Set(links)) {
    const { status } = await fetchPatiently(link.replaceAll('&amp;', '&'));
    expect([link, status]).toEqual([link, 200]);
  }
});
