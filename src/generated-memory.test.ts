// Whatever is sent to a route over ports in memory is answered as its declaration says: by the
// server of the product, in every world, where ports answer and where some are silent. Each hosted
// answer is signed, and of the signatures that are verified each holds. `EXHIBIT_TEST_ROUNDS` sets
// how many rounds or which, `EXHIBIT_TEST_SEED` their seeds: `npm run fuzz` sets both.

import { once } from 'node:events';
import { Agent, request as askServer, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createGate } from './access/gate.ts';
import { mintKey } from './access/secret.ts';
import { requestSigned } from './client/signed.ts';
import { CONTRACTS, handlerOf } from './compose/list.ts';
import { openapiDocument } from './contract/openapi.ts';
import { publishedDocument } from './contract/openapi-components.ts';
import { tally } from './evidence/measure.ts';
import { Unread, unread } from './evidence/reading.ts';
import { why } from './evidence/reasons.ts';
import { integrationPorts } from './features/integrations/feature.ts';
import { generatedTraffic, type SentRequest, type TakenAnswer } from './generated-traffic.suite.ts';
import { providerWatch } from './sources/http/provider-watch.ts';
import { embeddedControl } from './testing/control-store.ts';
import { createTestHttp } from './testing/http-server.ts';
import { type Lottery, lotteryOf } from './testing/lottery.ts';
import { membersIn } from './testing/members.ts';
import type { World } from './testing/planted.ts';
import { TEST_SERVICE } from './testing/service.ts';
import { type SilencePorts, throughPorts } from './testing/silence-ports.ts';
import { trialRange } from './testing/trials.ts';
import { memorySigning } from './testing/twins/signing.ts';
import { WORLDS } from './testing/worlds.ts';
import { type StartedChats, startChats } from './world/chat-api.ts';

const SEED = Number(process.env['EXHIBIT_TEST_SEED'] ?? 20_261_127);
const ROUNDS = trialRange('EXHIBIT_TEST_ROUNDS', 2, 50);
/** The requests of a round, which is over one world. */
const REQUESTS = 2_000;
const TOGETHER = 128;
/** One signature in so many is verified, which takes longer than an answer; each is there. */
const VERIFIED_NTH = 25;
const COUNT = ROUNDS.to - ROUNDS.from + 1;
vi.setConfig({ testTimeout: (COUNT + 2) * 60_000 });

const BASE = 'http://exhibit.example';
const nowS = () => Math.floor(Date.now() / 1_000);
const { signing } = memorySigning(nowS());
const UNREADABLE = why('store_unreadable', { what: 'A store', fault: 'a planted silence' });
/** Of a round with silent ports, so many are. */
const SILENT_SHARE = 0.3;
const fresh = embeddedControl();
const traffic = generatedTraffic(
  publishedDocument(
    openapiDocument(CONTRACTS, {
      title: 'Exhibit',
      version: '0.0.0',
      description: 'Checked against generated requests.',
      serverUrl: BASE,
    }),
  ),
  { isWhole: false },
);

let chats: StartedChats;
let keys: object;
beforeAll(async () => {
  chats = await startChats();
  const found = await signing.publicKeys();
  if (found instanceof Unread) throw new Error('the twin is silent');
  keys = { keys: found.value };
});
afterAll(() => chats.close());

/** The ports of a world; in every second round some of them are silent. */
function portsOf({ ports }: World, round: number, lottery: Lottery): SilencePorts {
  if (round % 2 === 0) return ports;
  const silent = new Set(Object.keys(ports).filter(() => lottery.happens(SILENT_SHARE)));
  return throughPorts(ports, ({ port }, reading) =>
    silent.has(port) ? unread<string>(port, UNREADABLE) : reading,
  );
}

