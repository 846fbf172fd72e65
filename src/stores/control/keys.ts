// Look-ups are remembered for two seconds and share statements; uses are noted late, in batches.
// It refuses a key past its membership's limit, however many are made at once.

import { z } from 'zod';
import { DAY_S, formatIsoDate, type UnixSeconds } from '../../chain/time.ts';
import { map, type Reading, Unread } from '../../evidence/reading.ts';
import type { Soon } from '../../evidence/waiting.ts';
import {
  type AccessChange,
  type Actor,
  type AddedKey,
  type ApiKey,
  type FoundKey,
  intelligenceToken,
  KEY_KINDS,
  type KeyStore,
  type KeysOf,
  type KeysPort,
  type KeyUse,
  membership,
  type NewKey,
  type ReplacedKey,
  type Revoked,
  type SecretHash,
  shownKey,
  type TokenStore,
} from '../../ports/access.ts';
import {
  batchQueue,
  type ControlContext,
  type ControlReadings,
  columnsOf,
  controlReadings,
  type Database,
  epoch,
  onlyRow,
  type Param,
  type Session,
} from './engine/database.ts';
import { noteChange } from './memberships.ts';

/** What keys were used for is kept so long: 400 days. */
const USES_KEPT_S = 400 * DAY_S;
/** More keys than this are not listed in one answer. */
const KEYS_LISTED_MAX = 100_000;

const keyRow = shownKey.extend({
  kind: z.enum(KEY_KINDS),
  membership_id: z.string().nullable(),
  partner: z.string().nullable(),
  monthly_budget: z.number().nullable(),
  origins: z.array(z.string()).nullable(),
});
type KeyRow = z.output<typeof keyRow>;
const foundRow = keyRow.extend({
  hash: z.string(),
  pepper: z.string(),
  plan: membership.shape.plan.nullable(),
  status: membership.shape.status.nullable(),
  member_since: membership.shape.created_at.nullable(),
  member_as_of: membership.shape.updated_at.nullable(),
});
type FoundRow = z.output<typeof foundRow>;
const countRow = z.strictObject({ n: z.int() });
const originRow = z.strictObject({ origin: z.string() });
const revocationRow = shownKey.pick({ id: true, revoked_at: true });

const COLUMNS = [
  'k.id, k.kind, k.membership_id, k.partner, k.prefix, k.monthly_budget, k.name, k.origins',
  epoch('k.created_at'),
  epoch('k.expires_at'),
  epoch('k.last_used_at'),
  epoch('k.revoked_at'),
  epoch('k.replaced_at'),
  epoch('k.leaked_at'),
  'k.leak_found',
].join(', ');
const FIND = `select ${COLUMNS}, encode(k.hash, 'hex') as hash, k.pepper, m.plan, m.status,
    ${epoch('m.created_at', 'member_since')}, ${epoch('m.updated_at', 'member_as_of')}
  from api_keys k left join memberships m using (membership_id) where k.hash = any($1::bytea[])`;

/** The keys over the control database; `close` notes the last uses, `forget` what was looked up. */
type KeyTable = KeyStore & {
  readonly close: () => Promise<void>;
  readonly forget: () => void;
};

