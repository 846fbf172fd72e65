// What does Across say of a deposit? `GET deposit/status?originChainId&depositId`.
// Format: docs.across.to/api-reference/deposit/status/get, and its source, across-protocol/indexer
// packages/indexer-api/src/services/deposits.ts (`getDepositStatus`).

import { z } from 'zod';
import { CHAINS } from '../../chain/chain.ts';
import { outsideBody } from '../http/forms.ts';
import { below, HASH, type PageReader, paidIn, sameDeposit, shaped } from './page-reader.ts';

/** A transaction of Solana. */
const BASE58 = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{64,90}$/);

const ANSWER = outsideBody({
  status: z.enum(['pending', 'filled', 'slowFillRequested', 'slowFilled', 'expired', 'refunded']),
  originChainId: z.number(),
  depositId: z.union([z.string(), z.number()]),
  depositTxnRef: z.string().nullish(),
  fillTxnRef: z.union([HASH, BASE58]).nullish(),
  destinationChainId: z.number().nullable(),
});

/** The page of Across. */
export const ACROSS: PageReader = {
  page: 'across_status',
  protocols: ['across'],
  question: (root, { message_id: id }) => {
    const [originChainId, depositId] = id === null ? [] : id.split('/');
    if (originChainId === undefined || depositId === undefined) return null;
    return { url: below(root, 'deposit/status', { originChainId, depositId }), body: null };
  },
  read: (answer, { chain, tx, message_id, destination_id }) => {
    const { status, ...said } = shaped(ANSWER, answer);
    const { depositTxnRef: sent, destinationChainId: there } = said;
    sameDeposit(
      said.originChainId === CHAINS[chain].chain_id &&
        `${said.originChainId}/${said.depositId}` === message_id &&
        (sent === null || sent === undefined || sent.toLowerCase() === tx) &&
        (there === null || destination_id === null || there === destination_id),
    );
    if (status === 'filled' || status === 'slowFilled') return paidIn(said.fillTxnRef, status);
    const over = status === 'expired' || status === 'refunded';
    return { state: over ? 'stopped' : 'under_way', tx: null, word: status };
  },
};
