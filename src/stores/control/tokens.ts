// Answers one question: how are intelligence tokens kept in the control database.
// Hashes only: a token is shown once, when it is minted.

import type { UnixSeconds } from '../../chain/time.ts';
import { part } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  IntelligenceToken,
  SecretHash,
  TokenStore,
  TokensPort,
  TokenTier,
} from '../../ports/access/key-store.ts';
import { batchQueue } from './engine/batch-queue.ts';
import { type ControlContext, controlReadings } from './engine/control-readings.ts';
import type { Database } from './engine/database.ts';
import { rememberLookUps } from './engine/look-up-cache.ts';
import { revokeOne } from './revoke-one.ts';

/** More tokens than this are not listed in one answer. */
export const TOKENS_LISTED_MAX = 10_000;
const LOOK_UPS = { batchMax: 500, waitingMax: 10_000 };

type TokenRow = {
  readonly id: string;
  readonly tier: TokenTier;
  readonly prefix: string;
  readonly created_at: UnixSeconds;
  readonly revoked_at: UnixSeconds | null;
};

const COLUMNS =
  'k.id, k.tier, k.prefix, extract(epoch from k.created_at)::float8 as created_at, ' +
  'extract(epoch from k.revoked_at)::float8 as revoked_at';

/** The tokens over the control database. */
export function tokenTable(database: Database, context: ControlContext): TokenStore {
  const readings = controlReadings('tokens', 'The tokens', context);
  const findBatched = batchQueue<readonly SecretHash[], IntelligenceToken | null>(
    (wanted) => findAll(database, wanted),
    LOOK_UPS,
  );
  const remembered = rememberLookUps<IntelligenceToken | null, TokensPort>(
    (secrets) => readings.ask(() => findBatched(secrets)),
    readings.silent('it answered too late'),
    () => performance.now(),
  );
  const changed = <T>(reading: T): T => {
    remembered.forget();
    return reading;
  };
  return {
    find: remembered.find,
    add: async ({ id, tier, secret, prefix, created_at }) =>
      changed(
        await readings.ask(async () => {
          const [row] = await database.query<TokenRow>(
            `insert into intelligence_tokens as k (id, tier, hash, pepper, prefix, created_at)
             values ($1, $2, $3, $4, $5, to_timestamp($6)) returning ${COLUMNS}`,
            [id, tier, secret.hash, secret.pepper, prefix, created_at],
          );
          if (row === undefined) throw new Error('tokens: an insert gave no row');
          return row;
        }),
      ),
    list: async () => {
      const rows = await readings.ask(() =>
        database.query<TokenRow>(
          `select ${COLUMNS} from intelligence_tokens k order by k.created_at desc, k.id
           limit ${TOKENS_LISTED_MAX + 1}`,
        ),
      );
      if (!rows.checked || rows.value.length <= TOKENS_LISTED_MAX) return rows;
      const fault = `it holds more than ${TOKENS_LISTED_MAX} rows`;
      return part<readonly IntelligenceToken[], 'tokens'>(
        rows.value.slice(0, TOKENS_LISTED_MAX),
        { port: 'tokens', source: readings.source() },
        why('store_unreadable', { what: 'The end of the list of tokens', fault }),
      );
    },
    revoke: async (idOrPrefix, at) => {
      const named = { columns: COLUMNS, idOrPrefix, at, only: null } as const;
      return changed(
        await readings.ask(() =>
          revokeOne<TokenRow, IntelligenceToken>(database, {
            ...named,
            table: 'intelligence_tokens k',
            shown: (row) => row,
          }),
        ),
      );
    },
  };
}

async function findAll(
  database: Database,
  wanted: readonly (readonly SecretHash[])[],
): Promise<(IntelligenceToken | null)[]> {
  const hexOf = (secret: SecretHash) => Buffer.from(secret.hash).toString('hex');
  const hashes = wanted.flat().map((secret) => secret.hash);
  const rows = await database.query<TokenRow & { readonly hash: string }>(
    `select ${COLUMNS}, encode(k.hash, 'hex') as hash from intelligence_tokens k
     where k.hash = any($1::bytea[])`,
    [hashes],
  );
  const byHash = new Map(rows.map(({ hash, ...token }) => [hash, token]));
  return wanted.map((secrets) => {
    for (const secret of secrets) {
      const token = byHash.get(hexOf(secret));
      if (token !== undefined) return token;
    }
    return null;
  });
}
