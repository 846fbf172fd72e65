// What does Wormholescan say of a transfer? `GET api/v1/operations/{chain}/{emitter}/{sequence}`.
// Format: wormhole-foundation/wormhole-explorer, api/routes/wormscan/operations/response.go; words:
// its common/domain/const.go. Without a target it has seen no redemption, which denies none.

import { z } from 'zod';
import { given } from '../../evidence/measure.ts';
import { outsideBody, outsideRow } from '../http/forms.ts';
import { below, HASH, type PageReader, paidIn, sameDeposit, shaped } from './page-reader.ts';

const ANSWER = outsideBody({
  id: z.string(),
  sourceChain: outsideRow({
    transaction: outsideRow({ txHash: z.string(), secondTxHash: z.string().nullish() }),
  }).nullish(),
  targetChain: outsideRow({
    status: z.string(),
    transaction: outsideRow({ txHash: z.string() }),
  }).nullish(),
});

const TOKEN_TRANSFER = /^(\d+)\/0x([0-9a-f]{64})\/(\d+)$/;

/** An id as the page writes it: its emitter without the sign of hex. */
function idOf(message_id: string | null): string | null {
  const [, chain, emitter, sequence] = given(TOKEN_TRANSFER.exec(String(message_id)));
  return emitter === undefined ? null : `${chain}/${emitter}/${sequence}`;
}

/** The page of Wormhole. */
export const WORMHOLESCAN: PageReader = {
  page: 'wormholescan',
  protocols: ['wormhole'],
  question: (root, { message_id }) => {
    const id = idOf(message_id);
    return id === null ? null : { url: below(root, `api/v1/operations/${id}`), body: null };
  },
  read: (answer, { tx, message_id }) => {
    const { id, sourceChain, targetChain } = shaped(ANSWER, answer);
    const sent = sourceChain === null || sourceChain === undefined ? null : sourceChain.transaction;
    const hashes = sent === null ? [tx] : [sent.txHash, sent.secondTxHash].map(plain);
    sameDeposit(id === idOf(message_id) && hashes.includes(tx));
    if (targetChain === null || targetChain === undefined) {
      return { state: 'unknown', tx: null, word: 'no target' };
    }
    const { status, transaction } = targetChain;
    if (status !== 'completed') return { state: 'unknown', tx: null, word: 'not completed' };
    return paidIn(shaped(HASH, plain(transaction.txHash)), status);
  },
};

/** It writes the hash of an EVM transaction with the sign of hex or without. */
function plain(hash: string | null | undefined): string {
  return `0x${String(hash).toLowerCase().replace(/^0x/, '')}`;
}
