// Declares GET /api/v1/wallet/{address}/score: what was observed of an address, item by item.

import { z } from 'zod';
import { evidenceRoute } from '../../contract/route.ts';
import {
  addressText,
  checked,
  claimedWords,
  emptyUnless,
  harmless,
  isoTime,
  negative,
  ofRow,
  oneOf,
  prose,
  unixSeconds,
  words,
} from '../../contract/wire.ts';
import { created } from './created.contract.ts';
import { flows } from './flows.contract.ts';

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
  chain: words().nullable(),
  kind: accountKind.nullable(),
  first_seen: isoTime.nullable(),
  last_seen: isoTime.nullable(),
  transactions: negative(z.int().nonnegative().nullable(), HISTORY),
  nonce: count,
  balance_wei: wei,
  code_size: count,
  creator: words().nullable(),
  creation_tx: words().nullable(),
  verified_name: words().nullable(),
  funded_by: z
    .strictObject({ address: words(), chain: words(), tx: words(), at: isoTime })
    .nullable(),
  delegates_to: words().nullable(),
  authority: z
    .strictObject({
      implementation: words().nullable(),
      admin: words().nullable(),
      beacon: words().nullable(),
      owner: words().nullable(),
      minimal_proxy_of: words().nullable(),
    })
    .nullable(),
});

// `measured` with a `null` beside it: it was looked at, and there is none.
const provenance = <const P extends 'chain_facts' | 'transfer_history'>(port: P) =>
  z.strictObject({
    measured: checked({ restsOn: [port] }),
    source: words().nullable(),
    as_of: unixSeconds.nullable(),
    reason: prose().nullable(),
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
  chain: words(),
  nonce: count,
  balance_wei: wei,
  code_size: count,
  delegates_to: words().nullable(),
});

const transferEvidence = z.strictObject({
  evidence: z.literal('transfer'),
  chain: words(),
  tx: words(),
  block: z.int().nonnegative(),
  at: isoTime,
  from: words(),
  to: words(),
  direction: oneOf(['in', 'out']),
  token: words().nullable(),
  symbol: words().nullable(),
  raw_amount: words(),
  amount: words().nullable(),
  usd: words().nullable(),
  initiator: words().nullable(),
  initiated_by_subject: ofRow(z.boolean().nullable()),
});
const recordEvidence = z.strictObject({
  evidence: z.literal('record'),
  chain: words().nullable(),
  tx: words().nullable(),
  // Why there is none, of a fact that a transaction set.
  tx_reason: prose().nullable(),
  block: z.int().nonnegative().nullable(),
  at: isoTime.nullable(),
  name: words(),
  value: words(),
});

const finding = z.strictObject({
  id: words(z.string().regex(/^[0-9a-f]{32}$/)),
  kind: words(),
  title: words(),
  statement: prose(),
  evidence: z.array(z.union([transferEvidence, recordEvidence])).min(1),
  evidence_count: z.int().positive(),
  initiated_by_subject: ofRow(z.boolean().nullable()),
  source: words(),
  as_of: unixSeconds,
});

// `from` and `to` are blocks of the main chain of the address's kind; null where no history counts.
const place = <S extends z.ZodType>(block: S) =>
  harmless(block, 'the number of a block is a place');
const coverage = z.strictObject({
  kind: words(),
  title: words(),
  checked: harmless(z.boolean(), 'a true one is held by the flag of all of them'),
  reason: prose().nullable(),
  from: place(z.int().nonnegative()).nullable(),
  to: z.int().nonnegative().nullable(),
  blocks: z
    .array(z.strictObject({ chain: words(), from: place(z.int()), to: z.int() }))
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
    address: words(),
    checksum: words(),
    label: z
      .strictObject({
        name: words(),
        entity: words(),
        role: words(),
        confidence: words(),
      })
      .nullable(),
    label_checked: checked(LABELS),
    facts,
    facts_provenance: factsProvenance,
    facts_elsewhere: z.array(elsewhere).min(1).nullable(),
    entity: z
      .strictObject({
        cluster_id: words(),
        confidence: z.number().positive(),
        members: z.array(words()).min(1),
        labels: ofRow(z.array(words()).nullable()),
      })
      .nullable(),
    entity_checked: checked({ restsOn: ['entity_clusters'] }),
    flows,
    created: created.nullable(),
    findings_checked: checked(COMMON),
    // False only where every kind that applies ran on inputs that were read, and saw nothing.
    findings_found: negative(z.boolean().nullable(), COMMON),
    findings_coverage: z.array(coverage).min(1),
    findings: emptyUnless('findings_checked', z.array(finding)),
    notes: z.array(prose()).min(1),
    caveat: prose().min(1),
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