/** Opens the keys over the control database. */
export function keyTable(database: Database, context: ControlContext): KeyTable {
  const readings = controlReadings('keys', 'The keys', context);
  const lookUps = secretLookUps(database, readings, FIND, foundRow, keyAndMembership);
  const uses = keyUses(database, readings, lookUps.forget);
  const origins = rememberOrigins(database, readings);
  return {
    find: lookUps.find,
    add: (key, activeMax, by = 'operator') =>
      lookUps.changed(() => add(database, key, activeMax, by)),
    replace: (id, key, until) => lookUps.changed(() => replace(database, id, key, until)),
    list: (of) =>
      readings.askList(KEYS_LISTED_MAX, 'keys', async (limit) => {
        const [where, params] = conditionOf(of);
        const rows = await database.query(
          `select ${COLUMNS} from api_keys k where ${where}
           order by k.created_at desc, k.id limit ${limit}`,
          params,
        );
        return z.array(keyRow).parse(rows).map(keyOf);
      }),
    revoke: (idOrPrefix, at, membershipId, by = 'operator') => {
      const only =
        membershipId === null ? null : { column: 'k.membership_id', value: membershipId };
      const named = {
        table: 'api_keys k',
        columns: COLUMNS,
        idOrPrefix,
        at,
        only,
        shown: (row: unknown) => keyOf(keyRow.parse(row)),
      } as const;
      const noteRevocation = (session: Session, key: ApiKey) =>
        noteChange(session, changeOf(key, at, by, 'key_revoked'));
      return lookUps.changed(() => revokeOne(database, { ...named, noted: noteRevocation }));
    },
    noteUse: uses.note,
    listsOrigin: async (origin) => map(await origins(), (listed) => listed.has(origin)),
    underOtherSecrets: (pepper) =>
      readings.ask(async () => {
        const rows = await database.query(
          `select count(*)::int as n from api_keys
           where pepper <> $1 and revoked_at is null and expires_at > now()`,
          [pepper],
        );
        return countRow.parse(onlyRow(rows)).n;
      }),
    close: uses.close,
    forget: lookUps.forget,
  };
}

// Whoever asks before a page may call has no key: all listed origins are read together, at most
// every two seconds, however often and for whatever origin that is asked.
function rememberOrigins(database: Database, { ask }: ControlReadings<KeysPort>) {
  const read = () =>
    ask(async () => {
      const rows = await database.query(
        `select distinct unnest(k.origins) as origin from api_keys k
         join memberships m on m.membership_id = k.membership_id and m.status = 'active'
         where k.origins is not null and k.revoked_at is null and k.expires_at > control_now()`,
      );
      return new Set(
        z
          .array(originRow)
          .parse(rows)
          .map(({ origin }) => origin),
      );
    });
  let last: { readonly askedMs: number; readonly reading: ReturnType<typeof read> } | null = null;
  return (): ReturnType<typeof read> => {
    const now = performance.now();
    if (last === null || now - last.askedMs >= FRESH_MS) last = { askedMs: now, reading: read() };
    return last.reading;
  };
}

function keyAndMembership(row: FoundRow): FoundKey {
  const { membership_id, plan, status, member_since, member_as_of } = row;
  const found = { key: keyOf(row), pepper: row.pepper };
  const isKnown = membership_id !== null && plan !== null && status !== null;
  if (!isKnown || member_since === null || member_as_of === null) {
    return { ...found, membership: null };
  }
  const dated = { created_at: member_since, updated_at: member_as_of };
  return { ...found, membership: { membership_id, plan, status, ...dated } };
}

function keyOf(row: KeyRow): ApiKey {
  const { id, prefix, created_at, expires_at, last_used_at, revoked_at, name, replaced_at } = row;
  const { leaked_at, leak_found } = row;
  const dated = { created_at, expires_at, last_used_at, revoked_at, replaced_at, leaked_at };
  return { id, holder: holderOf(row), prefix, name, ...dated, leak_found };
}

function holderOf(row: KeyRow): ApiKey['holder'] {
  const { kind, membership_id, partner, monthly_budget, origins } = row;
  if (kind === 'sc' && membership_id !== null) return { kind, membership_id };
  if (kind === 'sc_pub' && membership_id !== null && origins !== null) {
    return { kind, membership_id, origins };
  }
  if (kind === 'scp' && partner !== null && monthly_budget !== null) {
    return { kind, partner, monthly_budget };
  }
  throw new Error('keys: a row belongs neither to a membership nor to a partner');
}

function conditionOf(of: KeysOf): [where: string, params: readonly Param[]] {
  if (of === 'everyone') return ['true', []];
  if ('partner' in of) return ['k.partner = $1', [of.partner]];
  return ['k.membership_id = $1', [of.membership_id]];
}

