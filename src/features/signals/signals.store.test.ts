// A signal stands with its bundle and its leaf, or not at all; and what was said stays said.

import { expect, test, vi } from 'vitest';
import { matchKey } from '../../chain/address.ts';
import { Read, type Reading } from '../../evidence/reading.ts';
import { type FeedPage, type FeedPlace, SIGNAL_LEASE } from '../../ports/signals.ts';
import type { Database } from '../../stores/control/engine/database.ts';
import { addressNamed, evm } from '../../testing/addresses.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { leasesIn, onEachEngine } from '../../testing/control-store.ts';
import { bundleOf, emissionOf, RULES_VERSION, signalOf } from '../../testing/signals.ts';
import { makeEnd } from './signal.ts';
import { signalProductionTable, signalTable } from './signals.store.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const CONTEXT = { simulated: false, nowMs: () => STILL_NOW * 1_000 };
const LISTED = evm('listed').toLowerCase();
const DAY_S = 86_400;
const FEED = { matchKey: null, after: null, limit: 10 };

function over(database: Database) {
  return {
    signals: signalTable(database, CONTEXT),
    production: signalProductionTable(database, CONTEXT),
  };
}

async function value<T>(reading: Promise<Reading<T, never>>): Promise<T> {
  const read = await reading;
  if (!(read instanceof Read)) throw new Error(`test: unread: ${read.why.reason}`);
  return read.value;
}

const bytesOf = (bytes: Uint8Array | null) => (bytes === null ? '' : bytes);
const leavesIn = (database: Database) =>
  database.query(`
    select leaf_index::int4 as leaf_index, kind, '0x' || encode(hash, 'hex') as hash, id
    from log_leaves order by leaf_index`);

