// The silence test's form of a handler, for any route.

import type { Caller, RequestContext } from '../contract/route.ts';

import type { SilencePorts } from './silence-ports.ts';

/** A handler as the check calls it; a method, so that each route's own input type fits. */
type AnyHandler = {
  call(
    input: { params: unknown; query: unknown; body: unknown },
    asked: RequestContext,
    caller: Caller,
  ): Promise<unknown>;
}['call'];

/** Makes the handler of a route over ports. */
export type MakeHandler = (ports: SilencePorts) => AnyHandler;
