// Answers one question: what did the payment platform send, and what waits for the operator?

import { type Command, oneOf, readArgs } from '../../command/command.ts';
import { print, tableLines, timeText } from '../../command/output.ts';
import { showList } from '../../command/readings.ts';
import { PAYMENT_OUTCOMES, type PaymentStore } from '../../ports/access/payment-store.ts';

/** The services of the payment commands. */
export type PaymentServices = { readonly payments: Pick<PaymentStore, 'list'> };

const list: Command<PaymentServices> = {
  name: 'payments list',
  summary: 'List what the payment platform sent, and what became of it.',
  usage: 'exhibit payments list [--outcome OUTCOME] [--json]',
  example: 'exhibit payments list --outcome no_plan',
  details: [
    `--outcome   one of ${PAYMENT_OUTCOMES.join(', ')}`,
    'no_plan     held until EXHIBIT_PLANS names the plan or product; applied at the next start',
    'unknown     of a type that asks nothing of a membership; kept',
    'unreadable  asks something that cannot be done; kept',
    '--json      one event a line',
  ],
  run: async (argv, io, { payments }) => {
    const { values } = readArgs(argv, { options: { outcome: { type: 'string' } } });
    const outcome =
      values.outcome === undefined ? null : oneOf(values.outcome, '--outcome', PAYMENT_OUTCOMES);
    return showList(await payments.list(outcome), io, {
      none: 'No such payment event is held.',
      rows: (events) => {
        const rows = events.map((one) => [
          timeText(one.received_at),
          one.type,
          one.outcome,
          one.membership_id,
          one.plan_id,
          one.product_id,
          one.delivery_id,
        ]);
        const titles = ['received', 'type', 'outcome', 'membership', 'plan', 'product', 'delivery'];
        print(
          io,
          tableLines(
            titles.map((title) => ({ title })),
            rows,
            io,
          ),
        );
      },
      json: (event) => event,
    });
  },
};

/** The payment commands. */
export const paymentCommands: readonly Command<PaymentServices>[] = [list];