onEachEngine((name, fresh) => {
  test(`${name}: a signal is read as it was published, byte for byte`, async () => {
    const database = fresh();
    const { signals, production } = over(database);
    const signal = signalOf({ address: LISTED });
    expect(await value(production.emit(emissionOf(signal)))).toBe(true);
    const { bundle, content_hash: _, rules_version: __, ...stated } = signal;
    expect(await value(signals.find(signal.signal_id))).toEqual({ ...stated, leaf: 0, end: null });
    expect(Buffer.from(bytesOf(await value(signals.bundleOf(signal.signal_id))))).toEqual(
      Buffer.from(bundle),
    );
    expect(await leavesIn(database)).toEqual([
      { leaf_index: 0, kind: 1, hash: signal.call_hash, id: signal.signal_id },
    ]);
    expect(await value(signals.find('sig_none'))).toBe(null);
    expect(await value(signals.bundleOf('sig_none'))).toBe(null);
  });

  test(`${name}: a newer signal ends the one before, and each end is a leaf`, async () => {
    const database = fresh();
    const { signals, production } = over(database);
    const first = signalOf({ address: LISTED });
    const second = signalOf({ address: LISTED, at: STILL_NOW + 1, run_id: 'run_2' });
    await value(production.emit(emissionOf(first)));
    const superseded = makeEnd(first.signal_id, {
      state: 'superseded',
      reason: 'A newer signal of its target stands.',
      by: second.signal_id,
      now: STILL_NOW + 1,
    });
    const next = emissionOf(second, { newest: first.signal_id, end: superseded });
    expect(await value(production.emit(next))).toBe(true);
    // The same once more comes too late: another one is the newest by now.
    expect(await value(production.emit(next))).toBe(false);
    const withdrawn = makeEnd(first.signal_id, {
      state: 'withdrawn',
      reason: 'A fault of the reader.',
      by: 'operator',
      now: STILL_NOW + 2,
    });
    const withdrawal = { ...withdrawn, dispatches: [] };
    expect(await value(production.withdraw(withdrawal))).toBe(true);
    expect(await value(production.withdraw(withdrawal))).toBe(false);
    const { signal_id: _, ...end } = withdrawn.end;
    expect(await value(signals.find(first.signal_id))).toMatchObject({
      end: { ...end, hash: withdrawn.hash, leaf: 3 },
    });
    expect(await leavesIn(database)).toEqual([
      { leaf_index: 0, kind: 1, hash: first.call_hash, id: first.signal_id },
      { leaf_index: 1, kind: 1, hash: second.call_hash, id: second.signal_id },
      { leaf_index: 2, kind: 2, hash: superseded.hash, id: first.signal_id },
      { leaf_index: 3, kind: 2, hash: withdrawn.hash, id: first.signal_id },
    ]);
    const feed = await value(signals.feed(FEED));
    expect(feed.signals.map(({ signal_id }) => signal_id)).toEqual([second.signal_id]);
  });

  test(`${name}: what was said cannot be changed or taken away`, async () => {
    const database = fresh();
    await value(over(database).production.emit(emissionOf(signalOf({ address: LISTED }))));
    for (const statement of [
      `update signals set verdict = 'no_opinion'`,
      'delete from signals',
      `update signal_bundles set bytes = ''`,
      'delete from signal_bundles',
    ]) {
      await expect(database.query(statement), statement).rejects.toThrow('only added');
    }
  });

  test(`${name}: nothing is published after the lease was taken by another`, async () => {
    const database = fresh();
    const { signals, production } = over(database);
    const taken = await leasesIn(database, 'one').take(SIGNAL_LEASE, 60);
    const epoch = taken.checked && taken.value !== null ? taken.value.epoch : -1;
    const signal = signalOf({ address: LISTED });
    expect(
      await value(
        production.emit(emissionOf(signal, { round: { epoch: epoch - 1, againS: null } })),
      ),
    ).toBe(false);
    expect(await value(production.endRound(epoch - 1))).toBe(false);
    expect(await value(signals.find(signal.signal_id))).toBe(null);
    expect(await leavesIn(database)).toEqual([]);
    expect(
      await value(production.emit(emissionOf(signal, { round: { epoch, againS: null } }))),
    ).toBe(true);
    expect(await value(production.endRound(epoch))).toBe(true);
    expect(await value(signals.feed(FEED))).toMatchObject({
      last_round_at: expect.any(Number),
      last_emit_at: null,
      any_current: true,
    });
  });

  test(`${name}: a target is settled with its signal, and not without it`, async () => {
    const database = fresh();
    const { production } = over(database);
    const taken = await leasesIn(database, 'one').take(SIGNAL_LEASE, 60);
    const epoch = taken.checked && taken.value !== null ? taken.value.epoch : -1;
    const signal = signalOf({ address: LISTED });
    const { chain, address } = signal;
    const waiting = () =>
      database.query(
        'select chain, address, due_at > control_now() as is_later from signal_targets',
      );
    await value(production.settle({ chain, address }, 0, epoch));
    const emit = (againS: number | null, newest: string | null) =>
      value(production.emit(emissionOf(signal, { newest, round: { epoch, againS } })));
    expect(await emit(null, 'another')).toBe(false);
    expect(await waiting()).toEqual([{ chain, address, is_later: false }]);
    expect(await emit(1_800, null)).toBe(true);
    expect(await waiting()).toEqual([{ chain, address, is_later: true }]);
    const next = signalOf({ address: LISTED, run_id: 'run_next' });
    const round = { epoch, againS: null };
    const following = emissionOf(next, { newest: signal.signal_id, round });
    expect(await value(production.emit(following))).toBe(true);
    expect(await waiting()).toEqual([]);
  });

  test(`${name}: a reader that pages while signals come sees each current one once`, async () => {
    const database = fresh();
    const { signals, production } = over(database);
    const made = Array.from({ length: 7 }, (_, n) =>
      signalOf({ address: evm(`listed ${n}`).toLowerCase(), at: STILL_NOW + Math.floor(n / 2) }),
    );
    for (const signal of made) await value(production.emit(emissionOf(signal)));
    const seen: string[] = [];
    let after: FeedPlace | null = null;
    for (let pages = 0; pages < 10; pages += 1) {
      const page: FeedPage = await value(signals.feed({ ...FEED, after, limit: 2 }));
      seen.push(...page.signals.map(({ signal_id }) => signal_id));
      // One that is newer than all of them comes before every page.
      const newer = signalOf({ address: evm(`new ${pages}`).toLowerCase(), at: STILL_NOW + 99 });
      await value(production.emit(emissionOf(newer)));
      const last = page.signals.at(-1);
      after = last === undefined ? null : last;
      if (!page.more) break;
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.toSorted()).toEqual(made.map(({ signal_id }) => signal_id).toSorted());
    const one = await value(signals.feed({ ...FEED, matchKey: matchKey(evm('listed 3')) }));
    expect(one.signals.map(({ address }) => address)).toEqual([evm('listed 3').toLowerCase()]);
    const nobody = await value(signals.feed({ ...FEED, matchKey: matchKey(evm('nobody')) }));
    expect([nobody.signals, nobody.any_current]).toEqual([[], true]);
  });

  test(`${name}: targets come from the flag log, the list and launches alone`, async () => {
    const database = fresh();
    const { production } = over(database);
    const leases = leasesIn(database, 'one');
    const taken = await leases.take(SIGNAL_LEASE, 60);
    const epoch = taken.checked && taken.value !== null ? taken.value.epoch : -1;
    const due = () => value(production.due(500, 7 * DAY_S, RULES_VERSION));
    expect(await value(production.queueEvents(epoch))).toBe(0);
    expect(await due()).toEqual([]);
    await plantEvents(database);
    expect(await value(production.queueEvents(epoch))).toBe(6);
    const targets = [
      ['bitcoin', addressNamed('bitcoin', 'listed')],
      ['ethereum', LISTED],
      ['solana', addressNamed('solana', 'listed')],
      ['solana', addressNamed('solana', 'flagged')],
      ['solana', addressNamed('solana', 'mint')],
      ['solana', addressNamed('solana', 'launcher')],
    ].map(([chain, address]) => ({ chain, address }));
    expect(await due()).toEqual(expect.arrayContaining(targets));
    expect(await value(production.queueEvents(epoch))).toBe(0);
    // One that was looked at is let go; one that could not be read waits.
    const [, listed, , , , launcher] = targets as { chain: 'ethereum'; address: string }[];
    if (listed === undefined || launcher === undefined) throw new Error('test: no target');
    // Whoever lost the lease lets nothing go: an event may have queued it again meanwhile.
    expect(await value(production.settle(listed, null, epoch - 1))).toBe(false);
    expect(await due()).toHaveLength(6);
    expect(await value(production.settle(listed, null, epoch))).toBe(true);
    expect(await value(production.settle(launcher, 1_800, epoch))).toBe(true);
    expect(await due()).toHaveLength(4);
    // What leaves the list is looked at again.
    await database.query(
      `insert into sanctions_changes (acceptance_id, change, match_key, listing)
       select id, 'removed', $1, $2::text::jsonb from sanctions_acceptances`,
      [matchKey(LISTED), JSON.stringify({ address: evm('listed') })],
    );
    expect(await value(production.queueEvents(epoch))).toBe(1);
    expect(await due()).toContainEqual(listed);
  });

  test(`${name}: a signal is due after seven days, and under other rules at once`, async () => {
    const database = fresh();
    const { production } = over(database);
    const old = signalOf({ address: LISTED, at: STILL_NOW - 7 * DAY_S });
    const young = signalOf({ address: evm('young').toLowerCase(), at: STILL_NOW - DAY_S });
    await value(production.emit(emissionOf(old)));
    await value(production.emit(emissionOf(young)));
    const target = { chain: 'ethereum', address: LISTED };
    expect(await value(production.due(500, 7 * DAY_S, RULES_VERSION))).toEqual([target]);
    expect(await value(production.due(500, 7 * DAY_S, 'rules-2'))).toHaveLength(2);
    expect(await value(production.due(1, 7 * DAY_S, 'rules-2'))).toEqual([target]);
    expect(await value(production.newestOf({ chain: 'ethereum', address: LISTED }))).toMatchObject({
      signal: { signal_id: old.signal_id, end: null },
      content_hash: signalOf({ address: LISTED }).content_hash,
      rules_version: RULES_VERSION,
    });
    expect(bundleOf({ address: LISTED }).evidence).toHaveProperty('sanctions.list_published');
  });
});

