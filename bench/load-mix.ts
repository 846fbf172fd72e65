// The mix of requests: what members, partners, anonymous readers, holders of tokens, browsers and
// agents ask, how often each, and what an answer must not deny of what was acknowledged before.

import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Lottery } from '../src/testing/lottery.ts';
import { WORLD_SEED, worldPublicationAt } from '../src/world/listed-parties.ts';
import { ADDRESSES } from './answers-requests.ts';

/** Who asks, and the listed addresses of the world. */
export type Callers = {
  readonly keys: readonly string[];
  readonly partner: string;
  readonly token: string;
  /** Whether the board of flags has had a round. */
  readonly ranked: boolean;
  readonly listed: readonly string[];
};

/** The EVM addresses that the simulated world lists now. */
export function listedNow(): string[] {
  return worldPublicationAt(Math.floor(Date.now() / 1_000), WORLD_SEED)
    .parties.flatMap(({ addresses }) => addresses.map(({ address }) => address))
    .filter((address) => address.startsWith('0x'));
}

/** One request to send. `route` is as /openapi.json declares it, or a page, or the tools. */
export type MixRequest = {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body?: string;
  /** Looks at an answer; gives what it denies that had been acknowledged. */
  readonly onAnswer?: (status: number, body: string) => string | null;
};

/** One kind of request: how many of a hundred, the route, and how one is made. */
export type MixKind = {
  readonly name: string;
  readonly share: number;
  /** Its key in /openapi.json; `null`: a page or the tools, which stand there in words alone. */
  readonly declared: { readonly method: string; readonly path: string } | null;
  readonly make: () => MixRequest;
};

/** What was acknowledged and may not be denied later. */
export type Acknowledged = {
  /** The ids of the watches of each key, those that stand and those that were removed. */
  readonly watches: ReadonlyMap<string, ReadonlySet<string>>;
  readonly removed: ReadonlyMap<string, ReadonlySet<string>>;
  readonly records: readonly Kept[];
};
type Kept = { readonly id: string; readonly key: string };

const SEEN = Object.values(ADDRESSES).filter((address) => address.startsWith('0x'));
const BULK_SIZE = 50;
const LISTED_SHARE = 0.02;
/** Records that are read back. */
const RECORDS_KEPT_MAX = 2_000;

const identified = z.looseObject({ id: z.string() });
const feed = z.looseObject({ signals: z.array(z.looseObject({ signal_id: z.string() })) });
const idIn = (body: string) => identified.parse(JSON.parse(body)).id;

