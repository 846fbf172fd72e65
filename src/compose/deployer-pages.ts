// Answers the pages of a deployer and of a token through the routes about the address. A page that
// is open to all starts no walk, and reads a chain only for callers who may have it read.

import type { PageReading } from '../access/page-reading.ts';
import { Refusal } from '../contract/refusals.ts';
import type { Caller, InputOf, RequestContext } from '../contract/route.ts';
import { isNoneFound, isOutage } from '../evidence/reason-kinds.ts';
import type { Why } from '../evidence/reasons.ts';
import {
  type DeployerView,
  deployerRecord,
  deployerRecordHandler,
} from '../features/deployers/deployer-record.route.tsx';
import {
  type CreatorPorts,
  type TokenView,
  tokenCreator,
  tokenCreatorHandler,
  type tokenPage,
} from '../features/deployers/token.route.tsx';
import {
  solanaDeployer,
  solanaDeployerHandler,
} from '../features/launches/solana-deployer.route.ts';
import type { DeployerRecords, WalletLaunches } from '../ports/deployers.ts';

export type DeployerPagePorts = {
  readonly deployerRecords: DeployerRecords;
  readonly walletLaunches: WalletLaunches;
};

type PageAnswer<View> = { readonly status: 200 | 503; readonly shown: View };

/** The text of a page if its route has no answer; `null` if it has one. */
function absentOf({ state, why }: { readonly state: string; readonly why: Why | null }) {
  if (why === null) return null;
  const unsettled = state === 'insufficient_evidence' ? 'undecided' : 'unread';
  const search = isNoneFound(why) ? 'none' : unsettled;
  const shown = { kind: 'absent', search, reason: why.reason } as const;
  const isSilent = state === 'not_deployed' && isOutage(why);
  return { status: isSilent ? 503 : 200, shown } as const;
}

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
  ): Promise<PageAnswer<DeployerView> | Refusal> => {
    const isSolana = params.chain === 'solana';
    const said = isSolana
      ? await collected({ params, query: {}, body: undefined }, asked, caller)
      : await walked({ params, query: {}, body: undefined }, asked, caller);
    if (said instanceof Refusal) return said;
    const absent = absentOf(said);
    if (absent !== null) return absent;
    const { data } = said.envelope(asked.now());
    const shown = isSolana
      ? ({ kind: 'solana', wallet: solanaDeployer.data.parse(data) } as const)
      : ({ kind: 'ethereum', record: deployerRecord.data.parse(data) } as const);
    return { status: 200, shown };
  };
}

export type TokenPagePorts = Omit<CreatorPorts, 'deployerRecords'> & {
  readonly deployerRecords: DeployerRecords;
  readonly members: { readonly reading: (caller: Caller) => Promise<PageReading> };
};

/** Asks the route of a token's creator, where the caller may have it asked. */
export function tokenShown({ deployerRecords, members, ...ports }: TokenPagePorts) {
  const ask = tokenCreatorHandler({
    ...ports,
    deployerRecords: { recordOf: (address) => deployerRecords.heldOf(address) },
  });
  return async (
    { chain, address }: InputOf<typeof tokenPage>['params'],
    asked: RequestContext,
    caller: Caller,
  ): Promise<PageAnswer<TokenView> | Refusal> => {
    // Launches of Solana are on record; makers of contracts are asked of their chain.
    const permit = chain === 'solana' ? null : await members.reading(caller);
    if (permit?.may === false) {
      const { code, reason } = permit.why;
      const signIn = code === 'page_of_nobody';
      return { status: 200, shown: { kind: 'unasked', signIn, reason } };
    }
    const input = { params: { address }, query: { chain }, body: undefined };
    const said = await ask(input, asked, caller);
    if (said instanceof Refusal) return said;
    const unpaid = permit === null ? null : await permit.pay();
    if (unpaid !== null) return unpaid;
    const absent = absentOf(said);
    if (absent !== null) return absent;
    const { data, sources } = said.envelope(asked.now());
    const creator = tokenCreator.data.parse(data);
    return { status: 200, shown: { kind: 'creator', creator, sources } };
  };
}
