import { describe, expect, test } from 'vitest';
import { DAY_S } from '../../chain/time.ts';
import { unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { listOf, refusalOf, row } from '../../ports/publication-store.suite.ts';
import type { RefreshOutcome } from '../../ports/sanctions.ts';
import { embeddedControl } from '../../testing/control-store.ts';
import {
  BITCOIN,
  LIST,
  NOW,
  REFUSED,
  run,
  servicesWith as servicesOn,
} from '../../testing/list-services.ts';
import {
  sanctionsDiff,
  sanctionsExport,
  sanctionsImport,
  sanctionsRefresh,
  sanctionsStatus,
} from './sanctions.command.ts';

const fresh = embeddedControl();
const servicesWith = (given: Parameters<typeof servicesOn>[1]) => servicesOn(fresh, given);
const ENDED = { tried: [], retry: 'in_turn' } as const;
const IN_FORCE = {
  published: '2026-11-18',
  addresses: 1,
  sha256: '2'.repeat(64),
  source: 'https://publisher.example',
  checked_at: NOW,
};

describe('sanctions refresh', () => {
  const outcomes: readonly [
    name: string,
    outcome: RefreshOutcome,
    status: number,
    words: string,
  ][] = [
    [
      'a newer list is done',
      { kind: 'updated', list: IN_FORCE, replaced: null, accepted_why: null, ...ENDED },
      0,
      'The list of 2026-11-18 is in force.',
    ],
    [
      'no newer list is done too',
      { kind: 'unchanged', list: IN_FORCE, ...ENDED },
      0,
      'No newer list: the one of 2026-11-18 was checked again.',
    ],
    [
      'a refused one is failed',
      {
        kind: 'refused',
        code: 'too_few_addresses',
        reason: 'it holds 1 distinct addresses',
        sha256: '3'.repeat(64),
        source: 'https://publisher.example',
        acceptable: true,
        published: '2026-11-19',
        kept_as: '/spool/refused/3',
        in_force: '2026-11-18',
        ...ENDED,
      },
      1,
      'Refused (too_few_addresses), from https://publisher.example: it holds 1 distinct addresses.',
    ],
    [
      'a source that does not answer is could not check',
      { kind: 'unreachable', reason: 'https://publisher.example failed: answered 503.', ...ENDED },
      3,
      'Could not check: https://publisher.example failed: answered 503.',
    ],
  ];
  test.each(outcomes)('%s', async (_name, outcome, status, words) => {
    const { services } = await servicesWith({ outcome });
    const told = await run(sanctionsRefresh, [], services);
    expect(told.status).toBe(status);
    expect([...told.out, ...told.err]).toContain(words);
    const json = await run(sanctionsRefresh, [], services, true);
    expect(json.status).toBe(status);
    expect(json.out).toHaveLength(1);
    expect(JSON.parse(String(json.out[0]))).toMatchObject({ outcome: outcome.kind });
  });

  test('a size refusal prints the command that accepts exactly this file', async () => {
    const [, , refused] = outcomes;
    if (refused === undefined) throw new Error('no case');
    const { services } = await servicesWith({ outcome: refused[1] });
    const told = await run(sanctionsRefresh, [], services);
    expect(told.err.slice(-3)).toEqual([
      'The file is kept as /spool/refused/3',
      'What it would change: exhibit sanctions diff 2026-11-18 /spool/refused/3',
      'Only its size speaks against it. To accept exactly this file: exhibit sanctions refresh ' +
        `--accept ${'3'.repeat(64)} --why TEXT`,
    ]);
  });

  test('an acceptance is passed on whole, and half of one is bad usage', async () => {
    const outcome: RefreshOutcome = { kind: 'unchanged', list: IN_FORCE, ...ENDED };
    const { services, accepted } = await servicesWith({ outcome });
    const sha256 = 'A'.repeat(64);
    await run(sanctionsRefresh, ['--accept', sha256, '--why', ' seen in the notice '], services);
    expect(accepted).toEqual([{ sha256: sha256.toLowerCase(), why: 'seen in the notice' }]);
    for (const argv of [
      ['--accept', sha256],
      ['--why', 'because'],
      ['--accept', 'abc', '--why', 'because'],
      ['--accept', sha256, '--why', ' '],
      ['now'],
      ['--force'],
    ]) {
      await expect(run(sanctionsRefresh, argv, services)).rejects.toThrow();
    }
    expect(accepted).toHaveLength(1);
  });
});

describe('sanctions import', () => {
  const outcome: RefreshOutcome = { kind: 'unchanged', list: IN_FORCE, ...ENDED };

  test('passes on the file in the caller’s folder and when it was obtained', async () => {
    const { services, imported } = await servicesWith({ outcome });
    expect((await run(sanctionsImport, ['a.zip'], services)).status).toBe(0);
    for (const time of ['2026-11-21T11:00Z', '2026-11-21T06:00:00-05:00']) {
      await run(sanctionsImport, ['a.zip', '--obtained', time], services);
    }
    const hour = NOW - 3_600;
    expect(imported).toEqual([
      ['/lists/a.zip', null],
      ['/lists/a.zip', hour],
      ['/lists/a.zip', hour],
    ]);
  });

  test('takes no time that is none, has no zone or has not been', async () => {
    const { services, imported } = await servicesWith({ outcome });
    for (const time of ['yesterday', '2026-11-21', '2026-11-21T11:00', '2026-11-21T12:01Z']) {
      await expect(run(sanctionsImport, ['a.zip', '--obtained', time], services)).rejects.toThrow(
        '--obtained',
      );
    }
    await expect(run(sanctionsImport, [], services)).rejects.toThrow('FILE');
    expect(imported).toEqual([]);
  });

  test('a refusal names the command that accepts the same file', async () => {
    const refused: RefreshOutcome = {
      kind: 'refused',
      code: 'too_few_addresses',
      reason: 'it is small',
      sha256: '3'.repeat(64),
      source: 'file:',
      acceptable: true,
      published: '2026-11-19',
      kept_as: null,
      in_force: '2026-11-18',
      ...ENDED,
    };
    const { services } = await servicesWith({ outcome: refused });
    const { err, status } = await run(sanctionsImport, ['a.zip'], services);
    expect(status).toBe(1);
    expect(err.at(-1)).toContain(`sanctions import a.zip --accept ${'3'.repeat(64)} --why TEXT`);
  });
});

describe('sanctions status', () => {
  test('has the shape that scripts use', async () => {
    const { services } = await servicesWith({ held: [LIST] });
    const { out, status } = await run(sanctionsStatus, [], services, true);
    expect(status).toBe(0);
    expect(out.map((line) => JSON.parse(line) as unknown)).toEqual([
      {
        published: '2026-11-18',
        addresses: 1,
        sha256: '2'.repeat(64),
        source: 'https://publisher.example',
        checked_at: '2026-11-21T11:59:00Z',
        checked_by: 'asked',
        shows_absence: true,
        reason: null,
        superseded: null,
        refusals: [],
        asked: [],
      },
    ]);
  });

  test('--literals lists the values of no known form, with their entity and currency', async () => {
    const odd = row('t1-odd value', '7', { currency: 'ZEC', note: 'as printed' });
    const held = [listOf('2026-11-18', '2', [row(BITCOIN, '8'), odd])];
    const { services } = await servicesWith({ held });
    const json = await run(sanctionsStatus, ['--literals'], services, true);
    expect(json.status).toBe(0);
    const cells = { address: 't1-odd value', currency: 'ZEC', entity: 'PARTY 7', uid: '7' };
    expect(JSON.parse(String(json.out[0]))).toMatchObject({
      published: '2026-11-18',
      literals: [{ ...cells, note: 'as printed' }],
    });
    const { out } = await run(sanctionsStatus, ['--literals'], services);
    const told = [...Object.values(cells), 'as printed'];
    expect(out.at(-1)?.split(/\s{2,}/)).toEqual(told);
    expect(out.join('\n')).not.toContain(BITCOIN);
    const plain = await run(sanctionsStatus, [], services, true);
    expect(plain.out[0]).not.toContain('literals');
  });

  test('--literals of rows that cannot be read is could not check, not none', async () => {
    const { services } = await servicesWith({ held: [LIST] });
    const silent = unread('publication_store', why('timed_out', { what: 'It', limit: '1 s' }));
    const store = { ...services.sanctions.store, entries: async () => silent };
    const cut = { sanctions: { ...services.sanctions, store } };
    expect(await run(sanctionsStatus, ['--literals'], cut, true)).toMatchObject({
      status: 3,
      out: [],
      err: ['Could not check: It did not answer within 1 s.'],
    });
  });

  test('tells a newer list that was refused, and who was asked last', async () => {
    const { services } = await servicesWith({ held: [LIST] });
    const { store } = services.sanctions;
    const source = { key: 'a', url: 'https://publisher.example' };
    await store.recordAsked({ source, asked_at: NOW, result: 'it was refused' }, null);
    const refused = { published: '2026-11-20', first_at: NOW, refused_at: NOW };
    await store.recordRefusal(refusalOf('4', { ...refused, kept_as: '/spool/refused/4' }));
    const { out, err } = await run(sanctionsStatus, [], services);
    const asked = 'https://publisher.example, 2026-11-21 12:00 UTC: it was refused';
    expect(out).toContain(`last asked           ${asked}`);
    expect(out).toContain('checked by           the publisher');
    expect(err).toEqual([
      'Refused (2026-11-21 12:00 UTC, https://publisher.example): unknown_root, its root element ' +
        'is "lists"; kept as /spool/refused/4',
      'Not the newest: a list of 2026-11-20 from https://publisher.example, first seen ' +
        '2026-11-21 12:00 UTC, was refused.',
    ]);
    const json = await run(sanctionsStatus, [], services, true);
    expect(JSON.parse(String(json.out[0]))).toMatchObject({
      superseded: { published: '2026-11-20', since: '2026-11-21T12:00:00Z' },
      refusals: [{ code: 'unknown_root', kept_as: '/spool/refused/4' }],
      asked: [{ source: 'https://publisher.example', result: 'it was refused' }],
    });
  });

  test('past the age it is shown, and exits 3', async () => {
    const { services } = await servicesWith({ held: [LIST], checked_at: NOW - 8 * DAY_S });
    const { out, err, status } = await run(sanctionsStatus, [], services);
    expect(status).toBe(3);
    expect(out).toContain('published            2026-11-18');
    expect(err.join()).toContain('Could not check: The list was last checked 8 days ago; past 7');
    const json = await run(sanctionsStatus, [], services, true);
    expect(json.status).toBe(3);
    expect(JSON.parse(String(json.out[0]))).toMatchObject({ shows_absence: false });
  });

  test('tells people the newest refusal beside the list in force', async () => {
    const { services } = await servicesWith({ held: [LIST] });
    const refused = { code: 'truncated', reason: 'it ends early', refused_at: NOW };
    await services.sanctions.store.recordRefusal(refusalOf('4', refused));
    const { out, err, status } = await run(sanctionsStatus, [], services);
    expect(status).toBe(0);
    expect(out).toContain('published            2026-11-18');
    expect(err).toEqual([
      'Refused (2026-11-21 12:00 UTC, https://publisher.example): truncated, it ends early',
    ]);
  });

  test('no list, and a store that is silent, could not be checked', async () => {
    const none = await servicesWith({});
    expect((await run(sanctionsStatus, [], none.services, true)).status).toBe(3);
    expect((await run(sanctionsStatus, [], none.services)).err).toEqual([
      'Could not check: No sanctions list has been loaded on this deployment; nothing was checked.',
    ]);
    const silent = await servicesWith({ fault: 'the connection failed' });
    expect((await run(sanctionsStatus, [], silent.services)).status).toBe(3);
  });
});

describe('sanctions export', () => {
  test('for pipes: one line for each address and entry, as scripts use it', async () => {
    const { services } = await servicesWith({ held: [LIST] });
    const { out, status } = await run(sanctionsExport, [], services, true);
    expect(status).toBe(0);
    expect(out.map((line) => JSON.parse(line) as unknown)[0]).toEqual({
      address: BITCOIN,
      currency: 'XBT',
      entity: 'LAST, "First"',
      type: 'Entity',
      programs: ['CYBER2', 'SDGT'],
      uid: '8',
      published: '2026-11-18',
    });
    expect(out).toHaveLength(2);
  });

  test('for people: comma-separated, a name with commas and quotes in quotes', async () => {
    const { services } = await servicesWith({ held: [LIST] });
    const { out } = await run(sanctionsExport, ['--csv'], services);
    expect(out.slice(0, 2)).toEqual([
      'address,currency,entity,type,programs,uid,published',
      `${BITCOIN},XBT,"LAST, ""First""",Entity,CYBER2; SDGT,8,2026-11-18`,
    ]);
  });

  test('a file in the caller’s folder goes through reader and gate', async () => {
    const files = {
      '/lists/a.xml': LIST,
      '/lists/cut.xml': REFUSED,
      '/lists/e.xml': listOf('2026-11-18', '7', []),
    };
    const { services, read } = await servicesWith({ files });
    expect((await run(sanctionsExport, ['--source', 'a.xml'], services, true)).out).toHaveLength(2);
    expect(read).toEqual(['/lists/a.xml']);
    const cut = await run(sanctionsExport, ['--source', 'cut.xml'], services, true);
    expect(cut).toMatchObject({ status: 1, out: [] });
    expect(cut.err.join()).toContain('refused (truncated)');
    expect((await run(sanctionsExport, ['--source', 'e.xml'], services)).status).toBe(1);
    expect((await run(sanctionsExport, ['--source', 'gone.xml'], services)).status).toBe(3);
  });

  test('with no list in force there is nothing to export, and that is no empty list', async () => {
    const { services } = await servicesWith({});
    expect(await run(sanctionsExport, [], services)).toMatchObject({ status: 3, out: [] });
  });
});

describe('sanctions diff', () => {
  const before = listOf('2026-11-15', '1', [row(BITCOIN, '8')]);

  test('takes dates of held publications and files, mixed', async () => {
    const files = { '/lists/new.xml': LIST };
    const { services } = await servicesWith({ held: [before, LIST], files });
    for (const argv of [
      ['2026-11-15', '2026-11-18'],
      ['2026-11-15', 'new.xml'],
    ]) {
      const { out, status } = await run(sanctionsDiff, argv, services, true);
      expect(status).toBe(0);
      expect(JSON.parse(String(out[0]))).toMatchObject({
        from: { published: '2026-11-15', addresses: 1 },
        to: { published: '2026-11-18', addresses: 1 },
        added: [{ address: BITCOIN, uid: '9', currencies: ['USDT'] }],
        removed: [],
      });
    }
    const people = await run(sanctionsDiff, ['2026-11-15', '2026-11-18'], services);
    expect(people.out[0]).toBe(
      'From 2026-11-15 (1 addresses) to 2026-11-18 (1): 1 added, 0 removed, 0 moved, ' +
        '0 with other programmes, 0 renamed.',
    );
    expect(people.out[2]).toMatch(/^added\s+12QtD/);
  });

  test('a date that is not held could not be checked, and the held ones are named', async () => {
    const { services } = await servicesWith({ held: [before] });
    const { err, status } = await run(sanctionsDiff, ['2026-11-15', '2026-11-16'], services);
    expect(status).toBe(3);
    expect(err).toEqual([
      'Could not check: No publication of 2026-11-16 is held; held: 2026-11-15.',
    ]);
  });

  test('a refused file is failed, two words are needed', async () => {
    const { services } = await servicesWith({
      held: [before],
      files: { '/lists/cut.xml': REFUSED },
    });
    expect((await run(sanctionsDiff, ['2026-11-15', 'cut.xml'], services)).status).toBe(1);
    await expect(run(sanctionsDiff, ['2026-11-15'], services)).rejects.toThrow('B is missing');
  });
});
