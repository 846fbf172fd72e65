// The shapes that the engines of the forensic record share with its route: what carries a finding,
// how far a kind was looked for, and with whom an address exchanged what.

import { z } from 'zod';
import {
  checkedFlag,
  harmless,
  isoTime,
  oneOf,
  prose,
  rowFact,
  unixSeconds,
  words,
} from '../../contract/wire.ts';

/** A transfer that carries a finding. `tx` is the block's hash for what belongs to none. */
export const transferEvidence = z.strictObject({
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
  /** In whole coins or tokens; `null` where the decimals are unknown. */
  amount: words().nullable(),
  usd: words().nullable(),
  initiator: words().nullable(),
  initiated_by_subject: rowFact(z.boolean().nullable()),
});
export type TransferEvidence = Readonly<z.output<typeof transferEvidence>>;

/** Something that a table or a contract says. `tx` and what follows are null where it has none. */
export const recordEvidence = z.strictObject({
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
/** As a finding holds it: it has a reason only where a transaction may be expected. */
export type RecordEvidence = Readonly<Omit<z.output<typeof recordEvidence>, 'tx_reason'>> & {
  readonly tx_reason?: string;
};

/** One thing that was found. `id` is the same wherever the same content is found again. */
export const forensicFinding = z.strictObject({
  id: words(z.string().regex(/^[0-9a-f]{32}$/)),
  kind: words(),
  title: words(),
  statement: prose(),
  evidence: z.array(z.union([transferEvidence, recordEvidence])).min(1),
  /** How many items carry it in all; `evidence` shows the newest of them. */
  evidence_count: z.int().positive(),
  /** Whether the subject signed any of it; `null` where nothing says so. */
  initiated_by_subject: rowFact(z.boolean().nullable()),
  source: words(),
  /** When that source was observed. */
  as_of: unixSeconds,
});
export type Finding = Readonly<Omit<z.output<typeof forensicFinding>, 'evidence'>> & {
  readonly evidence: readonly (TransferEvidence | RecordEvidence)[];
};

// `from` and `to` are blocks of the main chain of the address's kind; null where no history counts.
const place = <S extends z.ZodType>(block: S) =>
  harmless(block, 'the number of a block is a place');
export const coverage = z.strictObject({
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
export type KindCoverage = z.output<typeof coverage>;
export type CoveredBlocks = NonNullable<KindCoverage['blocks']>[number];

const ofThem = harmless(z.int().nonnegative(), 'a part of the transfers that the row counts');

const side = z.strictObject({
  transfers: ofThem,
  usd: words().nullable(),
  unpriced: ofThem,
});
const amounts = side.extend({ raw_amount: words(), amount: words().nullable() });

export const counterparty = z.strictObject({
  address: words(),
  label: words().nullable(),
  /** The chains of the transfers with it. */
  chains: z.array(words()).min(1),
  transfers: z.int().positive(),
  sent: side,
  received: side,
  first_at: isoTime,
  last_at: isoTime,
  last_tx: words(),
  /** Whether the subject signed any of them; `null` where nothing says so. */
  initiated_by_subject: rowFact(z.boolean().nullable()),
});

export const asset = z.strictObject({
  chain: words(),
  /** `null`: the chain's own coin. */
  token: words().nullable(),
  symbol: words().nullable(),
  decimals: harmless(z.int().nonnegative(), 'a property of the token').nullable(),
  transfers: z.int().positive(),
  sent: amounts,
  received: amounts,
});
export type Side = z.output<typeof side>;
export type Amounts = z.output<typeof amounts>;
export type FlowCounterparty = z.output<typeof counterparty>;
export type FlowAsset = z.output<typeof asset>;

/** The kinds of account, by code. */
export const ACCOUNT_KINDS = ['eoa', 'contract', 'token'] as const;

export type FactPort = 'chain_facts' | 'transfer_history';

/** Whence a fact is. `measured` with a `null` beside it: it was looked at, and there is none. */
export const provenance = <const P extends FactPort>(port: P) =>
  z.strictObject({
    measured: checkedFlag({ restsOn: [port] }),
    source: words().nullable(),
    as_of: unixSeconds.nullable(),
    reason: prose().nullable(),
  });
export type MeasuredFact<P extends FactPort> = z.input<ReturnType<typeof provenance<P>>>;
