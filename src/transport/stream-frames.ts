// Answers one question: what does a client say over a WebSocket, and is it too much.

import type { Sendable } from '../contract/message.ts';
import type { AnyStreamRoute } from '../contract/stream.ts';
import type { StreamLimits } from './stream-limits.ts';

/** A frame of a client: one that the stream declares, or the message that says what is wrong. */
export type Heard =
  | { readonly kind: 'ask'; readonly ask: { readonly type: string } }
  | { readonly kind: 'wrong'; readonly answer: Sendable };

/** Reads a frame by the declaration; `null` is a binary one. What was sent is never echoed. */
export function heardFrame(route: AnyStreamRoute, text: string | null): Heard {
  const sent = text === null ? undefined : parsed(text);
  const ask = route.frames.safeParse(sent);
  if (ask.success) return { kind: 'ask', ask: ask.data };
  const known = Object.keys(route.heard);
  const isKnown = known.some((type) => type === typeOf(sent));
  const answer = isKnown
    ? route.own.error('bad_frame', 'This frame does not have the fields that its type declares.')
    : route.own.error('unknown_frame', `Expected a JSON object whose type is ${known.join(', ')}.`);
  return { kind: 'wrong', answer };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (fault) {
    if (fault instanceof SyntaxError) return undefined;
    throw fault;
  }
}

function typeOf(sent: unknown): unknown {
  return typeof sent === 'object' && sent !== null && 'type' in sent ? sent.type : undefined;
}

/** Whether one more frame may be heard now. */
export type FrameRate = (nowMs: number) => boolean;

const MS_PER_S = 1_000;

/** Lets so many frames pass at once, and so many more with each second. */
export function frameRate({
  framesAtOnceMax,
  framesPerSecondMax,
}: Pick<StreamLimits, 'framesAtOnceMax' | 'framesPerSecondMax'>): FrameRate {
  let left = framesAtOnceMax;
  let lastMs: number | null = null;
  return (nowMs) => {
    const passed = lastMs === null ? 0 : nowMs - lastMs;
    lastMs = nowMs;
    left = Math.min(framesAtOnceMax, left + (passed * framesPerSecondMax) / MS_PER_S);
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
