// What does cBridge's gateway say of a transfer? `POST v2/getTransferStatus {transfer_id}`.
// Format and words: cbridge-docs.celer.network, "Gateway: GetTransferStatus", and its source,
// celer-network/sgn-v2 gateway. It names the transactions once their funds are to be released.

import { z } from 'zod';
import { outsideBody } from '../http/forms.ts';
import {
  below,
  HASH,
  isHash,
  type PageReader,
  paidIn,
  sameDeposit,
  shaped,
} from './page-reader.ts';

const ANSWER = outsideBody({
  err: z.null(),
  status: z.int(),
  src_block_tx_link: z.string(),
  dst_block_tx_link: z.string(),
});

const COMPLETED = 5;
const WORDS: ReadonlyMap<number, readonly [state: 'under_way' | 'stopped', word: string]> = new Map(
  [
    [2, ['stopped', 'TRANSFER_FAILED']],
    [4, ['under_way', 'TRANSFER_WAITING_FOR_FUND_RELEASE']],
    [6, ['stopped', 'TRANSFER_TO_BE_REFUNDED']],
    [7, ['stopped', 'TRANSFER_REQUESTING_REFUND']],
    [8, ['stopped', 'TRANSFER_REFUND_TO_BE_CONFIRMED']],
    [9, ['stopped', 'TRANSFER_CONFIRMING_YOUR_REFUND']],
    [10, ['stopped', 'TRANSFER_REFUNDED']],
  ],
);

/** The page of Celer's cBridge. */
export const CBRIDGE: PageReader = {
  page: 'cbridge_status',
  protocols: ['celer'],
  question: (root, { message_id: id }) => {
    if (!isHash(id)) return null;
    return { url: below(root, 'v2/getTransferStatus'), body: { transfer_id: id.slice(2) } };
  },
  read: (answer, { tx }) => {
    const { status, src_block_tx_link: from, dst_block_tx_link: to } = shaped(ANSWER, answer);
    const [state, word] = WORDS.get(status) ?? UNTOLD;
    // Until then it names no transaction, so that nothing shows of which transfer it speaks.
    if (status === COMPLETED || state === 'under_way') sameDeposit(hashIn(from) === tx);
    if (status === COMPLETED) return paidIn(shaped(HASH, hashIn(to)), 'TRANSFER_COMPLETED');
    return { state, tx: null, word };
  },
};

const UNTOLD = ['unknown', 'not told'] as const;

/** The transaction at the end of a link to an explorer. */
function hashIn(link: string): string {
  return link.slice(link.lastIndexOf('/') + 1).toLowerCase();
}
