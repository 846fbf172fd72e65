// A browser manages the chats of its membership; no other site can.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { mountedPage } from './compose/documents.ts';
import { integrations } from './features/integrations/feature.ts';
import { embeddedControl } from './testing/control-store.ts';
import { appendTo, dispatchOf } from './testing/integrations.ts';
import { MINE, START, serveMembers, THEIRS } from './testing/member-service.ts';
import { type StartedChats, startChats } from './world/chat-api.ts';

const PATH = '/settings/integrations';
const FACTS = { simulated: false, version: '0.0.0', links: [], explorers: new Map() };
const fresh = embeddedControl();
let chats: StartedChats;
beforeAll(async () => {
  chats = await startChats();
});
afterAll(() => chats.close());
afterEach(() => chats.fault(null));

const FIELDS = {
  platform: 'discord',
  webhook_id: '123456789012345678',
  webhook_token: 'MARKER7f3a'.repeat(7),
  kinds: 'flag',
  addresses: '',
};
const idIn = (page: string) => /integrations\/(int_\w+)\/test/.exec(page)?.[1] ?? '';

async function signedIn(id = MINE) {
  const served = await serveMembers(fresh, fetch, chats.roots);
  const browser = await served.browser(id);
  const page = async () => (await served.send('GET', PATH, { cookie: browser.cookie })).text;
  return { ...served, ...browser, page };
}

describe('the page of the chats', () => {
  test('connects, tests and removes, and says what was done', async () => {
    const { act, page } = await signedIn();
    expect(await page()).toContain('You have connected no chat.');
    const connected = await act(PATH, FIELDS);
    expect([connected.status, connected.headers.get('location')]).toEqual([
      303,
      `${PATH}?done=connected`,
    ]);
    const shown = await page();
    expect(shown).toContain('Discord: Made-up hook in channel 1234567890');
    expect(shown).toContain('Is told of launches that the model flags, on every chain.');
    expect(shown).not.toContain('MARKER7f3a');
    const tested = await act(`${PATH}/${idIn(shown)}/test`);
    expect([tested.status, tested.text]).toEqual([200, expect.stringContaining('took the test')]);
    chats.fault('revoked');
    const failed = await act(`${PATH}/${idIn(shown)}/test`);
    expect(failed.text).toContain('Not delivered: the platform said 10015: Unknown Webhook.');
    expect(failed.text).toContain('Takes nothing since 2026-09-21 14:13 UTC');
    const removed = await act(`${PATH}/${idIn(shown)}/remove`);
    expect([removed.status, removed.headers.get('location')]).toEqual([
      303,
      `${PATH}?done=removed`,
    ]);
    expect(await page()).toContain('You have connected no chat.');
  });

  test('takes rules as a form sends them, and refuses what is no address', async () => {
    const { act, page } = await signedIn();
    const addresses = `0x${'a'.repeat(40)}\r\n\r\n0x${'B'.repeat(40)}\r\n`;
    expect((await act(PATH, { ...FIELDS, chains: 'base', addresses })).status).toBe(303);
    expect(await page()).toContain('on base, about 2 addresses.');
    const bad = await act(PATH, { ...FIELDS, addresses: '<b>no address</b>' });
    expect([bad.status, bad.text]).toEqual([400, expect.stringContaining('at least one is none')]);
    expect(bad.text).not.toContain('no address');
    const wrong = await act(PATH, { ...FIELDS, webhook_id: 'http://127.0.0.1:9/' });
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('webhook_id')]);
    expect(wrong.text).not.toContain('127.0.0.1');
  });

  test('shows what did not arrive, with its caveat and why', async () => {
    const { act, page, store } = await signedIn();
    await act(PATH, { ...FIELDS, kinds: 'watch' });
    expect(await page()).toContain('Nothing was given up in the last 30 days.');
    await appendTo(store, [dispatchOf('k1', { membership_id: MINE })]);
    await store.query(
      `update deliveries set dead_at = control_now(), reason = 'It was <refused>.'`,
    );
    const shown = await page();
    for (const text of [
      'Told under k1',
      'One fact.',
      'A listing says nothing of other lists.',
      'href="/address/0x1"',
      'It was &lt;refused>.',
    ]) {
      expect(shown).toContain(text);
    }
  });

  test('says that it could not be read, and shows no empty list, where it could not', async () => {
    const { store, chats: desk } = await signedIn();
    const [page] = integrations.pages;
    const { handle } = mountedPage(page, { chats: desk }, FACTS);
    const caller = {
      kind: 'session',
      session_id: 's',
      membership_id: MINE,
      form_token: 't',
    } as const;
    const asked = { now: () => START, signal: new AbortController().signal };
    store.silence('test');
    const reply = await handle({ params: {}, query: {}, body: undefined }, asked, caller);
    store.silence(null);
    expect(reply).toMatchObject({ status: 503 });
    expect(JSON.stringify(reply)).not.toContain('You have connected no chat');
  });
});

describe('nobody else', () => {
  test('sees, tests or removes the chats of another membership', async () => {
    const { browser, act, page, send } = await signedIn();
    await act(PATH, FIELDS);
    const id = idIn(await page());
    const theirs = await browser(THEIRS);
    const shown = await send('GET', PATH, { cookie: theirs.cookie });
    expect(shown.text).not.toContain(id);
    for (const what of ['test', 'remove']) {
      expect((await theirs.act(`${PATH}/${id}/${what}`)).status).toBe(404);
    }
    expect(idIn(await page())).toBe(id);
  });

  test('changes anything from another site, without the token of the form or signed out', async () => {
    const { post, act, page, cookie, token, origin, send } = await signedIn();
    await act(PATH, FIELDS);
    const id = idIn(await page());
    const before = chats.asked.length;
    for (const [path, fields] of [
      [PATH, FIELDS],
      [`${PATH}/${id}/test`, {}],
      [`${PATH}/${id}/remove`, {}],
    ] as const) {
      const foreign = { cookie, origin: 'https://evil.example' };
      expect((await post(path, { ...fields, form_token: token }, foreign)).status).toBe(403);
      expect((await post(path, fields, { cookie, origin })).status).toBe(403);
      expect((await post(path, fields, {})).status).toBe(401);
    }
    expect((await send('GET', PATH)).status).toBe(401);
    expect(chats.asked.length).toBe(before);
    expect(idIn(await page())).toBe(id);
  });
});