const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
const get = (path: string, headers = {}): MixRequest => ({ method: 'GET', path, headers });
const post = (path: string, body: object, headers: object): MixRequest => ({
  method: 'POST',
  path,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

function declared(share: number, route: string, make: () => MixRequest): MixKind {
  const [method = '', path = ''] = route.split(' ');
  return { name: route, share, declared: { method, path }, make };
}

const open = (share: number, path: string) => declared(share, `GET ${path}`, () => get(path));
const anyAddress = () => `0x${randomBytes(20).toString('hex')}`;

/** What draws: callers, and the lottery. */
type Drawing = { readonly callers: Callers; readonly lottery: Lottery };

/** Single and bulk screens, and what else members read about addresses. */
function screens({ callers, lottery }: Drawing): readonly MixKind[] {
  const key = () => bearer(lottery.oneOf(callers.keys));
  const route = 'GET /api/v1/wallet/{address}/ofac';
  const ofMember = (share: number, path: string) =>
    declared(share, `GET ${path}`, () => {
      const filled = path.replace('{address}', lottery.oneOf(SEEN));
      return get(filled.replace('{chain}', 'ethereum'), key());
    });
  const fresh = declared(1, route, () => get(`/api/v1/wallet/${anyAddress()}/ofac`, key()));
  return [
    declared(20, route, () => {
      const address = lottery.oneOf(callers.listed);
      return {
        ...get(`/api/v1/wallet/${address}/ofac`, key()),
        onAnswer: (status, body) =>
          status === 200 && !body.includes('"sanctioned":true') ? `${address} is listed` : null,
      };
    }),
    { ...fresh, name: 'the same, never asked before' },
    declared(4, 'POST /api/v1/bulk/wallet-screen', () => {
      const draw = () =>
        lottery.happens(LISTED_SHARE) ? lottery.oneOf(callers.listed) : anyAddress();
      const addresses = Array.from({ length: BULK_SIZE }, draw);
      return post('/api/v1/bulk/wallet-screen', { addresses }, key());
    }),
    ofMember(4, '/api/v1/wallet/{address}/score'),
    ofMember(3, '/api/v1/wallet/{address}/cex'),
    ofMember(3, '/api/v1/wallet/{address}/bridges'),
    ofMember(3, '/api/v1/evm/deployer/{chain}/{address}'),
    ofMember(2, '/api/v1/receipts'),
    ofMember(2, '/api/v1/watchlist'),
    ofMember(1, '/api/v1/usage'),
  ];
}

/** What is acknowledged, and read back later: records of screens. */
function recordKinds({ callers, lottery }: Drawing, records: Kept[]): readonly MixKind[] {
  return [
    declared(3, 'POST /api/v1/screens', () => {
      const key = lottery.oneOf(callers.keys);
      return {
        ...post('/api/v1/screens', { address: lottery.oneOf(callers.listed) }, bearer(key)),
        onAnswer: (status, body) => {
          if (status !== 201) return null;
          const kept = { id: idIn(body), key };
          if (records.length < RECORDS_KEPT_MAX) records.push(kept);
          else records[lottery.below(RECORDS_KEPT_MAX)] = kept;
          return null;
        },
      };
    }),
    declared(3, 'GET /api/v1/screens/{id}', () => {
      if (records.length === 0) return get('/api/v1/screens', bearer(String(callers.keys[0])));
      const { id, key } = lottery.oneOf(records);
      return {
        ...get(`/api/v1/screens/${id}`, bearer(key)),
        onAnswer: (status) => (status === 404 ? `record ${id} was acknowledged` : null),
      };
    }),
  ];
}

/** The same of watches. One is removed for each that is too many. */
function watchKinds(
  { callers, lottery }: Drawing,
  watches: ReadonlyMap<string, Set<string>>,
  removed: ReadonlyMap<string, Set<string>>,
): readonly MixKind[] {
  const add = (key: string): MixRequest => ({
    ...post('/api/v1/watchlist', { address: lottery.oneOf(callers.listed) }, bearer(key)),
    onAnswer: (status, body) => {
      if (status === 201) watches.get(key)?.add(idIn(body));
      return null;
    },
  });
  return [
    declared(2, 'POST /api/v1/watchlist', () => add(lottery.oneOf(callers.keys))),
    declared(2, 'DELETE /api/v1/watchlist/{id}', () => {
      const key = lottery.oneOf(callers.keys);
      const held = watches.get(key);
      const [id] = held ?? [];
      if (id === undefined)
        return { method: 'GET', path: '/api/v1/watchlist', headers: bearer(key) };
      // From here on it may be gone, whatever the answer will be.
      held?.delete(id);
      return {
        method: 'DELETE',
        path: `/api/v1/watchlist/${id}`,
        headers: bearer(key),
        onAnswer: (status) => {
          if (status === 200) removed.get(key)?.add(id);
          return status === 404 ? `watch ${id} was acknowledged` : null;
        },
      };
    }),
  ];
}

/** What is read without a key of a member: signals, the log, boards, scans, tools and pages. */
function otherKinds({ callers, lottery }: Drawing): readonly MixKind[] {
  let signals: readonly string[] = [];
  const page = (share: number, path: string): MixKind => {
    const make = () => get(path.replace('{address}', lottery.oneOf(SEEN)), { accept: 'text/html' });
    return { name: `page ${path}`, share, declared: null, make };
  };
  const tool = () => {
    const address = lottery.oneOf(callers.listed);
    const params = { name: 'wallet_ofac', arguments: { address } };
    const accept = 'application/json, text/event-stream';
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    return post('/mcp', call, { ...bearer(lottery.oneOf(callers.keys)), accept });
  };
  const ranks = '/api/leaderboard/rugs';
  const board = [
    declared(2, `GET ${ranks}`, () => get(ranks, bearer(callers.token))),
    page(3, '/leaderboard'),
  ];
  const scan = '/api/v1/scan/{address}';
  const sections = { sections: ['ofac', 'exchange'] };
  return [
    declared(4, 'GET /api/signals', () => ({
      ...get('/api/signals'),
      onAnswer: (status, body) => {
        if (status === 200)
          signals = feed.parse(JSON.parse(body)).signals.map(({ signal_id }) => signal_id);
        return null;
      },
    })),
    declared(3, 'GET /api/signals/{id}', () => {
      if (signals.length === 0) return get('/api/signals');
      const id = lottery.oneOf(signals);
      return {
        ...get(`/api/signals/${id}`),
        onAnswer: (status) => (status === 404 ? `signal ${id} was published` : null),
      };
    }),
    declared(2, `POST ${scan}`, () =>
      post(scan.replace('{address}', lottery.oneOf(SEEN)), sections, bearer(callers.partner)),
    ),
    { name: 'tools of MCP', share: 4, declared: null, make: tool },
    ...[open(5, '/health'), open(3, '/api/log'), open(3, '/api/v1/registry/sanctions/changes')],
    ...[open(2, '/api/leaderboard/providers'), open(2, '/.well-known/exhibit-keys.json')],
    ...(callers.ranked ? board : []),
    ...[page(4, '/'), page(3, '/signals'), page(2, '/providers')],
    ...[page(2, '/docs'), page(1, '/address/{address}')],
  ];
}

/** Makes the kinds of a mix, with a memory of what was acknowledged. */
export function mixOf(callers: Callers, lottery: Lottery) {
  const watches = new Map(callers.keys.map((key) => [key, new Set<string>()] as const));
  const removed = new Map(callers.keys.map((key) => [key, new Set<string>()] as const));
  const records: Kept[] = [];
  const drawing = { callers, lottery };
  const kinds = [
    ...screens(drawing),
    ...recordKinds(drawing, records),
    ...watchKinds(drawing, watches, removed),
    ...otherKinds(drawing),
  ];
  const acknowledged: Acknowledged = { watches, removed, records };
  const all = kinds.reduce((sum, { share }) => sum + share, 0);
  const draw = (): MixKind => {
    let left = lottery.share() * all;
    const drawn = kinds.find(({ share }) => {
      left -= share;
      return left < 0;
    });
    if (drawn === undefined) throw new Error('the mix is empty');
    return drawn;
  };
  return { draw, kinds, acknowledged };
}

/** The share of a mix that is charged to members, at most. */
export const CHARGED_SHARE = 0.65;
