// Declares GET /api/v1/evm/deployer/{chain}/{address}: what became of what an address launched.
// There is no flag in it: nothing of it was scored.

import { z } from 'zod';
import { evidenceRoute } from '../../contract/route.ts';
import {
  addressText,
  claimedWords,
  harmless,
  negative,
  ofRow,
  oneOf,
  prose,
  unixSeconds,
  words,
} from '../../contract/wire.ts';

const RECORDS = { restsOn: ['deployer_records'] } as const;

const count = negative(z.int().nonnegative(), RECORDS);
const usd = ofRow(z.number().nonnegative().nullable(), RECORDS);

const launch = z.strictObject({
  address: words(),
  outcome: ofRow(z.enum(['live', 'died', 'never_listed', 'unchecked']), RECORDS),
  created_at: unixSeconds,
  observed_age_days: ofRow(z.number().nonnegative()),
  liquidity_usd: usd,
  volume_usd_24h: usd,
  transfers_observed: ofRow(z.int().nonnegative().nullable(), RECORDS),
  transfers_truncated: ofRow(z.boolean().nullable(), RECORDS),
  via: words().nullable(),
});

const coverage = z.strictObject({
  captured_at: unixSeconds,
  direct_creations: z.int().positive(),
  factories_walked: count,
  factory_depth: z.literal(1),
  truncated: negative(z.boolean(), RECORDS),
  truncated_factories: negative(z.array(words()), RECORDS),
  contracts_examined: ofRow(z.int().nonnegative(), RECORDS),
  skipped: negative(
    z.array(
      z.strictObject({
        address: words(),
        reason: oneOf([
          'not_an_erc20',
          'attribution_mismatch',
          'reverted_creation',
          'undetermined',
        ]),
      }),
    ),
    RECORDS,
  ),
  unchecked: count,
  providers: ofRow(z.array(words()), RECORDS),
});

/** What a record says, wherever it is answered. */
export const deployerRecordData = z.strictObject({
  address: words(),
  chain: z.literal('ethereum'),
  state: claimedWords(
    ['all_died', 'mixed', 'no_listed_launch', 'unchecked'],
    ['no_listed_launch'],
    RECORDS,
  ),
  calibrated: harmless(z.literal(false), 'nothing of a record was scored'),
  listed_launches: count,
  died: count,
  survived: count,
  never_listed: count,
  death_rate: negative(z.number().min(0).max(1).nullable(), RECORDS),
  launches: negative(z.array(launch), RECORDS),
  finding: prose().min(1),
  coverage,
  caveat: prose().min(1),
});

/** A record as it is shown. */
export type ShownRecord = z.output<typeof deployerRecordData>;

export const deployerRecord = evidenceRoute({
  name: 'deployer_record',
  surface: 'hosted',
  method: 'GET',
  path: '/api/v1/evm/deployer/{chain}/{address}',
  summary: 'The launches of one Ethereum deployer, and what became of them.',
  access: 'analyst',
  params: z.strictObject({
    chain: z
      .string()
      .regex(/^[a-z0-9_-]{1,32}$/)
      .meta({ description: 'Only `ethereum` is served; any other is not_supported.' }),
    address: addressText,
  }),
  data: deployerRecordData,
  absences: ['insufficient_evidence', 'not_supported', 'not_deployed'],
  tool: {
    name: 'deployer_record',
    description:
      'What became of the tokens that one Ethereum address launched: listed, died, survived, ' +
      'never listed, with how each was observed. Nothing in it is scored, and an address without ' +
      'a record has not been cleared.',
  },
});
