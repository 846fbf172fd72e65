// In each of them one thing is so of `subject`; the pieces are those of `planted.ts`.

import type { HistoryTransfer } from '../ports/history.ts';
import type { ExchangeLabel } from '../ports/tables.ts';
import { addressNamed, evm } from './addresses.ts';
import type { Plan } from './planted.ts';
import { type MemoryApproval, type MemoryFact, mixerRow } from './twins/accounts.ts';
import type { Planted } from './twins/ports.ts';
import { flaggedRow } from './twins/rug-flags.ts';

/** The pieces that these worlds are made of. */
type ForensicPieces = {
  readonly subject: string;
  readonly near: string;
  /** An address that stands on the list in `listedFar`. */
  readonly far: string;
  readonly listedFar: NonNullable<Planted['entries']>;
  /** A contract of the bridge registry. */
  readonly bridge: string;
  readonly labelOf: (address: string, entity: string) => ExchangeLabel;
  readonly poison: Partial<HistoryTransfer>;
  readonly walkPlan: (plan: Omit<Plan, 'about' | 'subjects'>) => Plan;
  readonly transferOf: (
    from: string,
    to: string,
    change?: Partial<HistoryTransfer>,
  ) => HistoryTransfer;
};

/** The further negatives that a transfer with a listed address contradicts. */
const LISTED_NEAR: Plan['contradicts'] = { wallet_ofac: ['proximity.found'] };

/** A contract that destroyed itself: its code and nonce are gone, its creation is not. */
function destroyedContract(address: string, creator: string): MemoryFact {
  const creation = { creator, relay: null, factory: null, tx: `0x${'1'.repeat(64)}`, block: 7 };
  return { chain: 'ethereum', address, creation };
}

function approvalOf(owner: string, spender: string, way: MemoryApproval['way']): MemoryApproval {
  const event = { chain: 'base', way, token: evm('a token'), spender } as const;
  const every = way === 'operator';
  const amounts = every ? { raw_amount: null, left: null } : { raw_amount: 9n, left: 5n };
  return { ...event, ...amounts, owner, tx: `0x${'a'.repeat(64)}`, block: 700 };
}

function coinJoinOf(address: string) {
  const at = { tx: 'c'.repeat(64), block: 800_000, at: 1_690_000_000 };
  return { address, ...at, form: 'wasabi_2_0', spent: true, paid: false } as const;
}

const FLOWS = ['transfers', 'counterparties_count', 'assets_count'].map((one) => `flows.${one}`);
const FACTS_OF_STATE = ['nonce', 'balance_wei', 'code_size'];

/** A token that was used: everything of it is something. */
function usedToken(address: string, chain: MemoryFact['chain']): MemoryFact {
  return {
    chain,
    address,
    nonce: 3,
    balance_wei: 5n,
    is_token: true,
    verified_name: 'Token',
    code: { size: 700, delegates_to: null, minimal_proxy_of: null },
    creation: {
      creator: evm('maker'),
      relay: null,
      factory: null,
      tx: `0x${'1'.repeat(64)}`,
      block: 7,
    },
    authority: { implementation: null, admin: null, beacon: null, owner: evm('owner') },
  };
}

/** The worlds, and what may then not be said of the subject. */
export function forensicPlans(pieces: ForensicPieces): Plan[] {
  const { subject, near, far, listedFar, transferOf, walkPlan } = pieces;
  const plan = (name: string, planted: Planted, more: readonly string[] = []): Plan =>
    walkPlan({ name, ...planted, contradicts: { wallet_score: ['findings_found', ...more] } });
  const paid = transferOf(subject, near);
  const funded = plan('funded by a listed address before all else', {
    entries: listedFar,
    transfers: [transferOf(far, subject), paid],
  });
  return [
    plan(
      'a token on the main chain that somebody owns',
      { facts: [usedToken(subject, 'ethereum')], transfers: [paid] },
      [
        ...FLOWS,
        'facts.kind',
        'facts.transactions',
        ...FACTS_OF_STATE.map((name) => `facts.${name}`),
      ],
    ),
    plan(
      'a contract of a listed owner and a labelled maker',
      {
        facts: [usedToken(subject, 'ethereum')],
        entries: listedFar.map((entry) => ({ ...entry, address: evm('owner') })),
        labels: [pieces.labelOf(evm('maker'), 'Exchange')],
      },
      ['facts.kind'],
    ),
    plan('a contract of a flagged maker that destroyed itself', {
      facts: [destroyedContract(subject, near)],
      flagged: [flaggedRow(near)],
    }),
    plan('frozen by an issuer on another chain', { frozen: [{ chain: 'base', address: subject }] }),
    plan('lets a flagged and a listed address take its tokens', {
      approvals: [approvalOf(subject, near, 'operator'), approvalOf(subject, far, 'permit2')],
      flagged: [flaggedRow(near)],
      entries: listedFar,
    }),
    {
      ...plan(
        'used on another chain',
        { facts: [usedToken(subject, 'base')] },
        FACTS_OF_STATE.map((name) => `facts_elsewhere[].${name}`),
      ),
      item: 'base',
    },
    {
      ...plan('a bitcoin address that took part in a CoinJoin', {
        joined: [coinJoinOf(addressNamed('bitcoin', 'subject'))],
      }),
      about: addressNamed('bitcoin', 'subject'),
      subjects: [addressNamed('bitcoin', 'subject')],
    },
    plan('flagged', { flagged: [flaggedRow(subject)] }),
    plan('paid a flagged address', { flagged: [flaggedRow(near)], transfers: [paid] }),
    plan('paid a mixer', { mixers: [mixerRow(near)], transfers: [paid] }),
    plan('paid a bridge', { transfers: [transferOf(subject, pieces.bridge)] }),
    { ...funded, contradicts: { ...funded.contradicts, ...LISTED_NEAR } },
    plan('poisoned by strangers', { transfers: [transferOf(near, subject, pieces.poison)] }),
  ];
}
