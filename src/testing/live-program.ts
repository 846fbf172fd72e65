// A running service that simulates nothing: a publisher of a few listed addresses, accepted on an
// operator's word, and an explorer of Ethereum.

import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect, vi } from 'vitest';
import { z } from 'zod';
import { type StartedExplorer, startExplorer } from '../world/explorer-api.ts';
import { SANDBOX_PARTY } from '../world/listed-parties.ts';
import { sdnAdvancedXml } from '../world/sdn-publication.ts';
import { evm } from './addresses.ts';
import { createStoresIn } from './fresh-warehouse.ts';
import { type Program, runPrinting, startProgram, untilSaid } from './program.ts';

/** The service, where its commands run, and the start of its URLs. */
export type LiveProgram = {
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
  readonly base: () => string;
  /** What it said on standard output so far. */
  readonly out: () => string;
  /** The same of standard error, where its log goes. */
  readonly err: () => string;
  /** Ends the service, and starts it in the same place with other settings. */
  readonly restart: (
    settings: { readonly [name: string]: string },
    meanwhile?: () => Promise<void>,
  ) => Promise<void>;
  /** Ends the service and its publisher. */
  readonly close: () => Promise<void>;
};

type LiveSettings = {
  /** The command that starts it. */
  readonly words: readonly string[];
  readonly listed: readonly string[];
  /** `null`: nothing tells it of any chain. */
  readonly explorer: StartedExplorer | null;
  readonly settings?: { readonly [name: string]: string };
};

/** Starts it in a folder of its own. */
export async function startLive(of: LiveSettings): Promise<LiveProgram> {
  const cwd = await mkdtemp(join(tmpdir(), 'exhibit-live-'));
  const addresses = of.listed.map((address) => ({ currency: 'ETH', address }));
  const today = new Date().toISOString().slice(0, 10);
  const list = { published: today, parties: [{ ...SANDBOX_PARTY, addresses }] };
  const publisher = createServer((_, response) => response.end(sdnAdvancedXml(list)));
  await new Promise<void>((ready) => publisher.listen(0, '127.0.0.1', ready));
  const { port } = publisher.address() as AddressInfo;
  const env = {
    EXHIBIT_PORT: '0',
    EXHIBIT_SIMULATE: 'false',
    // Signals would ask the explorer about listed addresses beside what a test asks.
    EXHIBIT_SURFACES: 'hosted,integrations,mcp,web',
    EXHIBIT_DATA_DIR: join(cwd, 'data'),
    EXHIBIT_SDN_URL: `http://127.0.0.1:${port}/SDN_ADVANCED.XML`,
    EXHIBIT_SDN_FLOOR: '1',
    EXHIBIT_BLOCKSCOUT_ETHEREUM: of.explorer === null ? '' : of.explorer.blockscout(1).href,
    ...of.settings,
  };
  await createStoresIn(join(cwd, 'data'));
  let service = startProgram(of.words, { cwd, env });
  await acceptList(service, { cwd, env });
  return {
    cwd,
    env,
    base: () => String(/http:\/\/127\.0\.0\.1:\d+/.exec(service.out() + service.err())?.[0]),
    out: () => service.out(),
    err: () => service.err(),
    restart: async (settings, meanwhile = async () => {}) => {
      service.child.kill('SIGTERM');
      await service.ended;
      await meanwhile();
      service = startProgram(of.words, { cwd, env: { ...env, ...settings } });
      await untilSaid(service, of.words.includes('work') ? 'Working.' : 'Serving http');
    },
    close: async () => {
      service.child.kill('SIGKILL');
      await service.ended;
      publisher.closeAllConnections();
      publisher.close();
      await rm(cwd, { recursive: true, force: true });
    },
  };
}

/** A service that signs its log, over an explorer that tells of no transfer. */
export type LiveLog = LiveProgram & {
  /** The JSON that it answers under a path. */
  readonly get: (path: string) => Promise<unknown>;
  /** Has a signal about an address of Ethereum published. */
  readonly emit: (address: string) => Promise<{ signal_id: string; call_hash: string }>;
};

/** The host that signs the log of `startLiveLog`. */
export const LOG_HOST = 'log.example';
const BLOCKS = 30_000;
const PRODUCED = { timeout: 180_000, interval: 500 };
const produced = z.looseObject({ producer: z.looseObject({ state: z.literal('running') }) });
const emitted = z.looseObject({
  signal: z.looseObject({ signal_id: z.string(), call_hash: z.string() }),
});

/** Starts one, whose producer is at rest after its first round. */
export async function startLiveLog(settings: {
  readonly [name: string]: string;
}): Promise<LiveLog> {
  const explorer = await startExplorer({
    headOf: () => BLOCKS,
    timeOf: (_, block) => Math.floor(Date.now() / 1_000) - (BLOCKS - block) * 12,
    rowsOf: () => [],
    rowsOfToken: () => [],
  });
  const live = await startLive({
    words: ['up'],
    listed: [evm('listed')],
    explorer,
    settings: { EXHIBIT_LOG_ORIGIN: LOG_HOST, EXHIBIT_RING_CALLS: '0', ...settings },
  });
  const get = async (path: string): Promise<unknown> => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request(live.base() + path, resolve)
        .on('error', reject)
        .end();
    });
    return json(answer);
  };
  await vi.waitFor(async () => produced.parse(await get('/api/signals')), PRODUCED);
  return {
    ...live,
    get,
    emit: async (address) => {
      const words = ['signals', 'emit', '--chain', 'ethereum', '--address', address];
      return (await runPrinting(emitted, words, live)).signal;
    },
    close: async () => {
      await live.close();
      await explorer.close();
    },
  };
}

const added = z.object({ membership_id: z.string() });
const minted = z.object({ key: z.string() });
const linked = z.object({ url: z.string() });

/** Adds a membership of a plan; its key, and the cookie of a browser that signed in by its link. */
export async function joinLive(live: LiveProgram, plan: string) {
  const { membership_id } = await runPrinting(added, ['members', 'add', '--plan', plan], live);
  const create = ['keys', 'create', '--membership', membership_id];
  const { key } = await runPrinting(minted, create, live);
  const { url } = await runPrinting(linked, ['members', 'link', membership_id], live);
  const link = String(new URL(url).searchParams.get('link'));
  const headers = { origin: live.base(), 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(`${live.base()}/activate`, { method: 'POST', headers }, resolve);
    sent.on('error', reject).end(new URLSearchParams({ link }).toString());
  });
  answer.resume();
  expect(answer.statusCode).toBe(303);
  const [cookie] = String(answer.headers['set-cookie']?.[0]).split(';');
  return { key, cookie: String(cookie) };
}

// So small a list is taken on an operator's word alone.
async function acceptList(service: Program, place: Pick<LiveProgram, 'cwd' | 'env'>) {
  await untilSaid(service, 'sanctions list: refused');
  const sha256 = String(/"sha256":"([0-9a-f]{64})"/.exec(service.out() + service.err())?.[1]);
  const accepting = ['sanctions', 'refresh', '--accept', sha256, '--why', 'tests'];
  const { status, err } = await startProgram(accepting, place).ended;
  expect(status, err).toBe(0);
}
