// Answers one question: who changed which key of a membership, and who signed in?

import type { UnixSeconds } from '../../chain/time.ts';
import type { Partly } from '../../evidence/reading.ts';

/** The name of this port in readings. */
export type AccessLogPort = 'access_log';

/** Who changed something: an operator by a command, or a member in the settings. */
export type Actor = 'operator' | 'member';

type ChangeWord =
  | 'key_created'
  | 'key_replaced'
  | 'key_revoked'
  | 'signed_in'
  | 'signed_out'
  | 'integration_connected'
  | 'integration_removed';

/** One change. `subject` is a key's prefix, or a platform and the id of an integration. */
export type AccessChange = {
  readonly id: number;
  readonly at: UnixSeconds;
  readonly by_whom: Actor;
  readonly change: ChangeWord;
  readonly subject: string | null;
};

/** The log of changes; what changes something writes it, in the same transaction. */
export type AccessLog = {
  /** The changes of a membership, newest first; a part where there are more than are shown. */
  readonly list: (membershipId: string) => Promise<Partly<readonly AccessChange[], AccessLogPort>>;
};
