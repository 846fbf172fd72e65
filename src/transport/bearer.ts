// Answers one question: does a request of the intelligence service carry a token that opens it.
// A header alone: a token in a query is for streams. Who may not come in learns nothing else.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuthenticateToken } from '../access/tokens.ts';
import { Refusal } from '../contract/refusals.ts';
import type { Meters } from './metrics.ts';
import { reasonOf, sendRefusal } from './refusing.ts';

/** Who opens routes that take a bearer token: the door, or nobody where all may come in. */
export type Tokens = AuthenticateToken | 'anonymous';

/** Lets in whoever holds a token; everybody else is refused before anything is read. */
export function bearerGate(tokens: Tokens, route: string, meters: Meters) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    if (tokens === 'anonymous') return undefined;
    const { authorization } = request.headers;
    const said = await tokens({ authorization, queryToken: null });
    if (said.outcome === 'opens') return undefined;
    const refusal =
      said.outcome === 'unreachable'
        ? new Refusal('overloaded', { error: said.reason }, { 'retry-after': '1' })
        : new Refusal(
            'unauthorized',
            { error: 'unauthorized', reason: said.reason },
            { 'www-authenticate': 'Bearer' },
          );
    meters.refused(route, reasonOf(refusal));
    return sendRefusal(reply, refusal, null);
  };
}
