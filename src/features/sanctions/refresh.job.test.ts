import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HOUR_S, startOfDay } from '../../chain/time.ts';
import { listOf, row, said } from '../../ports/publication-store.suite.ts';
import type {
  Acceptance,
  Mirror,
  PublicationGate,
  PublicationReader,
  PublicationStore,
  RefreshOutcome,
} from '../../ports/sanctions.ts';
import { embeddedControl, publicationsIn } from '../../testing/control-store.ts';
import { mirrorAt, type Place, refusalAs } from '../../testing/list-places.ts';
import { sameDayGate } from './publication-gate.ts';
import { delayS, oneAtATime, refreshSanctions, scheduleRefresh } from './refresh.job.ts';

const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const SIGNAL = new AbortController().signal;

const OLD = listOf('2026-11-10', '1', [row('a', '1'), row('b', '1')]);
const NEW = listOf('2026-11-18', '2', [row('a', '1'), row('c', '2')]);
const SMALL = listOf('2026-11-19', '3', [row('a', '1')]);

const fresh = embeddedControl();

/** An empty store whose clock stands at `NOW`. */
async function opened(): Promise<PublicationStore> {
  const database = fresh();
  await database.setClock(NOW);
  return publicationsIn(database);
}

const GATE: PublicationGate = {
  rules: 'those of the test',
  sameDay: sameDayGate,
  absolute: (list) => (list.addresses.length === 0 ? refusalAs('no_addresses', false) : null),
  relative: (list, last) => {
    if (last === null) return null;
    if (list.published < last.published) return refusalAs('older_publication', false);
    const few = list.distinct_addresses < 0.8 * last.distinct_addresses;
    return few ? refusalAs('too_few_addresses', true) : null;
  },
};

function worldOf(places: readonly Place[], store: PublicationStore) {
  let read = 0;
  const reader: PublicationReader = async (path) => {
    read += 1;
    const served = places.find(({ mirror }) => mirror.key === path)?.served();
    if (typeof served !== 'object') throw new Error('nothing was delivered');
    return served;
  };
  const publisher = { mirrors: places.map(({ mirror }) => mirror), kept: async () => null };
  const world = { publisher, reader, readerVersion: 1, gate: GATE, store };
  const refresh = (acceptance: Acceptance | null = null) =>
    refreshSanctions(world, acceptance, SIGNAL);
  return { refresh, reads: () => read };
}

/** One mirror, whose list came into force. */
async function inForceFrom(list: typeof OLD, kind: Mirror['kind'] = 'http') {
  const store = await opened();
  const a = mirrorAt('a', kind);
  const world = worldOf([a], store);
  a.serve(list);
  await world.refresh();
  return { store, a, ...world };
}

async function inForce(store: PublicationStore) {
  return said(await store.inForce()).publication;
}

