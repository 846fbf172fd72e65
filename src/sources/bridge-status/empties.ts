// Answers one question: with which exact words does a status page say that it knows nothing of it?
// Whatever else comes without a status is a failure, and no word of the page.

import { z } from 'zod';
import type { StatusPage } from '../../ports/bridges/bridge-arrivals.ts';
import { outsideBody, outsideRow } from '../http/forms.ts';

type Empty = { readonly status: number; readonly body: z.ZodType };

const EMPTIES: { readonly [P in StatusPage]: Empty | null } = {
  // across-protocol/indexer, packages/indexer-api/src/services/exceptions.ts.
  across_status: {
    status: 404,
    body: outsideBody({ error: z.literal('DepositNotFoundException') }),
  },
  // docs.layerzero.network/v2/tools/layerzeroscan: the list of a new message is empty.
  layerzero_scan: { status: 200, body: outsideBody({ data: z.tuple([]) }) },
  // wormhole-foundation/wormhole-explorer, api/response/error.go: 5 is gRPC's NotFound.
  wormholescan: { status: 404, body: outsideBody({ code: z.literal(5) }) },
  // celer-network/sgn-v2, gateway: GetTransferStatus of a transfer that is not in its table.
  cbridge_status: {
    status: 200,
    body: outsideBody({ err: outsideRow({ msg: z.literal('transfer not found') }) }),
  },
  // synapsecns/sanguine, packages/rest-api/src/controllers/destinationTxController.ts.
  synapse_explorer: {
    status: 200,
    body: outsideBody({ data: outsideRow({ bridgeTransactions: z.tuple([]) }) }),
  },
  // hop-protocol/hop, packages/api/src/server.ts: every failure is one `error`, whatever failed.
  hop_status: null,
};

/** Whether an answer says that the page does not know what it was asked about. */
export function isNotKnown(page: StatusPage, status: number, answer: unknown): boolean {
  const empty = EMPTIES[page];
  return empty !== null && empty.status === status && empty.body.safeParse(answer).success;
}
