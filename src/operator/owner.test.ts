import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, lstatSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { tally } from '../evidence/measure.ts';
import { trialsOf } from '../testing/trials.ts';
import { becomeOwner, OwnerLost, type Ownership } from './owner.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const ENTRY = join(import.meta.dirname, '../../dist/operator/owner.js');
/** How many processes begin at once, and how often others do after a kill. */
const STARTS = trialsOf('EXHIBIT_TEST_STARTS', 20, 50);
const ROUNDS = trialsOf('EXHIBIT_TEST_ROUNDS', 1, 3);
/** Starts, says what it became, and lives until its input ends. */
const CONTENDER = `
  const { becomeOwner } = await import(process.argv[1]);
  const mine = await becomeOwner(process.argv[2]);
  if (mine.owner) mine.serve(async function* ({ args }) { yield 'done'; return args.length; });
  process.stdout.write(mine.owner ? 'owner\\n' : 'other\\n');
  process.stdin.resume().on('end', () => process.exit(0));
`;

let dir: string;
let children: ChildProcess[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'exhibit-owner-'));
});
afterEach(async () => {
  await Promise.all(children.map(killed));
  children = [];
  await rm(dir, { recursive: true, force: true });
});

function contender(dataDir: string): { child: ChildProcess; became: Promise<string> } {
  const child = spawn(process.execPath, ['--input-type=module', '-e', CONTENDER, ENTRY, dataDir], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  const became = new Promise<string>((settle) => {
    child.stdout?.once('data', (data: Buffer) => settle(data.toString().trim()));
    child.once('close', () => settle('ended'));
  });
  return { child, became };
}

function tallied(words: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) tally(counts, word);
  return Object.fromEntries(counts);
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = new Promise((settle) => child.once('close', settle));
  child.kill('SIGKILL');
  await closed;
}

function ownerOf(ownership: Ownership) {
  if (!ownership.owner) throw new Error('another process is the owner');
  return ownership;
}
function otherOf(ownership: Ownership) {
  if (ownership.owner) throw new Error('this process became the owner');
  return ownership;
}

describe('one owner', () => {
  test(`${STARTS} simultaneous starts leave one owner`, async () => {
    const became = await Promise.all(Array.from({ length: STARTS }, () => contender(dir).became));
    expect(tallied(became)).toEqual({ owner: 1, other: STARTS - 1 });
  });

  test('after a kill, many starts at once over the stale socket leave one owner', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const first = contender(dir);
      expect(await first.became).toBe('owner');
      await killed(first.child);
      expect(existsSync(join(dir, 'owner.sock'))).toBe(true);
      const became = await Promise.all(Array.from({ length: 12 }, () => contender(dir).became));
      expect(tallied(became)).toEqual({ owner: 1, other: 11 });
      await Promise.all(children.map(killed));
      children = [];
    }
    const left = await readdir(join(dir, 'owner.d'));
    expect(left.length).toBeLessThanOrEqual(2);
  });

  test('owners that come and go within one process never overlap', async () => {
    let owners = 0;
    let most = 0;
    const comeAndGo = async () => {
      for (let round = 0; round < 20; round += 1) {
        const mine = await becomeOwner(dir);
        if (!mine.owner) continue;
        owners += 1;
        most = Math.max(most, owners);
        await new Promise((settle) => setImmediate(settle));
        owners -= 1;
        await mine.close();
      }
    };
    await Promise.all(Array.from({ length: 8 }, comeAndGo));
    expect(most).toBe(1);
  });

  test('the socket is open to its user alone, and gone when the owner leaves', async () => {
    const mine = ownerOf(await becomeOwner(dir));
    const socket = lstatSync(join(dir, 'owner.sock'));
    expect(socket.isSocket()).toBe(true);
    expect(socket.mode & 0o777).toBe(0o600);
    expect(lstatSync(join(dir, 'owner.d')).mode & 0o777).toBe(0o700);
    await mine.close();
    expect(existsSync(join(dir, 'owner.sock'))).toBe(false);
    await ownerOf(await becomeOwner(dir)).close();
  });

  test('one that could not put its socket in place gives the directory up', async () => {
    const published = join(dir, 'owner.sock');
    await mkdir(join(published, 'in-the-way'), { recursive: true });
    await expect(becomeOwner(dir)).rejects.toThrow();
    await rm(published, { recursive: true });
    await ownerOf(await becomeOwner(dir)).close();
  });

  test('a path too long for a socket address works all the same', async () => {
    const deep = join(dir, 'd'.repeat(90), 'e'.repeat(90));
    const first = contender(deep);
    expect(await first.became).toBe('owner');
    expect(lstatSync(join(deep, 'owner.sock')).isSocket()).toBe(true);
    const other = otherOf(await becomeOwner(deep));
    expect(await other.call({ command: 'look', args: ['a'] }, () => undefined)).toBe(1);
  });
});