describe('one source', () => {
  test('a first list comes into force, checked now, and its file is removed', async () => {
    const store = await opened();
    const a = mirrorAt('a');
    a.serve(OLD);
    const outcome = await worldOf([a], store).refresh();
    expect(outcome).toEqual({
      kind: 'updated',
      list: {
        published: OLD.published,
        addresses: 2,
        sha256: OLD.sha256,
        source: 'https://a.example',
        checked_at: NOW,
      },
      replaced: null,
      accepted_why: null,
      tried: [],
      retry: 'in_turn',
    });
    expect(a.kept).toEqual(['a']);
    expect((await inForce(store))?.sha256).toBe(OLD.sha256);
    expect(a.discarded()).toBe(1);
  });

  test('a newer one replaces it and says what it replaced', async () => {
    const { store, a, refresh } = await inForceFrom(OLD);
    a.serve(NEW);
    expect(await refresh()).toMatchObject({
      kind: 'updated',
      replaced: { published: OLD.published, sha256: OLD.sha256 },
    });
    expect((await inForce(store))?.published).toBe(NEW.published);
  });

  test('an unchanged one is a successful check, asked with what is known', async () => {
    const { a, refresh, reads } = await inForceFrom(OLD);
    a.serve('unchanged');
    expect((await refresh()).kind).toBe('unchanged');
    a.serve(OLD);
    expect((await refresh()).kind).toBe('unchanged');
    expect(reads()).toBe(1);
    expect(a.asked).toEqual([
      null,
      { etag: '"a"', last_modified: null },
      { etag: '"a"', last_modified: null },
    ]);
    expect(a.aside).toEqual([]);
  });

  test('a file was checked on its publication date, however often it is read', async () => {
    const { store, refresh } = await inForceFrom(OLD, 'file');
    await refresh();
    expect((await inForce(store))?.checked_at).toBe(Date.UTC(2026, 10, 10) / 1_000);
  });

  test('a file that is refused while no list is in force is asked for again soon', async () => {
    const a = mirrorAt('a');
    a.serve(refusalAs('below_floor', false));
    const outcome = await worldOf([a], await opened()).refresh();
    expect(outcome).toMatchObject({ kind: 'refused', in_force: null, retry: 'soon' });
  });

  test.each(['truncated', 'not_xml', 'unknown_namespace', 'no_publication_date', 'below_floor'])(
    'a file refused as %s is kept aside and leaves the last good list in force',
    async (code) => {
      const { store, a, refresh } = await inForceFrom(OLD);
      const before = await inForce(store);
      a.serve(refusalAs(code, false));
      const outcome = await refresh();
      expect(outcome).toMatchObject({ kind: 'refused', code, acceptable: false });
      const mayComeWhole = code === 'truncated' || code === 'not_xml';
      expect(outcome.retry).toBe(mayComeWhole ? 'soon' : 'in_turn');
      expect(await inForce(store)).toEqual(before);
      expect(a.aside).toEqual([code]);
      expect(said(await store.inForce()).newest_refusal).toMatchObject({ code, refused_at: NOW });
    },
  );

  test('an older publication is refused, whatever is accepted', async () => {
    const { store, a, refresh } = await inForceFrom(NEW);
    a.serve(OLD);
    const outcome = await refresh({ sha256: OLD.sha256, why: 'I insist' });
    expect(outcome).toMatchObject({ kind: 'refused', code: 'older_publication' });
    expect((await inForce(store))?.sha256).toBe(NEW.sha256);
  });

  test('a source that does not answer changes nothing, no time of a check either', async () => {
    const { store, a, refresh } = await inForceFrom(OLD);
    const before = await inForce(store);
    a.serve('silent');
    expect(await refresh()).toEqual({
      kind: 'unreachable',
      reason: 'https://a.example failed: answered 503.',
      tried: [{ source: 'https://a.example', result: 'https://a.example failed: answered 503.' }],
      retry: 'soon',
    });
    expect(await inForce(store)).toEqual(before);
  });

  test('how long the publisher asks to be left alone is told; what a mirror asks is not', async () => {
    const store = await opened();
    const [a, b] = [mirrorAt('a'), mirrorAt('b')];
    const { refresh } = worldOf([a, b], store);
    a.serve('later');
    expect(await refresh()).toMatchObject({ kind: 'unreachable', retry: 'soon', after_s: 900 });
    a.serve('silent');
    b.serve('later');
    expect(await refresh()).not.toHaveProperty('after_s');
    a.serve('later');
    b.serve(OLD);
    expect(await refresh()).toMatchObject({ kind: 'updated', after_s: 900 });
  });

  test('a reader that fails says nothing about the file: no check, nothing kept', async () => {
    const store = await opened();
    const a = mirrorAt('a');
    a.serve(refusalAs('unreadable', false));
    expect((await worldOf([a], store).refresh()).kind).toBe('unreachable');
    expect(said(await store.inForce()).newest_refusal).toBeNull();
    expect(a.aside).toEqual([]);
  });

  test('a silent store is no check, whatever the source says', async () => {
    const database = fresh();
    const store = publicationsIn(database);
    const a = mirrorAt('a');
    a.serve(OLD);
    database.silence('the connection failed');
    expect(await worldOf([a], store).refresh()).toMatchObject({
      kind: 'unreachable',
      reason: 'The store of the sanctions list could not be read: the connection failed.',
    });
  });
});

test('stopped before it began or while a file is read, a refresh is no check', async () => {
  const store = await opened();
  const a = mirrorAt('a');
  a.serve(OLD);
  const stop = new AbortController();
  const reader: PublicationReader = (_path, signal) => {
    const stopped = refusalAs('unreadable', false);
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(stopped), { once: true });
      stop.abort();
    });
  };
  const publisher = { mirrors: [a.mirror], kept: async () => null };
  const world = { publisher, reader, readerVersion: 1, gate: GATE, store };
  expect((await refreshSanctions(world, null, stop.signal)).kind).toBe('unreachable');
  expect((await refreshSanctions(world, null, stop.signal)).kind).toBe('unreachable');
  expect(a.asked).toHaveLength(1);
  expect(said(await store.inForce())).toMatchObject({ publication: null, newest_refusal: null });
});

