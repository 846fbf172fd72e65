// What does the page of a deployer show? What the routes of deployers answer about the address; but
// a page that anybody may open has nobody walked.

import { Refusal } from '../contract/refusals.ts';
import type { Caller, RequestContext } from '../contract/route.ts';

import {
  type DeployerView,
  deployerRecord,
  deployerRecordHandler,
} from '../features/deployers/deployer-record.route.tsx';

import {
  solanaDeployer,
  solanaDeployerHandler,
} from '../features/launches/solana-deployer.route.ts';

import type { DeployerRecords, WalletLaunches } from '../ports/deployers.ts';

/** The ports that the page rests on. */
export type DeployerPagePorts = {
  readonly deployerRecords: DeployerRecords;
  readonly walletLaunches: WalletLaunches;
};

type PageAnswer = { readonly status: 200 | 503; readonly shown: DeployerView };

/** Asks the route of a chain about an address. */
export function deployerShown({ deployerRecords, walletLaunches }: DeployerPagePorts) {
  const walked = deployerRecordHandler({
    deployerRecords: { recordOf: (address) => deployerRecords.heldOf(address) },
  });
  const collected = solanaDeployerHandler({ walletLaunches });
  return async (
    params: { readonly chain: string; readonly address: string },
    asked: RequestContext,
    caller: Caller,
  ): Promise<PageAnswer | Refusal> => {
    const isSolana = params.chain === 'solana';
    const said = isSolana
      ? await collected({ params, query: {}, body: undefined }, asked, caller)
      : await walked({ params, query: {}, body: undefined }, asked, caller);
    if (said instanceof Refusal) return said;
    const { state, why } = said;
    if (why !== null) {
      const looked = state === 'insufficient_evidence';
      const shown = { kind: 'absent', looked, reason: why.reason } as const;
      return { status: state === 'not_deployed' ? 503 : 200, shown };
    }
    const { data } = said.envelope(asked.now());
    const shown = isSolana
      ? ({ kind: 'solana', wallet: solanaDeployer.data.parse(data) } as const)
      : ({ kind: 'ethereum', record: deployerRecord.data.parse(data) } as const);
    return { status: 200, shown };
  };
}
