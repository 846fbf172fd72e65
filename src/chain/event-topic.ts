// Under which topic does a contract log an event of this signature?

import { keccak_256 } from '@noble/hashes/sha3.js';
import { hex } from '@scure/base';

const topics = new Map<string, string>();

/**
 * The first topic of an event: the hash of its canonical signature, such as
 * `Transfer(address,address,uint256)`. `0x` and 64 hex characters in lower case.
 */
export function eventTopic(signature: string): string {
  const known = topics.get(signature);
  if (known !== undefined) return known;
  const bytes = new Uint8Array(signature.length);
  for (let i = 0; i < signature.length; i++) bytes[i] = signature.charCodeAt(i);
  const topic = `0x${hex.encode(keccak_256(bytes))}`;
  topics.set(signature, topic);
  return topic;
}
