// The partner scan over the handlers of its sections, and on a server that keeps budgets.

import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { createGate } from '../../access/gate.ts';
import { deriveSecrets, mintKey } from '../../access/secret.ts';
import { parseAddress } from '../../chain/address.ts';
import { Answer } from '../../contract/answer.ts';
import { Refusal } from '../../contract/refusals.ts';
import { NOBODY } from '../../contract/route.ts';
import { why } from '../../evidence/reasons.ts';
import {
  partnerScan,
  partnerScanHandler,
  type ScanSection,
  SECTION_NAMES,
  SECTION_ROUTES,
  type SectionAsks,
} from '../../features/partner/partner-scan.route.ts';
import { walletOfac } from '../../features/sanctions/wallet-ofac.route.ts';
import { addressNamed, evm } from '../../testing/addresses.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { accessIn, embeddedControl } from '../../testing/control-store.ts';
import { createTestHttp } from '../../testing/http-server.ts';
import type { SilencePorts } from '../../testing/silence-ports.ts';
import { silentPorts } from '../../testing/twins/ports.ts';
import { WORLDS } from '../../testing/worlds.ts';
import { type AnyHandler, contextUntil } from '../../transport/answer.ts';
import { EVIDENCE_ROUTES, handlerOf } from '../list.ts';

const NOW = STILL_NOW;
const SILENCE = why('store_unreadable', { what: 'The store', fault: 'no answer' });
const NO_PORTS = silentPorts(SILENCE);
const ALL = Object.keys(SECTION_ROUTES);
const PORTS = Object.keys(NO_PORTS) as (keyof typeof NO_PORTS)[];
/** The worlds in which each port is silenced too. */
const SPOILED = ['empty', 'labelled', 'paid a bridge, and was paid by it'];
const BUDGET_MS = 30_000;
const NO_END = new AbortController().signal;
const asked = { now: () => NOW, signal: NO_END };

function worldOf(name: string) {
  const world = WORLDS.find((one) => one.name === name);
  if (world === undefined) throw new Error(`no world is called ${name}`);
  return world;
}

/** The bytes or the body of what a route says over ports, as they leave. */
async function textOf(name: string, ports: object, input: Parameters<AnyHandler>[0]) {
  // Each request has a signal of its own, as on a server: all look-ups of a scan listen to it.
  const one = contextUntil(NO_END, () => NOW, BUDGET_MS);
  const said = await handlerOf(name, ports)(input, one.asked, NOBODY);
  expect(getEventListeners(one.asked.signal, 'abort')).toEqual([]);
  one.done();
  if (said instanceof Answer) return said.bytes(NOW).toString();
  return said instanceof Refusal ? JSON.stringify(said.body) : '';
}

const scan = (ports: object, address: string, body?: object) =>
  textOf('partner_scan', ports, { params: { address }, query: {}, body });

async function scanned(ports: object, address: string, body?: object) {
  return parsed(await scan(ports, address, body));
}

function parsed(text: string) {
  const value: unknown = JSON.parse(text);
  return Object(value);
}

/** What the route of a section says: of deployers that of the chain of the address. */
function ownText(section: ScanSection, ports: object, address: string): Promise<string> {
  const isSolana = parseAddress(address)?.kind === 'solana';
  const [first, second] = SECTION_ROUTES[section];
  const { name } = Object(isSolana && second !== undefined ? second : first);
  return textOf(name, ports, {
    params: name === 'deployer_record' ? { chain: 'ethereum', address } : { address },
    query: section === 'bridges' ? { chain: 'ethereum' } : {},
    body: undefined,
  });
}

const withSilent = (ports: SilencePorts, port: keyof typeof NO_PORTS) => ({
  ...ports,
  [port]: NO_PORTS[port],
});

