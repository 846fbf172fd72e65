// Declares GET /api/v1/token/{address}/creator: who made a token, with the record of that creator.

import { z } from 'zod';
import { evidenceRoute } from '../../contract/route.ts';
import { addressText, checked, ofRow, oneOf, prose, words } from '../../contract/wire.ts';
import { deployerRecordData } from './deployer-record.contract.ts';

const LAUNCHES = { restsOn: ['wallet_launches'] } as const;

const launches = z.strictObject({
  answer: oneOf(['flagged', 'record']),
  launches_settled: z.int().positive(),
  died: ofRow(z.int().nonnegative(), LAUNCHES),
});

export const tokenCreator = evidenceRoute({
  name: 'token_creator',
  surface: 'hosted',
  method: 'GET',
  path: '/api/v1/token/{address}/creator',
  summary: 'Who made a token, and what became of the tokens that they made.',
  access: 'analyst',
  params: z.strictObject({ address: addressText }),
  query: z.strictObject({
    chain: z
      .enum(['ethereum', 'arbitrum', 'base', 'bsc', 'polygon', 'hyperevm', 'solana'])
      .optional()
      .meta({ description: 'Left out: `solana` for a Solana address, else `ethereum`.' }),
  }),
  data: z.strictObject({
    address: words(),
    chain: words(),
    /** Who signed the creation. */
    creator: words(),
    factory: words().nullable(),
    creation_tx: words().nullable(),
    creation_block: z.int().positive().nullable(),
    code_size: ofRow(z.int().nonnegative().nullable(), { restsOn: ['chain_facts'] }),
    record: deployerRecordData.nullable().describe('Of an Ethereum deployer, where one is held.'),
    launches: launches.nullable().describe('Of a Solana wallet, over its settled launches.'),
    record_checked: checked({ restsOn: ['deployer_records'] }),
    corpus_checked: checked(LAUNCHES),
    reason: prose().nullable().describe('Why no record stands beside the creator.'),
    caveat: prose().min(1),
  }),
  absences: ['insufficient_evidence', 'not_deployed'],
  tool: {
    name: 'token_creator',
    description:
      'Who made a token of an EVM chain or of Solana, with the record of that creator where one ' +
      'is held. A creator without a record has not been cleared.',
  },
});
