// Declares GET /api/v1/wallet/{address}/score: what was observed of an address, item by item.

import { z } from 'zod';
import { evidenceRoute } from '../../contract/route.ts';
import {
  addressText,
  checked,
  claimedWords,
  isoTime,
  negative,
  unixSeconds,
} from '../../contract/wire.ts';

const FACTS = { restsOn: ['chain_facts'] } as const;
const HISTORY = { restsOn: ['transfer_history'] } as const;
const LABELS = { restsOn: ['exchange_labels'] } as const;
/** What every kind of address is asked of; findings of EVM addresses rest on further ports. */
const COMMON = {
  restsOn: ['transfer_history', 'sanctions_list', 'flagged_addresses', 'exchange_labels'],
} as const;

const accountKind = claimedWords(['eoa', 'contract', 'token'], ['eoa', 'contract'], FACTS);
const count = negative(z.int().nonnegative().nullable(), FACTS);
const wei = negative(z.string().regex(/^\d+$/).nullable(), FACTS);

const facts = z.strictObject({
  chain: z.string().nullable(),
  kind: accountKind.nullable(),
  first_seen: isoTime.nullable(),
  last_seen: isoTime.nullable(),
  transactions: negative(z.int().nonnegative().nullable(), HISTORY),
  nonce: count,
  balance_wei: wei,
  code_size: count,
  creator: z.string().nullable(),
  creation_tx: z.string().nullable(),
  verified_name: z.string().nullable(),
  funded_by: z
    .strictObject({ address: z.string(), chain: z.string(), tx: z.string(), at: isoTime })
    .nullable(),
  delegates_to: z.string().nullable(),
  authority: z
    .strictObject({
      implementation: z.string().nullable(),
      admin: z.string().nullable(),
      beacon: z.string().nullable(),
      owner: z.string().nullable(),
      minimal_proxy_of: z.string().nullable(),
    })
    .nullable(),
});

// `measured` with a `null` beside it: it was looked at, and there is none.
const provenance = <const P extends 'chain_facts' | 'transfer_history'>(port: P) =>
  z.strictObject({
    measured: checked({ restsOn: [port] }),
    source: z.string().nullable(),
    as_of: unixSeconds.nullable(),
    reason: z.string().nullable(),
  });
const ofChain = provenance('chain_facts');
const ofHistory = provenance('transfer_history');

const factsProvenance = z.strictObject({
  kind: ofChain,
  first_seen: ofHistory,
  last_seen: ofHistory,
  transactions: ofHistory,
  nonce: ofChain,
  balance_wei: ofChain,
  code_size: ofChain,
  creator: ofChain,
  creation_tx: ofChain,
  verified_name: ofChain,
  funded_by: ofHistory,
  delegates_to: ofChain,
  authority: ofChain,
});

const elsewhere = z.strictObject({
  chain: z.string(),
  nonce: count,
  balance_wei: wei,
  code_size: count,
  delegates_to: z.string().nullable(),
});

const transferEvidence = z.strictObject({
  evidence: z.literal('transfer'),
  chain: z.string(),
  tx: z.string(),
  block: z.int().nonnegative(),
  at: isoTime,
  from: z.string(),
  to: z.string(),
  direction: z.enum(['in', 'out']),
  token: z.string().nullable(),
  symbol: z.string().nullable(),
  raw_amount: z.string(),
  amount: z.string().nullable(),
  usd: z.string().nullable(),
  initiator: z.string().nullable(),
  initiated_by_subject: z.boolean().nullable(),
});
const recordEvidence = z.strictObject({
  evidence: z.literal('record'),
  chain: z.string().nullable(),
  tx: z.string().nullable(),
  block: z.int().nonnegative().nullable(),
  at: isoTime.nullable(),
  name: z.string(),
  value: z.string(),
});

const finding = z.strictObject({
  id: z.string().regex(/^[0-9a-f]{32}$/),
  kind: z.string(),
  title: z.string(),
  statement: z.string(),
  evidence: z.array(z.union([transferEvidence, recordEvidence])).min(1),
  evidence_count: z.int().positive(),
  initiated_by_subject: z.boolean().nullable(),
  source: z.string(),
  as_of: unixSeconds,
});

// `from` and `to` are blocks of the main chain of the address's kind; null where no history counts.
const coverage = z.strictObject({
  kind: z.string(),
  title: z.string(),
  checked: z.boolean(),
  reason: z.string().nullable(),
  from: z.int().nonnegative().nullable(),
  to: z.int().nonnegative().nullable(),
  blocks: z
    .array(z.strictObject({ chain: z.string(), from: z.int(), to: z.int() }))
    .min(1)
    .nullable(),
});

export const walletScore = evidenceRoute({
  name: 'wallet_score',
  surface: 'hosted',
  method: 'GET',
  path: '/api/v1/wallet/{address}/score',
  summary: 'What was observed of the address: facts, label, entity and itemised findings.',
  access: 'analyst',
  params: z.strictObject({ address: addressText }),
  data: z.strictObject({
    address: z.string(),
    checksum: z.string(),
    label: z
      .strictObject({
        name: z.string(),
        entity: z.string(),
        role: z.string(),
        confidence: z.string(),
      })
      .nullable(),
    label_checked: checked(LABELS),
    facts,
    facts_provenance: factsProvenance,
    facts_elsewhere: z.array(elsewhere).min(1).nullable(),
    entity: z
      .strictObject({
        cluster_id: z.string(),
        confidence: z.number().positive(),
        members: z.array(z.string()).min(1),
        labels: z.array(z.string()).nullable(),
      })
      .nullable(),
    entity_checked: checked({ restsOn: ['entity_clusters'] }),
    findings_checked: checked(COMMON),
    // False only where every kind that applies ran on inputs that were read, and saw nothing.
    findings_found: negative(z.boolean().nullable(), COMMON),
    findings_coverage: z.array(coverage).min(1),
    findings: z.array(finding),
    notes: z.array(z.string()).min(1),
    caveat: z.string().min(1),
  }),
  absences: ['insufficient_evidence', 'not_deployed'],
  tool: {
    name: 'wallet_score',
    description:
      'The forensic record of one address: chain facts, published label, entity and itemised ' +
      'findings with their transactions. It holds no rating. Where findings_checked is false, ' +
      'an empty list of findings is silence.',
  },
});
