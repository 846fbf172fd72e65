// The anchors of the transparency log: its roots, as a contract on a chain holds them.

import { z } from 'zod';
import type { UnixSeconds } from '../chain/time.ts';
import type { Reading } from '../evidence/reading.ts';
import type { Why } from '../evidence/reasons.ts';

export type AnchorsPort = 'anchors';

/**
 * How far the anchor that covers a leaf is: nothing was sent, or what was sent is gone again
 * (`queued`); sent and not final (`submitted`); final (`confirmed`); refused by the chain
 * (`failed`).
 */
export const ANCHOR_STATUSES = ['queued', 'submitted', 'confirmed', 'failed'] as const;

/** The anchor that covers a leaf of the log, as this deployment keeps it. No chain is asked. */
export const leafAnchor = z.strictObject({
  anchor_status: z.enum(ANCHOR_STATUSES),
  /** The hash of the transaction, once it is final. */
  anchor_tx: z.string().nullable(),
  /** The size of the log whose root was sent; `null` while none that covers the leaf was sent. */
  anchor_size: z.int().positive().nullable(),
});
export type LeafAnchor = z.output<typeof leafAnchor>;

/** What the contract holds for a size of the log at a finalised block of its chain. */
export type AnchoredRoot = {
  /** 32 bytes as `0x` hex; `null`: the contract holds none for this size. */
  readonly root: string | null;
  /** The finalised block at which the contract was read. */
  readonly block: number;
};

/** The anchors of the log. */
export type Anchors = {
  /** The chain that anchors are meant for, by its number of EIP-155. */
  readonly anchor_chain_id: number;
  /** The anchor of each leaf, in the order of the indexes. At most `LEAVES_ASKED_MAX`. */
  readonly anchorsOf: (
    indexes: readonly number[],
  ) => Promise<Reading<readonly LeafAnchor[], AnchorsPort>>;
  /** Asks the chain. Unread where no contract is set, and where the node gave no answer. */
  readonly rootAt: (
    size: number,
    signal: AbortSignal,
  ) => Promise<Reading<AnchoredRoot, AnchorsPort>>;
};

/** The most leaves that one question names. */
export const LEAVES_ASKED_MAX = 100;

export type AnchorChainPort = 'anchor_chain';

/** The chain and the contract, as one node tells them at one moment. */
export type AnchorChainState = {
  /** The number of the newest finalised block. */
  readonly finalised: number;
  /** The transactions of the sender in blocks: the nonce of the next one. */
  readonly nonce: number;
  /** The same at the finalised block. */
  readonly finalised_nonce: number;
  readonly balance_wei: bigint;
  readonly base_fee_wei: bigint;
  readonly tip_wei: bigint;
  /** `null`: there is no contract of this kind at the address. */
  readonly contract: {
    readonly owner: string;
    /** The greatest size that it holds a root of. */
    readonly latest_size: number;
  } | null;
};

/** The fees of a transaction, in wei for each unit of gas. */
export type AnchorFees = { readonly max_fee_wei: bigint; readonly tip_wei: bigint };

/** A signed transaction: its hash, and its bytes as `0x` hex. */
export type SignedAnchor = AnchorFees & { readonly tx: string; readonly raw: string };

/** A root of the log, and the size that it is the root of. */
export type LogRoot = { readonly root: string; readonly size: number };

/** The root of a named log: after a restart the log has another name, and sizes of its own. */
export type NamedRoot = LogRoot & { readonly origin: string };

/** Where a transaction was mined. */
export type MinedAnchor = {
  readonly tx: string;
  readonly block: number;
  /** Whether the contract took the root. */
  readonly ok: boolean;
};

/** Where a root is sent to: a contract on a chain, by an account. */
export type AnchorPlace = {
  /** Its number of EIP-155. */
  readonly chain_id: number;
  readonly contract: string;
  readonly sender: string;
};

/** Whether two of them are one contract and one account. */
export function isSamePlace(one: AnchorPlace, other: AnchorPlace): boolean {
  const isSameChain = one.chain_id === other.chain_id;
  return isSameChain && one.contract === other.contract && one.sender === other.sender;
}

type SendTransaction = (
  raw: string,
  signal: AbortSignal,
) => Promise<Reading<true, AnchorChainPort>>;

/** A contract on its chain, through one node, and the account that sends to it. */
export type AnchorChain = AnchorPlace & {
  readonly state: (signal: AbortSignal) => Promise<Reading<AnchorChainState, AnchorChainPort>>;
  /** The gas that an anchor takes; `refused`: the contract would refuse it. */
  readonly gasOf: (
    root: LogRoot,
    signal: AbortSignal,
  ) => Promise<Reading<{ readonly gas: bigint } | { readonly refused: true }, AnchorChainPort>>;
  /** Signs; nothing is asked. `null`: the key of the account is not here. */
  readonly sign:
    | ((root: LogRoot, nonce: number, gas: bigint, fees: AnchorFees) => SignedAnchor)
    | null;
  /**
   * Sends a signed transaction, which a node that has it takes again. `null`: nothing is sent, and
   * a turn tells only what it would wait for.
   */
  readonly send: SendTransaction | null;
  /** The one of the transactions that was mined; `null`: the node knows none of them in a block. */
  readonly minedOf: (
    txs: readonly string[],
    signal: AbortSignal,
  ) => Promise<Reading<MinedAnchor | null, AnchorChainPort>>;
};
export type SendingChain = AnchorChain & { readonly send: SendTransaction };

