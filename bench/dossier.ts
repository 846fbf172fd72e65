// Use: npm run bench -- dossier. How long does a dossier take to its first byte, which holds the
// head and the answer of the list, and how much processor time does the service use for it?

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SANDBOX_SCORED } from '../src/world/account-state.ts';
import { SANDBOX_WALLETS } from '../src/world/chain-data.ts';
import { SANDBOX_PARTY } from '../src/world/listed-parties.ts';

const MAIN = new URL('../../main.js', import.meta.url);
const WAIT_MS_MAX = 120_000;
const PAUSE_MS = 50;
const ROUNDS = 30;
/** The kernel's unit of processor time, in milliseconds. */
const TICK_MS = 10;

const directory = mkdtempSync(join(tmpdir(), 'exhibit-bench-'));

/** Milliseconds to the first byte; the rest is left unread, and its readings end. */
function firstByteMs(url: string): Promise<number> {
  const started = performance.now();
  return new Promise((settle, reject) => {
    const asked = get(url, (answer) => {
      answer.once('data', () => {
        settle(performance.now() - started);
        asked.destroy();
      });
    });
    asked.on('error', (fault) => {
      if (!asked.destroyed) reject(fault);
    });
  });
}

/** Processor time of all threads of a process so far. */
function processorMs(pid: number): number {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user, system] = fields.split(' ').slice(11, 13);
  return (Number(user) + Number(system)) * TICK_MS;
}

async function main(): Promise<void> {
  const settings = { EXHIBIT_DATA_DIR: directory, EXHIBIT_PORT: '0' };
  const child = spawn(process.execPath, [MAIN.pathname, 'start'], {
    env: settings,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let said = '';
  child.stdout.on('data', (bytes) => {
    said += String(bytes);
  });
  const until = performance.now() + WAIT_MS_MAX;
  while (!said.includes('Base URL') && performance.now() < until) await sleep(PAUSE_MS);
  const [, base] = /Base URL\s+(\S+)/.exec(said) ?? [];
  if (base === undefined) throw new Error(`The service did not start: ${said}`);
  const [listed] = SANDBOX_PARTY.addresses;
  const addresses = [listed?.address, SANDBOX_SCORED.scored, SANDBOX_WALLETS.unused];
  try {
    for (const name of ['first', 'next'] as const) {
      const rounds = name === 'first' ? 1 : ROUNDS;
      const [before, taken] = [processorMs(Number(child.pid)), [] as number[]];
      for (let round = 0; round < rounds; round += 1) {
        for (const address of addresses)
          taken.push(await firstByteMs(`${base}/address/${address}`));
      }
      const used = (processorMs(Number(child.pid)) - before) / taken.length;
      const sorted = taken.toSorted((a, b) => a - b);
      const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]?.toFixed(1);
      console.log(
        `${name} ${taken.length} dossiers: first byte p50 ${at(0.5)} ms, most ${at(1)} ms; ` +
          `processor ${used.toFixed(1)} ms each, with what was begun of the rest`,
      );
    }
  } finally {
    child.kill('SIGTERM');
    await new Promise((settle) => child.once('exit', settle));
    rmSync(directory, { recursive: true, force: true });
  }
}

await main();
