// Answers one question: what does a stream say of itself, as far as a follower has to know it?

/** A message as it came; in the stream's own messages these fields have these types. */
export type Said = {
  readonly type: string;
  readonly seq?: number;
  readonly heartbeat_s?: number;
  readonly gap?: Range | null;
  readonly from?: number;
  readonly to?: number;
};

type Range = { readonly from: number; readonly to: number };

/** Takes a text for a message. Throws where it is none: whoever sent it is no stream. */
export function saidIn(text: string): Said {
  const said: unknown = JSON.parse(text);
  if (!isSaid(said)) throw new Error('what came is no message of a stream');
  return said;
}

function isSaid(said: unknown): said is Said {
  if (typeof said !== 'object' || said === null) return false;
  const { type, seq, heartbeat_s, gap, from, to } = said as { readonly [name: string]: unknown };
  const isRange = gap === undefined || gap === null || isSaidRange(gap);
  return (
    typeof type === 'string' && isRange && [seq, heartbeat_s, from, to].every(isNumberOrLeftOut)
  );
}

function isSaidRange(gap: unknown): boolean {
  if (typeof gap !== 'object' || gap === null || !('from' in gap) || !('to' in gap)) return false;
  return Number.isSafeInteger(gap.from) && Number.isSafeInteger(gap.to);
}

function isNumberOrLeftOut(value: unknown): boolean {
  return value === undefined || Number.isSafeInteger(value);
}
