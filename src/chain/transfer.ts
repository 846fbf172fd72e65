// Transfers, and the kinds of them that a source tells in full. A transfer that names neither a
// transaction nor a block is refused: such a row has no identity.

import { type ChainName, EVM_CHAINS } from './chain.ts';
import type { UnixSeconds } from './time.ts';

/**
 * A coin moved by a transaction or by a contract's call (or the chain itself), a fungible token, or
 * one that is told by its id (ERC-721, ERC-1155).
 */
export const TRANSFER_KINDS = ['native', 'internal', 'token', 'nft'] as const;
export type TransferKind = (typeof TRANSFER_KINDS)[number];
/** The kinds in which amounts are paid, without which no history is whole: all but NFTs. */
export const PAYMENT_KINDS = ['native', 'token', 'internal'] as const satisfies TransferKind[];

/** The way of a transfer as its subject sees it. */
export type TransferDirection = 'in' | 'out';

/**
 * Where a transfer stands. `position` is a log index, or the path of a trace such as `0_2`: kept
 * where a source gives it, never required. A transfer of no transaction (a withdrawal, a block
 * reward) has its block's hash and its index there instead.
 */
type TransferPlace =
  | { tx_hash: string; block_hash: string | null; position: number | string | null }
  | { tx_hash: null; block_hash: string; position: number | string };

/**
 * One movement of value, addresses in the form that `parseAddress` gives. A creation of the chain
 * (a mint, a reward, a withdrawal) comes from its null address, as in token logs. `token` is the
 * contract or mint, null for the chain's coin; `raw_amount` is exact, in the smallest unit, but the
 * id of an `nft`, which is no amount. `success` is null where the source tells neither status nor
 * trace. What it was worth is no part of it: a price is joined when an answer is made.
 */
export type Transfer = TransferPlace & {
  chain: ChainName;
  block: number;
  block_time: UnixSeconds;
  kind: TransferKind;
  token: string | null;
  from: string;
  to: string;
  raw_amount: bigint;
  success: boolean | null;
};

/**
 * The identity of a transfer, but for `n`: two rows with the same identity are equal
 * rows. Block, time and position are no part of it, because sources and re-orgs differ in them;
 * where there is no transaction, the block's hash and the index in it stand for it.
 */
export function transferIdentity(transfer: Transfer): string {
  const place =
    transfer.tx_hash === null
      ? { block_hash: transfer.block_hash, index: String(transfer.position) }
      : transfer.tx_hash;
  const { chain, kind, token, from, to, raw_amount } = transfer;
  return JSON.stringify([chain, place, kind, token, from, to, raw_amount.toString()]);
}

/** A transfer with its number among the equal rows of its transaction, from 0. */
type NumberedTransfer = { transfer: Transfer; identity: string; n: number };

/**
 * Gives each row its `n`. Equal rows are interchangeable, so their order does not matter, but all
 * rows of a transaction must be there: a page that ends inside one is read on before this.
 */
export function numberTransfers(transfers: Iterable<Transfer>): NumberedTransfer[] {
  const named = Array.from(transfers, (transfer) => {
    return { transfer, identity: transferIdentity(transfer) };
  });
  return numberEqual(named, ({ identity }) => identity).map(({ one, n }) => ({ ...one, n }));
}

/** The same for rows whose identity is known: each with its number among the equal ones, from 0. */
export function numberEqual<T>(
  rows: readonly T[],
  identityOf: (row: T) => string,
): readonly { readonly one: T; readonly n: number }[] {
  const nextByIdentity = new Map<string, number>();
  return rows.map((one) => {
    const identity = identityOf(one);
    const next = nextByIdentity.get(identity);
    const n = next === undefined ? 0 : next;
    nextByIdentity.set(identity, n + 1);
    return { one, n };
  });
}

// Every claim of coverage consults this table. A source that answers correctly tells each kind in
// full unless it is listed as missing here; block by block and list by list, other code proves that
// the source did.

/**
 * A way to read transfers: a node by receipts and one of three kinds of traces, or by receipts
 * alone; an explorer's lists of an address; files of traces; a node of Solana by the signatures of
 * an address.
 */
export type TransferSource =
  | 'trace_block'
  | 'flat_call_tracer'
  | 'call_tracer'
  | 'receipts'
  | 'explorer'
  | 'trace_files'
  | 'solana_node';

/** A kind that a source cannot tell in full on some chains, from `before` on where it is set. */
export type NotWhole = {
  readonly sources: readonly TransferSource[];
  readonly chains: readonly ChainName[];
  readonly kinds: readonly TransferKind[];
  /** The first block from which on the row no longer holds; `null`: it always does. */
  readonly before: number | null;
  /** Whether it does not hold of a node whose roots in the headers are recomputed. */
  readonly unless_rooted: boolean;
  readonly because: string;
};