/** The roots that the contract holds at the finalised block of its chain. */
export type AnchoredRoots = {
  readonly rootAt: (
    size: number,
    signal: AbortSignal,
  ) => Promise<Reading<AnchoredRoot, AnchorsPort>>;
};

/** Transactions that are sent for one root, at most: the first, and those that replace it. */
export const SENT_FOR_ONE_MAX = 20;

/** A root that was sent, or is about to be. It stays tied to the place that it was signed for. */
export type AnchorSend = LogRoot &
  AnchorPlace & {
    readonly nonce: number;
    readonly gas: bigint;
    readonly status: 'queued' | 'submitted';
    /** Its transactions, the newest first. */
    readonly sent: readonly [SignedAnchor & { readonly at: number }, ...SignedAnchor[]];
  };

/** A send by its nonce, of which an account has one on each chain. */
export type AnchorNonce = Pick<AnchorSend, 'chain_id' | 'sender' | 'nonce'>;

/** What became of a root that was sent. */
export type AnchorEnd =
  | { readonly status: 'confirmed'; readonly tx: string; readonly block: number }
  | { readonly status: 'failed'; readonly reason: string };

/** What was sent so far. */
export type NewestSend = {
  /** The greatest nonce of the account on the chain; `null`: it has sent nothing. */
  readonly nonce: number | null;
  /** The greatest size that the contract was sent and did not refuse; 0: none. */
  readonly size: number;
  /** The log whose roots the contract was sent; `null`: none. */
  readonly origin: string | null;
  /** When the newest send to the contract began. */
  readonly began_at: number | null;
};

/** A contract that is set, or none; by an account whose key is here, or by none. */
export type SetPlace = {
  readonly chain_id: number;
  readonly contract: string | null;
  readonly sender: string | null;
};

/** The sends to all contracts. A write of a holder whose lease another one took changes nothing. */
export type AnchorSends = {
  /** The sends that have not ended, wherever they went; the oldest first, `OPEN_SENDS_MAX`. */
  readonly open: () => Promise<Reading<readonly AnchorSend[], AnchorsPort>>;
  /** What was sent so far, by an account and to a contract. */
  readonly newest: (place: SetPlace) => Promise<Reading<NewestSend, AnchorsPort>>;
  /** Begins a send; `false`: the lease is another's by now, or another send is in the way. */
  readonly begin: (
    send: NamedRoot &
      AnchorPlace & {
        readonly nonce: number;
        readonly gas: bigint;
        readonly signed: SignedAnchor;
      },
    epoch: number,
  ) => Promise<Reading<boolean, AnchorsPort>>;
  /** Keeps a transaction that takes the place of those before it, under the same nonce. */
  readonly replace: (
    send: AnchorNonce,
    signed: SignedAnchor,
    epoch: number,
  ) => Promise<Reading<boolean, AnchorsPort>>;
  /** Whether it is in a block that is not final; a block that went away makes it `queued` again. */
  readonly mark: (
    send: AnchorNonce,
    status: AnchorSend['status'],
    epoch: number,
  ) => Promise<Reading<boolean, AnchorsPort>>;
  readonly end: (
    send: AnchorNonce,
    end: AnchorEnd,
    epoch: number,
  ) => Promise<Reading<boolean, AnchorsPort>>;
  /** The anchors of leaves of a named log in a contract. */
  readonly anchorsOf: (
    place: Pick<SetPlace, 'chain_id' | 'contract'>,
    origin: string,
    indexes: readonly number[],
  ) => Promise<Reading<readonly LeafAnchor[], AnchorsPort>>;
};

/** Sends that are looked at in one turn. A change of the contract leaves one behind at most. */
export const OPEN_SENDS_MAX = 100;

/** The last nonce and size that were sent from this machine to a place. */
export type LastSent = AnchorPlace & { readonly nonce: number; readonly size: number };
/** They stand in a file that outlives the store. */
export type LastSentFile = {
  /** One for each place that anything was sent to from here. */
  readonly read: () => Promise<Reading<readonly LastSent[], AnchorsPort>>;
  /** Resolves once it is on the disk. */
  readonly write: (sent: LastSent) => Promise<Reading<true, AnchorsPort>>;
};

/**
 * What keeps the roots of the log from the contract, as one process knows it. `off`: no contract
 * is set. `elsewhere`: another process sends, and tells. `not_looked`: no turn has ended yet, or
 * the last one ended by a fault. `looked`: at that time roots waited for each of these, or for
 * nothing.
 */
export type AnchoringReport =
  | { readonly state: 'off' | 'elsewhere' | 'not_looked' }
  | { readonly state: 'looked'; readonly at: UnixSeconds; readonly whys: readonly Why[] };

/** The lease under which roots are sent. */
export const ANCHOR_LEASE = 'anchoring';
