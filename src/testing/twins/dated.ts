import { type Origin, type Partly, part, read } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import { STILL_NOW } from '../clock.ts';

/** How old what a memory holds is (`as_of`, Unix seconds), and whether it is made up. */
export type Dated = { readonly as_of: number; readonly simulated: boolean };

export const UNDATED: Dated = { as_of: 0, simulated: false };
/** Planted facts of the silence test are an hour old. */
export const PLANTED: Dated = { as_of: STILL_NOW - 3_600, simulated: false };

export function memorySource(
  name: string,
  kind: Source['kind'],
  { as_of, simulated }: Dated,
): Source {
  return { name, url: 'memory:', as_of, kind, simulated };
}

/** A page of a log: what was found, or so much of it as is asked for. */
export function memoryPage<T, P extends string>(
  found: readonly T[],
  limit: number,
  origin: Origin<P>,
): Partly<readonly T[], P> {
  if (found.length <= limit) return read(found, origin);
  const cut = why('row_cap', { address: 'the log', limit: String(limit) });
  return part(found.slice(0, limit), origin, cut);
}