describe('a size rule', () => {
  async function shrunk() {
    const { store, a, refresh } = await inForceFrom(OLD);
    a.serve(SMALL);
    return { store, refresh, a };
  }

  test('refuses, and says that an operator may accept exactly this file', async () => {
    const { refresh } = await shrunk();
    expect(await refresh()).toMatchObject({
      kind: 'refused',
      code: 'too_few_addresses',
      sha256: SMALL.sha256,
      acceptable: true,
    });
  });

  test('is set aside for the named file alone, and its words are kept', async () => {
    const { refresh, store } = await shrunk();
    const wrong = await refresh({ sha256: NEW.sha256, why: 'the wrong one' });
    expect(wrong.kind).toBe('refused');
    const right = await refresh({ sha256: SMALL.sha256, why: 'a delisting, seen in the notice' });
    expect(right).toMatchObject({
      kind: 'updated',
      accepted_why: 'a delisting, seen in the notice',
    });
    expect((await inForce(store))?.accepted_why).toBe('a delisting, seen in the notice');
  });

  test('an acceptance that was not needed is not recorded', async () => {
    const { refresh, store, a } = await shrunk();
    a.serve(NEW);
    await refresh({ sha256: NEW.sha256, why: 'not needed' });
    expect((await inForce(store))?.accepted_why).toBeNull();
  });
});

describe('several mirrors', () => {
  test('are asked in order, and what one serves counts as checked on its own day', async () => {
    const [a, b, c] = [mirrorAt('a'), mirrorAt('b'), mirrorAt('c')];
    const store = await opened();
    b.serve(NEW);
    const outcome = await worldOf([a, b, c], store).refresh();
    expect(outcome).toMatchObject({ kind: 'updated', list: { source: 'https://b.example' } });
    expect(outcome).toMatchObject({
      retry: 'soon',
      list: { checked_at: startOfDay(NEW.published) },
    });
    expect(outcome.tried.map(({ source }) => source)).toEqual([
      'https://a.example',
      'https://c.example',
    ]);
  });

  test('a refused one does not stop the next', async () => {
    const [a, b] = [mirrorAt('a'), mirrorAt('b')];
    const store = await opened();
    a.serve(NEW);
    await worldOf([a, b], store).refresh();
    a.serve(refusalAs('truncated', false));
    b.serve(NEW);
    const outcome = await worldOf([a, b], store).refresh();
    expect(outcome).toMatchObject({ kind: 'refused', retry: 'soon' });
    expect(outcome.tried[1]?.result).toContain('serves the list in force, which is no check');
    // It was never asked about the list in force, so it is asked without anything known.
    expect(b.asked).toEqual([null]);
    expect(a.aside).toEqual(['truncated']);
  });

  test('one that says unchanged though nothing is known of it is no check', async () => {
    const [a, b] = [mirrorAt('a'), mirrorAt('b')];
    const store = await opened();
    b.serve('unchanged');
    expect((await worldOf([b], store).refresh()).kind).toBe('unreachable');
    a.serve(NEW);
    await worldOf([a], store).refresh();
    expect((await worldOf([b], store).refresh()).kind).toBe('unreachable');
  });

  test('one refused and one silent is refused: the file that came says more', async () => {
    const [a, b] = [mirrorAt('a'), mirrorAt('b')];
    b.serve(refusalAs('truncated', false));
    const outcome = await worldOf([a, b], await opened()).refresh();
    expect(outcome).toMatchObject({ kind: 'refused', code: 'truncated' });
    expect(outcome.tried).toHaveLength(2);
  });

  test('none configured is no check', async () => {
    const outcome = await worldOf([], await opened()).refresh();
    expect(outcome).toMatchObject({ kind: 'unreachable' });
  });
});

describe('two processes at once', () => {
  test('the second finds the list of the first in force and has nothing to add', async () => {
    const store = await opened();
    const [a, b] = [mirrorAt('a'), mirrorAt('b')];
    a.serve(NEW);
    b.serve(NEW);
    const kinds = (
      await Promise.all([worldOf([a], store).refresh(), worldOf([b], store).refresh()])
    ).map(({ kind }) => kind);
    expect(kinds.sort()).toEqual(['unchanged', 'updated']);
    expect(said(await store.held())).toHaveLength(1);
  });

  test('a list is validated again by the one that came into force meanwhile', async () => {
    const store = await opened();
    const [a, b] = [mirrorAt('a'), mirrorAt('b')];
    a.serve(OLD);
    b.serve(NEW);
    let raced = false;
    // Once the older list has been validated, the newer one comes into force.
    const racing: PublicationStore = {
      ...store,
      accept: async (next) => {
        if (!raced) {
          raced = true;
          await worldOf([b], store).refresh();
        }
        return await store.accept(next);
      },
    };
    const outcome = await worldOf([a], racing).refresh();
    expect(outcome).toMatchObject({ kind: 'refused', code: 'older_publication' });
    expect((await inForce(store))?.sha256).toBe(NEW.sha256);
  });
});

