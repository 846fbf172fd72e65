// What does the page of a token show? What the route of its creator answers; but a page has nobody
// walked, and asks a chain for those alone who may have it asked.

import type { PageReading } from '../access/page-reading.ts';
import { Refusal } from '../contract/refusals.ts';
import type { Caller, InputOf, RequestContext } from '../contract/route.ts';

import {
  type CreatorPorts,
  type TokenView,
  tokenCreator,
  tokenCreatorHandler,
  type tokenPage,
} from '../features/deployers/token.route.tsx';

import type { DeployerRecords } from '../ports/deployers.ts';

/** What the page rests on. */
export type TokenPagePorts = Omit<CreatorPorts, 'deployerRecords'> & {
  readonly deployerRecords: DeployerRecords;
  readonly members: { readonly reading: (caller: Caller) => Promise<PageReading> };
};

type PageAnswer = { readonly status: 200 | 503; readonly shown: TokenView };

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
  ): Promise<PageAnswer | Refusal> => {
    // Launches of Solana are on record; makers of contracts are asked of their chain.
    const permit = chain === 'solana' ? null : await members.reading(caller);
    if (permit?.may === false) {
      const { code, reason } = permit.why;
      const signIn = code === 'page_of_nobody';
      return { status: 200, shown: { kind: 'unasked', signIn, reason } };
    }
    const said = await ask(
      { params: { address }, query: { chain }, body: undefined },
      asked,
      caller,
    );
    if (said instanceof Refusal) return said;
    const unpaid = permit === null ? null : await permit.pay();
    if (unpaid !== null) return unpaid;
    const { state, why } = said;
    if (why !== null) {
      const looked = state === 'insufficient_evidence';
      const shown = { kind: 'absent', looked, reason: why.reason } as const;
      return { status: state === 'not_deployed' ? 503 : 200, shown };
    }
    const { data, sources } = said.envelope(asked.now());
    const creator = tokenCreator.data.parse(data);
    return { status: 200, shown: { kind: 'creator', creator, sources } };
  };
}
