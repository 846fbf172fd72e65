// Sequences of requests to a service: requests that store something, a browser that signs in and
// submits forms, and an MCP client. Each answer is recorded under the name of its step.

import type { Answer, Request } from './answers-recorder.ts';
import { ADDRESSES, ALL_ADDRESSES, type Credentials, SHOWN_ADDRESSES } from './answers-requests.ts';

/** Asks and writes the answer. */
export type Record = (request: Request) => Promise<Answer>;

const JSON_TYPE = { 'content-type': 'application/json' };
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };

type Poster = (name: string, path: string, body: unknown) => Promise<Answer>;

function posting(record: Record, authorization: string, repeats = false): Poster {
  const headers = { ...JSON_TYPE, authorization };
  return (name, path, body) =>
    record({ name, path, method: 'POST', headers, body: JSON.stringify(body), repeats });
}

/** The id in an answer, or one that nothing has where the request was refused. */
function idIn({ body }: Answer): string {
  const found = /"id":"([^"]+)"/.exec(body);
  return found?.[1] ?? 'none';
}

/** Screens many addresses at once. */
export async function screenBulk(record: Record, { key }: Credentials): Promise<void> {
  const path = '/api/v1/bulk/wallet-screen';
  const post = posting(record, `Bearer ${key}`);
  const addresses = ALL_ADDRESSES.map(([, address]) => address);
  const known = Object.values(ADDRESSES);
  const bodies: { readonly [name: string]: unknown } = {
    all: { addresses },
    known: { addresses: known },
    twice: { addresses: [known[0], known[0], known[1]] },
    list: { addresses: known, tables: ['sanctions_list'] },
    tables: { addresses: known, tables: ['exchange_table', 'launch_corpus'] },
    'unknown-table': { addresses: known, tables: ['nothing'] },
    none: { addresses: [] },
    many: { addresses: Array.from({ length: 501 }, () => known[0]) },
    numbers: { addresses: [1, null] },
    text: { addresses: known[0] },
  };
  for (const [name, body] of Object.entries(bodies)) await post(`flows/bulk/${name}`, path, body);
}

/** Keeps records of screens, reads them and asks them again. */
export async function keepScreens(record: Record, { key }: Credentials): Promise<void> {
  const authorization = `Bearer ${key}`;
  const post = posting(record, authorization);
  for (const name of ['listed-evm', 'two-hops', 'unlisted', 'listed-solana'] as const) {
    const kept = await post(`flows/screens/keep-${name}`, '/api/v1/screens', {
      address: ADDRESSES[name],
    });
    const path = `/api/v1/screens/${idIn(kept)}`;
    const headers = { authorization };
    await record({ name: `flows/screens/read-${name}`, path, headers });
    await record({ name: `flows/screens/replay-${name}`, path: `${path}/replay`, headers });
  }
  const bodies: { readonly [name: string]: unknown } = {
    'on-a-day': { address: ADDRESSES['listed-evm'], on: '2026-11-20' },
    'ahead-of-time': { address: ADDRESSES['listed-evm'], on: '2027-01-01' },
    misformed: { address: 'x' },
  };
  for (const [name, body] of Object.entries(bodies)) {
    await post(`flows/screens/${name}`, '/api/v1/screens', body);
  }
  const bulk = await post('flows/screens/bulk', '/api/v1/screens/bulk', {
    addresses: Object.values(ADDRESSES),
  });
  const path = `/api/v1/screens/${idIn(bulk)}/replay`;
  await record({ name: 'flows/screens/bulk-replay', path, headers: { authorization } });
}

/** Watches addresses, and watches them no more. */
export async function watchAddresses(
  record: Record,
  { key }: Credentials,
  untilScreened: () => Promise<void>,
): Promise<void> {
  const authorization = `Bearer ${key}`;
  const post = posting(record, authorization);
  const path = '/api/v1/watchlist';
  const [listed, other] = [ADDRESSES['listed-evm'], ADDRESSES.unlisted];
  const first = await post('flows/watchlist/add', path, { address: listed });
  await untilScreened();
  await post('flows/watchlist/add-again', path, { address: listed });
  const second = await post('flows/watchlist/add-other', path, { address: other });
  await untilScreened();
  await post('flows/watchlist/add-misformed', path, { address: 'x' });
  const headers = { authorization };
  await record({ name: 'flows/watchlist/list', path, headers });
  await record({ name: 'flows/watchlist/changes', path: `${path}/changes?since=0`, headers });
  await record({ name: 'flows/watchlist/stream', path: '/sse/watchlist?since=0', headers });
  for (const [name, id] of [
    ['remove', idIn(second)],
    ['remove-again', idIn(second)],
  ] as const) {
    const remove = { path: `${path}/${id}`, method: 'DELETE', headers };
    await record({ name: `flows/watchlist/${name}`, ...remove });
  }
  await record({ name: 'flows/watchlist/after', path: `${path}?after=${idIn(first)}`, headers });
}