const UNREACHABLE: RefreshOutcome = { kind: 'unreachable', reason: 'r', tried: [], retry: 'soon' };
const UNCHANGED: RefreshOutcome = {
  kind: 'unchanged',
  list: { published: '2026-11-18', addresses: 1, sha256: 'a', source: 's', checked_at: 1 },
  tried: [],
  retry: 'in_turn',
};

describe('when the publisher is asked again', () => {
  test('after an answer at the interval, after a fault within a minute, after six less often', () => {
    const delays = [0, 1, 5, 6, 7, 8, 9, 10, 11, 12].map((n) => delayS(HOUR_S, n, 0.5));
    expect(delays).toEqual([3600, 50, 50, 100, 200, 400, 800, 1600, 3200, 3600]);
    expect(delayS(HOUR_S, 5, 0.999)).toBeLessThan(60);
  });

  test('never later than the interval and a tenth, never at once, never all together', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 60, max: 7 * 86_400 }),
        fc.nat(10_000),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (interval, failures, random) => {
          const delay = delayS(interval, failures, random);
          expect(delay).toBeGreaterThanOrEqual(0.9 * 50);
          expect(delay).toBeLessThanOrEqual(1.1 * interval);
        },
      ),
    );
    expect(delayS(HOUR_S, 0, 0)).toBeLessThan(delayS(HOUR_S, 0, 0.9));
  });
});

describe('the schedule', () => {
  test('asks at once, then waits as the outcomes say, and a bug ends nothing', async () => {
    const outcomes: (RefreshOutcome | Error)[] = [
      UNCHANGED,
      UNREACHABLE,
      { ...UNREACHABLE, after_s: 900 },
      { ...UNREACHABLE, after_s: 7 * 86_400 },
      new Error('a bug'),
      UNCHANGED,
    ];
    const waits: number[] = [];
    const told: string[] = [];
    const bugs: unknown[] = [];
    const { promise: over, resolve: finish } = deferred();
    const schedule = scheduleRefresh({
      intervalS: HOUR_S,
      random: () => 0.5,
      refresh: async () => {
        const next = outcomes.shift();
        if (next === undefined) throw new Error('asked once too often');
        if (next instanceof Error) throw next;
        return next;
      },
      sleep: async (ms, signal) => {
        waits.push(ms / 1_000);
        if (outcomes.length > 0) return;
        finish();
        await new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
      },
      onOutcome: ({ kind }) => void told.push(kind),
      onBug: (error) => void bugs.push(error),
    });
    await over;
    await schedule.stop();
    expect(told).toEqual(['unchanged', 'unreachable', 'unreachable', 'unreachable', 'unchanged']);
    // The publisher's own wish goes before ours where it is longer, up to six hours.
    expect(waits).toEqual([3600, 50, 900, 6 * HOUR_S, 50, 3600]);
    expect(bugs).toHaveLength(1);
  });

  test('stopping ends a download that is under way and waits for its end', async () => {
    const { promise: begun, resolve: begin } = deferred();
    let ended = false;
    const schedule = scheduleRefresh({
      intervalS: HOUR_S,
      random: () => 0.5,
      refresh: async (_, signal) => {
        begin();
        await new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
        ended = true;
        return UNREACHABLE;
      },
      sleep: async () => undefined,
      onOutcome: () => {
        throw new Error('a stopped refresh has no outcome to tell');
      },
      onBug: (error) => {
        throw error;
      },
    });
    await begun;
    await schedule.stop();
    expect(ended).toBe(true);
  });

  test('one refresh at a time in a process, each caller with its own outcome', async () => {
    let running = 0;
    const asked: (string | null)[] = [];
    const refresh = oneAtATime(async (acceptance) => {
      running += 1;
      expect(running).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      asked.push(acceptance === null ? null : acceptance.why);
      if (acceptance?.why === 'fails') throw new Error('a bug');
      return acceptance === null ? UNCHANGED : UNREACHABLE;
    });
    const signal = new AbortController().signal;
    const acceptance = (why: string) => ({ sha256: 'a', why });
    const all = await Promise.allSettled([
      refresh(null, signal),
      refresh(acceptance('fails'), signal),
      refresh(acceptance('second'), signal),
    ]);
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(asked).toEqual([null, 'fails', 'second']);
  });
});

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let settle: () => void = () => undefined;
  const promise = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: () => settle() };
}
