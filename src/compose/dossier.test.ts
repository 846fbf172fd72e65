// A dossier denies nothing that was not read to its end, whichever source is silent or slow, and
// asks nobody outside for somebody who is not signed in.

import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Reply } from '../contract/answer.ts';
import { Refusal } from '../contract/refusals.ts';
import { type Caller, NOBODY } from '../contract/route.ts';
import { why } from '../evidence/reasons.ts';
import { dossier } from '../features/dossier/feature.ts';
import { ALONE_NAMES, BRIDGE_TRACE_CHAINS } from '../features/dossier/shapes.ts';
import { shorten } from '../pages/words.tsx';
import type { DeployerWalk, FailedWalk } from '../ports/deployers.ts';
import { addressNamed, evm } from '../testing/addresses.ts';
import { STILL_NOW } from '../testing/clock.ts';
import { walkOf } from '../testing/deployer-worlds.ts';
import { DEPOSIT, DEPOSITS, HOT, SUBJECT, world } from '../testing/entity-world.ts';
import { createTestHttp } from '../testing/http-server.ts';
import { TEST_SERVICE } from '../testing/service.ts';
import { linesOf } from '../testing/silence-pages.ts';
import type { SilencePorts } from '../testing/silence-ports.ts';
import { memoryDeployerRecords, memoryWalletLaunches } from '../testing/twins/deployers.ts';
import { memoryEntities } from '../testing/twins/entities.ts';
import { memoryTransfer } from '../testing/twins/history.ts';
import { silentPorts } from '../testing/twins/ports.ts';
import { wholePageOf } from '../testing/whole-page.ts';
import { WORLDS } from '../testing/worlds.ts';
import { mountedPage } from './documents.ts';

const FACTS = { simulated: false, version: '0', links: [], explorers: new Map() };
const SILENCE = why('store_unreadable', { what: 'The store', fault: 'no answer' });
const SILENT = silentPorts(SILENCE);
const asked = () => ({ now: () => STILL_NOW, signal: new AbortController().signal });
const MEMBER: Caller = {
  kind: 'session',
  session_id: 'ses_1',
  membership_id: 'mem_1',
  form_token: 'token',
};

function worldOf(name: string) {
  const world = WORLDS.find((one) => one.name === name);
  if (world === undefined) throw new Error(`no world is called ${name}`);
  return world;
}

type Over = { readonly [port in keyof SilencePorts]?: unknown };

/** The pages over the ports of a world, and the number of charges. */
function pagesOver(name: string, over: Over = {}) {
  const paid: string[] = [];
  const reading = async ({ kind }: Caller) => {
    if (kind !== 'session') return { may: false, why: why('page_of_nobody') };
    return {
      may: true,
      pay: async () => {
        paid.push(kind);
        return null;
      },
    };
  };
  const given = {
    ...worldOf(name).ports,
    ...over,
    service: TEST_SERVICE,
    members: { reading },
  };
  const handlers = dossier.pages.map((page) => mountedPage(page, given, FACTS));
  const say = async (route: string, input: object, caller: Caller) => {
    const found = handlers.find((one) => one.route.name === route);
    if (found === undefined) throw new Error(`no page ${route}`);
    const body = { query: {}, body: undefined, ...input };
    const said = await found.handle(body as Parameters<typeof found.handle>[0], asked(), caller);
    if (!(said instanceof Reply)) throw new Error('refused');
    return { status: said.status, html: await wholePageOf(said) };
  };
  const whole = (address: string, caller: Caller = MEMBER) =>
    say('dossier_page', { params: { address } }, caller);
  const part = (address: string, name: string, caller: Caller = MEMBER) =>
    say('dossier_part_page', { params: { address, part: name } }, caller);
  return { whole, part, paid };
}

/** The verdict of each line of the overview. */
function glanceOf(html: string): { readonly [title: string]: string } {
  const lines = [
    ...html.matchAll(/<div class="line (\w+)" slot="[\w-]+">.*?<a href="#\w+">([^<]+)<\/a>/g),
  ];
  return Object.fromEntries(lines.map(([, tone, title]) => [String(title), String(tone)]));
}

const STRANGER = evm('stranger');
const LAUNCHER = addressNamed('solana', 'launcher that waits');
const UNDETERMINED = { address: evm('unread'), reason: 'undetermined' } as const;

