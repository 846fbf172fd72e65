// Answers one question: how are intelligence tokens kept in the control database.
// Hashes only: a token is shown once, when it is minted.

import type { UnixSeconds } from '../../chain/time.ts';
import type {
  IntelligenceToken,
  TokenStore,
  TokensPort,
  TokenTier,
} from '../../ports/access/key-store.ts';
import { type ControlContext, controlReadings } from './engine/control-readings.ts';
import { type Database, epoch, onlyRow } from './engine/database.ts';
import { secretLookUps } from './engine/secret-look-ups.ts';
import { revokeOne } from './revoke-one.ts';

/** More tokens than this are not listed in one answer. */
const TOKENS_LISTED_MAX = 10_000;

type TokenRow = {
  readonly id: string;
  readonly tier: TokenTier;
  readonly prefix: string;
  readonly created_at: UnixSeconds;
  readonly revoked_at: UnixSeconds | null;
};

const COLUMNS = `k.id, k.tier, k.prefix, ${epoch('k.created_at')}, ${epoch('k.revoked_at')}`;
const FIND = `select ${COLUMNS}, encode(k.hash, 'hex') as hash from intelligence_tokens k
  where k.hash = any($1::bytea[])`;

/** The tokens over the control database. */
export function tokenTable(database: Database, context: ControlContext): TokenStore {
  const readings = controlReadings('tokens', 'The tokens', context);
  const shown = ({ hash, ...token }: TokenRow & { readonly hash: string }) => token;
  const lookUps = secretLookUps<Parameters<typeof shown>[0], IntelligenceToken, TokensPort>(
    database,
    readings,
    FIND,
    shown,
  );
  return {
    find: lookUps.find,
    add: ({ id, tier, secret, prefix, created_at }) =>
      lookUps.changed(async () =>
        onlyRow(
          await database.query<TokenRow>(
            `insert into intelligence_tokens as k (id, tier, hash, pepper, prefix, created_at)
             values ($1, $2, $3, $4, $5, to_timestamp($6)) returning ${COLUMNS}`,
            [id, tier, secret.hash, secret.pepper, prefix, created_at],
          ),
        ),
      ),
    list: () =>
      readings.askList(TOKENS_LISTED_MAX, 'tokens', (limit) =>
        database.query<TokenRow>(
          `select ${COLUMNS} from intelligence_tokens k order by k.created_at desc, k.id
           limit ${limit}`,
        ),
      ),
    revoke: (idOrPrefix, at) =>
      lookUps.changed(() =>
        revokeOne<TokenRow, IntelligenceToken>(database, {
          table: 'intelligence_tokens k',
          columns: COLUMNS,
          idOrPrefix,
          at,
          only: null,
          shown: (row) => row,
        }),
      ),
  };
}
