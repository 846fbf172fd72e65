// A folder of receipts is read to its end or not at all, and never shows two of one id.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Read } from '../../evidence/reading.ts';
import { receiptsFolder } from './receipts-folder.ts';

let folder: string;
let now = 1_790_000_000;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'exhibit-receipts-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const receipt = (id: string, status = 'published') =>
  [
    ...['---', `id: ${id}`, `title: Case ${id}`, 'date: 2026-10-02', 'description: Seen.'],
    ...['subject: 0x64144967c175997fc8526ba694021ae36965331c', 'kind: wallet'],
    ...[
      'deployer: 0x64144967c175997fc8526ba694021ae36965331c',
      `status: ${status}`,
      '---',
      'Text.',
    ],
  ].join('\n');
const put = (file: string, text: string) => writeFileSync(join(folder, file), text);
const opened = () => receiptsFolder({ folder, simulated: false, now: () => now });
async function states(one = opened()): Promise<unknown> {
  const files = await one.files();
  return files instanceof Read ? files.value.map(({ file, state }) => [file, state]) : files.why;
}

describe('a folder', () => {
  test('gives its files by name, and leaves aside what is no receipt', async () => {
    put('b.md', receipt('b'));
    put('a.md', receipt('a', 'draft'));
    put('c.md', 'no head');
    put('README.md', 'what this is');
    put('.hidden.md', receipt('h'));
    put('notes.txt', 'x');
    mkdirSync(join(folder, 'older.md'));
    expect(await states()).toEqual([
      ['a.md', 'draft'],
      ['b.md', 'published'],
      ['c.md', 'refused'],
    ]);
  });

  test('publishes neither of two files with one id, and names the other', async () => {
    put('a.md', receipt('same'));
    put('b.md', receipt('same'));
    const files = await opened().files();
    expect(files instanceof Read && files.value).toEqual([
      { file: 'a.md', state: 'refused', reasons: ['id: given by b.md too'] },
      { file: 'b.md', state: 'refused', reasons: ['id: given by a.md too'] },
    ]);
  });

  test('that is not there was not looked at; nor was one of which a file cannot be read', async () => {
    put('a.md', receipt('a'));
    symlinkSync(join(folder, 'gone'), join(folder, 'b.md'));
    expect(await states()).toMatchObject({ code: 'store_unreadable', reason: /ENOENT/ });
    rmSync(folder, { recursive: true });
    now += 60;
    expect(await states()).toMatchObject({ code: 'not_configured' });
  });

  test('refuses a file that is too large, unread', async () => {
    put('a.md', `${receipt('a')}${'x'.repeat(256 * 1024)}`);
    expect(await states()).toEqual([['a.md', 'refused']]);
  });

  test('shows a change within ten seconds, and a file that was put back by its content', async () => {
    put('a.md', receipt('a'));
    const one = opened();
    expect(await states(one)).toEqual([['a.md', 'published']]);
    put('a.md', receipt('a', 'draft'));
    expect(await states(one)).toEqual([['a.md', 'published']]);
    now += 10;
    expect(await states(one)).toEqual([['a.md', 'draft']]);
  });
});
