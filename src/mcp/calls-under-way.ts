// Answers one question: which call does a client give up that says so in another request.
// A client of today closes the connection of its call. An older one posts a message of its own,
// under the name that its handshake was given; nothing is kept under a name but calls under way.

import { z } from 'zod';

type CallId = string | number;

/** A call while it runs: what ends with it, and how to say that it came to its end. */
export type CallUnderWay = { readonly signal: AbortSignal; readonly done: () => void };

/** The calls that run, by the name of their client and their id there. */
export type CallsUnderWay = {
  /** `client` is the name that its handshake was given; `null` where it had none. */
  readonly begin: (client: string | null, id: CallId, gone: AbortSignal) => CallUnderWay;
  /** Ends what a message gives up; other messages, and names that nobody has, end nothing. */
  readonly giveUp: (client: string, message: unknown) => void;
};

const givenUp = z.object({
  method: z.literal('notifications/cancelled'),
  params: z.object({ requestId: z.union([z.string(), z.number()]) }),
});

/** Makes a table without calls. */
export function callsUnderWay(): CallsUnderWay {
  const running = new Map<string, AbortController>();
  const keyOf = (client: string, id: CallId) => JSON.stringify([client, id]);
  return {
    begin: (client, id, gone) => {
      if (client === null) return { signal: gone, done: () => undefined };
      const key = keyOf(client, id);
      const own = new AbortController();
      running.set(key, own);
      const done = () => {
        if (running.get(key) === own) running.delete(key);
      };
      return { signal: AbortSignal.any([gone, own.signal]), done };
    },
    giveUp: (client, message) => {
      const parsed = givenUp.safeParse(message);
      if (parsed.success) running.get(keyOf(client, parsed.data.params.requestId))?.abort();
    },
  };
}
