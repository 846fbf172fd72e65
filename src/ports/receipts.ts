// A receipt is a text for people about one case, with the addresses that it is about.

import { z } from 'zod';
import { EVM_CHAINS } from '../chain/chain.ts';
import type { Reading } from '../evidence/reading.ts';
import type { TransactionReceiptsPort } from './bridges.ts';

/** The name of this port in readings. */
export type ReceiptsPort = 'receipts';

/** The chains whose transactions a receipt names. */
export const NAMED_CHAINS = [...EVM_CHAINS, 'solana'] as const;
export type NamedChain = (typeof NAMED_CHAINS)[number];

/** A receipt that was reviewed and is published. */
export const receipt = z.strictObject({
  /** Given by its author, stable over renames. */
  id: z.string(),
  /** The name of its file without the ending: its permalink. */
  slug: z.string(),
  title: z.string(),
  /** ISO 8601 day. */
  date: z.string(),
  description: z.string(),
  /** The address that it is about, and the one that made it, in canonical form. */
  subject: z.string(),
  deployer: z.string(),
  kind: z.string(),
  tags: z.array(z.string()).readonly(),
  /** Markdown. */
  body: z.string(),
  /** Those that its head names with their chain, then those that its text alone names. */
  transactions: z
    .array(z.strictObject({ chain: z.enum(NAMED_CHAINS).nullable(), tx: z.string() }))
    .readonly(),
});
export type Receipt = z.output<typeof receipt>;

/** A file of the folder: published, withheld by its author, or malformed. */
export type ReceiptFile = { readonly file: string } & (
  | { readonly state: 'published'; readonly receipt: Receipt }
  | { readonly state: 'draft' }
  | { readonly state: 'refused'; readonly reasons: readonly string[] }
);

/** Every file of the folder, by name. */
export type ReceiptFiles = readonly ReceiptFile[];

/** The folder, read to its end or not at all: one file that fails leaves all of it unread. */
export type ReceiptFolder = { readonly files: () => Promise<Reading<ReceiptFiles, ReceiptsPort>> };

/** A transaction of Solana as a node tells it. */
export type SolanaTransaction = {
  readonly signature: string;
  readonly slot: number;
  /** Unix seconds. */
  readonly at: number;
  /** Its first signer, who paid for it. */
  readonly payer: string;
  readonly success: boolean;
};

/** Single transactions of Solana by their signatures. */
export type SolanaTransactions = {
  readonly lookUp: (
    signature: string,
    signal: AbortSignal,
  ) => Promise<Reading<SolanaTransaction, TransactionReceiptsPort>>;
};
