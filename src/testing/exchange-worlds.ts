// In each of them `near` is a hot wallet; the pieces are those of `planted.ts`.

import type { HistoryTransfer } from '../ports/history.ts';
import type { ExchangeLabel } from '../ports/tables.ts';
import { evm } from './addresses.ts';
import type { Plan } from './planted.ts';
import type { Planted } from './twins/ports.ts';

/** The pieces that these worlds are made of. */
type ExchangePieces = {
  readonly subject: string;
  readonly near: string;
  /** An address that stands on the list in `listedFar`. */
  readonly far: string;
  readonly listedFar: Planted['entries'];
  readonly poison: Partial<HistoryTransfer>;
  readonly spam: Partial<HistoryTransfer>;
  readonly walkPlan: (plan: Omit<Plan, 'about' | 'subjects'>) => Plan;
  readonly labelOf: (address: string, entity: string) => ExchangeLabel;
  readonly transferOf: (
    from: string,
    to: string,
    change?: Partial<HistoryTransfer>,
  ) => HistoryTransfer;
};

/** More transfers of one address than one reading takes. */
const ROWS_OVER = 5_001;

/** The worlds, and what may then not be said of an address's activity. */
export function exchangePlans(pieces: ExchangePieces): Plan[] {
  const { subject, near, far, transferOf, walkPlan } = pieces;
  const deposit = evm('deposit');
  const labels = [pieces.labelOf(near, 'Exchange')];
  const plan = (name: string, said: readonly string[], planted: Planted): Plan =>
    walkPlan({ name, labels, ...planted, contradicts: { wallet_cex: said } });
  const paid = transferOf(subject, near);
  return [
    plan('in a cluster with an exchange', ['linked'], { clusters: [[subject, near]] }),
    plan('paid an exchange', ['activity.exchanges'], {
      transfers: [paid, transferOf(near, subject)],
    }),
    plan(
      'paid a deposit address',
      ['activity.inferred_deposit_addresses', 'activity.candidates_read'],
      { transfers: [transferOf(subject, deposit), transferOf(deposit, near)] },
    ),
    {
      ...plan('shares a deposit address', [], {
        transfers: [subject, evm('third')].flatMap((user) => [
          ...[transferOf(user, deposit), transferOf(deposit, near)],
        ]),
        formerIds: ['ethereum:former'],
      }),
      contradicts: { wallet_entity: ['explain.linked', 'evidence', 'merge_history'] },
    },
    plan('poisoned in an exchange’s name', ['activity.transfers_left_out.zero_value'], {
      transfers: [transferOf(near, subject, pieces.poison), paid],
    }),
    plan('sent spam by an exchange', ['activity.transfers_left_out.no_market_token'], {
      transfers: [transferOf(near, subject, pieces.spam), paid],
    }),
    plan('of more transfers than are read, some with an exchange', ['activity.truncated'], {
      ...(pieces.listedFar === undefined ? {} : { entries: pieces.listedFar }),
      transfers: Array.from({ length: ROWS_OVER }, (_, n) =>
        transferOf(subject, String([near, far, deposit][n % 3])),
      ),
    }),
  ];
}
