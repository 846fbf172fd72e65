// Answers one question: which code signs a membership in, which link was used, who tries too often?

import type { UnixSeconds } from '../../chain/time.ts';
import type { Reading } from '../../evidence/reading.ts';
import type { SecretHash } from './key-store.ts';

/** The name of this port in readings. */
export type SignInPort = 'sign_in';

/** What signing in rests on. */
export type SignInStore = {
  /** Counts a try in a bucket, and says how many there were since its time began. */
  readonly countTry: (
    bucket: number,
    at: UnixSeconds,
    windowS: number,
  ) => Promise<Reading<number, SignInPort>>;
  /** Forgets the tries of a bucket. */
  readonly forgetTries: (bucket: number) => Promise<Reading<true, SignInPort>>;
  /** The code of a membership; `null` where there is none, or no such membership. */
  readonly codeOf: (membershipId: string) => Promise<Reading<SecretHash | null, SignInPort>>;
  /** Uses a link; `false` where it was used already, or its membership is not there. */
  readonly useLink: (link: {
    readonly id: string;
    readonly membership_id: string;
    readonly expires_at: UnixSeconds;
    readonly at: UnixSeconds;
  }) => Promise<Reading<boolean, SignInPort>>;
};
