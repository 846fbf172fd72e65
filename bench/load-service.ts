// The service under load as a user starts it: the built program over the simulated world, with
// members' keys, a partner's and a token made by its commands, and imports one after the other.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { z } from 'zod';
import { freePort } from '../src/testing/free-port.ts';
import { endChild, NODE_FLAGS } from './children.ts';

const MAIN = fileURLToPath(new URL('../../main.js', import.meta.url));
const START_MS_MAX = 600_000;
const LOOK_MS = 200;
const RANKED_MS_MAX = 120_000;
const REST_AFTER_FAULT_MS = 5_000;
const IMPORT_ROWS = 100_000;
const BLOCK_ROWS = 200;
const FIRST_S = 1_600_000_000;
const BLOCK_S = 2;

const demo = z.looseObject({ base_url: z.string() });
const added = z.looseObject({ membership_id: z.string() });
const minted = z.looseObject({ key: z.string() });
const mintedToken = z.looseObject({ token: z.string() });

type Ended = { readonly status: number | null; readonly out: string; readonly err: string };

function start(words: readonly string[], home: string, settings: object): ChildProcess {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('EXHIBIT_'));
  return spawn(process.execPath, [...NODE_FLAGS, MAIN, ...words], {
    cwd: home,
    env: { ...Object.fromEntries(own), EXHIBIT_SIMULATE: 'true', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function ended(one: ChildProcess): Promise<Ended> {
  const texts = { out: '', err: '' };
  one.stdout?.on('data', (bytes) => {
    texts.out += String(bytes);
  });
  one.stderr?.on('data', (bytes) => {
    texts.err += String(bytes);
  });
  const [status] = await once(one, 'close');
  return { status: status as number | null, ...texts };
}

async function command<S extends z.ZodType>(home: string, shape: S, ...words: string[]) {
  const { status, out, err } = await ended(start([...words, '--json'], home, {}));
  if (status !== 0) throw new Error(`${words.join(' ')} ended with ${status}: ${err}`);
  return shape.parse(JSON.parse(out));
}

/** Starts the service in a folder, and makes as many members as named, each with a key. */
export async function startLoaded(home: string, keyCount: number) {
  const opsPort = await freePort();
  const settings = { EXHIBIT_PORT: '0', EXHIBIT_OPS_PORT: String(opsPort) };
  const service = start(['start'], home, settings);
  let said = '';
  const hear = (bytes: Buffer) => {
    said = `${said}${String(bytes)}`.slice(-20_000);
  };
  service.stdout?.on('data', hear);
  service.stderr?.on('data', hear);
  const until = performance.now() + START_MS_MAX;
  while (!said.includes('Base URL')) {
    if (service.exitCode !== null || performance.now() > until) throw new Error(said);
    await sleep(LOOK_MS);
  }
  const file = join(home, 'data/simulated/demo-credentials.json');
  const { base_url: base } = demo.parse(JSON.parse(readFileSync(file, 'utf8')));
  // The token of the demo has room for a tenth of the streams.
  const tier = ['--tier', 'desk'];
  const { token } = await command(home, mintedToken, 'tokens', 'mint', ...tier);
  const keys: string[] = [];
  for (let n = 0; n < keyCount; n += 1) {
    const { membership_id } = await command(home, added, 'members', 'add', '--plan', 'enterprise');
    const words = ['keys', 'create', '--membership', membership_id];
    keys.push((await command(home, minted, ...words)).key);
  }
  const budget = ['--partner', 'load', '--budget', '100000000'];
  const partner = (await command(home, minted, 'keys', 'create', ...budget)).key;
  const ranked = await isRanked(base, token);
  const { pid } = service;
  if (pid === undefined) throw new Error('the service has no process id');
  return {
    base,
    opsPort,
    pid,
    callers: { keys, partner, token, ranked },
    startImports: () => startImports(home),
    end: () => endChild(service, 'SIGTERM'),
  };
}

/** Waits for the first round of the board, before which it answers 503; whether it came. */
async function isRanked(base: string, token: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}` };
  for (const until = performance.now() + RANKED_MS_MAX; performance.now() < until; ) {
    const { statusCode, body } = await request(`${base}/api/leaderboard/rugs`, { headers });
    await body.dump();
    if (statusCode === 200) return true;
    await sleep(LOOK_MS);
  }
  return false;
}

/** Imports files of transfers one after the other until it is ended. */
function startImports(home: string) {
  let isOver = false;
  let [rows, done] = [0, 0];
  const faults: string[] = [];
  const folder = join(home, 'exports');
  mkdirSync(folder, { recursive: true });
  const importing = (async () => {
    for (let n = 0; !isOver; n += 1) {
      const file = join(folder, `token_transfers-${n}.csv`);
      writeFileSync(file, transfersFrom(n * (IMPORT_ROWS / BLOCK_ROWS)));
      const words = ['warehouse', 'import', file, '--chain', 'base', '--origin', 'simulated'];
      const { status, err } = await ended(start(words, home, {}));
      rmSync(file);
      if (status === 0) [rows, done] = [rows + IMPORT_ROWS, done + 1];
      else {
        faults.push(`ended with ${status}: ${err.slice(-300)}`);
        await sleep(REST_AFTER_FAULT_MS);
      }
    }
  })();
  return {
    end: async () => {
      isOver = true;
      await importing;
      return { rows, ended: done, faults };
    },
  };
}

/** A file of ethereum-etl's layout, from a block on. */
function transfersFrom(block: number): string {
  const hex = (n: number, chars: number) => `0x${n.toString(16).padStart(chars, '0')}`;
  const lines = Array.from({ length: IMPORT_ROWS }, (_, n) => {
    const at = block + Math.floor(n / BLOCK_ROWS);
    const number = block * BLOCK_ROWS + n;
    const time = new Date((FIRST_S + at * BLOCK_S) * 1_000).toISOString().slice(0, 19);
    const written = `${time.replace('T', ' ')} UTC`;
    const [from, to] = [1e6 + ((number * 7_919) % 200_000), 1e6 + ((number * 104_729) % 200_000)];
    return [
      hex(9e6 + (number % 500), 40),
      hex(from, 40),
      hex(to, 40),
      String(number + 1),
      hex(number + 1, 64),
      String(n % BLOCK_ROWS),
      String(at),
      written,
    ].join(',');
  });
  const head = 'token_address,from_address,to_address,value,transaction_hash,log_index';
  return `${head},block_number,block_timestamp\n${lines.join('\n')}\n`;
}