async function add(
  database: Database,
  key: NewKey,
  activeMax: number,
  by: Actor,
): Promise<AddedKey> {
  return await database.transaction(async (session) => {
    const { holder } = key;
    if (holder.kind !== 'scp') {
      // The row lock makes those who add keys to one membership wait for each other.
      const locked = await session.query(
        'select 1 from memberships where membership_id = $1 for update',
        [holder.membership_id],
      );
      if (locked.length === 0) return { outcome: 'no_membership' };
      const rows = await session.query(
        `select count(*)::int as n from api_keys
         where membership_id = $1 and revoked_at is null and replaced_at is null
           and expires_at > to_timestamp($2)`,
        [holder.membership_id, key.created_at],
      );
      const active = countRow.parse(onlyRow(rows)).n;
      if (active >= activeMax) return { outcome: 'limit', active };
    }
    const added = await insertKey(session, key);
    await noteChange(session, changeOf(added, key.created_at, by, 'key_created'));
    // A key that comes is a good moment to forget the uses of those that are long gone.
    await session.query('delete from key_usage where day < $1', [
      formatIsoDate(key.created_at - USES_KEPT_S),
    ]);
    return { outcome: 'added', key: added };
  });
}

// A replacement adds no key to the count: both open until the old one ends, and one counts.
async function replace(
  database: Database,
  id: string,
  key: NewKey,
  until: UnixSeconds,
): Promise<ReplacedKey> {
  return await database.transaction(async (session) => {
    const { holder, created_at: at } = key;
    if (holder.kind === 'scp') throw new Error('keys: a key of no membership is not replaced');
    const [found] = await session.query(
      `select ${COLUMNS} from api_keys k where k.id = $1 and k.membership_id = $2 for update`,
      [id, holder.membership_id],
    );
    if (found === undefined) return { outcome: 'unknown' };
    const old = keyRow.parse(found);
    const isOver = old.revoked_at !== null || old.expires_at <= at || old.replaced_at !== null;
    // While its own predecessor opens, a key is not replaced: at most two are open for one.
    const rows = isOver
      ? []
      : await session.query(
          `update api_keys k set replaced_at = to_timestamp($2),
         expires_at = least(k.expires_at, to_timestamp($3))
       where k.id = $1 and not exists (
         select from api_keys p where p.membership_id = k.membership_id
           and p.replaced_by = k.id and p.revoked_at is null and p.expires_at > to_timestamp($2))
       returning k.id`,
          [id, at, until],
        );
    if (rows.length === 0) return { outcome: 'replaced' };
    const added = await insertKey(session, { ...key, name: old.name });
    await session.query('update api_keys set replaced_by = $2 where id = $1', [id, added.id]);
    await noteChange(session, changeOf(keyOf(old), at, 'member', 'key_replaced'));
    await noteChange(session, changeOf(added, at, 'member', 'key_created'));
    return { outcome: 'added', key: added };
  });
}

async function insertKey(session: Session, key: NewKey): Promise<ApiKey> {
  const { holder, name = null } = key;
  const rows = await session.query(
    `insert into api_keys as k
       (id, kind, membership_id, partner, monthly_budget, hash, pepper, prefix,
        created_at, expires_at, name, origins)
     values ($1, $2, $3, $4, $5, $6, $7, $8, to_timestamp($9), to_timestamp($10), $11, $12)
     returning ${COLUMNS}`,
    [
      key.id,
      holder.kind,
      holder.kind === 'scp' ? null : holder.membership_id,
      holder.kind === 'scp' ? holder.partner : null,
      holder.kind === 'scp' ? holder.monthly_budget : null,
      key.secret.hash,
      key.secret.pepper,
      key.prefix,
      key.created_at,
      key.expires_at,
      name,
      holder.kind === 'sc_pub' ? holder.origins : null,
    ],
  );
  return keyOf(keyRow.parse(onlyRow(rows)));
}

function changeOf(
  { holder, prefix: subject }: ApiKey,
  at: UnixSeconds,
  by_whom: Actor,
  change: AccessChange['change'],
) {
  const membership_id = holder.kind === 'scp' ? null : holder.membership_id;
  return { at, membership_id, by_whom, change, subject };
}

// Uses are kept in memory and written together, at most once a minute for each key.
// It refuses to grow: past its bound a use goes unnoted.

