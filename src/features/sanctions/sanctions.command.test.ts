import { describe, expect, test } from 'vitest';
import { DAY_S } from '../../chain/time.ts';
import type { Command, Io } from '../../command/command.ts';
import { listOf, refusalOf, row, said } from '../../ports/sanctions/publication-store.suite.ts';
import type {
  Acceptance,
  FileRefusal,
  PublishedList,
  RefreshOutcome,
} from '../../ports/sanctions/publisher.ts';
import { embeddedControl, publicationsIn } from '../../testing/control-store.ts';
import { memorySanctionsList } from '../../testing/memory/sanctions-list.ts';
import { sanctionsDiff, sanctionsExport } from './publications.command.ts';
import type { SanctionsServices } from './sanctions.command.ts';
import { sanctionsRefresh, sanctionsStatus } from './sanctions.command.ts';

const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const BITCOIN = '12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h';
const LIST = listOf('2026-11-18', '2', [
  row(BITCOIN, '8', { entity: 'LAST, "First"', programs: ['CYBER2', 'SDGT'] }),
  row(BITCOIN, '9', { currency: 'USDT', listed_on: null }),
]);
const REASON = 'it ends before its root closes';
const REFUSAL = { refused: true, size: false, published: null } as const;
const REFUSED: FileRefusal = { ...REFUSAL, code: 'truncated', reason: REASON };
const ABSENCE = 'the file could not be read: ENOENT';
const NO_FILE: FileRefusal = { ...REFUSAL, code: 'unreadable', reason: ABSENCE };

type Told = { readonly out: string[]; readonly err: string[]; readonly status: number };

async function run(
  command: Command<SanctionsServices>,
  argv: readonly string[],
  services: SanctionsServices,
  json = false,
): Promise<Told> {
  const out: string[] = [];
  const err: string[] = [];
  const io: Io = {
    out: (line) => void out.push(line),
    err: (line) => void err.push(line),
    json,
    colour: false,
    cwd: '/lists',
    signal: new AbortController().signal,
  };
  return { status: await command.run(argv, io, services), out, err };
}

type Given = {
  readonly held?: readonly PublishedList[];
  readonly checked_at?: number;
  readonly maxAgeS?: number | null;
  readonly outcome?: RefreshOutcome;
  readonly files?: Readonly<Record<string, PublishedList | FileRefusal>>;
  readonly fault?: string;
};

const fresh = embeddedControl();

/** Services over a store and a list: the lists given are held, the last of them in force. */
async function servicesWith(given: Given) {
  const database = fresh();
  await database.setClock(NOW);
  const store = publicationsIn(database);
  const { held = [], checked_at = NOW - 60 } = given;
  for (const list of held) {
    const { publication } = said(await store.inForce());
    await store.accept({
      list,
      source: { key: 'a', url: 'https://publisher.example' },
      reader_version: 1,
      accepted_at: NOW - 3_600,
      check: { at: checked_at, by: 'asked' },
      accepted_why: null,
      instead_of: publication === null ? null : publication.id,
    });
  }
  if (given.fault !== undefined) database.silence(given.fault);
  const maxAgeS = given.maxAgeS === undefined ? 7 * DAY_S : given.maxAgeS;
  const accepted: (Acceptance | null)[] = [];
  const read: string[] = [];
  const publications = held.map(({ published, addresses }) => {
    return { published, checked_at, entries: addresses };
  });
  const services: SanctionsServices = {
    sanctions: {
      store,
      list: memorySanctionsList({ publications, maxAgeS, simulated: false, now: () => NOW }),
      poll: async () => undefined,
      refresh: async (acceptance) => {
        accepted.push(acceptance);
        if (given.outcome === undefined) throw new Error('no outcome');
        return given.outcome;
      },
      reader: async (path) => {
        read.push(path);
        const file = given.files?.[path];
        return file === undefined ? NO_FILE : file;
      },
      gate: {
        absolute: (list) =>
          list.distinct_addresses < 1
            ? { refused: true, code: 'below_floor', reason: 'it holds 0', size: false }
            : null,
        rules: 'those of the test',
        relative: () => null,
        sameDay: () => null,
      },
      diff: (before, after) => ({
        added: after.addresses
          .filter(({ uid }) => !before.addresses.some((other) => other.uid === uid))
          .map(({ currency, ...listing }) => ({ ...listing, currencies: [currency] })),
        removed: [],
        moved: [],
        programmes_changed: [],
        renamed: [],
      }),
      simulated: false,
      maxAgeS,
    },
  };
  return { services, accepted, read };
}

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
    expect(told.err.join('\n')).toContain(`refresh --accept ${'3'.repeat(64)} --why TEXT`);
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
      },
    ]);
  });

  test('tells people the newest refusal beside the list in force', async () => {
    const { services } = await servicesWith({ held: [LIST] });
    const refused = { code: 'truncated', reason: 'it ends early', refused_at: NOW };
    await services.sanctions.store.recordRefusal(refusalOf('4', refused));
    const { out, err, status } = await run(sanctionsStatus, [], services);
    expect(status).toBe(0);
    expect(out).toContain('published            2026-11-18');
    expect(err).toEqual([
      'Newest refusal (2026-11-21 12:00 UTC, https://publisher.example): truncated, it ends early',
    ]);
  });

  test('no list, and a store that is silent, could not be checked', async () => {
    const none = await servicesWith({});
    expect((await run(sanctionsStatus, [], none.services, true)).status).toBe(3);
    expect((await run(sanctionsStatus, [], none.services)).err).toEqual([
      'Could not check: No list has ever been loaded.',
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
