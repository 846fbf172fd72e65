import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { askChild, child, endChild, treePssMib } from './children.ts';
import type { ReadersOrder, ReadersSaid } from './stream-readers.ts';
import type { ServerOrder, ServerSaid } from './stream-server.ts';

const quick = process.argv.includes('--quick');
/** Another number by `--readers 4000`. */
const READERS = named('--readers', quick ? 1_000 : 10_000);
const CUTS = quick ? 100 : 1_000;
/** One event after another, each once all readers have had the one before. */
const SENT = quick ? 50 : 100;
/** In the log before anybody reads, so that who reads nothing has more coming than may wait. */
const BEFORE = 9_900;
/** As much as real evidence has; and so much that a log is more than a socket and a queue hold. */
const EVIDENCE_CHARS = 160;
const LONG_CHARS = 1_600;
const TOKENS = 10;
const STALLED_SHARE = 0.01;
/** Those that come back after a time for which the log is not kept. */
const LATE = 20;
const PROCESSES = 2;
const OPENED_AT_ONCE = 200;
const CUT_ROUNDS = 25;
const SENT_A_ROUND = 4;
const ROUND_MS = 1_000;
const APPENDED_AT_ONCE = 900;
const TARGET = 0.6;

function named(option: string, otherwise: number): number {
  const at = process.argv.indexOf(option);
  return at === -1 ? otherwise : Number(process.argv[at + 1]);
}

const tokenOf = (n: number) => `a-desk-token-of-the-bench-${n}`;

const order = async (to: ChildProcess, what: ServerOrder) =>
  (await askChild(to, what)) as ServerSaid;

async function readers(to: readonly ChildProcess[], what: ReadersOrder): Promise<ReadersSaid> {
  const said = (await Promise.all(to.map((one) => askChild(one, what)))) as ReadersSaid[];
  const sum = (name: keyof ReadersSaid) => said.reduce((all, one) => all + one[name], 0);
  return {
    open: sum('open'),
    received: sum('received'),
    others: sum('others'),
    lost: sum('lost'),
    duplicates: sum('duplicates'),
    gaps: sum('gaps'),
    resumed: sum('resumed'),
    refused: sum('refused'),
  };
}

async function send(to: ChildProcess, count: number, chars = EVIDENCE_CHARS): Promise<number> {
  const { newest } = await order(to, { kind: 'send', count, evidenceChars: chars });
  return newest;
}

async function openReaders(urlOf: (n: number) => string, stalled: number) {
  const reading = Array.from({ length: PROCESSES }, () => child('stream-readers'));
  for (let opened = 0; opened < READERS; ) {
    const role = opened < stalled ? 'stalled' : 'reads';
    const end = Math.min(role === 'stalled' ? stalled : READERS, opened + OPENED_AT_ONCE);
    const numbers = Array.from({ length: end - opened }, (_, i) => opened + i);
    await Promise.all(
      reading.map((one, p) => {
        const urls = numbers.filter((n) => n % PROCESSES === p).map(urlOf);
        return askChild(one, { kind: 'open', urls, role } satisfies ReadersOrder);
      }),
    );
    opened = end;
  }
  return reading;
}

/** Sends one event after another, and tells how many were received for each processor second. */
async function sent(server: ChildProcess, reading: readonly ChildProcess[]): Promise<number> {
  const before = await order(server, { kind: 'figures' });
  const had = await readers(reading, { kind: 'report' });
  for (let n = 0; n < SENT; n += 1) {
    const newest = await send(server, 1);
    await readers(reading, { kind: 'await', seq: newest });
  }
  const after = await order(server, { kind: 'figures' });
  const have = await readers(reading, { kind: 'report' });
  const many = have.received + have.others - had.received - had.others;
  return many / (after.cpu_s - before.cpu_s);
}

async function bare(): Promise<{ readonly rate: number; readonly mib: number }> {
  const server = child('stream-server');
  const { port } = await order(server, { kind: 'bare' });
  const reading = await openReaders(() => `ws://127.0.0.1:${port}/?`, 0);
  const mib = treePssMib(Number(server.pid));
  const rate = await sent(server, reading);
  for (const one of [...reading, server]) await endChild(one, 'SIGKILL');
  return { rate, mib };
}