/** Every declared route over a world, asked over sockets by a member and a partner. */
async function serve({ now: at }: World, ports: SilencePorts) {
  const database = fresh();
  const now = () => at;
  const made = membersIn(database, now);
  const membership_id = 'mem_1';
  await made.memberships.record({ membership_id, plan: 'enterprise', status: 'active', at });
  const member = mintKey({ kind: 'sc', membership_id }, made.secrets, at);
  const holder = { kind: 'scp', partner: 'acme', monthly_budget: 100_000 } as const;
  const partner = mintKey(holder, made.secrets, at);
  for (const one of [member, partner]) await made.keys.add(one.stored, 1);
  const context = { simulated: false, nowMs: () => at * 1_000 };
  const given = {
    ...ports,
    service: TEST_SERVICE,
    members: made.members,
    chats: integrationPorts(
      { database, context, secrets: made.secrets, providers: providerWatch(now) },
      chats.roots,
      BASE,
    ),
  };
  const app = createTestHttp({
    mounted: CONTRACTS.map((route) => ({ route, handle: handlerOf(route.name, given) })),
    gate: createGate({ ...made, durable: true }, now),
    tokens: async () => ({ outcome: 'opens', tier: 'pro', id: 'tok_1' }),
    signing: {
      key: async () => {
        const found = await signing.current();
        return found instanceof Unread ? null : found.value;
      },
      base: () => BASE,
      now: nowS,
    },
    now,
  });
  const base = await app.listen({ host: '127.0.0.1', port: 0 });
  const agent = new Agent({ keepAlive: true, maxSockets: TOGETHER });
  return {
    ask: askerOf({ base, agent }, (ways) => (ways.includes('partner') ? partner : member).text),
    close: async () => {
      agent.destroy();
      await app.close();
    },
  };
}

type Place = { readonly base: string; readonly agent: Agent };

function askerOf({ base, agent }: Place, keyOf: (ways: readonly string[]) => string) {
  let nth = 0;
  return async ({ method: word, operation, request }: SentRequest): Promise<TakenAnswer> => {
    const { url, body, contentType } = request;
    nth += 1;
    const signed = requestSigned(nth % VERIFIED_NTH === 0 ? { keys } : {}).begin();
    const method = word.toUpperCase();
    const headers = {
      authorization: `Bearer ${keyOf(operation.security.flatMap(Object.keys))}`,
      'accept-signature': signed.header,
      ...(contentType === null ? {} : { 'content-type': contentType }),
      ...(body === null ? {} : { 'content-length': Buffer.byteLength(body) }),
    };
    // As it is written: a client that reads it as a URL first takes dots out of its path.
    const sent = askServer(base, { path: url, method, headers, agent }).end(body);
    const [reply] = (await once(sent, 'response')) as [IncomingMessage];
    const pieces: Buffer[] = [];
    for await (const piece of reply) pieces.push(Buffer.from(piece));
    const bytes = Buffer.concat(pieces);
    const field = (name: string) => {
      const { [name]: value } = reply.headers;
      return typeof value === 'string' ? value : null;
    };
    const status = Number(reply.statusCode);
    const isHosted = url.startsWith('/api/v1/');
    const taken = { method, url: new URL(BASE + url), status, headers: { get: field }, bytes };
    return {
      status,
      type: field('content-type'),
      text: bytes.toString(),
      isHosted,
      unsigned: isHosted ? await signed.take(taken) : null,
    };
  };
}

test(`none of ${COUNT * REQUESTS} requests over ports in memory is answered by a fault or outside its schema`, async () => {
  const statuses = new Map<number, number>();
  const findings: object[] = [];
  let hosted = 0;
  const began = performance.now();
  for (let round = ROUNDS.from; round <= ROUNDS.to; round += 1) {
    const lottery = lotteryOf(SEED + round);
    const world = WORLDS[round % WORLDS.length];
    if (world === undefined) throw new Error('there is no world');
    const served = await serve(world, portsOf(world, round, lottery));
    const addresses = [...new Set([...world.subjects, ...world.facts.map(({ about }) => about)])];
    const said = await traffic({
      requests: REQUESTS,
      together: TOGETHER,
      addresses,
      lottery,
      ask: served.ask,
    });
    await served.close();
    for (const [status, count] of said.statuses) tally(statuses, status, count);
    hosted += said.hosted;
    findings.push(...said.faults.map((fault) => ({ round, world: world.name, ...fault })));
  }
  const seeds = `${SEED + ROUNDS.from} to ${SEED + ROUNDS.to}`;
  const told = JSON.stringify(Object.fromEntries([...statuses].sort(([a], [b]) => a - b)));
  const seconds = Math.round((performance.now() - began) / 1_000);
  console.log(
    `${COUNT * REQUESTS} requests in ${seconds} s, seeds ${seeds}, ${hosted} signed, by status ` +
      `${told}, findings ${findings.length}`,
  );
  expect(findings.slice(0, 20)).toEqual([]);
  const asked = COUNT * REQUESTS;
  expect([...statuses.values()].reduce((sum, count) => sum + count)).toBe(asked);
  expect(hosted).toBeGreaterThan(asked / 4);
  // Both what is taken and what is refused is drawn.
  for (const status of [200, 400]) expect(statuses.get(status)).toBeGreaterThan(asked / 6);
});
