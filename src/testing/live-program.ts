// A running service that simulates nothing: a publisher of a few listed addresses, accepted on an
// operator's word, and an explorer of Ethereum.

import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { StartedExplorer } from '../world/explorer-api.ts';
import { SANDBOX_PARTY } from '../world/listed-parties.ts';
import { sdnAdvancedXml } from '../world/sdn-publication.ts';
import { createControlIn } from './postgres.ts';
import { type Program, startProgram, untilSaid } from './program.ts';

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
  readonly explorer: StartedExplorer;
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
    EXHIBIT_BLOCKSCOUT_ETHEREUM: of.explorer.blockscout(1).href,
    ...of.settings,
  };
  await createControlIn(join(cwd, 'data'));
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

// So small a list is taken on an operator's word alone.
async function acceptList(service: Program, place: Pick<LiveProgram, 'cwd' | 'env'>) {
  await untilSaid(service, 'sanctions list: refused');
  const sha256 = String(/"sha256":"([0-9a-f]{64})"/.exec(service.out() + service.err())?.[1]);
  const accepting = ['sanctions', 'refresh', '--accept', sha256, '--why', 'tests'];
  const { status, err } = await startProgram(accepting, place).ended;
  expect(status, err).toBe(0);
}
