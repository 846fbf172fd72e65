// An outsider can do nothing with a membership that is not its own: over a socket, on a real store.

import { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { embeddedControl } from './testing/control-store.ts';
import { idsIn, START, serveMembers, THEIRS } from './testing/member-service.ts';
import { WEBHOOK_SECRET } from './testing/members.ts';
import { deliveryHeaders, membershipEvent } from './testing/payment-platform.ts';

const fresh = embeddedControl();

describe('an outsider', () => {
  test('neither reads nor changes the keys of another membership', async () => {
    const { browser, use } = await serveMembers(fresh, fetch);
    const theirs = await browser(THEIRS);
    const { text } = await theirs.key('Their secret name');
    const [id] = idsIn(await theirs.page());
    const mine = await browser();
    const page = await mine.page();
    for (const secret of [THEIRS, 'Their secret name', text.slice(0, 11), String(id)]) {
      expect(page).not.toContain(secret);
    }
    const prefix = text.slice(0, 11);
    for (const named of [id, prefix]) {
      expect((await mine.act(`/settings/keys/${named}/revoke`)).status).toBe(404);
      const replaced = await mine.act(`/settings/keys/${named}/replace`, { overlap: '1' });
      expect(replaced.status).toBe(404);
    }
    expect((await use(text)).status).toBe(200);
  });

  test('reads no use and no changes of another membership', async () => {
    const { browser, use } = await serveMembers(fresh, fetch);
    const theirs = await browser(THEIRS);
    const { text } = await theirs.key('Theirs');
    for (let i = 0; i < 7; i += 1) await use(text);
    const page = await (await browser()).page();
    expect(page).toMatch(/<dd>0 of 1,000/);
    expect(page).not.toMatch(/data-day="[^"]*"[^>]*><title>[^<]*: 7</);
    expect(page).not.toContain('Key created');
  });

  test('changes nothing from another site, nor without the token of the form', async () => {
    const { browser, post, origin } = await serveMembers(fresh, fetch);
    const { cookie, token, key, page } = await browser();
    await key('Nightly');
    const [id] = idsIn(await page());
    const paths = ['/settings/keys', `/settings/keys/${id}/revoke`, '/sign-out'];
    for (const path of paths) {
      const fields = path === '/settings/keys' ? { name: 'evil' } : {};
      for (const [sent, headers] of [
        [
          { ...fields, form_token: token },
          { cookie, origin: 'https://evil.example' },
        ],
        [
          { ...fields, form_token: 'A'.repeat(43) },
          { cookie, origin },
        ],
        [fields, { cookie, origin }],
      ] as const) {
        expect([path, (await post(path, sent, headers)).status]).toEqual([path, 403]);
      }
    }
    expect(idsIn(await page())).toEqual([id]);
  });

  test('opens no page of the settings without signing in', async () => {
    const { send, post } = await serveMembers(fresh, fetch);
    for (const cookie of ['', 'exhibit=', `exhibit=${'B'.repeat(43)}`]) {
      expect((await send('GET', '/settings', { cookie })).status).toBe(401);
      expect((await post('/settings/keys', { name: 'n' }, { cookie })).status).toBe(401);
    }
  });

  test('makes the server ask no address, whatever URLs it sends', async () => {
    const { browser, post, send, origin } = await serveMembers(fresh, fetch);
    const { act } = await browser();
    const url = 'http://127.0.0.1:9/asked';
    const body = membershipEvent({ at: START }).replaceAll('https://platform.example', url);
    const signed = deliveryHeaders([WEBHOOK_SECRET], 'msg_url', START, body);
    const connect = Socket.prototype.connect;
    const own = new URL(origin).port;
    const asked: unknown[] = [];
    Socket.prototype.connect = function (this: Socket, ...to: unknown[]) {
      const text = JSON.stringify(to);
      if (!text.includes(own)) asked.push(text);
      return Reflect.apply(connect, this, to) as Socket;
    } as typeof connect;
    try {
      await send(
        'POST',
        '/webhooks/payments',
        { 'content-type': 'application/json', ...signed },
        body,
      );
      await post('/activate', { membership_id: url, code: url });
      await post('/activate', { link: url });
      await send('GET', `/activate?link=${encodeURIComponent(url)}`);
      await act('/settings/keys', { name: url });
      await send('GET', '/pricing', { host: 'evil.example', referer: url });
    } finally {
      Socket.prototype.connect = connect;
    }
    expect(asked).toEqual([]);
  });
});