describe('commands through the owner', () => {
  test('gives the lines and the exit status of the command', async () => {
    const mine = ownerOf(await becomeOwner(dir));
    const other = otherOf(await becomeOwner(dir));
    const early = other.call({ command: 'early', args: [] }, () => undefined);
    mine.serve(async function* ({ command, args }) {
      yield `${command} ${args.join(' ')}`;
      yield 'line\nbreak "quoted"';
      return 3;
    });
    expect(await early).toBe(3);
    const lines: string[] = [];
    const status = await other.call({ command: 'keys', args: ['list', '--json'] }, (line) =>
      lines.push(line),
    );
    expect({ status, lines }).toEqual({
      status: 3,
      lines: ['keys list --json', 'line\nbreak "quoted"'],
    });
    await mine.close();
  });

  test('an owner killed during a command is lost, never a status', async () => {
    const first = contender(dir);
    await first.became;
    const other = otherOf(await becomeOwner(dir));
    await killed(first.child);
    await expect(other.call({ command: 'x', args: [] }, () => undefined)).rejects.toBeInstanceOf(
      OwnerLost,
    );
    const second = ownerOf(await becomeOwner(dir));
    second.serve(async function* () {
      yield 'begun';
      await new Promise(() => undefined);
      return 0;
    });
    const third = otherOf(await becomeOwner(dir));
    const lines: string[] = [];
    const hanging = third.call({ command: 'x', args: [] }, (line) => {
      lines.push(line);
      void second.close();
    });
    await expect(hanging).rejects.toBeInstanceOf(OwnerLost);
    expect(lines).toEqual(['begun']);
  });

  test('a handler that throws, a foreign message and an endless one are refused', async () => {
    const mine = ownerOf(await becomeOwner(dir));
    // biome-ignore lint/correctness/useYield: a command that fails before its first line
    mine.serve(async function* () {
      throw new Error('no such command');
    });
    const other = otherOf(await becomeOwner(dir));
    await expect(other.call({ command: 'x', args: [] }, () => undefined)).rejects.toThrow(
      'the owner did not run the command: no such command',
    );
    for (const text of ['{"command":1}\n', 'not json\n', 'x'.repeat(1_100_000)]) {
      expect(await raw(join(dir, 'owner.sock'), text)).toContain('not one of this protocol');
    }
    await mine.close();
  });

  test('a caller that hangs up ends the command', async () => {
    const mine = ownerOf(await becomeOwner(dir));
    let ended: () => void;
    const whenEnded = new Promise<void>((settle) => {
      ended = settle;
    });
    mine.serve(async function* (_, signal) {
      yield 'begun';
      await new Promise<void>((settle) => signal.addEventListener('abort', () => settle()));
      ended();
      return 0;
    });
    const socket = connect(join(dir, 'owner.sock'));
    socket.write('{"command":"x","args":[]}\n');
    socket.once('data', () => socket.destroy());
    await whenEnded;
    await mine.close();
  });
});

async function raw(path: string, text: string): Promise<string> {
  return await new Promise((settle) => {
    let answer = '';
    const socket = connect(path);
    socket.setEncoding('utf8');
    socket.on('error', () => undefined);
    socket.on('data', (chunk: string) => {
      answer += chunk;
    });
    socket.once('close', () => settle(answer));
    socket.write(text);
  });
}
