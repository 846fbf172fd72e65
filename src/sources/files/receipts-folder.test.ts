// A folder of receipts is read to its end or not at all, and never shows two of one id.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Read } from '../../evidence/reading.ts';
import { parseReceipt, receiptsFolder } from './receipts-folder.ts';

describe('receipts folder', () => {
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
});

// A receipt is published only where every field of its head is as it must be; what is wrong is
// named by its field, and a draft shows nothing.

const WALLET = '0x64144967C175997fC8526ba694021aE36965331c';
const HEAD = {
  id: 'case-17',
  title: 'Two steps',
  date: '2026-10-02',
  description: 'What was seen.',
  subject: WALLET,
  deployer: '1B2B9sZ8biL9HAp7ELHsDyB43J79rz8HSf',
  kind: 'wallet',
  status: 'published',
};
const fileOf = (head: object, body = 'Text.') =>
  `---\n${Object.entries(head)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')}\n---\n${body}\n`;
const parsed = (change: object, body?: string) =>
  parseReceipt('two-steps.md', fileOf({ ...HEAD, ...change }, body));
const reasons = (change: object, body?: string) => {
  const one = parsed(change, body);
  return one.state === 'refused' ? one.reasons : one.state;
};

describe('a receipt', () => {
  test('is its head and its text, with addresses in canonical form', () => {
    const file = fileOf({ ...HEAD, tags: '[a, b-2]' }, '\n# One\n\nTwo.\n');
    expect(parseReceipt('two-steps.md', file)).toEqual({
      file: 'two-steps.md',
      state: 'published',
      receipt: {
        slug: 'two-steps',
        id: 'case-17',
        title: 'Two steps',
        date: '2026-10-02',
        description: 'What was seen.',
        kind: 'wallet',
        tags: ['a', 'b-2'],
        transactions: [],
        subject: WALLET.toLowerCase(),
        deployer: '1B2B9sZ8biL9HAp7ELHsDyB43J79rz8HSf',
        body: '# One\n\nTwo.',
      },
    });
    expect(parseReceipt('two-steps.md', file.replaceAll('\n', '\r\n')).state).toBe('published');
  });

  test('that is a draft shows nothing, complete or not', () => {
    expect(parsed({ status: 'draft' })).toEqual({ file: 'two-steps.md', state: 'draft' });
    expect(parseReceipt('b.md', '---\nstatus: draft\n---\n').state).toBe('draft');
  });

  test.each([
    [{ status: 'reviewed' }, 'status: expected published or draft'],
    [{ date: '2026-02-30' }, 'date: expected a day, YYYY-MM-DD'],
    [{ subject: '0x12' }, 'subject: expected an EVM, Solana, Bitcoin or Tron address'],
    [{ id: 'Case 17' }, 'id: expected small letters and digits, with single hyphens between them'],
    [{ title: '""' }, 'title: expected a text'],
    [{ title: 'x'.repeat(201) }, 'title: expected 200 characters at most'],
    [{ kind: '[a]' }, 'kind: expected a text'],
    [{ tags: 'a' }, 'tags: expected a list'],
    [{ author: 'me' }, 'author: no such field'],
  ])('with %o is refused by the name of the field', (change, reason) => {
    expect(reasons(change)).toEqual([reason]);
  });

  test('is refused for every field that is missing, all of them at once', () => {
    const one = parseReceipt('two-steps.md', '---\nid: a\n---\nText.');
    const missing = Object.keys(HEAD).filter((name) => name !== 'id');
    expect(one.state === 'refused' && one.reasons.map((text) => text.split(':')[0]).sort()).toEqual(
      missing.sort(),
    );
  });

  test('without a head, a text, readable YAML or a name for its page is refused', () => {
    expect(parseReceipt('a.md', 'Text.')).toMatchObject({ state: 'refused' });
    expect(reasons({}, ' ')).toEqual(['its text: expected some below the head']);
    expect(reasons({ title: '"open' })).toEqual([expect.stringMatching(/^line \d+: /)]);
    expect(parseReceipt('A case.md', fileOf(HEAD))).toMatchObject({ state: 'refused' });
    expect(parseReceipt('a.md', '---\na: &x [1]\nb: *x\n---\nText.').state).toBe('refused');
  });

  test('is never half of one: any text is a receipt, a draft or a refusal with a reason', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.string(), (text, name) => {
        const one = parseReceipt(`${name}.md`, `---\n${text}\n---\nText.`);
        if (one.state === 'refused') expect(one.reasons.length).toBeGreaterThan(0);
        else expect(['published', 'draft']).toContain(one.state);
      }),
      { numRuns: 500 },
    );
  });
});