const CHATS: { readonly [name: string]: readonly [platform: string, body: object] } = {
  'slack-hook': [
    'slack',
    {
      webhook_url: 'https://hooks.slack.com/services/T00000000/B00000000/abcdefghijklmnopqrstuvwx',
    },
  ],
  'slack-bot': ['slack', { bot_token: `xoxb-${'1'.repeat(40)}`, channel: '#desk' }],
  discord: ['discord', { webhook_id: '1'.repeat(18), webhook_token: 'a'.repeat(68) }],
  telegram: ['telegram', { bot_token: `1234567890:${'a'.repeat(35)}`, chat_id: -100123 }],
  'slack-other-host': ['slack', { webhook_url: 'https://example.org/services/T0/B0/x' }],
  'discord-short': ['discord', { webhook_id: '1', webhook_token: 'a' }],
  nothing: ['telegram', {}],
  rules: [
    'discord',
    {
      webhook_id: '2'.repeat(18),
      webhook_token: 'b'.repeat(68),
      rules: { kinds: ['flag'], chains: ['solana'] },
    },
  ],
};

/** Connects chats, posts to them and removes them. */
export async function connectChats(record: Record, { key }: Credentials): Promise<void> {
  const authorization = `Bearer ${key}`;
  const post = posting(record, authorization);
  const headers = { authorization };
  const ids: string[] = [];
  for (const [name, [platform, body]] of Object.entries(CHATS)) {
    const answer = await post(
      `flows/integrations/connect-${name}`,
      `/integrations/${platform}/connect`,
      body,
    );
    if (answer.status === 201) ids.push(idIn(answer));
  }
  for (const [at, id] of ids.entries()) {
    await post(`flows/integrations/test-${at}`, `/integrations/${id}/test`, {});
  }
  await record({ name: 'flows/integrations/list', path: '/integrations', headers });
  for (const [at, id] of ids.entries()) {
    const remove = { path: `/integrations/${id}`, method: 'DELETE', headers };
    await record({ name: `flows/integrations/remove-${at}`, ...remove });
  }
}

/** Scans addresses as a partner does. */
export async function scanAddresses(record: Record, { partner }: Credentials): Promise<void> {
  const post = posting(record, `Bearer ${partner}`, true);
  for (const [name, address] of SHOWN_ADDRESSES) {
    await post(`flows/scan/${name}`, `/api/v1/scan/${encodeURIComponent(address)}`, {});
  }
  const bodies: { readonly [name: string]: unknown } = {
    ofac: { sections: ['ofac'] },
    chain: { sections: ['bridges'], chain: 'base' },
    'chain-alone': { sections: ['ofac'], chain: 'base' },
    twice: { sections: ['ofac', 'ofac'] },
    none: { sections: [] },
    unknown: { sections: ['nothing'] },
  };
  for (const [name, body] of Object.entries(bodies)) {
    await post(`flows/scan/with-${name}`, `/api/v1/scan/${ADDRESSES['one-hop']}`, body);
  }
}

/** Charges each kind of answer to a key that nothing else uses, and records its use. */
export async function chargeOnce(record: Record, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  const paths = [
    `/api/v1/wallet/${ADDRESSES['listed-evm']}/ofac`,
    '/api/v1/wallet/x/ofac',
    `/api/v1/wallet/${ADDRESSES['listed-evm']}/nothing`,
    `/api/v1/token/${ADDRESSES.unlisted}/creator?chain=nowhere`,
    '/api/v1/screens/none',
    '/api/v1/registry/bridges',
    `/api/v1/wallet/${ADDRESSES['listed-monero']}/score`,
  ];
  for (const [at, path] of paths.entries()) {
    const { headers: own } = await record({ name: `flows/charges/${at}`, path, headers });
    const left = own.find(([name]) => name === 'x-ratelimit-remaining');
    CHARGES.push(`${path} ${left?.[1] ?? 'uncharged'}`);
  }
}

/** The figures of `chargeOnce`, which the headers of other answers cannot show. */
export const CHARGES: string[] = [];

function idsIn({ body }: Answer, form: RegExp): string[] {
  return [...body.matchAll(form)].flatMap((found) => found[1] ?? []);
}

