// Answers one question: what does a claimed field take, and when does its value deny something.

import type { z } from 'zod';
import { Claim } from '../evidence/claim.ts';
import type { Source } from '../evidence/source.ts';
import { CLAIM_META, type ClaimMeta } from './wire.ts';

type AnyClaim = Claim<unknown, unknown, never>;

/** The claim that a schema was marked with, or `null`. */
export function claimMeta(schema: z.ZodType): ClaimMeta | null {
  const meta = schema.meta();
  const found = meta?.[CLAIM_META];
  return found === undefined ? null : (found as ClaimMeta);
}

/** Takes the plain value out of one claim and adds its sources. */
export type TakeClaim = (value: unknown, sources: Set<Source>) => unknown;

/**
 * Takes claims, or values that need none, at one place; refuses what no claim stands behind. Made
 * once for a place: the writer asks it for each answer.
 */
export function claimTaker(meta: ClaimMeta, at: string): TakeClaim {
  // Claims that rest on one reading share its ports: what was found enough is enough again.
  let enough: ReadonlySet<string> | null = null;
  return (value, sources) => {
    if (value instanceof Claim) {
      const shown: unknown = value.shown;
      const { ports, sources: from } = value;
      if (!value.looked) {
        if (denies(meta, shown)) {
          throw new Error(`answer: ${at} denies something that was not read to its end`);
        }
      } else if (ports !== enough || from.length === 0) {
        checkBasis(meta, value, at);
        enough = ports;
      }
      for (const source of from) sources.add(source);
      return shown;
    }
    if (!isFree(meta, value)) {
      throw new Error(`answer: ${at} is said without the reading that it rests on`);
    }
    return value;
  };
}

function isFree(meta: ClaimMeta, value: unknown): boolean {
  if (meta.rule === 'checked') return value === false || value === null;
  return meta.rule === 'literals' && typeof value === 'string' && !isClaimedWord(meta, value);
}

// What was not looked at denies nothing, so it need not name every port that a denial rests on.
function checkBasis(meta: ClaimMeta, claimed: AnyClaim, at: string): void {
  if (meta.limited_to !== undefined) {
    if (meta.limited_to.some((port) => claimed.ports.has(port))) return;
    throw new Error(`answer: ${at} rests on none of ${meta.limited_to.join(', ')}`);
  }
  for (const port of meta.rests_on) {
    if (!claimed.ports.has(port)) throw new Error(`answer: ${at} does not rest on ${port}`);
  }
  if (claimed.sources.length === 0) throw new Error(`answer: ${at} has no source`);
}

/** Whether a plain value is the form that denies something under a claim's rule. */
export function denies(meta: ClaimMeta, value: unknown): boolean {
  if (meta.rule === 'checked') return value === true;
  if (meta.rule === 'literals') return typeof value === 'string' && isClaimedWord(meta, value);
  if (typeof value === 'string') return ZERO_OR_EMPTY.test(value);
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === false || value === 0 || value === 0n;
}

/** No text, or an exact amount of nothing. */
const ZERO_OR_EMPTY = /^-?0*(?:\.0*)?$/;

function isClaimedWord(meta: ClaimMeta, word: string): boolean {
  return meta.claimed?.includes(word) === true;
}
