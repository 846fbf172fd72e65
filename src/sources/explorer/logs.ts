// Which events of one kind does an explorer list, of one contract or about one account?
// A list that is full may have left out newer ones: whoever asks compares it with `PAGE_ROWS`.

import { z } from 'zod';
import { StateFault } from '../evm/state-facts-of-account.ts';
import { ADDRESS, BYTES, COUNT, outsideRow, WORD } from '../http/forms.ts';
import type { CallBudget } from '../http/provider.ts';
import { saysNoLogs } from './empties.ts';
import { resultIn } from './envelope.ts';
import { askExplorer, type ExplorerChain } from './provider.ts';

/** What every plan gives in one answer. */
export const PAGE_ROWS = 1_000;
/** A number of a row. Etherscan writes zero as `0x`. */
export const LOG_NUMBER = z
  .string()
  .transform((text) => (text === '0x' ? '0x0' : text))
  .pipe(COUNT);
/** A row of the list. */
export const LOG_ROW = outsideRow({
  address: ADDRESS,
  // Blockscout fills up to four topics with null.
  topics: z.array(WORD.nullable()).transform((all) => all.filter((one) => one !== null)),
  data: BYTES,
  transactionHash: WORD,
  blockNumber: LOG_NUMBER,
  logIndex: LOG_NUMBER,
});
const ROWS = z.array(LOG_ROW).max(PAGE_ROWS);

/** The contract that logs, or the first argument of what it logs. */
type Asked =
  | { readonly topic: string; readonly account: string }
  | { readonly topic: string; readonly topic1: string };

/** The events with a first topic, from the oldest on. */
export async function eventsOf(at: ExplorerChain, asked: Asked, budget: CallBudget) {
  const about =
    'account' in asked ? { address: asked.account } : { topic1: asked.topic1, topic0_1_opr: 'and' };
  const question = at.list({
    module: 'logs',
    action: 'getLogs',
    fromBlock: '0',
    toBlock: 'latest',
    topic0: asked.topic,
    ...about,
    page: '1',
    offset: String(PAGE_ROWS),
  });
  return askExplorer(at, budget, question, (answer) => {
    if (saysNoLogs(answer)) return [];
    const rows = ROWS.safeParse(resultIn(answer)?.result);
    if (!rows.success) throw new StateFault('getLogs');
    return rows.data;
  });
}