/** A key's use is noted at most so often. */
const NOTED_EVERY_S = 60;
const WRITTEN_EVERY_MS = 5_000;
const PENDING_MAX = 10_000;

/**
 * Starts noting uses. `onWritten` hears of each batch that was stored. `flush` writes what is
 * pending and says how many, or that it could not.
 */
export function keyUses(
  database: Database,
  readings: ControlReadings<KeysPort>,
  onWritten: () => void,
) {
  let pending = new Map<string, KeyUse>();
  let noted = new Map<string, number>();
  let timer: NodeJS.Timeout | null = null;

  async function flush(): Promise<Reading<number, KeysPort>> {
    const uses = [...pending.values()];
    pending = new Map();
    if (uses.length === 0) return readings.read(uses.length);
    const written = await readings.ask(async () => {
      await database.query(
        `update api_keys k set last_used_at = greatest(k.last_used_at, to_timestamp(u.at)),
           hash = u.hash, pepper = u.pepper
         from unnest($1::text[], $2::bytea[], $3::text[], $4::float8[]) as u(id, hash, pepper, at)
         where k.id = u.id`,
        columnsOf(
          uses.map(({ id, secret, at }) => ({ id, ...secret, at })),
          ['id', 'hash', 'pepper', 'at'],
        ),
      );
      return uses.length;
    });
    // Not written: the next use of each is noted at once.
    if (written instanceof Unread) for (const use of uses) noted.delete(use.id);
    else onWritten();
    return written;
  }

  function note(use: KeyUse): void {
    const before = noted.get(use.id);
    if (before !== undefined && use.at - before < NOTED_EVERY_S) return;
    if (pending.size >= PENDING_MAX) return;
    if (noted.size >= PENDING_MAX) noted = new Map();
    noted.set(use.id, use.at);
    pending.set(use.id, use);
    if (timer !== null) return;
    timer = setTimeout(() => {
      timer = null;
      void flush();
    }, WRITTEN_EVERY_MS);
    timer.unref();
  }

  return {
    note,
    flush,
    close: async () => {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      await flush();
    },
  };
}

// Use only grows within a period, so a spent allowance stays spent; anything else ages.

/** How long a use that was seen stands for what is left. */
export const SEEN_FRESH_MS = 2_000;
/** Uses kept; past it all are forgotten, and read again. */
const KEPT_MAX = 50_000;

/** The uses that this process has seen. */
export type KnownUse = ReturnType<typeof knownUses>;

/** Starts with nothing known. */
export function knownUses(nowMs: () => number) {
  const seen = new Map<string, { used: number; period: string; atMs: number }>();
  return {
    /** Notes the use that a charge or a reading showed. */
    saw: (subject: string, period: string, used: number): void => {
      const last = seen.get(subject);
      // Answers can come out of order; the larger use is the later one.
      if (last !== undefined && last.period === period && last.used > used) return;
      if (last === undefined && seen.size >= KEPT_MAX) seen.clear();
      seen.set(subject, { used, period, atMs: nowMs() });
    },
    /** The use, where it was seen lately or spends the limit; else `null`. */
    recent: (subject: string, period: string, limit: number): number | null => {
      const last = seen.get(subject);
      if (last === undefined || last.period !== period) return null;
      const ageMs = nowMs() - last.atMs;
      const fresh = ageMs >= 0 && ageMs < SEEN_FRESH_MS;
      return fresh || last.used >= limit ? last.used : null;
    },
  };
}

// Hashes only: a token is shown once, when it is minted.

/** More tokens than this are not listed in one answer. */
const TOKENS_LISTED_MAX = 10_000;

const TOKEN_COLUMNS = `k.id, k.tier, k.prefix, ${epoch('k.created_at')}, ${epoch('k.revoked_at')}`;
const FIND_TOKEN = `select ${TOKEN_COLUMNS}, encode(k.hash, 'hex') as hash
  from intelligence_tokens k where k.hash = any($1::bytea[])`;