describe('says', () => {
  test('of every world each section byte for byte as its own route, whatever is silent', async () => {
    let compared = 0;
    for (const { name, ports, subjects } of WORLDS) {
      const silences = SPOILED.includes(name) ? PORTS : [];
      for (const given of [ports, ...silences.map((port) => withSilent(ports, port))]) {
        const [address] = subjects;
        if (address === undefined) continue;
        const text = await scan(given, address);
        const { data } = parsed(text);
        if (data === null) continue;
        const { sections, refused } = data;
        const names = [...Object.keys(sections), ...refused.map(({ section }: never) => section)];
        expect(names.sort()).toEqual([...ALL].sort());
        for (const section of Object.keys(sections) as ScanSection[]) {
          expect(text).toContain(`"${section}":${await ownText(section, given, address)}`);
          compared += 1;
        }
      }
    }
    expect(compared).toBeGreaterThan(250);
  });

  test('the sections that were asked for, each once, on the chain that was named', async () => {
    const { ports } = worldOf('empty');
    const body = { sections: ['bridges', 'ofac', 'bridges'], chain: 'base' };
    const upper = evm('somebody').toUpperCase().replace('0X', '0x');
    const { state, subject, sources, as_of, data } = await scanned(ports, upper, body);
    expect([state, subject]).toEqual(['ok', evm('somebody')]);
    expect(Object.keys(data.sections)).toEqual(['ofac', 'bridges']);
    const input = {
      params: { address: evm('somebody') },
      query: { chain: 'base' },
      body: undefined,
    };
    const onBase: unknown = JSON.parse(await textOf('wallet_bridges', ports, input));
    expect(data.sections.bridges).toEqual(onBase);
    expect(data.sections.bridges).toMatchObject({ data: { chain: 'base' } });
    const within = [data.sections.ofac, data.sections.bridges];
    const named = within.flatMap((one) => one.sources.map((source: never) => source));
    for (const source of named) expect(sources).toContainEqual(source);
    expect(as_of).toBe(Math.min(...within.map((one) => one.as_of)));
    expect(data.refused).toEqual([]);
    expect(data.caveat).toBe(
      'Each section is the answer of its own route, with its own state, sources and caveat. A ' +
        'section whose state is other than `ok` says why it was left without data; that is not ' +
        'a negative.',
    );
  });

  test('a listing that one section finds, and which sections do not take the address', async () => {
    const { data } = await scanned(
      worldOf('listed: monero').ports,
      addressNamed('monero', 'listed'),
    );
    expect(data.sections).toMatchObject({ ofac: { state: 'ok', data: { sanctioned: true } } });
    const error = 'address: form not recognised; nothing was checked';
    const refused = ['exchange', 'bridges', 'evidence', 'deployer'].map((section) => ({
      section,
      error,
    }));
    expect(data.refused).toEqual(refused);
    expect(data.caveat).toContain('Sections that do not take this address were left out');
  });
});

describe('deployer', () => {
  test('is a section of both chains: the form of the address decides whose record is shown', async () => {
    const seen = new Set<string>();
    for (const { ports, subjects } of WORLDS) {
      for (const address of subjects) {
        const { data } = await scanned(ports, address, { sections: ['deployer'] });
        const section = data?.sections.deployer;
        if (section?.state !== 'ok') continue;
        const isSolana = parseAddress(address)?.kind === 'solana';
        expect('window_hours' in section.data).toBe(isSolana);
        seen.add(isSolana ? 'solana' : 'ethereum');
      }
    }
    expect([...seen].sort()).toEqual(['ethereum', 'solana']);
  });

  test('is not_deployed where no record can be read, and denies nothing', async () => {
    const ports = withSilent(worldOf('empty').ports, 'deployerRecords');
    const { data } = await scanned(ports, evm('somebody'));
    expect(data.sections.deployer).toMatchObject({ state: 'not_deployed', data: null });
    expect(data.sections.deployer.reason).toBe(SILENCE.reason);
  });
});

/** Routes about an address that the scan leaves out, and why. */
const LEFT_OUT: { readonly [route: string]: string } = {
  token_creator: 'it is about a token, whose chain the caller names',
};

test('every route of a plan about one address is a section, or is left out for a reason', () => {
  const routes = Object.values<readonly { readonly name: string }[]>(SECTION_ROUTES);
  const inScan = routes.flatMap((among) => among.map(({ name }) => name));
  const about = EVIDENCE_ROUTES.filter(({ method, access, path }) => {
    return method === 'GET' && access !== 'partner' && path.includes('{address}');
  });
  const due = about.map(({ name }) => name);
  const named = [...inScan, ...Object.keys(LEFT_OUT)];
  const missing = due.filter((name) => !named.includes(name));
  expect(missing, 'add each to SECTION_ROUTES or, with the reason, to LEFT_OUT').toEqual([]);
  const stale = named.filter((name) => !due.includes(name));
  expect(stale, 'remove each: no route about an address of a plan has this name').toEqual([]);
  expect(named, 'each stands in one place, once').toHaveLength(due.length);
});

describe('is silent', () => {
  test('in a section alone: its absence stays an absence, and the others answer', async () => {
    const ports = withSilent(worldOf('empty').ports, 'sanctionsList');
    const { state, data } = await scanned(ports, evm('somebody'));
    expect(state).toBe('ok');
    expect(data.sections.ofac).toEqual({
      state: 'not_deployed',
      subject: evm('somebody'),
      sources: [],
      as_of: NOW,
      simulated: false,
      data: null,
      reason: SILENCE.reason,
    });
    expect(data.sections.exchange.state).toBe('insufficient_evidence');
  });

  test('where no section rests on anything, with the reason of each', async () => {
    const silent = await scanned(NO_PORTS, evm('somebody'), { sections: ['ofac', 'exchange'] });
    const said = `ofac: ${SILENCE.reason}; exchange: ${SILENCE.reason}`;
    const reason = `Each section was left without an answer. ${said}`;
    expect(silent).toMatchObject({ state: 'not_deployed', sources: [], data: null, reason });
    const tron = addressNamed('tron', 'somebody');
    const untraced = await scanned(worldOf('empty').ports, tron, { sections: ['bridges'] });
    expect(untraced).toMatchObject({ state: 'not_supported', data: null, sources: [] });
  });
});