async function service(home: string) {
  const server = child('stream-server');
  const tokens = Array.from({ length: TOKENS }, (_, n) => `desk:${tokenOf(n)}`).join(',');
  const env = {
    EXHIBIT_DATA_DIR: home,
    EXHIBIT_PORT: '0',
    EXHIBIT_SURFACES: 'intelligence',
    EXHIBIT_SDN_URL: 'file:///nowhere',
    EXHIBIT_INTELLIGENCE_TOKENS: tokens,
  };
  const { port } = await order(server, { kind: 'service', env });
  for (let n = 0; n < BEFORE; n += APPENDED_AT_ONCE) {
    await send(server, Math.min(APPENDED_AT_ONCE, BEFORE - n), LONG_CHARS);
  }
  const empty = treePssMib(Number(server.pid));
  const stalled = READERS * STALLED_SHARE;
  const urlOf = (n: number) => `ws://127.0.0.1:${port}/ws/flags?token=${tokenOf(n % TOKENS)}`;
  const reading = await openReaders(urlOf, stalled);
  const opened = await readers(reading, { kind: 'report' });
  const idle = treePssMib(Number(server.pid));
  const rate = await sent(server, reading);
  let peak = treePssMib(Number(server.pid));
  const cutAt = await order(server, { kind: 'figures' });
  for (let round = 0; round < CUT_ROUNDS; round += 1) {
    await readers(reading, { kind: 'cut', count: CUTS / CUT_ROUNDS / PROCESSES });
    await send(server, SENT_A_ROUND);
    peak = Math.max(peak, treePssMib(Number(server.pid)));
    await sleep(ROUND_MS);
  }
  const newest = await send(server, 1);
  await readers(reading, { kind: 'await', seq: newest });
  // Some late readers request events that are no longer stored.
  const late = [child('stream-readers')];
  await readers(late, {
    kind: 'open',
    urls: Array.from({ length: LATE }, (_, n) => urlOf(n)),
    role: 'late',
  });
  await readers(late, { kind: 'await', seq: newest });
  const end = await order(server, { kind: 'figures' });
  const held = await readers(reading, { kind: 'report' });
  const came = await readers(late, { kind: 'report' });
  for (const one of [...reading, ...late]) await endChild(one, 'SIGKILL');
  await endChild(server, 'SIGTERM');
  return {
    opened,
    held,
    came,
    rate,
    stalled,
    empty,
    idle,
    peak,
    cpuOfCuts: end.cpu_s - cutAt.cpu_s,
    end,
  };
}

async function run(): Promise<number> {
  const home = mkdtempSync(join(tmpdir(), 'exhibit-bench-stream-'));
  try {
    const first = await bare();
    const of = await service(home);
    const second = await bare();
    const loop = (first.rate + second.rate) / 2;
    const ratio = of.rate / loop;
    const { opened, held, came, rate, stalled, end } = of;
    const mib = (value: number) => `${value.toFixed(0)} MiB`;
    const thousands = (value: number) => Math.round(value).toLocaleString('en');
    const isWhole = held.lost === 0 && held.duplicates === 0 && came.lost === 0;
    const rows: [string, string][] = [
      ['connections', `${opened.open} (${TOKENS} desk tokens)`],
      ['stalled, of them told that they lag', `${stalled}, ${end.lagged}`],
      ['cut and resumed', `${CUTS}, ${held.resumed}`],
      ['refused while their old line still counted', String(held.refused)],
      ['events received', thousands(held.received)],
      ['lost', String(held.lost + came.lost)],
      ['duplicates', String(held.duplicates + came.duplicates)],
      ['came late, were told the gap', `${LATE}, ${came.gaps}`],
      ['memory: log held, all open, highest', [of.empty, of.idle, of.peak].map(mib).join(', ')],
      ['memory of the bare loop, all open', mib(first.mib)],
      ['processor time of the cuts', `${of.cpuOfCuts.toFixed(1)} s`],
      ['sends a processor second', thousands(rate)],
      ['bare ws loop, before and after', `${thousands(first.rate)}, ${thousands(second.rate)}`],
      ['ratio', `${ratio.toFixed(2)} (target ${TARGET})`],
    ];
    const widest = Math.max(...rows.map(([name]) => name.length));
    for (const [name, value] of rows) process.stdout.write(`${name.padEnd(widest)}  ${value}\n`);
    const isEnough = end.lagged === stalled && held.resumed >= CUTS && came.gaps === LATE;
    return isWhole && isEnough && ratio >= TARGET ? 0 : 1;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

process.exitCode = await run();
