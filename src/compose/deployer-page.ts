// What does the page of a deployer show? What the routes of deployers answer about the address; but
// a page that anybody may open has nobody walked.

import { Refusal } from '../contract/refusals.ts';
import type { Asked, Caller } from '../contract/route.ts';

import {
  deployerRecord,
  deployerRecordHandler,
  type ShownDeployer,
} from '../features/deployers/deployer-record.route.tsx';

import {
  solanaDeployer,
  solanaDeployerHandler,
} from '../features/launches/solana-deployer.route.ts';

import type { DeployerRecords, WalletLaunches } from '../ports/deployers.ts';

/** The ports that the page rests on. */
export type DeployerPageGiven = {
  readonly deployerRecords: DeployerRecords;
  readonly walletLaunches: WalletLaunches;
};

type Shown = { readonly status: 200 | 503; readonly shown: ShownDeployer };

/** Asks the route of a chain about an address. */
export function deployerShown({ deployerRecords, walletLaunches }: DeployerPageGiven) {
  const walked = deployerRecordHandler({
    deployerRecords: { recordOf: (address) => deployerRecords.heldOf(address) },
  });
  const collected = solanaDeployerHandler({ walletLaunches });
  return async (
    params: { readonly chain: string; readonly address: string },
    asked: Asked,
    caller: Caller,
  ): Promise<Shown | Refusal> => {
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