/** Ethereum's first block without a reward (15 September 2022). */
const FIRST_BLOCK_WITHOUT_REWARD = 15_537_394;
/** Polygon's first block whose roots and bloom cover state sync (Madhugiri, PIP-74). */
const FIRST_BLOCK_WITH_STATE_SYNC = 80_084_800;
const NODES = ['trace_block', 'flat_call_tracer', 'call_tracer', 'receipts'] as const;
const TRACES = ['trace_block', 'flat_call_tracer', 'call_tracer', 'trace_files'] as const;
const INTERNAL = ['internal'] as const;
const NFT = ['nft'] as const;
const ALWAYS = { before: null, unless_rooted: false } as const;

/** All that cannot be whole, one row one reason. */
export const NOT_WHOLE: readonly NotWhole[] = [
  {
    sources: ['receipts'],
    chains: EVM_CHAINS,
    kinds: INTERNAL,
    ...ALWAYS,
    because: 'Receipts do not tell what contracts call with coins.',
  },
  {
    sources: ['call_tracer'],
    chains: EVM_CHAINS,
    kinds: INTERNAL,
    ...ALWAYS,
    because:
      'Its frames do not tell how many calls each of them made, so that a missing one would not ' +
      'be seen.',
  },
  {
    sources: ['flat_call_tracer'],
    chains: ['ethereum'],
    kinds: INTERNAL,
    before: FIRST_BLOCK_WITHOUT_REWARD,
    unless_rooted: false,
    because: 'The flat call tracer leaves block rewards out.',
  },
  {
    sources: TRACES,
    chains: ['arbitrum'],
    kinds: INTERNAL,
    ...ALWAYS,
    because:
      'ArbOS moves coins before and after a transaction runs (deposits, retryable tickets, ' +
      'refunds of fees), in no trace of its calls and in no receipt.',
  },
  {
    sources: NODES,
    chains: ['arbitrum'],
    kinds: ['native'],
    ...ALWAYS,
    because:
      'Its headers are held against no root, so that a payment that is missing together with its ' +
      'receipt would not be seen.',
  },
  {
    sources: TRACES,
    chains: ['hyperevm'],
    kinds: INTERNAL,
    ...ALWAYS,
    because:
      'Transfers from HyperCore come by system transactions, which its nodes leave out of ' +
      'blocks, traces and receipts.',
  },
  {
    sources: NODES,
    chains: ['hyperevm'],
    kinds: ['native', 'token'],
    ...ALWAYS,
    because:
      'Coins and tokens from HyperCore come by system transactions, which its nodes leave out of ' +
      'blocks, receipts and logs, and its headers out of their blooms.',
  },
  {
    sources: TRACES,
    chains: ['polygon'],
    kinds: INTERNAL,
    ...ALWAYS,
    because: 'State sync brings deposits of the coin, and its nodes do not trace it.',
  },
  {
    sources: NODES,
    chains: ['polygon'],
    kinds: ['native'],
    before: null,
    unless_rooted: true,
    because:
      'Only a node that tells the roots of its headers, whole transactions and raw ones ' +
      '(`eth_getRawTransactionByHash`) shows that no payment is missing together with its receipt.',
  },
  {
    sources: NODES,
    chains: ['polygon'],
    kinds: ['token', 'nft'],
    before: FIRST_BLOCK_WITH_STATE_SYNC,
    unless_rooted: false,
    because:
      'State sync brings tokens by a transaction that no root and no bloom of its header covers, ' +
      'so that nothing shows that it is missing.',
  },
  {
    sources: ['trace_files'],
    chains: ['base', 'bsc'],
    kinds: INTERNAL,
    ...ALWAYS,
    because: 'What a chain makes beside calls (coins of a deposit) is in no such file.',
  },
  {
    sources: ['explorer'],
    chains: EVM_CHAINS,
    kinds: NFT,
    ...ALWAYS,
    because: 'Its lists of NFTs are two more for each address, and are not read.',
  },
  {
    sources: ['trace_files'],
    chains: EVM_CHAINS,
    kinds: NFT,
    ...ALWAYS,
    because: 'No layout of these files tells an id from an amount.',
  },
  {
    sources: ['solana_node'],
    chains: ['solana'],
    kinds: NFT,
    ...ALWAYS,
    because: 'The chain has none of that kind: its NFTs are tokens.',
  },
  {
    sources: ['solana_node'],
    chains: ['solana'],
    kinds: ['native', 'internal'],
    ...ALWAYS,
    because:
      'Closed accounts give their lamports back, and stake, vote and nonce accounts are ' +
      'withdrawn from, by instructions that are not read.',
  },
  {
    sources: ['solana_node'],
    chains: ['solana'],
    kinds: ['token'],
    ...ALWAYS,
    because: 'A node does not list the token accounts that an address has closed.',
  },
];

