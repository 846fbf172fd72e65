// What does Synapse's explorer say of a deposit? GraphQL: `bridgeTransactions` of its transaction.
// Query and fields: synapsecns/sanguine, packages/rest-api/src/utils/fetchBridgeTransaction.ts. A
// deposit without its other side may have been refunded, which it does not tell: nothing is said.

import { z } from 'zod';
import { CHAINS } from '../../chain/chain.ts';
import { outsideBody, outsideRow } from '../http/forms.ts';
import { HASH, isHash, type PageReader, paidIn, sameDeposit, shaped } from './page-reader.ts';

const SIDE = outsideRow({ chainID: z.int(), txnHash: HASH });
const ROW = outsideRow({ kappa: z.string(), fromInfo: SIDE.nullable(), toInfo: SIDE.nullable() });
const ANSWER = outsideBody({
  data: outsideRow({ bridgeTransactions: z.array(ROW).min(1).max(100) }),
});

/** The page of Synapse. */
export const SYNAPSE: PageReader = {
  page: 'synapse_explorer',
  protocols: ['synapse'],
  question: (root, { chain, tx, message_id }) => {
    if (!isHash(message_id) || !isHash(tx)) return null;
    const from = `useMv: true, chainIDFrom: ${CHAINS[chain].chain_id}, txnHash: "${tx}"`;
    const sides = 'fromInfo { chainID txnHash } toInfo { chainID txnHash }';
    return {
      url: root,
      body: { query: `{ bridgeTransactions(${from}) { kappa ${sides} } }` },
    };
  },
  read: (answer, { chain, tx, message_id, destination_id }) => {
    const rows = shaped(ANSWER, answer).data.bridgeTransactions;
    // A transaction may hold several deposits: this one is known by its id.
    const own = rows.find(
      ({ kappa }) => `0x${kappa.toLowerCase().replace(/^0x/, '')}` === message_id,
    );
    const from = own?.fromInfo;
    sameDeposit(from?.txnHash === tx && from.chainID === CHAINS[chain].chain_id);
    const to = own?.toInfo;
    if (to === null || to === undefined) return { state: 'unknown', tx: null, word: 'no toInfo' };
    sameDeposit(destination_id === null || to.chainID === destination_id);
    return paidIn(to.txnHash, 'toInfo');
  },
};
