// What waits or stands still in the control store, as the gauges of it say; nothing where it is
// not known.

import { expect, test } from 'vitest';
import { deriveSecrets } from '../access/secret.ts';
import type { AnchoringReport } from '../ports/anchoring.ts';
import type { Database } from '../stores/control/engine/database.ts';
import { openPostgres } from '../stores/control/engine/postgres.ts';
import { countSealedElsewhere } from '../stores/control/integrations.ts';
import { STILL_NOW } from '../testing/clock.ts';
import { clockAt, embeddedControl, type TestStore } from '../testing/control-store.ts';
import { addIntegration, appendTo, dispatchOf } from '../testing/integrations.ts';
import { createMeters } from '../transport/metrics.ts';
import { storeGauges } from './store-gauges.ts';

const fresh = embeddedControl();
const CONTEXT = { simulated: false, nowMs: () => STILL_NOW * 1_000 };

/** The gauges by name, read as one look at the metrics. */
async function lookAt(store: TestStore, report: AnchoringReport = { state: 'off' }) {
  const gauges = storeGauges(store, CONTEXT, { producesSignals: false, anchoring: () => report });
  const read = await Promise.all(
    gauges.map(async ({ name, value }) => [name.replace('exhibit_', ''), await value()] as const),
  );
  return Object.fromEntries(read);
}

const anchorSent = (nonce: number, status: string, secondsAgo: number) =>
  `insert into anchors (chain_id, contract, sender, nonce, origin, log_size, root, gas, status,
     reason, tx, block, began_at)
   values (1, '0xc', '0xa${nonce}', ${nonce}, 'log.example', ${nonce + 1}, '0x', 1, '${status}',
     null, ${status === 'confirmed' ? "'0x1', 1" : 'null, null'},
     to_timestamp(${STILL_NOW - secondsAgo}))`;

test('a store in which nothing waits says zero of what is counted, and nothing of what has no age', async () => {
  expect(await lookAt(fresh())).toEqual({
    dispatches_waiting: 0,
    dispatches_dead: 0,
    signals_round_age_seconds: null,
    signals_never_ran: 0,
    log_frozen: 0,
    anchor_open_seconds: null,
    anchoring_set: 0,
    anchoring_waits: null,
  });
});

test('deliveries, the age of a round, a frozen log and an open root are told', async () => {
  const store = fresh();
  await store.query(clockAt(STILL_NOW));
  await addIntegration(store, 'int_1', 'mem_1');
  await appendTo(store, [dispatchOf('one'), dispatchOf('two'), dispatchOf('three')]);
  await store.query(
    `update deliveries set dead_at = control_now(), reason = 'given up'
     where id = (select max(id) from deliveries)`,
  );
  await store.query(
    `insert into signal_rounds (last_round_at) values (to_timestamp(${STILL_NOW - 90}))`,
  );
  await store.query("insert into log_origins values (1, 'log.example', control_now())");
  await store.query("insert into log_freezes values (1, 'store_forgot', null, control_now())");
  await store.query(anchorSent(1, 'confirmed', 900));
  await store.query(anchorSent(2, 'submitted', 600));
  const report = { state: 'looked', at: 0, whys: [] } as const;
  expect(await lookAt(store, report)).toEqual({
    dispatches_waiting: 2,
    dispatches_dead: 1,
    signals_round_age_seconds: 90,
    signals_never_ran: 0,
    log_frozen: 1,
    anchor_open_seconds: 600,
    anchoring_set: 1,
    anchoring_waits: 0,
  });
});

test('a log that was ended and goes on under a new number is not frozen any more', async () => {
  const store = fresh();
  await store.query("insert into log_origins values (1, 'log.example', control_now())");
  await store.query("insert into log_freezes values (1, 'store_forgot', null, control_now())");
  await store.query("insert into log_ends values (1, null, 0, 'why', 'said', control_now())");
  expect(await lookAt(store)).toMatchObject({ log_frozen: 0 });
  await store.query("insert into log_origins values (2, 'log.example/2', control_now())");
  expect(await lookAt(store)).toMatchObject({ log_frozen: 0 });
});

test('chats that no secret of this process opens are counted for doctor', async () => {
  const store = fresh();
  const secrets = deriveSecrets('the root of now', 'the root before');
  await addIntegration(store, 'int_1', 'mem_1');
  await addIntegration(store, 'int_2', 'mem_1');
  expect(await countSealedElsewhere(store, secrets)).toBe(2);
  const sealedBy = 'update integrations set sealed_by = $1 where id = $2';
  const [current, previous] = secrets;
  await store.query(sealedBy, [current.fingerprint, 'int_1']);
  expect(await countSealedElsewhere(store, secrets)).toBe(1);
  await store.query(sealedBy, [String(previous?.fingerprint), 'int_2']);
  expect(await countSealedElsewhere(store, secrets)).toBe(0);
  store.silence('the server did not answer');
  await expect(countSealedElsewhere(store, secrets)).rejects.toThrow();
});

test('a store that does not answer leaves no sample, and zero of nothing', async () => {
  const store = fresh();
  await store.query('select 1');
  store.silence('the server did not answer');
  expect(await lookAt(store)).toEqual({
    dispatches_waiting: null,
    dispatches_dead: null,
    signals_round_age_seconds: null,
    signals_never_ran: 0,
    log_frozen: null,
    anchor_open_seconds: null,
    anchoring_set: 0,
    anchoring_waits: null,
  });
});

/** The samples of a look at the metrics, by their names without `exhibit_`. */
async function samples(
  database: Database,
  producesSignals: boolean,
  state: 'off' | 'elsewhere' | 'not_looked' | 'looked' = 'off',
): Promise<Map<string, number>> {
  const report: AnchoringReport =
    state === 'looked' ? { state, at: STILL_NOW, whys: [] } : { state };
  const gauges = storeGauges(database, CONTEXT, { producesSignals, anchoring: () => report });
  const text = await createMeters(gauges).registry.metrics();
  return new Map(
    [...text.matchAll(/^exhibit_((?:signals|anchoring)_\w+) (\S+)$/gm)].map(
      ([, name, value]) => [String(name), Number(value)] as const,
    ),
  );
}

test('a producer that never ran is told from one that ran, and from none', async () => {
  const database = fresh();
  expect((await samples(database, true)).get('signals_never_ran')).toBe(1);
  expect((await samples(database, false)).get('signals_never_ran')).toBe(0);
  // An operator who emits by hand is no producer.
  await database.query('insert into signal_rounds (last_emit_at) values (control_now())');
  expect((await samples(database, true)).get('signals_never_ran')).toBe(1);
  await database.query('update signal_rounds set last_round_at = control_now()');
  const ran = await samples(database, true);
  expect([ran.get('signals_never_ran'), ran.has('signals_round_age_seconds')]).toEqual([0, true]);
});

test('a store that does not answer says neither', async () => {
  const away = openPostgres('postgres://nobody@127.0.0.1:1/none');
  expect((await samples(away, true)).has('signals_never_ran')).toBe(false);
});

test.each([
  ['off', 0, undefined],
  ['elsewhere', 1, undefined],
  ['not_looked', 1, undefined],
  ['looked', 1, 0],
] as const)('a contract of which roots are %s', async (state, set, waits) => {
  const told = await samples(fresh(), false, state);
  expect([told.get('anchoring_set'), told.get('anchoring_waits')]).toEqual([set, waits]);
});
