// Processes of builds that run together over shared stores: each is killed, paused, ended in order,
// or put in another's place under the same port.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { startExplorer } from '../world/explorer-api.ts';
import { WORLD_SEED, worldPublicationAt } from '../world/listed-parties.ts';
import { sdnXml } from '../world/sdn-publication.ts';
import { freePort } from './free-port.ts';

const STARTED_MS_MAX = 150_000;
const LOOK_EVERY_MS = 50;
const SAID_WHEN_UP = { serve: 'Serving http', up: 'Serving http', work: 'Working.' } as const;

type Role = keyof typeof SAID_WHEN_UP;
type Running = { readonly child: ChildProcess; isPaused: boolean };

/** The processes by their names. */
export type Fleet = {
  /** Starts one of a build (`dist/exhibit.js`) in the place of the name; waits until it is up. */
  readonly start: (name: string, main?: string) => Promise<void>;
  /** Ends it at once. */
  readonly kill: (name: string) => Promise<void>;
  /** Tells it to stop, and waits; its exit status. */
  readonly stop: (name: string) => Promise<number | null>;
  readonly pause: (name: string) => void;
  readonly resume: (name: string) => void;
  /** Where each one that serves is asked. */
  readonly urls: ReadonlyMap<string, string>;
  /** What all processes under a name said so far. */
  readonly said: (name: string) => string;
  readonly close: () => Promise<void>;
};

type FleetOptions = {
  readonly roles: Readonly<Record<string, Role>>;
  readonly main: string;
  /** The environment of each, without the port and the data directory, which are its own. */
  readonly env: { readonly [name: string]: string };
  /** What one of them has beside. */
  readonly envOf?: { readonly [name: string]: { readonly [name: string]: string } };
  readonly home: string;
};

/** A fleet of which nothing runs yet. */
export async function makeFleet(options: FleetOptions): Promise<Fleet> {
  const { roles, main, env, envOf, home } = options;
  const running = new Map<string, Running>();
  const output = new Map<string, string>();
  const urls = new Map<string, string>();
  for (const [name, role] of Object.entries(roles)) {
    output.set(name, '');
    if (role !== 'work') urls.set(name, `http://127.0.0.1:${await freePort()}`);
  }
  const killAll = () => {
    for (const { child } of running.values()) child.kill('SIGKILL');
  };
  process.once('exit', killAll);
  const roleOf = (name: string): Role => {
    const role = roles[name];
    if (role === undefined) throw new Error(`fleet: nobody is called ${name}`);
    return role;
  };
  const runningAs = (name: string): Running => {
    const one = running.get(name);
    if (one === undefined) throw new Error(`fleet: ${name} does not run`);
    return one;
  };
  const end = async (name: string, signal: NodeJS.Signals): Promise<number | null> => {
    const { child } = runningAs(name);
    running.delete(name);
    const gone = once(child, 'close');
    child.kill(signal);
    // A paused process ends by SIGKILL alone.
    const [status] = child.exitCode === null && child.signalCode === null ? await gone : [null];
    return typeof status === 'number' ? status : null;
  };
  return {
    urls,
    said: (name) => String(output.get(name)),
    start: async (name, build = main) => {
      const role = roleOf(name);
      const url = urls.get(name);
      const own = {
        EXHIBIT_DATA_DIR: join(home, name),
        EXHIBIT_PORT: url === undefined ? '0' : new URL(url).port,
      };
      const child = spawn(process.execPath, [build, role], {
        cwd: home,
        env: { ...env, ...envOf?.[name], ...own },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let fresh = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (bytes) => {
          fresh += String(bytes);
          output.set(name, String(output.get(name)) + String(bytes));
        });
      }
      running.set(name, { child, isPaused: false });
      for (const until = Date.now() + STARTED_MS_MAX; !fresh.includes(SAID_WHEN_UP[role]); ) {
        if (child.exitCode !== null || Date.now() > until) {
          throw new Error(`fleet: ${name} did not start: ${fresh.slice(-2_000)}`);
        }
        if (child.signalCode !== null) return;
        await wait(LOOK_EVERY_MS);
      }
    },
    kill: async (name) => void (await end(name, 'SIGKILL')),
    stop: (name) => end(name, 'SIGTERM'),
    pause: (name) => {
      const one = runningAs(name);
      one.isPaused = one.child.kill('SIGSTOP');
    },
    resume: (name) => {
      const one = runningAs(name);
      one.isPaused = !one.child.kill('SIGCONT');
    },
    close: async () => {
      process.removeListener('exit', killAll);
      for (const name of [...running.keys()]) await end(name, 'SIGKILL');
    },
  };
}

/** What every process of a fleet is set to: its stores, one list, one explorer and one token. */
export function settingsOfFleet(of: {
  readonly database: string;
  readonly warehouse: string;
  readonly list: string;
  readonly explorer: URL;
  readonly token: string;
}) {
  return {
    EXHIBIT_SIMULATE: 'false',
    EXHIBIT_DATABASE_URL: of.database,
    EXHIBIT_WAREHOUSE_URL: of.warehouse,
    EXHIBIT_SECRET: 'a-secret-that-all-processes-know',
    EXHIBIT_SDN_URL: pathToFileURL(of.list).href,
    EXHIBIT_SDN_MAX_AGE: 'none',
    EXHIBIT_BLOCKSCOUT_ETHEREUM: of.explorer.href,
    EXHIBIT_RING_CALLS: '0',
    EXHIBIT_INTELLIGENCE_TOKENS: `desk:${of.token}`,
    EXHIBIT_LOG_ORIGIN: 'log.example',
  };
}

const HEAD = 30_000;
const BLOCK_S = 12;

/** What a fleet asks: the list of the sandbox in a file, and an explorer without a row. */
export async function startOutsideOfFleet(home: string) {
  const nowS = () => Math.floor(Date.now() / 1_000);
  const list = join(home, 'sdn.xml');
  writeFileSync(list, sdnXml(worldPublicationAt(nowS(), WORLD_SEED)));
  const explorer = await startExplorer({
    headOf: () => HEAD,
    timeOf: (_, block) => nowS() - (HEAD - block) * BLOCK_S,
    rowsOf: () => [],
    rowsOfToken: () => [],
  });
  return { list, explorer: explorer.blockscout(1), close: explorer.close };
}
