// Answers one question: what is a well-formed membership, and may it be used.
// Payment decides whether it is active; this only reads what was recorded.

import type { Membership } from '../ports/access/membership-store.ts';
import { mintId } from './key.ts';

const MEMBERSHIP_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{2,99}$/;

/** Whether a text can be a membership's id, whoever made it: 3 to 100 letters, digits, `_`, `-`. */
export function isMembershipId(text: string): boolean {
  return MEMBERSHIP_ID.test(text);
}

/** An id for a membership that the operator adds by hand. */
export function mintMembershipId(): string {
  return mintId('mem');
}

/** Whether the membership opens anything. */
export function isActive(membership: Membership): boolean {
  return membership.status === 'active';
}
