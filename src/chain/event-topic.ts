// Under which topic does a contract log an event of this signature?

import { hex } from '@scure/base';
import { keccak256 } from './digest.ts';

const topics = new Map<string, string>();

/**
 * The first topic of an event: the hash of its canonical signature, such as
 * `Transfer(address,address,uint256)`. `0x` and 64 hex characters in lower case.
 */
export function eventTopic(signature: string): string {
  const known = topics.get(signature);
  if (known !== undefined) return known;
  const topic = `0x${hex.encode(keccak256(signature))}`;
  topics.set(signature, topic);
  return topic;
}