/**
 * The kinds that a source can tell in full of a chain from a block on. `roots` says of a node
 * whether the roots in its headers are recomputed.
 */
export function wholeKinds(
  source: TransferSource,
  chain: ChainName,
  fromBlock: number,
  roots: 'rooted' | 'rootless',
): TransferKind[] {
  const rows = NOT_WHOLE.filter(({ sources, chains, before, unless_rooted }) => {
    const isBefore = before === null || fromBlock < before;
    const holds = isBefore && !(unless_rooted && roots === 'rooted');
    return sources.includes(source) && chains.includes(chain) && holds;
  });
  return TRANSFER_KINDS.filter((kind) => !rows.some(({ kinds }) => kinds.includes(kind)));
}

/** The last block up to which those are the same kinds; `null` where no block changes them. */
export function sameKindsUntil(
  source: TransferSource,
  chain: ChainName,
  fromBlock: number,
): number | null {
  const changes = NOT_WHOLE.flatMap(({ sources, chains, before }) => {
    const concerns = sources.includes(source) && chains.includes(chain);
    return concerns && before !== null && fromBlock < before ? [before - 1] : [];
  });
  return changes.length === 0 ? null : Math.min(...changes);
}

/** How the completeness of a block of a chain is shown, and what is not shown by it. */
export type BlockProof = {
  /**
   * Whether the roots in the header are recomputed: that of the receipts always, or both where a
   * node tells all that it takes.
   */
  readonly rooted: 'always' | 'where_told' | 'never';
  readonly proved: string;
  readonly not_proved: string;
};

const BY_BLOOM =
  'one receipt for each transaction, logs numbered without a gap, and the bloom in the header';
const BY_ROOT = {
  rooted: 'always',
  proved:
    'one receipt for each transaction, logs numbered without a gap, blooms, and the root of the ' +
    'receipts in the header; where the node tells whole transactions of known kinds, the root of ' +
    'the transactions too, and so their amounts and receivers',
} as const;
const OF_TRACES =
  'amounts and senders within traces, and traces beyond the number of calls that each call of ' +
  '`trace_block` or of the flat call tracer tells';

/** The proof of a block by chain. */
export const BLOCK_PROOFS: { readonly [C in ChainName]: BlockProof } = {
  ethereum: {
    ...BY_ROOT,
    not_proved: `senders; amounts where the node leaves out fields; withdrawals; ${OF_TRACES}`,
  },
  base: {
    ...BY_ROOT,
    not_proved: `senders; amounts where the node leaves out fields; withdrawals; ${OF_TRACES}`,
  },
  bsc: {
    ...BY_ROOT,
    not_proved: `senders; amounts where the node leaves out fields; ${OF_TRACES}`,
  },
  arbitrum: {
    rooted: 'never',
    proved: BY_BLOOM,
    not_proved:
      'a payment missing together with its receipt (its own kinds of transactions are not ' +
      'encoded); amounts; the second of two equal token transfers; what ArbOS moves',
  },
  polygon: {
    rooted: 'where_told',
    proved:
      `${BY_BLOOM}, with or without the logs of state sync; of a node that tells both roots, ` +
      'whole transactions and raw ones: the roots of the transactions and of the receipts, and ' +
      'so no payment is missing. The transaction of state sync stands outside both before block ' +
      `${FIRST_BLOCK_WITH_STATE_SYNC}, and is known by its hash; from there on it stands in both`,
    not_proved:
      'state sync before that block, with its tokens; coins of state sync; senders; of a node ' +
      'that tells less: a payment missing together with its receipt, amounts, and the second of ' +
      'two equal token transfers',
  },
  hyperevm: {
    rooted: 'never',
    proved: `${BY_BLOOM}, with or without the logs of HyperCore`,
    not_proved:
      'coins and tokens from HyperCore; a payment missing together with its receipt; amounts; ' +
      'the second of two equal token transfers',
  },
  solana: {
    rooted: 'never',
    proved: 'nothing',
    not_proved: 'every kind: no node of it is believed',
  },
  bitcoin: {
    rooted: 'never',
    proved:
      'the block that was asked for, behind the one before it, with as many transactions as the ' +
      'node says that it has, and the output that each input spends',
    not_proved:
      'that number, the order and the amounts: the root of the transactions in the header is not ' +
      'recomputed',
  },
};
