// Answers one question: what is a declared route together with who answers it.

import type { Caller } from '../contract/caller.ts';
import type { AnyEvidenceRoute, AnyPlainRoute, Asked } from '../contract/route.ts';

/** A handler as the transport calls it: the declaration's types were checked where it was made. */
export type AnyHandler = (
  input: { params: unknown; query: unknown; body: unknown; headers?: unknown },
  asked: Asked,
  caller: Caller,
) => Promise<unknown>;

/** A declared route with its handler. */
export type Mounted = {
  readonly route: AnyEvidenceRoute | AnyPlainRoute;
  readonly handle: AnyHandler;
};

/** What the log is told. Messages carry no address, key or query. */
export type Log = {
  readonly info: (facts: object, message: string) => void;
  readonly warn: (facts: object, message: string) => void;
  readonly error: (facts: object, message: string) => void;
};
