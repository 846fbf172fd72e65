// Use: npm run bench -- parse FILE, with the publisher's SDN_ADVANCED.ZIP or .XML.

import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { peakMib } from './children.ts';

const MAIN = new URL('../../main.js', import.meta.url);
const WAIT_MS_MAX = 120_000;
const PAUSE_MS = 5;

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('npm run bench -- parse FILE');
const directory = mkdtempSync(join(tmpdir(), 'exhibit-bench-'));

function health(url: string): Promise<number> {
  const started = performance.now();
  return new Promise((settle, reject) => {
    get(`${url}/health`, (answer) => {
      answer.resume();
      answer.on('end', () => settle(performance.now() - started));
    }).on('error', reject);
  });
}

function readerPeak(): number {
  const peaks = readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const reader = readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('reading-child');
      return reader ? [peakMib([Number(name)])] : [];
    } catch {
      return [];
    }
  });
  return Math.max(0, ...peaks.filter((mib) => !Number.isNaN(mib)));
}

async function main(path: string): Promise<void> {
  const child = spawn(process.execPath, [MAIN.pathname, 'up'], {
    env: {
      EXHIBIT_DATA_DIR: directory,
      EXHIBIT_PORT: '0',
      EXHIBIT_SDN_URL: pathToFileURL(resolve(path)).href,
      EXHIBIT_SDN_MAX_AGE: 'none',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes) => {
      said += String(bytes);
    });
  }
  const until = performance.now() + WAIT_MS_MAX;
  while (!said.includes('Serving ') && performance.now() < until) await sleep(PAUSE_MS);
  const url = /Serving (http:\/\/\S+)/.exec(said)?.[1];
  const pid = child.pid;
  if (url === undefined || pid === undefined) throw new Error(said);
  const idle = peakMib([pid]);
  const started = performance.now();
  const times: number[] = [];
  let reader = 0;
  while (!said.includes('sanctions list: ') && performance.now() < until) {
    times.push(await health(url));
    reader = Math.max(reader, readerPeak());
    await sleep(PAUSE_MS);
  }
  const seconds = (performance.now() - started) / 1000;
  const after = peakMib([pid]);
  times.sort((a, b) => a - b);
  const at = (share: number) => Number(times[Math.floor((times.length - 1) * share)]).toFixed(1);
  process.stdout.write(
    [
      said.split('\n').find((line) => line.includes('sanctions list: ')),
      `taken in after         ${seconds.toFixed(1)} s   (target under 30)`,
      `/health meanwhile      p50 ${at(0.5)} ms, p99 ${at(0.99)} ms   (target p99 under 100)`,
      `service peak           ${idle.toFixed(0)} MiB before, ${after.toFixed(0)} MiB after`,
      `reader's own peak      ${reader.toFixed(0)} MiB`,
      `added in all           ${(after - idle + reader).toFixed(0)} MiB   (target under 150)`,
      '',
    ].join('\n'),
  );
  child.kill('SIGTERM');
}

try {
  await main(file);
} finally {
  await sleep(500);
  rmSync(directory, { recursive: true, force: true });
}
