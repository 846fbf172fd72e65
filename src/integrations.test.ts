// A member manages its chats over HTTP; nobody else can.

import { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { handlerOf } from './compose/list.ts';
import { embeddedControl } from './testing/control-store.ts';
import { appendTo, dispatchOf } from './testing/integrations.ts';
import { MINE, START, serveMembers, THEIRS } from './testing/member-service.ts';
import { CHAT_FAULTS, type StartedChats, startChats } from './world/chat-api.ts';

const fresh = embeddedControl();
let chats: StartedChats;
beforeAll(async () => {
  chats = await startChats();
});
afterAll(() => chats.close());
afterEach(() => chats.fault(null));

const started = () => serveMembers(fresh, fetch, chats.roots);
const WEBHOOK = 'T0TEST00/B0TEST00/MARKER7f3aMARKER7f3aMA';
const SLACK = { webhook_url: `https://hooks.slack.com/services/${WEBHOOK}` };
const BOT = { bot_token: 'xoxb-1-2-MARKER7f3a', channel: '#alerts' };
const DISCORD = { webhook_id: '123456789012345678', webhook_token: 'MARKER7f3a'.repeat(7) };
const TELEGRAM = { bot_token: `123456789:${'MARKER7f3a'.repeat(4)}`, chat_id: '-123456' };

describe('a member', () => {
  test.each([
    ['slack', SLACK, false, 'Webhook B0TEST00 of workspace T0TEST00'],
    ['slack', BOT, true, '#alerts of Made-up Workspace, as exhibit'],
    ['discord', DISCORD, true, 'Made-up hook in channel 1234567890'],
    ['telegram', TELEGRAM, true, 'Made-up group, as exhibit_bot'],
    ['telegram', { ...TELEGRAM, chat_id: -123_456 }, true, 'Made-up group, as exhibit_bot'],
  ] as const)(
    'connects %s, tests it, lists it and removes it',
    async (platform, body, ok, place) => {
      const { member } = await started();
      const ask = await member();
      const connected = await ask('POST', `/integrations/${platform}/connect`, body);
      expect(connected).toMatchObject({
        status: 201,
        said: { platform, place, verified: ok, created_at: '2026-09-21T14:13:20.000Z' },
      });
      expect(connected.said['reason'] === null).toBe(ok);
      const id = String(connected.said['id']);
      const before = chats.posted.length;
      const tested = await ask('POST', `/integrations/${id}/test`);
      expect(tested).toMatchObject({ status: 200, said: { delivered: true, reason: null } });
      expect(JSON.stringify(chats.posted.slice(before))).toContain('Exhibit is connected here');
      const listed = await ask('GET', '/integrations');
      expect(listed.said).toMatchObject({
        integrations: [
          {
            id,
            platform,
            place,
            rules: { kinds: ['flag', 'watch'], chains: null, addresses: null },
            verified: true,
            broken_at: null,
            fault: null,
            waiting: 0,
            dead_letters: 0,
          },
        ],
        dead_letters: [],
        more_dead_letters: false,
      });
      expect(listed.text + connected.text + tested.text).not.toContain('MARKER7f3a');
      expect((await ask('DELETE', `/integrations/${id}`)).said).toEqual({ id, removed: true });
      expect((await ask('DELETE', `/integrations/${id}`)).status).toBe(404);
      expect((await ask('GET', '/integrations')).said).toMatchObject({ integrations: [] });
    },
  );

  test('is told of a test that was not delivered, and why', async () => {
    const { member } = await started();
    const ask = await member();
    const { said } = await ask('POST', '/integrations/discord/connect', DISCORD);
    const path = `/integrations/${said['id']}/test`;
    for (const [fault, reason] of [
      ['revoked', 'Not delivered: the platform said 10015: Unknown Webhook.'],
      ['rate-limited', 'Not delivered: the platform answered 429: its rate limit is reached.'],
      ['refused', 'Not delivered: the platform said 50035: Invalid Form Body.'],
      ['error500', 'Not delivered: the platform answered 500.'],
      ['closes', 'Discord failed: closed the connection early.'],
    ] as const) {
      chats.fault(fault);
      expect((await ask('POST', path)).said).toEqual({ delivered: false, reason });
    }
    const listed = await ask('GET', '/integrations');
    expect(listed.said).toMatchObject({
      integrations: [{ verified: true, broken_at: '2026-09-21T14:13:20.000Z' }],
    });
  });

  test('connects nothing that the platform says is gone, and what it does not answer for', async () => {
    const { member } = await started();
    const ask = await member();
    chats.fault('revoked');
    const gone = await ask('POST', '/integrations/discord/connect', DISCORD);
    expect(gone).toMatchObject({ status: 400, said: { error: expect.stringContaining('10015') } });
    chats.fault('error500');
    const unanswered = await ask('POST', '/integrations/discord/connect', DISCORD);
    expect(unanswered).toMatchObject({
      status: 201,
      said: { verified: false, reason: 'The platform answered 500.' },
    });
  });

  test('names kinds, chains and addresses, which are kept in the form that is compared', async () => {
    const { member } = await started();
    const ask = await member();
    const address = '0xABCDEFabcdef0000000000000000000000000001';
    const rules = { kinds: ['watch'], chains: ['base'], addresses: [address] };
    await ask('POST', '/integrations/discord/connect', { ...DISCORD, rules });
    const { said } = await ask('GET', '/integrations');
    const kept = { kinds: ['watch'], chains: ['base'], addresses: [address.toLowerCase()] };
    expect(said).toMatchObject({ integrations: [{ rules: kept }] });
    for (const bad of [
      { kinds: [] },
      { kinds: ['rumour'] },
      { chains: ['nowhere'] },
      { addresses: ['no address'] },
      { addresses: Array.from({ length: 101 }, () => address) },
      { other: 1 },
    ]) {
      const refused = await ask('POST', '/integrations/discord/connect', {
        ...DISCORD,
        rules: bad,
      });
      expect([bad, refused.status]).toEqual([bad, 400]);
    }
  });

  test('has ten at most, and connects none where its membership ended', async () => {
    const { member, memberships } = await started();
    const ask = await member();
    for (let n = 0; n < 10; n += 1) {
      const { status } = await ask('POST', '/integrations/slack/connect', SLACK);
      expect(status).toBe(201);
    }
    const over = await ask('POST', '/integrations/slack/connect', SLACK);
    expect(over).toMatchObject({
      status: 409,
      said: { error: expect.stringContaining('at most') },
    });
    const at = START + 1;
    await memberships.record({ membership_id: MINE, plan: 'analyst', status: 'inactive', at });
  });

  test('sees what was given up, with its caveat and its link', async () => {
    const { member, store } = await started();
    const ask = await member();
    await ask('POST', '/integrations/discord/connect', DISCORD);
    await appendTo(store, [dispatchOf('k1', { membership_id: MINE })]);
    await store.query(`update deliveries set dead_at = control_now(), reason = 'A test.'`);
    expect((await ask('GET', '/integrations')).said).toMatchObject({
      integrations: [{ dead_letters: 1 }],
      dead_letters: [
        {
          title: 'Told under k1',
          caveat: 'A listing says nothing of other lists.',
          url: 'https://exhibit.example/address/0x1',
          reason: 'A test.',
        },
      ],
    });
  });

  test('finds its changes in the log', async () => {
    const { member, browser } = await started();
    const ask = await member();
    const { said } = await ask('POST', '/integrations/discord/connect', DISCORD);
    await ask('DELETE', `/integrations/${said['id']}`);
    const page = await (await browser()).page();
    expect(page).toContain('Chat connected');
    expect(page).toContain('Chat removed');
    expect(page).toContain(`discord ${said['id']}`);
  });

  test('is answered 503, and no empty list, where the store is silent', async () => {
    const { store, chats: desk } = await started();
    const handler = handlerOf('list_integrations', { chats: desk });
    const caller = { kind: 'member', membership_id: MINE, plan: 'analyst', key_id: 'k' } as const;
    const asked = { now: () => START, signal: new AbortController().signal };
    const input = { params: {}, query: {}, body: undefined };
    store.silence('test');
    const reply = await handler(input, asked, caller);
    store.silence(null);
    expect(reply).toMatchObject({ status: 503 });
  });
});

describe('an outsider', () => {
  test('neither reads, tests nor removes the chats of another membership', async () => {
    const { member } = await started();
    const [mine, theirs] = [await member(), await member(THEIRS)];
    const { said } = await theirs('POST', '/integrations/discord/connect', DISCORD);
    const before = chats.asked.length;
    expect((await mine('GET', '/integrations')).said).toMatchObject({ integrations: [] });
    const tested = await mine('POST', `/integrations/${said['id']}/test`);
    const removed = await mine('DELETE', `/integrations/${said['id']}`);
    const made_up = await mine('POST', '/integrations/int_madeup/test');
    expect([tested.status, removed.status]).toEqual([404, 404]);
    expect(tested.text).toBe(made_up.text);
    expect(chats.asked.length).toBe(before);
    expect((await theirs('GET', '/integrations')).said).toMatchObject({
      integrations: [{ id: said['id'] }],
    });
  });

  test('without a key opens nothing', async () => {
    const { send } = await started();
    for (const [method, path] of [
      ['GET', '/integrations'],
      ['POST', '/integrations/slack/connect'],
      ['POST', '/integrations/int_1/test'],
      ['DELETE', '/integrations/int_1'],
    ] as const) {
      expect([path, (await send(method, path)).status]).toEqual([path, 402]);
    }
  });

  const URLS = [
    'http://127.0.0.1:9/services/T0TEST00/B0TEST00/abcdefghijklmnopqrstuvwx',
    'https://169.254.169.254/services/T0TEST00/B0TEST00/abcdefghijklmnopqrstuvwx',
    'https://hooks.slack.com.evil.example/services/T0TEST00/B0TEST00/abcdefghijklmnopqrstuvwx',
    'https://hooks.slack.com@evil.example/services/T0TEST00/B0TEST00/abcdefghijklmnopqrstuvwx',
    'https://evil.example#hooks.slack.com/services/T0TEST00/B0TEST00/abcdefghijklmnopqrstuvwx',
    'https://user:pass@hooks.slack.com/services/T0TEST00/B0TEST00/abcdefghijklmnopqrstuvwx',
    'https://hooks.slack.com:8443/services/T0TEST00/B0TEST00/abcdefghijklmnopqrstuvwx',
    'http://hooks.slack.com/services/T0TEST00/B0TEST00/abcdefghijklmnopqrstuvwx',
    'https://hooks.slack.com/x/services/T0TEST00/B0TEST00/abcdefghijklmnopqrstuvwx',
    'https://hooks.slack.com/services/../../T0TEST00/B0TEST00/abcdefghijklmnopqrstuvwx',
    'https://hooks.slack.com/services/T0TEST00/B0TEST00/abcdefghijklmnopqrstuvwx?to=evil',
    'https://hooks.slack.com/services/T0TEST00/B0TEST00/..%2f..%2fevilevilevil',
    'file:///etc/passwd',
    'gopher://127.0.0.1:9/services/T0TEST00/B0TEST00/abcdefghijklmnopqrstuvwx',
    'hooks.slack.com/services/T0TEST00/B0TEST00/abcdefghijklmnopqrstuvwx',
  ];
  const BODIES = [
    ...URLS.map((webhook_url) => ['slack', { webhook_url }] as const),
    ['slack', {}] as const,
    ['slack', { ...SLACK, channel: '#alerts' }] as const,
    ['slack', { ...BOT, channel: 'http://127.0.0.1:9/' }] as const,
    ['slack', { ...SLACK, url: 'http://127.0.0.1:9/' }] as const,
    ['discord', { ...DISCORD, webhook_id: '../../../evil' }] as const,
    ['discord', { ...DISCORD, webhook_token: '..' }] as const,
    ['discord', { ...DISCORD, webhook_token: `${'a'.repeat(60)}/slack` }] as const,
    ['discord', SLACK] as const,
    ['telegram', { ...TELEGRAM, bot_token: '1/../../evil' }] as const,
    ['telegram', { ...TELEGRAM, bot_token: `1@127.0.0.1:9/${'a'.repeat(35)}` }] as const,
    ['telegram', { ...TELEGRAM, chat_id: 'http://127.0.0.1:9/' }] as const,
  ];

  test('makes the server ask no address of its choosing, whatever it connects', async () => {
    const { member, origin } = await started();
    const ask = await member();
    const own = [new URL(origin).port, new URL(chats.roots.slack).port];
    const { connect } = Socket.prototype;
    const asked: unknown[] = [];
    Socket.prototype.connect = function (this: Socket, ...to: unknown[]) {
      const text = JSON.stringify(to);
      if (!own.some((port) => text.includes(port))) asked.push(text);
      return Reflect.apply(connect, this, to) as Socket;
    } as typeof connect;
    const before = chats.asked.length;
    try {
      for (const [platform, body] of BODIES) {
        const refused = await ask('POST', `/integrations/${platform}/connect`, body);
        expect([body, refused.status]).toEqual([body, 400]);
        // The answer does not repeat the input.
        expect(refused.text).not.toMatch(/evil|MARKER7f3a|127\.0\.0\.1/);
      }
      expect(chats.asked.length).toBe(before);
      chats.fault('redirect');
      const connected = await ask('POST', '/integrations/slack/connect', SLACK);
      const tested = await ask('POST', `/integrations/${connected.said['id']}/test`);
      expect(tested.said).toMatchObject({ delivered: false });
    } finally {
      Socket.prototype.connect = connect;
    }
    expect(asked).toEqual([]);
  });

  test('finds no credential in any answer, whatever the platform does', async () => {
    const { member, store } = await started();
    const ask = await member();
    const said: string[] = [];
    for (const [platform, body] of [
      ['slack', SLACK],
      ['slack', BOT],
      ['discord', DISCORD],
      ['telegram', TELEGRAM],
    ] as const) {
      chats.fault(null);
      const { said: made } = await ask('POST', `/integrations/${platform}/connect`, body);
      for (const fault of CHAT_FAULTS.filter((one) => one !== 'timeout')) {
        chats.fault(fault);
        said.push((await ask('POST', `/integrations/${made['id']}/test`)).text);
      }
      said.push((await ask('POST', `/integrations/${platform}/connect`, body)).text);
    }
    said.push((await ask('GET', '/integrations')).text);
    expect(said.length).toBeGreaterThan(30);
    expect(said.join('\n')).not.toContain('MARKER7f3a');
    const rows = await store.query('select * from integrations');
    expect(rows.length).toBeGreaterThan(3);
    expect(
      JSON.stringify(rows, (_, one) =>
        one instanceof Uint8Array ? Buffer.from(one).toString('latin1') : one,
      ),
    ).not.toContain('MARKER7f3a');
  });
});