/** The tokens over the control database. */
export function tokenTable(
  database: Database,
  context: ControlContext,
): TokenStore & { readonly forget: () => void } {
  const readings = controlReadings('tokens', 'The tokens', context);
  const lookUps = secretLookUps(
    database,
    readings,
    FIND_TOKEN,
    intelligenceToken.extend({ hash: z.string() }),
    ({ hash, ...token }) => token,
  );
  return {
    find: lookUps.find,
    forget: lookUps.forget,
    add: ({ id, tier, secret, prefix, created_at }) =>
      lookUps.changed(async () => {
        const rows = await database.query(
          `insert into intelligence_tokens as k (id, tier, hash, pepper, prefix, created_at)
           values ($1, $2, $3, $4, $5, to_timestamp($6)) returning ${TOKEN_COLUMNS}`,
          [id, tier, secret.hash, secret.pepper, prefix, created_at],
        );
        return intelligenceToken.parse(onlyRow(rows));
      }),
    list: () =>
      readings.askList(TOKENS_LISTED_MAX, 'tokens', async (limit) => {
        const rows = await database.query(
          `select ${TOKEN_COLUMNS} from intelligence_tokens k order by k.created_at desc, k.id
           limit ${limit}`,
        );
        return z.array(intelligenceToken).parse(rows);
      }),
    revoke: (idOrPrefix, at) =>
      lookUps.changed(() =>
        revokeOne(database, {
          table: 'intelligence_tokens k',
          columns: TOKEN_COLUMNS,
          idOrPrefix,
          at,
          only: null,
          shown: (row) => intelligenceToken.parse(row),
        }),
      ),
  };
}

// A prefix that several rows share is refused: none of them is revoked.

/** The revocation, in a table with `id`, `prefix` and `revoked_at` under the alias `k`. */
type Revocation<Shown> = {
  readonly table: 'api_keys k' | 'intelligence_tokens k';
  readonly columns: string;
  readonly idOrPrefix: string;
  readonly at: UnixSeconds;
  /** Only among these rows, where it is not `null`. */
  readonly only: { readonly column: string; readonly value: string } | null;
  readonly shown: (row: unknown) => Shown;
  /** Told inside the transaction of what was revoked now, and not before. */
  readonly noted?: (session: Session, revoked: Shown) => Promise<void>;
};

/** Revokes one row. One that was revoked before keeps its first time. */
async function revokeOne<Shown>(
  database: Database,
  { table, columns, idOrPrefix, at, only, shown, noted }: Revocation<Shown>,
): Promise<Revoked<Shown>> {
  return await database.transaction(async (session) => {
    const among = only === null ? '' : `and ${only.column} = $2`;
    const named = await session.query(
      `select k.id, ${epoch('k.revoked_at')} from ${table}
       where (k.id = $1 or k.prefix = $1) ${among} for update`,
      only === null ? [idOrPrefix] : [idOrPrefix, only.value],
    );
    const rows = z.array(revocationRow).parse(named);
    const [first, ...others] = rows;
    if (first === undefined) return { outcome: 'unknown' };
    if (others.length > 0) return { outcome: 'ambiguous', ids: rows.map((row) => row.id) };
    const updated = await session.query(
      `update ${table} set revoked_at = coalesce(k.revoked_at, to_timestamp($2))
       where k.id = $1 returning ${columns}`,
      [first.id, at],
    );
    const revoked = shown(onlyRow(updated));
    if (first.revoked_at === null) await noted?.(session, revoked);
    return { outcome: 'revoked', revoked };
  });
}

// A hit and a miss are kept for two seconds, so that a revocation elsewhere works within five. Past
// five seconds nothing is answered from memory, also while the store is silent.

/** How long an answer serves without a question to the store. */
export const FRESH_MS = 2_000;
/** How long it serves while the store is silent. */
export const STALE_MAX_MS = 5_000;
/** Answers kept; the oldest goes first. */
const LOOK_UPS_KEPT_MAX = 20_000;

type SecretHashes = readonly [SecretHash, ...SecretHash[]];
type KeptLookUp<T, P extends string> = {
  readonly reading: Reading<T, P>;
  readonly askedMs: number;
};

/** A look-up with a memory, and how to empty it after a change made here. */
type RememberedLookUps<T, P extends string> = {
  readonly find: (secrets: SecretHashes) => Soon<Reading<T, P>>;
  readonly forget: () => void;
};

