// Use: npm run bench -- all [--only NAMES] [--rows N]. Runs one after the other each bench that
// stands in docs/performance.md, prints what each says, and at the end which ended well. Benches of
// recorded data are left out where it is absent, and named so. The two that compare with another
// checkout, in-turn and bulk-compare, are not among them.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SHARED_DATA } from '../src/testing/shared-data.ts';
import { OWN_BUILD } from './children.ts';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    rows: { type: 'string', default: '10000000' },
  },
});

const SECOND_MS = 1_000;

type Bench = { name: string; args: readonly string[]; needs?: string };

const SDN_ADVANCED = join(SHARED_DATA, 'ofac/2025-03-04/SDN_ADVANCED.ZIP');

const BENCHES: readonly Bench[] = [
  { name: 'main', args: [] },
  { name: 'dossier', args: [] },
  { name: 'signed', args: [] },
  { name: 'log', args: [] },
  { name: 'signals', args: [] },
  { name: 'traders', args: [] },
  { name: 'edge', args: [] },
  { name: 'parse', args: [SDN_ADVANCED], needs: SDN_ADVANCED },
  { name: 'deployers', args: [], needs: join(SHARED_DATA, 'launches-evm') },
  { name: 'rank', args: [] },
  { name: 'stream', args: [] },
  { name: 'warehouse', args: ['--rows', options.rows, '--follow', '90'] },
  { name: 'warehouse-import', args: ['--without-equality', '--transfers', options.rows] },
];

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function run({ name, args, needs }: Bench): Promise<string> {
  if (needs !== undefined && !existsSync(needs)) return `left out: ${needs} is absent`;
  const begun = performance.now();
  say(`\n== ${name} ${args.join(' ')}, load of the machine ${loadavg()[0]?.toFixed(1)}`);
  const file = fileURLToPath(new URL(`${name}.js`, OWN_BUILD));
  const one = spawn(process.execPath, [file, ...args], { stdio: 'inherit' });
  const [status] = await once(one, 'exit');
  const seconds = ((performance.now() - begun) / SECOND_MS).toFixed(0);
  if (status !== 0) process.exitCode = 1;
  return `${status === 0 ? 'ended well' : `ended with ${String(status)}`} after ${seconds} s`;
}

const all = BENCHES.map(({ name }) => name);
const names = options.only === undefined ? all : options.only.split(',');
const unknown = names.find((name) => !all.includes(name));
if (unknown !== undefined) {
  throw new Error(`--only: "${unknown}" is none of ${all.join(', ')}`);
}
const results: [string, string][] = [];
for (const bench of BENCHES.filter(({ name }) => names.includes(name))) {
  results.push([bench.name, await run(bench)]);
}
const widest = Math.max(...results.map(([name]) => name.length));
say('');
for (const [name, result] of results) say(`${name.padEnd(widest)}  ${result}`);
