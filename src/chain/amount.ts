// Reads, writes and adds amounts without losing a digit. Refuses floating point, exponents, signs
// in raw amounts and anything over 256 bits.

/** The largest raw amount: an unsigned 256-bit integer. */
export const UINT256_MAX = 2n ** 256n - 1n;

// 2^256 has 78 decimal digits; 0x and 64 hex characters are shorter.
const RAW_CHARS_MAX = 78;
const RAW_PATTERN = /^(?:[0-9]+|0x[0-9a-fA-F]+)$/;

/**
 * A raw amount from decimal digits or `0x` and hex digits, of at most 256 bits and 78 characters.
 * Null for anything else: an empty string, white space, a sign, a fraction, an exponent.
 */
export function parseRawAmount(text: string): bigint | null {
  if (text.length > RAW_CHARS_MAX || !RAW_PATTERN.test(text)) return null;
  const raw = BigInt(text);
  return raw > UINT256_MAX ? null : raw;
}

// An ERC-20's decimals() is a uint8.
const DECIMALS_MAX = 255;

/**
 * A raw amount in whole units, exactly: `formatUnits(1500n, 3)` is `1.5`. No trailing zeros, no
 * grouping, no exponent. Throws a RangeError for decimals that are no integer of 0 to 255.
 */
export function formatUnits(raw: bigint, decimals: number): string {
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > DECIMALS_MAX) {
    throw new RangeError('decimals are an integer of 0 to 255');
  }
  return formatDigits({ units: raw, scale: decimals });
}

/** A decimal as an integer and the number of its digits that stand behind the point. */
type Scaled = { units: bigint; scale: number };

// The longest raw amount at 255 decimals, with its point and sign, is shorter.
const DECIMAL_CHARS_MAX = 400;
const DECIMAL_PATTERN = /^(-?)([0-9]+)(?:\.([0-9]+))?$/;

function parseDigits(text: string): Scaled | null {
  const match = DECIMAL_PATTERN.exec(text);
  if (match === null) return null;
  const [, sign, whole, fraction] = match;
  const behind = fraction === undefined ? '' : fraction;
  return { units: BigInt(`${whole}${behind}`) * (sign === '-' ? -1n : 1n), scale: behind.length };
}

/** As `scaled`, for a value that was parsed or computed before, however long it became. */
function digitsOf(text: string): Scaled {
  const decimal = parseDigits(text);
  if (decimal === null) throw new TypeError('not a decimal string');
  return decimal;
}

/** The units that a value has at a larger or equal scale. */
function unitsAt(value: Scaled, scale: number): bigint {
  return value.units * 10n ** BigInt(scale - value.scale);
}

function formatDigits({ units, scale }: Scaled): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0');
  const point = digits.length - scale;
  const fraction = digits.slice(point).replace(/0+$/, '');
  const whole = (units < 0n ? '-' : '') + digits.slice(0, point);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/**
 * A decimal string in its shortest form (`01.50` is `1.5`), or null: digits with at most one
 * point between them and at most one minus before them, at most 400 characters, no exponent.
 */
export function parseDecimal(text: string): string | null {
  if (text.length > DECIMAL_CHARS_MAX) return null;
  const decimal = parseDigits(text);
  return decimal === null ? null : formatDigits(decimal);
}

/** The exact sum of two decimal strings. Throws a TypeError for what is no decimal. */
export function addDecimals(a: string, b: string): string {
  const left = digitsOf(a);
  const right = digitsOf(b);
  const scale = Math.max(left.scale, right.scale);
  return formatDigits({ units: unitsAt(left, scale) + unitsAt(right, scale), scale });
}

/** The exact product of two decimal strings, such as an amount and its price in USD. */
export function multiplyDecimals(a: string, b: string): string {
  const left = digitsOf(a);
  const right = digitsOf(b);
  return formatDigits({ units: left.units * right.units, scale: left.scale + right.scale });
}

/**
 * The quotient of two decimal strings, cut after so many digits behind the point: towards zero.
 * Throws a RangeError where it is divided by zero.
 */
export function divideDecimals(a: string, b: string, digits: number): string {
  const dividend = digitsOf(a);
  const divisor = digitsOf(b);
  if (divisor.units === 0n) throw new RangeError('divided by zero');
  const scale = Math.max(dividend.scale, divisor.scale);
  const units = (unitsAt(dividend, scale) * 10n ** BigInt(digits)) / unitsAt(divisor, scale);
  return formatDigits({ units, scale: digits });
}

/** -1, 0 or 1 as the first decimal string is less than, equal to or more than the second. */
export function compareDecimals(a: string, b: string): -1 | 0 | 1 {
  if (a === b) return 0;
  const left = digitsOf(a);
  const right = digitsOf(b);
  const scale = Math.max(left.scale, right.scale);
  const difference = unitsAt(left, scale) - unitsAt(right, scale);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

const NUMBER = /^([+-]?)([0-9]+)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,3}))?$/;

/** A number as decimal text without an exponent, digit by digit; `null` where it is none. */
export function plainDecimal(text: string): string | null {
  const match = NUMBER.exec(text.trim());
  if (match === null) return null;
  const [, sign, whole = '', fraction = '', exponent] = match;
  const digits = `${whole}${fraction}`;
  const point = whole.length + (exponent === undefined ? 0 : Number(exponent));
  const places = Math.max(1, point);
  const padded = '0'.repeat(places - point) + digits.padEnd(point, '0');
  const before = padded.slice(0, places).replace(/^0+(?=\d)/, '');
  const behind = padded.slice(places);
  return `${sign === '-' ? '-' : ''}${before}${behind === '' ? '' : `.${behind}`}`;
}
