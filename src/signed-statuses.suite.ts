// Is an answer of a running service signed whatever its status, where its client asks for that, and
// does each verify in the client, from its file and by `exhibit verify`?

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { PLANS } from './access/plan.ts';
import { createClient, ExhibitRefusal } from './client/client.ts';
import { requestSigned } from './client/signed.ts';
import type { SavedAnswer } from './contract/saved-answer.ts';
import { verifyCommand } from './features/verifying/verify.command.ts';
import { runPrinting, type Simulated } from './testing/program.ts';
import { ran } from './testing/recording-io.ts';

const ADDRESS = '0x64144967c175997fc8526ba694021ae36965331c';

/** Requests that are under way at once. */
const TOGETHER = 8;

type Asked = {
  readonly key?: string | null;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
};

/** Each status of a started service is signed. */
export function everyStatusIsSigned(started: () => Simulated): void {
  describe('a signed answer of a running service', () => {
    const home = mkdtempSync(join(tmpdir(), 'exhibit-statuses-'));
    const pinned = join(home, 'keys.json');
    let keys: string;
    let base: string;
    let place: { readonly cwd: string; readonly env: { readonly EXHIBIT_SIMULATE: string } };

    beforeAll(async () => {
      const { cwd, base_url } = started();
      base = base_url;
      place = { cwd, env: { EXHIBIT_SIMULATE: 'true' } };
      keys = await (await fetch(`${base}/.well-known/exhibit-keys.json`)).text();
      writeFileSync(pinned, keys);
    });
    afterAll(() => rmSync(home, { recursive: true, force: true }));

    const made = z.object({ key: z.string() });
    const keyOf = async (...words: readonly string[]) =>
      (await runPrinting(made, ['keys', 'create', ...words], place)).key;

    /** Asks for a signed answer, which has to verify from its file by the command too. */
    async function statusOf(
      method: string,
      path: string,
      { key = started().api_key, headers, body }: Asked = {},
    ): Promise<number> {
      const files: SavedAnswer[] = [];
      const signed = requestSigned({ keys, save: (file) => void files.push(file) }).begin();
      const url = new URL(base + path);
      const reply = await fetch(url, {
        method,
        headers: {
          'accept-signature': signed.header,
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
          ...headers,
        },
        ...(body === undefined ? {} : { body }),
      });
      const bytes = new Uint8Array(await reply.arrayBuffer());
      const { status, headers: received } = reply;
      const fault = await signed.take({ method, url, status, headers: received, bytes });
      expect([method, path, status, fault]).toEqual([method, path, status, null]);
      const file = join(home, 'answer.json');
      writeFileSync(file, JSON.stringify(files[0]));
      const said = await ran(`verify ${file} --keys ${pinned}`, [verifyCommand], undefined);
      expect([said.status, said.errors]).toEqual([0, []]);
      return status;
    }

    const json = { 'content-type': 'application/json' };
    const long = JSON.stringify({ addresses: Array.from({ length: 40_000 }, () => ADDRESS) });
    test.each<readonly [number, string, string, Asked]>([
      [200, 'GET', `/api/v1/wallet/${ADDRESS}/ofac`, {}],
      [200, 'HEAD', `/api/v1/wallet/${ADDRESS}/ofac`, {}],
      [200, 'GET', '/api/v1/registry/sanctions/changes?limit=1', {}],
      [
        200,
        'POST',
        '/api/v1/bulk/wallet-screen',
        { headers: json, body: JSON.stringify({ addresses: [ADDRESS] }) },
      ],
      [201, 'POST', '/api/v1/screens', { headers: json, body: `{"address":"${ADDRESS}"}` }],
      [400, 'GET', '/api/v1/wallet/0x12/ofac', {}],
      [400, 'POST', '/api/v1/screens', { headers: json, body: '{' }],
      [402, 'GET', `/api/v1/wallet/${ADDRESS}/ofac`, { key: null }],
      [402, 'GET', `/api/v1/wallet/${ADDRESS}/ofac`, { key: 'sc_unknown' }],
      [404, 'GET', '/api/v1/screens/scr_unknown', {}],
      [404, 'GET', '/api/v1/no-such-route', {}],
      [404, 'GET', '/api/v1/no-such-route', { headers: { accept: 'text/html' } }],
      [405, 'DELETE', `/api/v1/wallet/${ADDRESS}/ofac`, {}],
      [413, 'POST', '/api/v1/bulk/wallet-screen', { headers: json, body: long }],
      [415, 'POST', '/api/v1/screens', { headers: { 'content-type': 'text/plain' }, body: 'x' }],
    ])('with %i to %s %s', async (status, method, path, asked) => {
      expect(await statusOf(method, path, asked)).toBe(status);
    });

    test('of a member: 429 once the requests of its day are spent', async () => {
      const plan = ['members', 'add', '--plan', 'analyst'];
      const added = z.object({ membership_id: z.string() });
      const { membership_id } = await runPrinting(added, plan, place);
      const key = await keyOf('--membership', membership_id);
      const path = '/api/v1/watchlist';
      const headers = { authorization: `Bearer ${key}` };
      let left = PLANS.analyst.daily_requests;
      const work = async () => {
        while (left > 0) {
          left -= 1;
          const reply = await fetch(base + path, { headers });
          expect([reply.status, await reply.text()]).toMatchObject([200, expect.any(String)]);
        }
      };
      await Promise.all(Array.from({ length: TOGETHER }, work));
      expect(await statusOf('GET', path, { key })).toBe(429);
    });

    test('of a partner: its scan, and 429 or 503 once its month is spent', async () => {
      const key = await keyOf('--partner', 'signs', '--budget', '1');
      const scan = () => statusOf('POST', `/api/v1/scan/${ADDRESS}`, { key });
      const first = await Promise.all([scan(), scan(), scan()]);
      expect(first.filter((status) => status === 200)).toHaveLength(1);
      expect(first.filter((status) => ![200, 429, 503].includes(status))).toEqual([]);
      expect(await scan()).toBe(429);
      const files: SavedAnswer[] = [];
      const signed = requestSigned({ keys, save: (file) => void files.push(file) });
      const call = createClient({ baseUrl: base, key }).partner_scan(
        { address: ADDRESS },
        { signed },
      );
      await expect(call).rejects.toBeInstanceOf(ExhibitRefusal);
      expect(files.map(({ answer }) => answer.status)).toEqual([429]);
    });
  });
}
