// A witness of the log (C2SP tlog-witness), asked to sign a checkpoint. Its answer is taken as
// text: whoever asked checks the signatures in it.

import { z } from 'zod';
import type { NoteKey } from '../../chain/signed-note.ts';
import { read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { LogWitness } from '../../ports/transparency-log.ts';
import { exchange } from '../http/fetch.ts';
import { FetchFault, originText } from '../http/outbound-call.ts';
import { attempt, observation } from '../http/provider.ts';

const PORT = 'log_witness';
const LIMITS = { deadlineMs: 10_000, bytesMax: 64 * 1024 };
const SIGNED = 200;
const CONFLICT = 409;

type Options = {
  /** The submission prefix, with user info where it has any. */
  readonly url: string;
  readonly key: NoteKey;
  /** Unix seconds. */
  readonly now: () => number;
};

const size = z
  .string()
  .regex(/^(0|[1-9]\d{0,15})\n$/)
  .transform(Number)
  .pipe(z.int());

/** The witness at a URL. */
export function witnessAt({ url, key, now }: Options): LogWitness {
  const prefix = new URL(url);
  const provider = originText(prefix);
  const silent = (fault: string) => unread(PORT, why('provider_failed', { provider, fault }));
  const source = { name: `Witness ${key.name}`, url: provider, simulated: false };
  const origin = () => ({ port: PORT, source: observation(source, now) });
  return {
    key,
    submit: async (request, signal) => {
      const target = new URL(prefix);
      target.pathname = `${prefix.pathname.replace(/\/+$/, '')}/add-checkpoint`;
      const headers = { 'content-type': 'text/plain; charset=utf-8' };
      const answered = await attempt(FetchFault, () =>
        exchange({
          url: target,
          headers,
          body: request,
          limits: LIMITS,
          signal,
          call: 'the witness',
        }),
      );
      if (answered instanceof FetchFault) return silent(answered.message);
      const { status, bytes } = answered;
      const text = bytes.toString('utf8');
      if (status === SIGNED) return read({ kind: 'signed', lines: text }, origin());
      if (status !== CONFLICT) return silent(`answered ${status}`);
      const known = size.safeParse(text);
      if (!known.success) return silent('answered 409 without a size');
      return read({ kind: 'conflict', size: known.data }, origin());
    },
  };
}
