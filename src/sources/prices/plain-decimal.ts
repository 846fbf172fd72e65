// Answers one question: which decimal text is a number of JSON, digit for digit, without exponent?

import { written } from '../../evidence/measure.ts';

const WRITTEN = /^([0-9]+)(?:\.([0-9]+))?(?:e([+-][0-9]+))?$/;

/** The shortest decimal text of a number that is not negative; `null` for any other. */
export function plainDecimal(value: number): string | null {
  const match = WRITTEN.exec(String(value));
  if (match === null) return null;
  const [, whole, fraction, exponent] = match;
  if (whole === undefined) return null;
  const behind = written(fraction);
  const shift = exponent === undefined ? 0 : Number(exponent);
  const digits = `${whole}${behind}`;
  const point = whole.length + shift;
  if (point <= 0) return `0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return digits + '0'.repeat(point - digits.length);
  return `${digits.slice(0, point)}.${digits.slice(point)}`;
}
