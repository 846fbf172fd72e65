import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LOCK = join(ROOT, 'bin/lock.js');
/** Adds one to a count under the lock; without the lock the additions of others would be lost. */
const ADDS_ONE = `
  const fs = require('node:fs');
  const [lock, file, count] = process.argv.slice(1);
  require(lock).withLock(file, () => {}, async () => {
    const held = Number(fs.readFileSync(count, 'utf8'));
    await new Promise((later) => setTimeout(later, 30));
    fs.writeFileSync(count, String(held + 1));
  });
`;

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'exhibit-lock-'));
  writeFileSync(join(dir, 'count'), '0');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function adder(): Promise<number | null> {
  const args = ['-e', ADDS_ONE, LOCK, join(dir, 'lock'), join(dir, 'count')];
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  return new Promise((settle) => child.once('close', settle));
}

describe('the lock of the set-up', () => {
  test('many starts at once take turns, and leave no lock behind', async () => {
    const ends = await Promise.all(Array.from({ length: 10 }, adder));
    expect(ends).toEqual(Array.from({ length: 10 }, () => 0));
    expect(readFileSync(join(dir, 'count'), 'utf8')).toBe('10');
    expect(readdirSync(dir)).toEqual(['count']);
  });

  test('a lock that its dead holder left is taken over, by one of many', async () => {
    const dead = spawnSync(process.execPath, ['-e', '']).pid;
    writeFileSync(join(dir, 'lock'), `left ${dead}`);
    const before = new Date(Date.now() - 10_000);
    utimesSync(join(dir, 'lock'), before, before);
    await Promise.all(Array.from({ length: 5 }, adder));
    expect(readFileSync(join(dir, 'count'), 'utf8')).toBe('5');
    expect(readdirSync(dir)).toEqual(['count']);
  });
});

describe('the lock file', () => {
  test('names the packages of every platform, so that npm ci takes it everywhere', () => {
    const checker = join(ROOT, 'bin/lock-platforms.js');
    const checked = spawnSync(process.execPath, [checker, '--check'], { encoding: 'utf8' });
    expect(checked).toMatchObject({ stdout: '', status: 0 });
    const lock: unknown = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
    for (const platform of ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64']) {
      expect(lock).toHaveProperty(['packages', `node_modules/@biomejs/cli-${platform}`]);
    }
    expect(JSON.stringify(lock)).not.toContain('"resolved"');
  });
});

describe('bin/exhibit', () => {
  test('an older Node.js is told in words which one is needed', () => {
    const source = readFileSync(join(ROOT, 'bin/exhibit'), 'utf8').replace(/^#!.*/, '');
    const asOld = `Object.defineProperty(process.versions, 'node', { value: '18.20.4' });${source}`;
    const said = spawnSync(process.execPath, ['-e', asOld], { encoding: 'utf8' });
    expect(said.status).toBe(1);
    expect(said.stderr).toMatch(/^exhibit: needs Node\.js 20\.19 or newer/);
    expect(source).not.toMatch(/\b(const|let|import|async)\b|=>|`/);
  });
});