describe('says', () => {
  test('of an address of which nothing is held what was looked for in vain, part by part', async () => {
    const { whole, paid } = pagesOver('empty');
    const { status, html } = await whole(STRANGER);
    expect(status).toBe(200);
    const glance = glanceOf(html);
    expect(glance).toMatchObject({ 'Sanctions list': 'none', 'Two hops': 'none' });
    expect(html).toContain('clears nobody');
    expect(paid).toEqual(['session']);
  });

  test('who is listed, and the way to who is, drawn and as a table', async () => {
    const world = worldOf('two hops from a listed address');
    const [subject] = world.subjects;
    const { html } = await pagesOver(world.name).whole(String(subject));
    expect(glanceOf(html)).toMatchObject({ 'Two hops': 'hit' });
    expect(html).toContain('Two hops from a listed address');
    expect(html).toMatch(/<svg class="graph[^>]*role="group"[^>]*aria-labelledby="ways-title"/);
    expect(html).toContain('The same as a table');
  });

  test('beside the title, to whoever is signed in, what records and what watches it', async () => {
    const { whole } = pagesOver('empty');
    const { html } = await whole(STRANGER);
    for (const action of ['/screens', '/watchlist']) {
      const [, form = ''] = html.split(`<form method="post" action="${action}">`);
      expect(form.split('</form>')[0]).toContain('name="form_token" value="token"');
      expect(form.split('</form>')[0]).toMatch(
        new RegExp(`name="address" value="${STRANGER}"`, 'i'),
      );
    }
    const nobody = (await whole(STRANGER, NOBODY)).html;
    expect(nobody).toContain('<a href="/activate">Sign in to record or watch it</a>');
    expect(nobody).not.toContain('<form method="post"');
  });

  test('a part alone with its JSON and the command that asks for it', async () => {
    const { html } = await pagesOver('empty').part(STRANGER, 'lists');
    expect(html).toContain('&quot;sanctioned&quot;: false');
    expect(html).toContain(`https://exhibit.example/api/v1/wallet/${STRANGER}/ofac`);
    expect(html).not.toContain('id="bridges"');
  });

  test('an inference as one, with its weight, and an exchange’s address as the exchange’s', async () => {
    const { ports } = world({ transfers: DEPOSITS });
    const { whole, part } = pagesOver('empty', ports);
    // Alone it has all the time that its store needs to begin.
    const told = linesOf((await part(SUBJECT, 'entity')).html);
    const { html } = await whole(SUBJECT);
    expect(glanceOf(html)).toMatchObject({ Ties: 'inferred', Exchanges: 'inferred' });
    const lines = linesOf(html);
    expect(lines).toContain('What ties it to other addresses Inferred: 0.50, assumed');
    expect(lines).toContain('Exchanges Inferred: 0.75, measured');
    expect(lines).toContain('It pays into a deposit address of Exemplar.');
    expect(lines.join('\n')).not.toMatch(/controller of|shares its controller/);
    expect(told).toContain(
      'Tied to 2 other addresses, among them 1 deposit address of an exchange.',
    );
    const rows = told.filter((line) => line.endsWith('deposit reuse · weight 0.50, assumed'));
    expect(rows.map((line) => line.split(' · ')[1]).sort()).toEqual([
      'deposit address of an exchange',
      'one controller, it may be',
    ]);
    const deposit = linesOf((await part(DEPOSIT, 'entity')).html);
    expect(deposit.join('\n')).toContain('A deposit address of an exchange; who pays into it');
  });

  test('what a cluster alone ties to an exchange as inferred by the weight of the cluster', async () => {
    const clusters = { as_of: STILL_NOW, simulated: false, examined: 'everyone' } as const;
    const members = [STRANGER, HOT];
    const of = { chain: 'ethereum', cluster_id: 'c', labels: [], members } as const;
    const held = {
      ...clusters,
      clusters: [{ ...of, confidence: 0.8, basis: 'measured' } as const],
    };
    const { entityClusters } = memoryEntities({ entities: held });
    const { exchangeLabels } = world().ports;
    const { part } = pagesOver('empty', { entityClusters, exchangeLabels });
    const lines = linesOf((await part(STRANGER, 'exchanges')).html);
    expect(lines).toContain('Exchanges Inferred: 0.80, measured');
    expect(lines).toContain('Tied to what is labelled Exemplar: Hot Wallet.');
    expect(lines.join('\n')).not.toContain('Observed');
  });

  test('dollars apart from counts: a sum is exact, and what has no price is named beside it', async () => {
    const [both, large, unsold] = [evm('both ways'), evm('large'), evm('unsold')];
    const priced = (n: number, from: string, to: string, usd: string | null) =>
      memoryTransfer(n, from, to, { usd });
    const transfers = [
      ...[1, 2, 3, 4, 5].map((n) => priced(n, both, SUBJECT, null)),
      priced(6, SUBJECT, both, '2'),
      priced(7, large, SUBJECT, '9007199254740993'),
      priced(8, large, SUBJECT, '0.1'),
      priced(9, unsold, SUBJECT, null),
      priced(10, SUBJECT, evm('dust'), '0.000001'),
    ];
    const { part, whole } = pagesOver('empty', world({ transfers }).ports);
    const { html } = await part(SUBJECT, 'evidence');
    const rowOf = (name: string) =>
      linesOf(html).find((line) => line.startsWith(`${shorten(evm(name))} · `));
    expect(rowOf('both ways')).toContain(' · $2.00 in 1 transfer · 5 transfers, not priced · ');
    expect(rowOf('large')).toContain(' · – · $9,007,199,254,740,993.10 in 2 transfers · ');
    expect(rowOf('unsold')).toContain(' · – · 1 transfer, not priced · ');
    expect(rowOf('dust')).toContain(' · under $0.01 in 1 transfer · – · ');
    const [, picture] = (await whole(SUBJECT)).html.split('class="graph');
    expect(picture).toMatch(/>sent \$2\.00<.*?>in 1 transfer</);
    expect(picture).toContain('sent $2.00 in 1 transfer; received 5 transfers, not priced');
    // Who was paid in dollars stands on the right, however many gifts without a price came back.
    const placeOf = (name: string) =>
      Number(picture?.match(new RegExp(`x="([\\d.]+)"[^>]*>${shorten(evm(name))}<`))?.[1]);
    expect(placeOf('both ways')).toBeGreaterThan(placeOf('large'));
  });

  test('the parts of an address that only lists hold, each as not read', async () => {
    const monero = addressNamed('monero', 'listed');
    const { part } = pagesOver('listed: monero');
    const { status, html } = await part(monero, 'evidence');
    expect([status, html.includes('Not read for this kind of address')]).toEqual([200, true]);
  });

  test('what is no address is told so, and is looked up nowhere', async () => {
    const { whole, paid } = pagesOver('empty', SILENT);
    const { status, html } = await whole('not an address');
    expect(status).toBe(400);
    expect(html).toContain('Nothing was looked up');
    expect(html).toContain('value="not an address"');
    await pagesOver('empty').whole('not an address');
    expect(paid).toEqual([]);
  });
});

type Served = {
  readonly ports: object;
  readonly reading: () => Promise<unknown>;
  readonly onFault?: (facts: object) => void;
};

/** Serves the pages over a socket. */
async function serve({ ports, reading, onFault }: Served) {
  const given = { ...ports, service: TEST_SERVICE, members: { reading } };
  const quiet = () => undefined;
  const error = onFault === undefined ? quiet : onFault;
  const app = createTestHttp({
    mounted: dossier.pages.map((page) => mountedPage(page, given, FACTS)),
    refusalPage: () => '',
    log: { info: quiet, warn: quiet, error },
    now: () => STILL_NOW,
    budgetMs: 10_000,
  });
  onTestFinished(() => app.close());
  return await app.listen({ host: '127.0.0.1', port: 0 });
}

/** With no list in force and all else silent. */
async function serveSilent() {
  const reading = async () => ({ may: false, why: why('page_of_nobody') });
  const origin = await serve({ ports: SILENT, reading });
  return async (path: string) => {
    const reply = await fetch(origin + path);
    return { status: reply.status, html: await reply.text() };
  };
}

describe('refuses', () => {
  test('a text of no known form while no list is in force: a link never writes a command', async () => {
    const get = await serveSilent();
    const hostile = `'; touch owned; '`;
    for (const path of ['', ...ALONE_NAMES.map((name) => `/${name}`)]) {
      const { status, html } = await get(`/address/${encodeURIComponent(hostile)}${path}`);
      expect([path, status]).toEqual([path, 400]);
      expect(html).not.toContain('class="curl"');
    }
    const { status, html } = await get(`/address/${STRANGER}`);
    expect(status).toBe(200);
    expect(html).toContain(`https://exhibit.example/api/v1/wallet/${STRANGER}/ofac`);
  });
});

/** History that answers nothing before it is let; `asked` are the signals of its calls. */
function heldBack() {
  const asked: AbortSignal[] = [];
  let go: () => void = () => undefined;
  const until = new Promise<void>((resolve) => {
    go = resolve;
  });
  const history: object = worldOf('empty').ports.transferHistory;
  const port = new Proxy(history, {
    get: (target, method) => {
      const ask: unknown = Reflect.get(target, method);
      if (typeof ask !== 'function' || method !== 'neighbourhoods') return ask;
      return async (...args: readonly unknown[]) => {
        for (const one of args) {
          const signal: unknown = Object(one).signal;
          if (signal instanceof AbortSignal) asked.push(signal);
        }
        await until;
        return Reflect.apply(ask, target, args);
      };
    },
  });
  return { port, asked, go };
}

/** Opens a dossier and reads until a text has come. */
async function readUntil(origin: string, sought: string) {
  const leave = new AbortController();
  const { body, headers } = await fetch(`${origin}/address/${STRANGER}`, { signal: leave.signal });
  if (body === null) throw new Error('test: no body');
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let html = '';
  const readOn = async (until: string) => {
    while (!html.includes(until)) {
      const { done, value } = await reader.read();
      if (done) break;
      html += value;
    }
    return html;
  };
  await readOn(sought);
  return { html, headers, leave, readOn };
}

const PAID = async () => ({ may: true, pay: async () => null });

describe('comes as it is read', () => {
  test('the head and the list stand while a source is silent, and the rest follows', async () => {
    const { port, go } = heldBack();
    const ports = { ...worldOf('empty').ports, transferHistory: port };
    const { html, headers, readOn } = await readUntil(
      await serve({ ports, reading: PAID }),
      'slot="launches"',
    );
    expect(headers.get('x-accel-buffering')).toBe('no');
    expect(glanceOf(html)).toEqual({
      'Sanctions list': 'none',
      'Other lists': 'none',
      Launches: expect.any(String),
    });
    expect(html).not.toContain('slot="at-evidence"');
    go();
    const whole = await readOn('</html>');
    expect(Object.keys(glanceOf(whole))).toHaveLength(GLANCED);
    expect(whole.endsWith('</html>')).toBe(true);
  });

  test('a part that fails says so in its place with the id of the log, and no other does', async () => {
    const faults: object[] = [];
    const ports = {
      ...worldOf('empty').ports,
      exchangeLabels: {
        lookUp: () => {
          throw new Error('a bug of ours');
        },
      },
    };
    const origin = await serve({ ports, reading: PAID, onFault: (one) => faults.push(one) });
    const { html } = await readUntil(origin, '</html>');
    const [first] = faults;
    expect(String(Object(first).fault)).toContain('a bug of ours');
    expect(html).toContain(
      `A fault of the service; its log has the id ${Object(first).request_id}.`,
    );
    expect(glanceOf(html)).toMatchObject({ Exchanges: 'open', 'Sanctions list': 'none' });
    expect(html.endsWith('</html>')).toBe(true);
  });

  test('a client that goes away ends what is read for it', async () => {
    const { port, asked, go } = heldBack();
    const ports = { ...worldOf('empty').ports, transferHistory: port };
    const { leave } = await readUntil(await serve({ ports, reading: PAID }), 'slot="launches"');
    await vi.waitFor(() => expect(asked.length).toBeGreaterThan(0));
    expect(asked.some((signal) => signal.aborted)).toBe(false);
    leave.abort();
    await vi.waitFor(() => expect(asked.every((signal) => signal.aborted)).toBe(true));
    go();
  });

  test('it is charged once, and shows nothing that was not paid for', async () => {
    const { whole, paid } = pagesOver('empty');
    await whole(STRANGER);
    expect(paid).toEqual(['session']);
    const spent = async () => ({
      may: true,
      pay: async () => new Refusal('overloaded', { error: 'Nothing is left.' }),
    });
    const origin = await serve({ ports: worldOf('empty').ports, reading: spent });
    const { html } = await readUntil(origin, '</html>');
    expect(glanceOf(html)).toMatchObject({ 'Sanctions list': 'none', Findings: 'open' });
    expect(html).toContain('Nothing is left.');
    expect(html).not.toContain('Each kind of finding');
  });

  test('each chain of bridges is linked, whatever Ethereum answers', async () => {
    for (const over of [{}, SILENT]) {
      const { html } = await pagesOver('empty', over).whole(STRANGER);
      const linked = [...html.matchAll(/\/bridges\?chain=(\w+)"/g)].map(([, chain]) => chain);
      expect(new Set(linked)).toEqual(new Set(BRIDGE_TRACE_CHAINS));
    }
  });
});

const GLANCED = 8;

/** Launches that wait; walks that were cut, left a contract open, or came before a fault. */
const UNSETTLED: readonly (readonly [what: string, subject: string, over: Over])[] = [
  ['that wait to be settled', LAUNCHER, { walletLaunches: launchesWaiting() }],
  ['of a walk that was cut', STRANGER, walked({ truncated: true })],
  ['of a contract that nobody could tell', STRANGER, walked({ skipped: [UNDETERMINED] })],
  ['before a walk that failed', STRANGER, walked({}, { at: STILL_NOW, reason: 'It failed.' })],
];

function launchesWaiting() {
  const mint = addressNamed('solana', 'mint that waits');
  const elsewhere = addressNamed('solana', 'launcher elsewhere');
  const launchOf = (deployer: string, settled: boolean) => ({
    mint: settled ? elsewhere : mint,
    deployer,
    launched_at: STILL_NOW - 200_000,
    listed_after_window: settled,
    last_checked_at: STILL_NOW - 100_000,
    settled,
  });
  const launches = [launchOf(elsewhere, true), launchOf(LAUNCHER, false)];
  return memoryWalletLaunches({ as_of: STILL_NOW, simulated: false, launches });
}

function walked(walk: Partial<DeployerWalk>, failed: FailedWalk | null = null): Over {
  const records = [{ ...walkOf(STRANGER, walk), failed }];
  return {
    deployerRecords: memoryDeployerRecords({ as_of: STILL_NOW, simulated: false, records }),
  };
}

describe('is silent', () => {
  const subjects = { evm: STRANGER, solana: addressNamed('solana', 'stranger') };
  test.each(Object.entries(subjects))('of %s no line denies anything', async (_, subject) => {
    const { html } = await pagesOver('empty', SILENT).whole(subject);
    const tones = Object.values(glanceOf(html));
    expect(tones).toHaveLength(GLANCED);
    expect(new Set(tones)).toEqual(new Set(['open']));
    expect(html).not.toContain('None found</span><a');
  });

  test.each(UNSETTLED)('launches %s are no search in vain', async (_, subject, over) => {
    const { html } = await pagesOver('empty', over).part(subject, 'launches');
    expect(html).toContain('Tokens that it launched');
    expect(html).not.toContain('badge none');
    const whole = await pagesOver('empty', over).whole(subject);
    expect(glanceOf(whole.html)['Launches']).not.toBe('none');
  });

  test('a time that ran out is told by the clock, whatever a reason says', async () => {
    const { html } = await pagesOver('empty', SILENT).whole(STRANGER);
    expect(html).not.toContain('in the time that a page has');
  });

  test('each source silenced alone: the lines that rest on it are open, and none is wrong', async () => {
    const rests: { readonly [port in keyof SilencePorts]?: readonly string[] } = {
      sanctionsList: ['Sanctions list', 'Two hops', 'Findings'],
      otherLists: ['Other lists'],
      transferHistory: ['Two hops', 'Findings', 'Exchanges', 'Bridges'],
      exchangeLabels: ['Exchanges'],
      bridgeRegistry: ['Bridges'],
      deployerRecords: ['Launches'],
    };
    for (const [port, lines] of Object.entries(rests)) {
      const over = { [port]: Reflect.get(SILENT, port) };
      const glance = glanceOf((await pagesOver('empty', over).whole(STRANGER)).html);
      expect([port, ...lines.map((line) => glance[line])]).toEqual([
        port,
        ...lines.map(() => 'open'),
      ]);
    }
  });

  test('nobody who is not signed in has a source outside asked; what is held is shown', async () => {
    const asksNobody = new Proxy(
      {},
      {
        get: (_, method) => {
          if (method === 'stateChains' || method === 'chains') return [];
          throw new Error(`test: asked outside for ${String(method)}`);
        },
      },
    );
    const over = {
      transferHistory: asksNobody,
      counterpartyRing: asksNobody,
      chainFacts: asksNobody,
      issuerFreezes: asksNobody,
      tokenApprovals: asksNobody,
      transactionReceipts: asksNobody,
      entityTies: asksNobody,
    };
    const { whole, paid } = pagesOver('empty', over);
    const { html } = await whole(STRANGER, NOBODY);
    expect(glanceOf(html)).toMatchObject({
      'Sanctions list': 'none',
      'Two hops': 'open',
      Findings: 'open',
      Ties: 'open',
      Bridges: 'open',
    });
    expect(html).toContain('Nobody is signed in here');
    expect(paid).toEqual([]);
  });
});