/** A list in force, a flag on each of two chains, and a wallet of three settled launches. */
async function plantEvents(database: Database): Promise<void> {
  const sha256 = 'a'.repeat(64);
  await database.query(
    `insert into sanctions_publications (published, sha256, format, source_key, source_url,
       reader_version, distinct_addresses, parties, record_count, unparsed, accepted_at)
     values ('2026-09-15', $1, 'sdn', 'key', 'https://list.example', 1, 4, 1, 1, 0, now())`,
    [sha256],
  );
  await database.query(
    `insert into sanctions_acceptances (kind, published, sha256, source_url, distinct_addresses,
       accepted_at) values ('first', '2026-09-15', $1, 'https://list.example', 4, now())`,
    [sha256],
  );
  const addresses = [
    evm('listed'),
    addressNamed('solana', 'listed'),
    addressNamed('bitcoin', 'listed'),
    addressNamed('monero', 'listed'),
  ];
  await database.query(
    `insert into sanctions_entries (publication_id, ordinal, match_key, address, currency, uid)
     select p.id, n, a, a, 'XBT', '1' from sanctions_publications p,
       unnest($1::text[]) with ordinality as u (a, n)`,
    [addresses],
  );
  await database.query(
    `update sanctions_current set publication_id = (select id from sanctions_publications)`,
  );
  const flag = (seq: number, chain: string, address: string, token: string) =>
    database.query(
      `insert into flag_events (seq, kind, chain, address, token, at, model_version, simulated,
         score, evidence, appended_at)
       values ($1, 'flag', $2, $3, $4, now(), 'rug-1', false, 0.9, 'It says so.', control_now())`,
      [seq, chain, address, token],
    );
  await flag(1, 'solana', addressNamed('solana', 'flagged'), addressNamed('solana', 'mint'));
  await flag(2, 'ethereum', evm('asked about'), evm('its token'));
  await database.query(
    `insert into table_imports (table_name, source, origin, started_at, completed_at, as_of,
       dated_by, rows_accepted, rows_refused, rows_lost, sha256)
     values ('launches', 'settled here', 'observed', now(), now(), now(), 'file', 5, 0, 0, $1)`,
    [sha256],
  );
  const launchers = [
    ...Array.from({ length: 3 }, () => addressNamed('solana', 'launcher')),
    addressNamed('solana', 'newcomer'),
  ];
  await database.query(
    `insert into launches (import_id, n, mint, deployer, launched_at, listed_after_window,
       last_checked_at, settled)
     select i.id, n, 'mint ' || n, d, control_now() - interval '2 days', false, control_now(), true
     from table_imports i, unnest($1::text[]) with ordinality as u (d, n)`,
    [launchers],
  );
}
