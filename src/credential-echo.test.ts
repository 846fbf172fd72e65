// Is a key that is sent in the place of an address ever repeated: in an answer, a refusal or a log?
// Every route that takes an address is asked, where its ports answer and where they do not.

import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createGate } from './access/gate.ts';
import { deriveSecrets, mintKey, mintSecret } from './access/secret.ts';
import { CONTRACTS, handlerOf } from './compose/list.ts';
import { unread } from './evidence/reading.ts';
import { why } from './evidence/reasons.ts';
import { evm } from './testing/addresses.ts';
import { accessIn, embeddedControl } from './testing/control-store.ts';
import { createTestHttp } from './testing/http-server.ts';
import type { World } from './testing/planted.ts';
import { TEST_SERVICE } from './testing/service.ts';
import { asksOf, isOfAddresses } from './testing/silence-asks.ts';
import { type SilencePorts, throughPorts } from './testing/silence-ports.ts';
import { WORLDS } from './testing/worlds.ts';
import type { Mounted } from './transport/answer.ts';

const SECRETS = deriveSecrets('a root secret of the tests', null);
const fresh = embeddedControl();
const WORLD = WORLDS[0] as World;
const { now, ports } = WORLD;

const ROUTES = CONTRACTS.filter(isOfAddresses);
const unreadable = why('store_unreadable', { what: 'A store', fault: 'a planted silence' });
const silent = throughPorts(ports, ({ port }) => unread<string>(port, unreadable));

async function serve(over: SilencePorts) {
  const { memberships, keys, quota } = accessIn(fresh(), () => now * 1_000);
  const membership_id = 'mem_1';
  await memberships.record({ membership_id, plan: 'enterprise', status: 'active', at: now });
  const member = mintKey({ kind: 'sc', membership_id }, SECRETS, now);
  const holder = { kind: 'scp', partner: 'acme', monthly_budget: 1_000 } as const;
  const partner = mintKey(holder, SECRETS, now);
  for (const one of [member, partner]) await keys.add(one.stored, 1);
  const given = { ...over, service: TEST_SERVICE };
  const logged: string[] = [];
  const keep = (facts: object, message: string) => {
    logged.push(`${message} ${JSON.stringify(facts)}`);
  };
  const app = createTestHttp({
    mounted: ROUTES.map((route): Mounted => ({ route, handle: handlerOf(route.name, given) })),
    gate: createGate({ keys, quota, secrets: SECRETS, durable: true }, () => now),
    tokens: async () => ({ outcome: 'opens', tier: 'pro', id: 'tok_1' }),
    refusalPage: ({ status }) => `<h1>${status}</h1>`,
    log: { info: keep, warn: keep, error: keep },
    now: () => now,
  });
  return { app, logged, member: member.text, partner: partner.text };
}

const ADDRESS = evm('stranger');
const asInput = z.object({
  params: z.unknown().optional(),
  query: z.unknown().optional(),
  body: z.unknown().optional(),
});
type Input = z.output<typeof asInput>;

/** The inputs of each route that takes an address, with a secret in every possible place. */
function asksWith(secret: string) {
  return ROUTES.flatMap((route) =>
    asksOf(route, { ...WORLD, subjects: [ADDRESS], days: [] }).flatMap(({ input }) => {
      const said = JSON.stringify(input);
      if (!said.includes(ADDRESS)) return [];
      const sent = asInput.parse(JSON.parse(said.replaceAll(ADDRESS, secret)));
      return [{ route, ...sent }];
    }),
  );
}

function urlOf(path: string, { params, query }: Input): string {
  const filled = Object.entries(Object(params)).reduce(
    (url, [name, value]) => url.replace(`{${name}}`, encodeURIComponent(String(value))),
    path,
  );
  return `${filled}?${new URLSearchParams(Object(query)).toString()}`;
}

const TAKE_ADDRESS = [
  'bulk_wallet_screen',
  'wallet_ofac',
  'sanctions_changes',
  'label_changes',
  'other_list_changes',
  'wallet_bridges',
  'wallet_cex',
  'wallet_score',
  'wallet_entity',
  'deployer_record',
  'token_creator',
  'partner_scan',
  'signals_feed',
];

describe.each([
  ['answers', ports],
  ['is silent', silent],
])('where every store %s, nothing repeats', (_, over) => {
  test.each([
    ['a key', mintSecret('sc')],
    ["a partner's key", mintSecret('scp')],
    ['a token', mintSecret('sct')],
    ['the beginning of a key', mintSecret('sc').slice(0, 20)],
    ['a key in upper case', mintSecret('sc').toUpperCase()],
    ['a key behind a word', `Bearer:${mintSecret('sc')}`],
  ])('%s that was sent as an address', async (_name, secret) => {
    const { app, logged, member, partner } = await serve(over);
    const asks = asksWith(secret);
    expect([...new Set(asks.map(({ route }) => route.name))]).toEqual(
      expect.arrayContaining(TAKE_ADDRESS),
    );
    for (const { route, ...input } of asks) {
      const authorization = `Bearer ${route.access === 'partner' ? partner : member}`;
      const reply = await app.inject({
        method: route.method === 'POST' ? 'POST' : 'GET',
        url: urlOf(route.path, input),
        headers: { authorization, 'content-type': 'application/json' },
        ...(route.method === 'POST' ? { payload: JSON.stringify(input.body) } : {}),
      });
      const all = JSON.stringify([reply.headers, reply.body]);
      expect([route.name, all.includes(secret), all.includes(secret.toLowerCase())]).toEqual([
        route.name,
        false,
        false,
      ]);
      const says = expect.stringMatching(
        /(address|target).*: expected an address, and a key or token/,
      );
      expect([route.name, reply.statusCode, reply.json()]).toEqual([
        route.name,
        400,
        {
          error: says,
          fields: [{ path: expect.any(Array), says: expect.stringMatching(/a key or token/) }],
        },
      ]);
    }
    expect(logged.join()).not.toContain(secret);
    await app.close();
  });
});
