// A signal that is saved verifies, and one that was not read whole is no file.

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { VECTOR_KEYS } from '../testing/vector-keys.ts';
import { savedVector } from '../testing/verification-vectors.ts';
import { createClient } from './client.ts';
import { saveSignal } from './save-signal.ts';
import { verifySaved } from './verify.ts';

const { file } = savedVector({});
const { signal } = file.answer;
const PATHS = {
  signal: `/api/signals/${signal.signal_id}`,
  bundle: `/api/signals/${signal.signal_id}/evidence`,
  proof: `/api/log/proof/${encodeURIComponent(`signal:${signal.call_hash}`)}`,
};

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

type Says = (response: ServerResponse) => void;
const json =
  (status: number, body: unknown): Says =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
const raw =
  (type: string, body: string | Buffer): Says =>
  (response) => {
    response.writeHead(200, { 'content-type': type }).end(body);
  };

/** A client of a service that answers so, and as it should where nothing else is said. */
async function clientOf(changes: { readonly [path: string]: Says }) {
  const says: { readonly [path: string]: Says } = {
    [PATHS.signal]: json(200, file.answer),
    [PATHS.bundle]: raw('application/json', Buffer.from(file.bundle_base64, 'base64')),
    [PATHS.proof]: raw('text/plain; charset=utf-8', String(file.proof)),
    ...changes,
  };
  const server = createServer((request, response) => {
    const say = says[String(request.url)];
    if (say === undefined) response.writeHead(404).end('{"error":"No such route."}');
    else say(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return createClient({ baseUrl: `http://127.0.0.1:${port}`, retriesMax: 0 });
}

const trust = { keys: VECTOR_KEYS, checkpoint: null, node: null, now: 0 };
const outcomeOf = async (saved: object) =>
  (await verifySaved(Buffer.from(JSON.stringify(saved)), trust)).outcome;

test('a signal, its bundle byte for byte and its proof are one file, which verifies', async () => {
  const saved = await saveSignal(await clientOf({}), signal.signal_id);
  if (saved.kind !== 'saved') throw new Error(saved.says);
  expect(saved.file).toEqual(file);
  expect(await outcomeOf(saved.file)).toBe('verified');
});

test('a leaf that awaits a checkpoint is saved without a proof, and does not verify yet', async () => {
  const client = await clientOf({ [PATHS.proof]: json(409, { error: 'It awaits one.' }) });
  const saved = await saveSignal(client, signal.signal_id);
  if (saved.kind !== 'saved') throw new Error(saved.says);
  expect(saved.file.proof).toBeNull();
  expect(await outcomeOf(saved.file)).toBe('unchecked');
});

test('no signal, and one that was not read, are no file', async () => {
  const missing = { error: 'not_found', signal_id: 'sig_0', detail: 'No signal has this id.' };
  const absent = await clientOf({ [PATHS.signal]: json(404, missing) });
  expect(await saveSignal(absent, signal.signal_id)).toEqual({
    kind: 'absent',
    says: 'No signal has this id.',
  });
  const unread = json(503, { error: 'feed_unreadable', detail: 'The store is silent.' });
  for (const path of [PATHS.signal, PATHS.bundle]) {
    const client = await clientOf({ [path]: unread });
    expect(await saveSignal(client, signal.signal_id)).toEqual({
      kind: 'unread',
      says: 'The store is silent.',
    });
  }
});
