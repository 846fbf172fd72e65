// What does LayerZero Scan say of a message? `GET messages/guid/{guid}`. Stargate's deposits too.
// Format and words: docs.layerzero.network/v2/tools/layerzeroscan/api, and its OpenAPI document.

import { z } from 'zod';
import { outsideBody, outsideRow } from '../http/forms.ts';
import {
  below,
  HASH,
  isHash,
  type PageReader,
  paidIn,
  sameDeposit,
  shaped,
} from './page-reader.ts';

const STATUSES = {
  INFLIGHT: 'under_way',
  CONFIRMING: 'under_way',
  DELIVERED: 'paid',
  // Each of these waits for somebody: to retry it, to configure its path, or for ever.
  FAILED: 'stopped',
  PAYLOAD_STORED: 'stopped',
  BLOCKED: 'stopped',
  APPLICATION_BURNED: 'stopped',
  APPLICATION_SKIPPED: 'stopped',
} as const;
type Status = keyof typeof STATUSES;

const TX = outsideRow({ txHash: HASH.nullish() }).nullish();
const MESSAGE = outsideRow({
  guid: HASH,
  source: outsideRow({ tx: TX }).nullish(),
  destination: outsideRow({ tx: TX }).nullish(),
  status: outsideRow({ name: z.enum(Object.keys(STATUSES) as [Status, ...Status[]]) }),
});
const ANSWER = outsideBody({ data: z.array(MESSAGE).min(1).max(8) });

/** The page of LayerZero. */
export const LAYERZERO_SCAN: PageReader = {
  page: 'layerzero_scan',
  protocols: ['layerzero', 'stargate'],
  question: (root, { message_id: guid }) =>
    isHash(guid) ? { url: below(root, `messages/guid/${guid}`), body: null } : null,
  read: (answer, { tx, message_id }) => {
    const { data } = shaped(ANSWER, answer);
    const [message] = data;
    if (message === undefined) throw new TypeError('a list of at least one has a first');
    const { guid, source, destination, status } = message;
    const sent = source?.tx?.txHash;
    const isOwn = guid === message_id && (sent === undefined || sent === null || sent === tx);
    sameDeposit(isOwn && data.length === 1);
    const state = STATUSES[status.name];
    if (state === 'paid') return paidIn(destination?.tx?.txHash, status.name);
    return { state, tx: null, word: status.name };
  },
};
