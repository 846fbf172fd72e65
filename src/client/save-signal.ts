// Saves a signal in one file, which `verify.ts` checks with nothing from the service.

import { base64Text } from '../chain/bytes.ts';
import type { Client } from './client.ts';
import { SAVED_SIGNAL } from './verify.ts';

/** A signal with its bundle and its proof, as they were answered. */
export type SavedSignal = {
  readonly format: typeof SAVED_SIGNAL;
  readonly answer: unknown;
  readonly bundle_base64: string;
  /** `null`: no checkpoint covers it yet, or the log was not read. */
  readonly proof: string | null;
};

/** Why there is no file. `absent`: the service was read, and has no such signal. */
export type UnsavedSignal = { readonly kind: 'absent' | 'unread'; readonly says: string };

/** Asks for a signal, its bundle and its proof. It rejects where the client does. */
export async function saveSignal(
  client: Pick<Client, 'signal' | 'signal_evidence' | 'log_proof'>,
  id: string,
): Promise<{ readonly kind: 'saved'; readonly file: SavedSignal } | UnsavedSignal> {
  const answer = await client.signal({ id });
  if (answer.status === 404) return { kind: 'absent', says: answer.body.detail };
  if (answer.status === 503) return { kind: 'unread', says: answer.body.detail };
  const bundle = await client.signal_evidence({ id });
  if (bundle.status !== 200) return { kind: 'unread', says: bundle.body.detail };
  const { call_hash } = answer.body.signal;
  const proof = await client.log_proof({ leaf: `signal:${call_hash}` });
  const file = {
    format: SAVED_SIGNAL,
    answer: answer.body,
    bundle_base64: base64Text(bundle.body),
    proof: proof.status === 200 ? proof.body : null,
  } as const;
  return { kind: 'saved', file };
}
