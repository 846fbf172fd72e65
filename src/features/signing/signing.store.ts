// Keys are only added, and nothing of a public part is ever changed: what was signed is verified
// for ever. Marks of compromise are added too; the earliest counts.

import { z } from 'zod';
import {
  type ChooseKey,
  type KeptKey,
  type KeptKeys,
  keptKey,
  type NewKeptKey,
} from '../../ports/signing.ts';
import {
  type ControlContext,
  controlReadings,
  type Database,
  epochSecond,
  type Session,
  storeTime,
} from '../../stores/control/engine/database.ts';

/** One key each quarter of a year is far less; more are refused rather than left out. */
const KEYS_MAX = 1_000;
const LOCK = 'signing keys';

const keyRow = keptKey
  .omit({ sealed: true })
  .extend({ bytes: z.instanceof(Uint8Array).nullable(), by: z.string().nullable() });

const ALL = `
  select k.kid, k.x, ${epochSecond('k.nbf')}, ${epochSecond('k.exp')}, ${epochSecond('k.made_at')},
    k.sealed as bytes, k.sealed_by as by,
    (select floor(extract(epoch from min(c.since)))::float8 from signing_key_compromises c
      where c.kid = k.kid) as compromised_since
  from signing_keys k order by k.nbf desc, k.made_at desc, k.kid limit $1`;

async function readAll(session: Pick<Session, 'query'>): Promise<KeptKey[]> {
  const rows = z.array(keyRow).parse(await session.query(ALL, [KEYS_MAX]));
  return rows.map(({ bytes, by, ...key }) => {
    return { ...key, sealed: bytes === null || by === null ? null : { bytes, by } };
  });
}

async function addKey(session: Session, { sealed, ...key }: NewKeptKey, held: number) {
  if (held >= KEYS_MAX) throw new Error(`more than ${KEYS_MAX} signing keys`);
  await session.query(
    `insert into signing_keys (kid, x, sealed, sealed_by, nbf, exp, made_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      ...[key.kid, key.x, sealed.bytes, sealed.by],
      ...[storeTime(key.nbf), storeTime(key.exp), storeTime(key.made_at)],
    ],
  );
}

/** The signing keys over the control database. `onChange` is called once a change is stored. */
export function signingKeyTable(
  database: Database,
  context: ControlContext,
  onChange: () => void,
): KeptKeys {
  const { ask, run } = controlReadings('signing_keys', 'The signing keys', context);
  // Processes that look at the keys in order to add one wait for each other here.
  const alone = <T>(work: (session: Session) => Promise<T>) =>
    database.transaction(async (session) => {
      await session.query('select pg_advisory_xact_lock(hashtext($1))', [LOCK]);
      return work(session);
    });
  const choose = async (session: Session, pick: ChooseKey) => {
    const held = await readAll(session);
    const chosen = pick(held);
    if (chosen === null) return { keys: held, isAdded: false };
    await addKey(session, chosen, held.length);
    return { keys: await readAll(session), isAdded: true };
  };
  return {
    all: () => ask(() => readAll(database)),
    add: (pick) =>
      ask(async () => {
        const { keys, isAdded } = await alone((session) => choose(session, pick));
        if (isAdded) onChange();
        return keys;
      }),
    compromise: (kid, { since, marked_at, reason }, pick) =>
      ask(async () => {
        const marked = await alone(async (session) => {
          const known = await session.query(
            'update signing_keys set sealed = null, sealed_by = null where kid = $1 returning kid',
            [kid],
          );
          if (known.length === 0) return null;
          await session.query(
            `insert into signing_key_compromises (kid, since, marked_at, reason)
             values ($1, $2, $3, $4)`,
            [kid, storeTime(since), storeTime(marked_at), reason],
          );
          return choose(session, pick);
        });
        if (marked === null) return null;
        onChange();
        return marked.keys;
      }),
    erase: (now) =>
      ask(async () => {
        const gone = await database.query(
          `update signing_keys set sealed = null, sealed_by = null
           where sealed is not null and exp <= $1 returning kid`,
          [storeTime(now)],
        );
        return gone.length;
      }),
    reseal: (kid, before, { bytes, by }) =>
      run(() =>
        database.query(
          'update signing_keys set sealed = $3, sealed_by = $4 where kid = $1 and sealed = $2',
          [kid, before.bytes, bytes, by],
        ),
      ),
  };
}