/**
 * Gives a look-up a memory. An answer's age counts from when the question was asked; one that comes
 * too old is `late`. `monotonicMs` is a clock that is never set back, as `performance.now`.
 */
export function rememberLookUps<T, P extends string>(
  find: (secrets: SecretHashes) => Promise<Reading<T, P>>,
  late: Unread<P>,
  monotonicMs: () => number,
): RememberedLookUps<T, P> {
  let kept = new Map<string, KeptLookUp<T, P>>();
  let asking = new Map<string, Promise<Reading<T, P>>>();

  async function ask(name: string, secrets: SecretHashes): Promise<Reading<T, P>> {
    const memory = kept;
    const askedMs = monotonicMs();
    const reading = await find(secrets);
    if (reading instanceof Unread) {
      const last = memory.get(name);
      const usable = last !== undefined && monotonicMs() - last.askedMs < STALE_MAX_MS;
      return usable ? last.reading : reading;
    }
    if (monotonicMs() - askedMs >= STALE_MAX_MS) return late;
    // Into the memory of the question's own time: after a `forget` nobody reads that one.
    memory.delete(name);
    memory.set(name, { reading, askedMs });
    const [oldest] = memory.keys();
    if (memory.size > LOOK_UPS_KEPT_MAX && oldest !== undefined) memory.delete(oldest);
    return reading;
  }

  return {
    find: (secrets) => {
      const name = nameOf(secrets);
      const last = kept.get(name);
      if (last !== undefined && monotonicMs() - last.askedMs < FRESH_MS) return last.reading;
      const underWay = asking.get(name);
      if (underWay !== undefined) return underWay;
      const questions = asking;
      const mine = ask(name, secrets).finally(() => questions.delete(name));
      questions.set(name, mine);
      return mine;
    },
    forget: () => {
      kept = new Map();
      asking = new Map();
    },
  };
}

// A caller that is seen again sends the very hashes that it sent before.
const names = new WeakMap<SecretHashes, string>();

function nameOf(secrets: SecretHashes): string {
  const known = names.get(secrets);
  if (known !== undefined) return known;
  const name = secrets.map(({ hash }) => Buffer.from(hash).toString('latin1')).join();
  names.set(secrets, name);
  return name;
}

// Look-ups that wait together share one statement, and are remembered for a moment.

const LOOK_UPS = { batchMax: 500, waitingMax: 10_000 };

type SecretLookUps<T, P extends string> = RememberedLookUps<T | null, P> & {
  /** Makes a change; whatever came of it, what is remembered is forgotten. */
  readonly changed: <R>(change: () => Promise<R>) => Promise<Reading<R, P>>;
};

/**
 * Finds the first of a caller’s hashes that is stored. `sql` selects rows of the schema `row`, with
 * `hash` in hex, under the hashes in $1.
 */
function secretLookUps<Row extends { readonly hash: string }, T, P extends string>(
  database: Database,
  readings: ControlReadings<P>,
  sql: string,
  row: z.ZodType<Row>,
  shown: (row: Row) => T,
): SecretLookUps<T, P> {
  const table = z.array(row);
  const findBatched = batchQueue<readonly SecretHash[], T | null>(async (wanted) => {
    const hashes = wanted.flat().map(({ hash }) => hash);
    const rows = table.parse(await database.query(sql, [hashes]));
    const byHash = new Map(rows.map((row) => [row.hash, row]));
    return wanted.map((secrets) => {
      for (const { hash } of secrets) {
        const row = byHash.get(Buffer.from(hash).toString('hex'));
        if (row !== undefined) return shown(row);
      }
      return null;
    });
  }, LOOK_UPS);
  const { find, forget } = rememberLookUps<T | null, P>(
    (secrets) => readings.ask(() => findBatched(secrets)),
    readings.silent('it answered too late'),
    () => performance.now(),
  );
  return {
    find,
    forget,
    changed: async (change) => {
      const reading = await readings.ask(change);
      forget();
      return reading;
    },
  };
}
