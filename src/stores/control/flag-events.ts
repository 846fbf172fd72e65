// Answers one question: how is the log of flags kept in the control store, without a gap?
// Whoever appends holds the counter until its transaction ends, so that numbers become visible in
// order and one that is undone was never given.

import { z } from 'zod';
import { CHAIN_NAMES } from '../../chain/chain.ts';
import { placeOrBeginning } from '../../evidence/measure.ts';
import {
  FLAG_EVENTS_AT_ONCE_MAX,
  FLAG_EVENTS_KEPT,
  type FlagEvent,
  type FlagEvents,
  type NewFlagEvent,
} from '../../ports/flags/flag-events.ts';
import { type ControlContext, controlReadings } from './engine/control-readings.ts';
import { type Database, epoch, onlyRow, type Session } from './engine/database.ts';

const COUNT = `
  insert into flag_log as l (newest) values ($1)
  on conflict (one) do update set newest = l.newest + excluded.newest
  returning newest`;

const APPEND = `
  insert into flag_events (seq, kind, chain, address, token, at, model_version, simulated, score,
    evidence, retracts, reason, appended_at)
  select $1::bigint + e.n, e.kind, e.chain, e.address, e.token, to_timestamp(e.at),
    e.model_version, e.simulated, e.score, e.evidence, e.retracts, e.reason, control_now()
  from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::float8[], $7::text[],
      $8::boolean[], $9::float8[], $10::text[], $11::bigint[], $12::text[])
    with ordinality as e (kind, chain, address, token, at, model_version, simulated, score,
      evidence, retracts, reason, n)`;

// A prefix goes, so that what is left has no gap, whatever the clock did.
const PRUNE = `
  delete from flag_events where seq <= greatest(
    (select newest from flag_log) - $1::bigint,
    (select max(seq) from flag_events
      where appended_at < control_now() - make_interval(secs => $2::int)))`;

/**
 * Appends to the log inside a transaction of its caller, and tells the number of the first event;
 * the others follow it one by one. It belongs at the end of the transaction: until that ends, all
 * others who append wait for it.
 */
export async function appendFlagEvents(
  session: Session,
  events: readonly [NewFlagEvent, ...NewFlagEvent[]],
): Promise<number> {
  if (events.length > FLAG_EVENTS_AT_ONCE_MAX) throw new Error(`${events.length} at once`);
  const counted = await session.query<{ newest: bigint }>(COUNT, [events.length]);
  const before = Number(onlyRow(counted).newest) - events.length;
  const column = <T>(value: (event: NewFlagEvent) => T): T[] => events.map(value);
  await session.query(APPEND, [
    before,
    column(({ kind }) => kind),
    column(({ chain }) => chain),
    column(({ address }) => address),
    column(({ token }) => token),
    column((event) => (event.kind === 'flag' ? event.flagged_at : event.retracted_at)),
    column(({ model_version }) => model_version),
    column(({ simulated }) => simulated),
    column((event) => (event.kind === 'flag' ? event.score : null)),
    column((event) => (event.kind === 'flag' ? event.evidence : null)),
    column((event) => (event.kind === 'flag' ? null : event.retracts)),
    column((event) => (event.kind === 'flag' ? null : event.reason)),
  ]);
  await prune(session);
  return before + 1;
}

async function prune(session: Pick<Session, 'query'>): Promise<void> {
  await session.query(PRUNE, [FLAG_EVENTS_KEPT.eventsMax, FLAG_EVENTS_KEPT.ageMaxS]);
}

// One statement: the ends and the events are of one moment.
const BOUNDS = `
  select (select newest from flag_log) as newest, (select min(seq) from flag_events) as oldest`;
const AFTER = `
  with ends as (${BOUNDS})
  select newest, oldest, e.seq, kind, chain, address, token, ${epoch('at')}, model_version,
    simulated, score, evidence, retracts, reason
  from ends left join (
    select * from flag_events where seq > $1::bigint order by seq limit $2::int
  ) e on true
  order by e.seq`;

const number = z.coerce.number().int();
const boundsRow = z.object({ newest: z.nullable(number), oldest: z.nullable(number) });
const subject = {
  seq: number,
  chain: z.enum(CHAIN_NAMES),
  address: z.string(),
  token: z.string(),
};
const seconds = z.number().transform(Math.floor);
const eventRow = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('flag'),
    ...subject,
    model_version: z.string(),
    simulated: z.boolean(),
    at: seconds,
    score: z.number(),
    evidence: z.string(),
  }),
  z.object({
    kind: z.literal('retraction'),
    ...subject,
    model_version: z.string(),
    simulated: z.boolean(),
    at: seconds,
    retracts: number,
    reason: z.string(),
  }),
]);

/** The log over the control database. */
export function flagEventLog(database: Database, context: ControlContext): FlagEvents {
  const { ask } = controlReadings('flag_events', 'The log of flags', context);
  return {
    after: (seq) =>
      ask(async () => {
        const rows = await database.query<{ seq: bigint | null }>(
          AFTER,
          [seq, FLAG_EVENTS_AT_ONCE_MAX],
          'often',
        );
        const events = rows.filter((row) => row.seq !== null).map(eventOf);
        return { ...boundsOf(onlyRow(rows.slice(0, 1))), events };
      }),
    bounds: () => ask(async () => boundsOf(onlyRow(await database.query(BOUNDS, [], 'often')))),
    prune: () =>
      ask(async () => {
        await prune(database);
        return true as const;
      }),
  };
}

function boundsOf(row: object) {
  const { newest, oldest } = boundsRow.parse(row);
  return { newest: placeOrBeginning(newest), oldest };
}

function eventOf(row: object): FlagEvent {
  const { at, ...event } = eventRow.parse(row);
  return event.kind === 'flag' ? { ...event, flagged_at: at } : { ...event, retracted_at: at };
}