test('the sections are asked within one budget, and for the partner that asks', async () => {
  const told: unknown[] = [];
  const nobodyAsked = async (_input: unknown, ...more: unknown[]) => {
    told.push(...more);
    return new Refusal('overloaded', { error: 'full' });
  };
  const partner = { kind: 'partner', partner: 'acme', key_id: 'key_1' } as const;
  const asks: unknown = Object.fromEntries(SECTION_NAMES.map((name) => [name, nobodyAsked]));
  const handle = partnerScanHandler(asks as SectionAsks);
  const input = { params: { address: evm('somebody') }, query: {}, body: undefined };
  // A failure that is not the caller's refuses the whole scan, not one section.
  expect(await handle(input, asked, partner)).toMatchObject({ code: 'overloaded' });
  expect(told).toEqual(SECTION_NAMES.flatMap(() => [asked, partner]));
});

const apps: { close: () => Promise<unknown> }[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});
const fresh = embeddedControl();
const SECRETS = deriveSecrets('a root secret of the tests', null);
const DAYS_LEFT_S = 86_400;

/** A server with both routes, a member’s key and a partner’s with a budget of two. */
async function serve() {
  const { memberships, keys, quota } = accessIn(fresh(), () => NOW * 1_000);
  await memberships.record({ membership_id: 'mem_1', plan: 'desk', status: 'active', at: NOW });
  const own = mintKey({ kind: 'sc', membership_id: 'mem_1' }, SECRETS, NOW);
  const partners = mintKey({ kind: 'scp', partner: 'acme', monthly_budget: 2 }, SECRETS, NOW);
  for (const key of [own, partners]) await keys.add(key.stored, 5);
  const gate = createGate({ keys, quota, secrets: SECRETS, durable: true }, () => NOW);
  const { ports } = worldOf('empty');
  const app = createTestHttp({
    mounted: [
      { route: partnerScan, handle: handlerOf('partner_scan', ports) },
      { route: walletOfac, handle: handlerOf('wallet_ofac', ports) },
    ],
    gate,
    now: () => NOW,
    budgetMs: 5_000,
  });
  apps.push(app);
  const ask = async (key: string, path: string, body?: object | string) => {
    const {
      statusCode,
      headers,
      body: text,
    } = await app.inject({
      method: path.startsWith('/api/v1/scan') ? 'POST' : 'GET',
      url: path,
      headers: { authorization: `Bearer ${key}` },
      ...(body === undefined ? {} : { payload: body }),
    });
    return { status: statusCode, headers, body: parsed(text) };
  };
  return { ask, own: own.text, partners: partners.text };
}

describe('refuses', () => {
  const SCAN = `/api/v1/scan/${evm('somebody')}`;

  test('a member’s key on the scan, and a partner’s key on every other route', async () => {
    const { ask, own, partners } = await serve();
    const reason = 'unknown_membership';
    expect(await ask(own, SCAN)).toMatchObject({ status: 402, body: { reason } });
    const other = await ask(partners, `/api/v1/wallet/${evm('somebody')}/ofac`);
    expect(other).toMatchObject({ status: 402, body: { reason } });
    expect(other.headers['x-ratelimit-limit']).toBe('0');
  });

  test('what it does not take, by name and without a charge', async () => {
    const { ask, partners } = await serve();
    const offered = 'expected one of ofac, exchange, bridges, evidence, deployer';
    for (const [path, body, error] of [
      [SCAN, { sections: ['deployers'] }, `sections[0]: ${offered}`],
      [SCAN, { sections: ['ofac', 'clean'] }, `sections[1]: ${offered}`],
      [SCAN, { sections: [] }, 'sections: expected at least 1 entry'],
      [SCAN, { section: ['ofac'] }, 'unknown name "section"; expected only chain, sections'],
      [SCAN, { chain: 'dogechain' }, 'chain: expected one of ethereum, arbitrum'],
      [
        SCAN,
        { chain: 'base', sections: ['ofac'] },
        'chain: expected only with the section bridges',
      ],
      ['/api/v1/scan/nobody', undefined, 'address: form not recognised; nothing was checked'],
    ] as const) {
      const refused = await ask(partners, path, body);
      expect(refused).toMatchObject({ status: 400, body: { error: expect.any(String) } });
      expect(refused.body.error).toContain(error);
      expect(refused.headers['x-ratelimit-remaining']).toBe('2');
    }
  });

  test('past the month’s budget: a scan of all sections costs one, and 429 says how long', async () => {
    const { ask, partners } = await serve();
    const left = async () => {
      const { status, headers } = await ask(partners, SCAN);
      return [status, headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']];
    };
    expect([await left(), await left()]).toEqual([
      [200, '2', '1'],
      [200, '2', '0'],
    ]);
    const spent = await ask(partners, SCAN);
    const reset = Number(spent.headers['x-ratelimit-reset']);
    expect(spent).toMatchObject({ status: 429, body: { reason: 'quota_exhausted', reset } });
    expect(spent.headers['retry-after']).toBe(String(reset));
    const monthEnd = Date.UTC(2026, new Date(NOW * 1_000).getUTCMonth() + 1, 1) / 1_000;
    expect(reset).toBe(monthEnd - NOW);
    expect(reset).toBeGreaterThan(DAYS_LEFT_S);
  });
});
