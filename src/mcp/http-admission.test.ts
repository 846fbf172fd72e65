// Who comes in by the door of the tools, before anything of a request is read?

import { once } from 'node:events';
import { request } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createGate } from '../access/gate.ts';
import { deriveSecrets, mintKey } from '../access/secret.ts';

import { evidenceRoute } from '../contract/route.ts';
import { unread } from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';
import { accessIn, embeddedControl } from '../testing/control-store.ts';
import { answersOf } from '../transport/answer.ts';
import { createHttp } from '../transport/http.ts';
import { createMeters } from '../transport/metrics.ts';
import { mcpDoor } from './http-door.ts';
import { toolsOf } from './tools.ts';

const NOW = 1_780_000_000;
const SECRETS = deriveSecrets('a root secret of the tests', null);

const probe = evidenceRoute({
  name: 'wallet_probe',
  surface: 'hosted',
  method: 'GET',
  path: '/api/v1/probe/{address}',
  summary: 'A route of the tests.',
  access: 'analyst',
  params: z.strictObject({ address: z.string() }),
  data: z.strictObject({ caveat: z.string() }),
  absences: ['not_deployed'],
  tool: { name: 'probe', description: 'Probes an address.' },
});

const fresh = embeddedControl();
const apps: { close: () => Promise<unknown> }[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

async function serve(hosts: readonly string[] = []) {
  const { memberships, keys, quota } = accessIn(fresh(), () => NOW * 1000);
  await memberships.record({ membership_id: 'mem_1', plan: 'desk', status: 'active', at: NOW });
  const minted = mintKey({ kind: 'sc', membership_id: 'mem_1' }, SECRETS, NOW);
  await keys.add(minted.stored, 5);
  const used = async () => {
    const reading = await quota.usage('membership:mem_1', '2026-05-28');
    return reading.checked ? reading.value : null;
  };
  const handle = async () =>
    probe.absent.not_deployed({
      subject: '0xabc',
      silent: unread('list', why('not_configured', { what: 'The list' })),
    });
  const ignore = () => undefined;
  const parts = {
    gate: createGate({ keys, quota, secrets: SECRETS, durable: true }, () => NOW),
    meters: createMeters([]),
    log: { info: ignore, warn: ignore, error: ignore },
    now: () => NOW,
    budgetMs: 60_000,
  };
  const mounted = [{ route: probe, handle }];
  const answers = answersOf(mounted, parts);
  const doors = [mcpDoor({ ...parts, tools: toolsOf([probe]), answers, hosts, version: '0.0.0' })];
  const app = createHttp({ ...parts, mounted, doors, trustProxy: false }, answers);
  apps.push(app);
  const base = await app.listen({ host: '127.0.0.1', port: 0 });
  return { url: `${base}/mcp`, meters: parts.meters, used, authorization: `Bearer ${minted.text}` };
}

type Told = { status: number; headers: { [name: string]: unknown }; text: string };

/** A request as any client may write one. */
async function told(
  url: string,
  headers: { readonly [name: string]: string },
  body = LIST,
  method = 'POST',
): Promise<Told> {
  const own = method === 'POST' ? PLAIN : {};
  const sent = request(url, { method, headers: { ...own, ...headers } });
  sent.on('error', () => undefined);
  const answered = once(sent, 'response');
  sent.end(method === 'POST' ? body : undefined);
  const [response] = await answered;
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode, headers: response.headers, text };
}
const PLAIN = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};
const LIST = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';

describe('before anything is read', () => {
  test('a credential that opens nothing is 401 and says how to come in', async () => {
    const { url, authorization } = await serve();
    const other = mintKey({ kind: 'sc', membership_id: 'mem_2' }, SECRETS, NOW).text;
    const partner = mintKey({ kind: 'scp', partner: 'p', monthly_budget: 5 }, SECRETS, NOW).text;
    const none = await told(url, {});
    expect(none).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' } });
    expect(none.text).toContain('No key was sent');
    for (const text of [other, partner, 'sc_nothing']) {
      const one = await told(url, { authorization: `Bearer ${text}` });
      expect(one.status).toBe(401);
      expect(one.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
      expect(one.text).not.toContain(text);
    }
    const inQuery = await told(`${url}?key=${other}`, {});
    expect(inQuery.status).toBe(401);
    expect(inQuery.text).toContain('A key in the URL is not accepted');
    expect(inQuery.text).not.toContain(other);
    expect((await told(url, { 'x-service-membership': authorization.slice(7) })).status).toBe(200);
  });

  test('a name that is not ours, as Host or as Origin, is 403', async () => {
    const { url, authorization } = await serve(['exhibit.example']);
    const status = async (headers: { readonly [name: string]: string }) =>
      (await told(url, { authorization, ...headers })).status;
    expect(await status({ host: 'rebound.example' })).toBe(403);
    expect(await status({ host: 'exhibit.example.rebound.example' })).toBe(403);
    expect(await status({ host: 'exhibit.example' })).toBe(200);
    expect(await status({ host: 'localhost:8080' })).toBe(200);
    expect(await status({ host: '192.0.2.7:8080' })).toBe(200);
    expect(await status({ host: '[2001:db8::7]:8080' })).toBe(200);
    expect(await status({ origin: 'https://rebound.example' })).toBe(403);
    expect(await status({ origin: 'http://192.0.2.7' })).toBe(403);
    expect(await status({ origin: 'null' })).toBe(403);
    expect(await status({ origin: 'https://exhibit.example' })).toBe(200);
  });

  test('a body that is too large, broken, of another type, or of too many messages', async () => {
    const { url, authorization, used } = await serve();
    const call =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"probe","arguments":{"address":"0xabc"}}}';
    const many = `[${Array.from({ length: 17 }, () => call).join()}]`;
    expect((await told(url, { authorization }, many)).status).toBe(400);
    expect((await told(url, { authorization }, ' '.repeat(70_000))).status).toBe(413);
    expect((await told(url, { authorization }, '{')).status).toBe(400);
    expect((await told(url, { authorization, 'content-type': 'text/plain' })).status).toBe(415);
    expect(await used()).toBe(0);
  });

  test('no stream stays open: another method is 405, a subscription is not taken', async () => {
    const { url, authorization } = await serve();
    for (const method of ['GET', 'DELETE']) {
      const one = await told(url, { authorization }, '', method);
      expect(one).toMatchObject({ status: 405, headers: { allow: 'POST' } });
    }
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const subscribe = await told(
      url,
      { authorization, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
      JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'subscriptions/listen',
        params: { notifications: { toolsListChanged: true }, _meta },
      }),
    );
    expect(subscribe.text).toContain('Subscription limit reached');
  });

  test('the refusals are counted by their reason', async () => {
    const { url, meters } = await serve();
    await told(url, {});
    await told(url, { host: 'rebound.example' });
    const text = await meters.registry.metrics();
    expect(text).toMatch(/exhibit_refusals_total\{route="\/mcp",reason="No key was sent[^}]+\} 1/);
    expect(text).toContain('exhibit_refusals_total{route="/mcp",reason="wrong_origin"} 1');
  });
});