/** Signs a browser in by a link, and uses its pages and forms. */
export async function browse(record: Record, origin: string, link: string): Promise<void> {
  const at = (name: string) => `signed-in/${name}`;
  const activate = new URL(link);
  const path = activate.pathname + activate.search;
  await record({ name: at('activate-page'), path });
  await record({ name: at('activate-page-bad'), path: '/activate?link=x' });
  const from = { ...FORM_TYPE, origin, 'sec-fetch-site': 'same-origin' };
  const form = (name: string, to: string, fields: { readonly [name: string]: string }, own = {}) =>
    record({
      name: at(name),
      path: to,
      method: 'POST',
      headers: { ...from, ...own },
      body: new URLSearchParams(fields).toString(),
    });
  await form('activate-bad-link', '/activate', { link: 'x' });
  await form('activate-bad-code', '/activate', { membership_id: 'mem_x', code: '123' });
  const signed = await form('activate', '/activate', {
    link: String(activate.searchParams.get('link')),
  });
  const set = signed.headers.filter(([name]) => name === 'set-cookie').map(([, value]) => value);
  const cookie = set.map((value) => value.split(';')[0]).join('; ');
  const page = (name: string, to: string) =>
    record({ name: at(name), path: to, headers: { cookie } });
  const settings = await page('settings', '/settings');
  const form_token = /name="form_token" value="([^"]+)"/.exec(settings.body)?.[1] ?? 'none';
  const signedForm = (name: string, to: string, fields: { readonly [name: string]: string } = {}) =>
    form(name, to, { form_token, ...fields }, { cookie });
  await form('keys-without-token', '/settings/keys', { name: 'x' }, { cookie });
  await form(
    'keys-other-site',
    '/settings/keys',
    { form_token, name: 'x' },
    {
      cookie,
      origin: 'https://example.org',
      'sec-fetch-site': 'cross-site',
    },
  );
  await signedForm('keys-create', '/settings/keys', { name: 'Second' });
  await signedForm('keys-create-blank', '/settings/keys', { name: '' });
  const keys = idsIn(
    await page('settings-keys', '/settings'),
    /\/settings\/keys\/([^/"]+)\/revoke/g,
  );
  const [id] = keys;
  if (id !== undefined && keys.length > 1) {
    await signedForm('keys-replace', `/settings/keys/${id}/replace`, { overlap: '1' });
    await signedForm('keys-replace-bad', `/settings/keys/${id}/replace`, { overlap: '2' });
    await signedForm('keys-revoke', `/settings/keys/${id}/revoke`);
  }
  await signedForm('keys-revoke-unknown', '/settings/keys/none/revoke');
  await page('settings-after', '/settings?done=revoked');
  await useLists(page, signedForm);
  await signedForm('sign-out', '/sign-out');
  await page('settings-signed-out', '/settings');
}

type Page = (name: string, to: string) => Promise<Answer>;
type Form = (
  name: string,
  to: string,
  fields?: { readonly [name: string]: string },
) => Promise<Answer>;

async function useLists(page: Page, form: Form): Promise<void> {
  await form('watch', '/watchlist', { address: ADDRESSES.hub });
  await form('watch-misformed', '/watchlist', { address: 'x' });
  const watched = await page('watchlist', '/watchlist?done=added');
  const [watch] = idsIn(watched, /\/watchlist\/([^/"]+)\/remove/g);
  await form('unwatch', `/watchlist/${watch ?? 'none'}/remove`);
  await form('unwatch-unknown', '/watchlist/none/remove');
  await page('watchlist-after', '/watchlist?done=removed');
  const hook = { webhook_id: '3'.repeat(18), webhook_token: 'c'.repeat(68) };
  await form('chat-connect', '/settings/integrations', { platform: 'discord', ...hook });
  await form('chat-connect-bad', '/settings/integrations', { platform: 'slack' });
  const chats = await page('chats', '/settings/integrations?done=connected');
  const [chat] = idsIn(chats, /\/settings\/integrations\/([^/"]+)\/remove/g);
  await form('chat-test', `/settings/integrations/${chat ?? 'none'}/test`);
  await form('chat-remove', `/settings/integrations/${chat ?? 'none'}/remove`);
  await page('chats-after', '/settings/integrations');
  const screens = await page('screens', '/screens');
  for (const [at, id] of idsIn(screens, /href="\/screens\/([^"/]+)"/g).entries()) {
    await page(`screens-${at}`, `/screens/${id}`);
  }
}

const REVISION = '2025-11-25';

/** Speaks to the tools as a client does: a handshake, their list, and calls of each. */
export async function callTools(record: Record, { key }: Credentials): Promise<void> {
  const headers = {
    ...JSON_TYPE,
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${key}`,
    'mcp-protocol-version': REVISION,
  };
  const send = (name: string, method: string, params: object) =>
    record({
      name: `mcp/${name}`,
      path: '/mcp',
      method: 'POST',
      headers,
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      repeats: true,
    });
  const clientInfo = { name: 'answers', version: '1' };
  await send('initialize', 'initialize', {
    protocolVersion: REVISION,
    capabilities: {},
    clientInfo,
  });
  const listed = await send('tools', 'tools/list', {});
  const tools = new Set([...listed.body.matchAll(/"name":"([a-z_]+)","/g)].map((one) => one[1]));
  const request = ['listed-evm', 'two-hops', 'bridger', 'inferred', 'deployer-mixed'] as const;
  for (const tool of tools) {
    for (const name of [...request, 'listed-solana', 'listed-monero'] as const) {
      const chain = tool === 'deployer_record' ? { chain: 'ethereum' } : {};
      const own = { address: ADDRESSES[name], ...chain };
      await send(`${tool}/${name}`, 'tools/call', { name: tool, arguments: own });
    }
    await send(`${tool}/nothing`, 'tools/call', { name: tool, arguments: {} });
    await send(`${tool}/unknown`, 'tools/call', {
      name: tool,
      arguments: { address: 'x', zzz: 1 },
    });
  }
  await send('no-tool', 'tools/call', { name: 'nothing', arguments: {} });
  await send('no-method', 'nothing', {});
}
