// What somebody asked, watched or recorded is in no feed, no leaf, no metric and no line of the
// producer after its round: every private door is asked by a process that produces nothing, and a
// second one over the same stores runs the first round.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { addressNamed, evm } from './testing/addresses.ts';
import { type Program, startProgram, untilSaid } from './testing/program.ts';
import { SANDBOX_DEPLOYERS } from './world/deployers.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const ADMIN = 'an-operator-token-that-nobody-guesses';
/** Two of whom nothing is held, and a launcher whose record a question looks up. */
const ASKED = [
  evm('asked about'),
  SANDBOX_DEPLOYERS.mixed,
  addressNamed('solana', 'asked about'),
] as const;
const [SOMEBODY] = ASKED;

const memberShape = z.looseObject({ membership_id: z.string() });
const keyShape = z.looseObject({ key: z.string() });
const feedShape = z.looseObject({
  signals: z.array(
    z.looseObject({ signal_id: z.string(), target: z.object({ address: z.string() }) }),
  ),
  data_mode: z.string(),
  generated_at: z.string().nullable(),
  next_cursor: z.string().nullable(),
});

describe('after a round of the producer', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'exhibit-private-'));
  const env = {
    EXHIBIT_SIMULATE: 'true',
    EXHIBIT_PORT: '0',
    EXHIBIT_DATA_DIR: join(cwd, 'data'),
    EXHIBIT_ADMIN_TOKEN: ADMIN,
    EXHIBIT_ALLOW_ANONYMOUS: 'true',
  };
  const statuses: string[] = [];
  let producer: Program;
  let base = '';

  async function run(words: string): Promise<string> {
    const said = await startProgram(words.split(' '), { cwd, env }).ended;
    if (said.status !== 0) throw new Error(`test: ${words}: ${said.err}`);
    return said.out;
  }

  async function serve(words: readonly string[]): Promise<Program> {
    const program = startProgram(words, { cwd, env });
    await untilSaid(program, 'http://127.0.0.1:');
    base = String(/http:\/\/127\.0\.0\.1:\d+/.exec(program.out() + program.err())?.[0]);
    return program;
  }

  const text = async (path: string, headers: { readonly [name: string]: string } = {}) => {
    const answer = await fetch(base + path, { headers });
    return { status: answer.status, body: await answer.text() };
  };

  async function askEveryDoor(): Promise<void> {
    const member = memberShape.parse(JSON.parse(await run('members add --plan desk --json')));
    const made = keyShape.parse(
      JSON.parse(await run(`keys create --membership ${member.membership_id} --json`)),
    );
    const partner = keyShape.parse(
      JSON.parse(await run('keys create --partner asks --budget 100 --json')),
    );
    const ask = async (method: string, path: string, body?: object, key = made.key) => {
      const answer = await fetch(base + path, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      await answer.arrayBuffer();
      statuses.push(`${method} ${path.replace(/0x\w+|\w{32,}/, '…')} ${answer.status}`);
    };
    for (const address of ASKED) {
      for (const part of ['ofac', 'bridges', 'score', 'cex']) {
        await ask('GET', `/api/v1/wallet/${address}/${part}`);
      }
      const chain = address.startsWith('0x') ? 'evm/deployer/ethereum' : 'solana/deployer';
      await ask('GET', `/api/v1/${chain}/${address}`);
      await ask('GET', `/api/wallet/${address}/entity`);
      await ask('GET', `/address/${address}`);
      await ask('POST', '/api/v1/watchlist', { address });
      await ask('POST', '/api/v1/screens', { address });
      await ask('POST', `/api/v1/scan/${address}`, {}, partner.key);
    }
    await ask('POST', '/api/v1/bulk/wallet-screen', { addresses: ASKED });
    const call = { name: 'wallet_ofac', arguments: { address: SOMEBODY } };
    await ask('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call });
  }

  beforeAll(async () => {
    const asked = await serve(['serve']);
    await askEveryDoor();
    asked.child.kill('SIGTERM');
    await asked.ended;
    producer = await serve(['up']);
    await vi.waitFor(
      async () => {
        const feed = feedShape.parse(JSON.parse((await text('/api/signals')).body));
        expect([feed.data_mode, feed.signals.length > 0]).toEqual(['simulated', true]);
        expect(feed.generated_at).not.toBe(null);
      },
      { timeout: 180_000, interval: 500 },
    );
  });
  afterAll(async () => {
    producer.child.kill('SIGTERM');
    await producer.ended;
    rmSync(cwd, { recursive: true, force: true });
  });

  test('every door was asked, and answered or refused by its own rules', () => {
    expect(statuses.length).toBeGreaterThan(30);
    expect(statuses.filter((one) => !/ (200|201|303|402|404|406)$/.test(one))).toEqual([]);
    expect(statuses.filter((one) => /watchlist 20[01]$/.test(one))).toHaveLength(ASKED.length);
  });

  test('no signal, no bundle and no page names whom somebody asked about', async () => {
    const said: string[] = [(await text('/signals')).body];
    let path = '/api/signals?limit=100';
    for (let pages = 0; pages < 50; pages += 1) {
      const { body } = await text(path);
      said.push(body);
      const feed = feedShape.parse(JSON.parse(body));
      for (const { signal_id, target } of feed.signals) {
        expect(ASKED.map((one) => one.toLowerCase())).not.toContain(target.address.toLowerCase());
        said.push((await text(`/api/signals/${signal_id}/evidence`)).body);
      }
      if (feed.next_cursor === null) break;
      path = `/api/signals?limit=100&cursor=${feed.next_cursor}`;
    }
    const all = said.join('\n').toLowerCase();
    expect(ASKED.filter((one) => all.includes(one.toLowerCase()))).toEqual([]);
  });

  test('no metric and no line of the process names them', async () => {
    const metrics = await text('/metrics', { authorization: `Bearer ${ADMIN}` });
    expect(metrics.status).toBe(200);
    const all = [metrics.body, producer.out(), producer.err()].join('\n').toLowerCase();
    expect(ASKED.filter((one) => all.includes(one.toLowerCase()))).toEqual([]);
    expect(producer.out() + producer.err()).toContain('signals: a round ended');
  });

  test('the path that no route has is 404', async () => {
    const { status } = await text('/api/signals/sig_00000000000000000000000000000000/verify');
    expect(status).toBe(404);
  });
});
