// Answers one question: who asks, as a handler is told.
// It names whom to answer and holds nothing that opens anything: no key, no token, no cookie.

/** Who asks: what its credential stands for, or nobody where a route is open to all. */
export type Caller =
  | { readonly kind: 'nobody' }
  | {
      readonly kind: 'member';
      readonly membership_id: string;
      readonly plan: 'analyst' | 'desk' | 'enterprise';
      /** The key that was sent, by its id. */
      readonly key_id: string;
    }
  | { readonly kind: 'partner'; readonly partner: string; readonly key_id: string }
  | { readonly kind: 'token'; readonly token_id: string; readonly tier: 'free' | 'pro' | 'desk' }
  | { readonly kind: 'operator' }
  | {
      readonly kind: 'session';
      readonly session_id: string;
      readonly membership_id: string;
      /** What the forms of its pages send back in the field `form_token`. */
      readonly form_token: string;
    };

/** Who asks where no credential is taken. */
export const NOBODY: Caller = { kind: 'nobody' };
