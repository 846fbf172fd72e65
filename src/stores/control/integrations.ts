// Each change is one transaction with its line in the log of changes.

import { z } from 'zod';
import type { Actor } from '../../ports/access.ts';
import {
  type Connected,
  deadLetter,
  INTEGRATION_LIMITS,
  type IntegrationStore,
  integration,
  type NewIntegration,
  rules,
  sealed,
} from '../../ports/integrations.ts';
import {
  type ControlContext,
  controlReadings,
  type Database,
  epoch,
  onlyRow,
  rowOrNull,
} from './engine/database.ts';
import { noteChange } from './memberships.ts';

const row = integration.omit({ rules: true }).extend(rules.shape);
const goneRow = integration.pick({ platform: true });
const countedRow = z.strictObject({ n: z.int() });
const platformRow = sealed.extend(goneRow.shape);
const idRow = sealed.extend(integration.pick({ id: true }).shape);

const LIST = `
  select i.id, i.platform, i.place, i.kinds, i.chains, i.addresses, ${epoch('i.created_at')},
    ${epoch('i.verified_at')}, ${epoch('i.broken_at')}, i.fault, ${epoch('i.delivered_at')},
    coalesce(q.waiting, 0)::float8 as waiting, coalesce(q.dead, 0)::float8
      as dead_letters
  from integrations i left join lateral (
    select count(*) filter (where dead_at is null) as waiting,
      count(*) filter (where dead_at is not null) as dead
    from deliveries where integration_id = i.id
  ) q on true
  where i.membership_id = $1 order by i.created_at, i.id limit $2`;

const DEAD = `
  select q.id::float8 as id, i.id as integration_id, i.platform, i.place,
    d.id::float8 as dispatch, d.message, ${epoch('q.queued_at')}, ${epoch('q.dead_at')}, q.reason
  from deliveries q join integrations i on i.id = q.integration_id
  join dispatches d on d.id = q.dispatch_id
  where i.membership_id = $1 and q.dead_at is not null
  order by q.dead_at desc, q.id desc limit $2`;

const TAKEN = `
  update integrations set verified_at = to_timestamp($2), broken_at = null, fault = null,
    attempts = 0, due_at = '-infinity' where id = $1`;
const BROKEN = `
  update integrations set broken_at = coalesce(broken_at, to_timestamp($2)), fault = $3
  where id = $1`;

/** The integrations over the control database. */
export function integrationTable(database: Database, context: ControlContext): IntegrationStore {
  const { ask, askList, run } = controlReadings('integrations', 'The integrations', context);
  return {
    connect: (integration, by) => ask(() => connectChat(database, integration, by)),
    list: (membershipId) =>
      askList(INTEGRATION_LIMITS.each, 'integrations', async (limit) => {
        const rows = z.array(row).parse(await database.query(LIST, [membershipId, limit]));
        return rows.map(({ kinds, chains, addresses, ...one }) => {
          return { ...one, rules: { kinds, chains, addresses } };
        });
      }),
    sealedOf: (membershipId, id) =>
      ask(async () => {
        const rows = await database.query(
          `select platform, sealed as bytes, sealed_by as by from integrations
           where membership_id = $1 and id = $2`,
          [membershipId, id],
        );
        const found = platformRow.nullable().parse(rowOrNull(rows));
        if (found === null) return null;
        const { platform, bytes, by } = found;
        return { platform, sealed: { bytes, by } };
      }),
    tried: (id, tried) =>
      run(() =>
        tried.outcome === 'taken'
          ? database.query(TAKEN, [id, tried.at])
          : database.query(BROKEN, [id, tried.at, tried.fault]),
      ),
    remove: (membershipId, id, at, by) =>
      ask(() =>
        database.transaction(async (session) => {
          const rows = await session.query(
            'delete from integrations where membership_id = $1 and id = $2 returning platform',
            [membershipId, id],
          );
          const gone = goneRow.nullable().parse(rowOrNull(rows));
          if (gone !== null) {
            await noteChange(session, {
              at,
              membership_id: membershipId,
              by_whom: by,
              change: 'integration_removed',
              subject: `${gone.platform} ${id}`,
            });
          }
          return gone !== null;
        }),
      ),
    deadLetters: (membershipId) =>
      askList(INTEGRATION_LIMITS.dead_shown, 'dead letters', async (limit) =>
        z.array(deadLetter).parse(await database.query(DEAD, [membershipId, limit])),
      ),
    sealedByOthers: (fingerprint, max) =>
      ask(async () => {
        const rows = await database.query(
          `select id, sealed as bytes, sealed_by as by from integrations
           where sealed_by <> $1 order by id limit $2`,
          [fingerprint, max],
        );
        return z
          .array(idRow)
          .parse(rows)
          .map(({ id, bytes, by }) => ({ id, sealed: { bytes, by } }));
      }),
    reseal: (id, before, { bytes, by }) =>
      run(() =>
        database.query(
          'update integrations set sealed = $3, sealed_by = $4 where id = $1 and sealed = $2',
          [id, before.bytes, bytes, by],
        ),
      ),
  };
}

function connectChat(
  database: Database,
  { membership_id, id, platform, place, sealed, rules, created_at, verified_at }: NewIntegration,
  by: Actor,
): Promise<Connected> {
  return database.transaction(async (session) => {
    // Those who connect for one membership wait for each other here.
    const held = await session.query(
      `select 1 from memberships where membership_id = $1 and status = 'active' for update`,
      [membership_id],
    );
    if (held.length === 0) return { outcome: 'no_membership' };
    const counted = await session.query(
      'select count(*)::int as n from integrations where membership_id = $1',
      [membership_id],
    );
    if (countedRow.parse(onlyRow(counted)).n >= INTEGRATION_LIMITS.each)
      return { outcome: 'limit' };
    const { kinds, chains, addresses } = rules;
    await session.query(
      `insert into integrations (id, membership_id, platform, place, sealed, sealed_by, kinds,
         chains, addresses, created_at, verified_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, to_timestamp($10), to_timestamp($11))`,
      [
        ...[id, membership_id, platform, place, sealed.bytes, sealed.by],
        ...[kinds, chains, addresses, created_at, verified_at],
      ],
    );
    const change = 'integration_connected' as const;
    const subject = `${platform} ${id}`;
    await noteChange(session, { at: created_at, membership_id, by_whom: by, change, subject });
    return { outcome: 'connected' };
  });
}

/** How many integrations are sealed under a secret that is not among these. */
export async function countSealedElsewhere(
  database: Database,
  secrets: readonly { readonly fingerprint: string }[],
): Promise<number> {
  const rows = await database.query(
    'select count(*)::int as n from integrations where sealed_by <> all($1::text[])',
    [secrets.map(({ fingerprint }) => fingerprint)],
  );
  return countedRow.parse(onlyRow(rows)).n;
}
