// The normal and the beta distribution, to about twelve places.

const SQRT_2PI = Math.sqrt(2 * Math.PI);
/** From here on the continued fraction of the tail is the exacter one. */
const TAIL_FROM = 3;
const TERMS_MAX = 400;
const HALVINGS = 200;
const TINY = 1e-300;
const EPSILON = 1e-16;

/** The density of the standard normal distribution. */
export function normalDensity(x: number): number {
  return Math.exp((-x * x) / 2) / SQRT_2PI;
}

/** The chance that a standard normal value lies at most at `x`. */
export function normalCdf(x: number): number {
  if (x > 0) return 1 - normalCdf(-x);
  if (x === Number.NEGATIVE_INFINITY) return 0;
  return x < -TAIL_FROM ? normalTail(-x) : 0.5 - centralMass(-x);
}

/** The mass from 0 to `x`, by its series. */
function centralMass(x: number): number {
  let [term, sum] = [x, x];
  for (let k = 1; k < TERMS_MAX && term > sum * EPSILON; k += 1) {
    term *= (x * x) / (2 * k + 1);
    sum += term;
  }
  return sum * normalDensity(x);
}

/** The mass over `x`, by its continued fraction. */
function normalTail(x: number): number {
  let fraction = x;
  for (let k = TERMS_MAX; k >= 1; k -= 1) fraction = x + k / fraction;
  return normalDensity(x) / fraction;
}

/** The value under which a standard normal one lies with the chance `p`. */
export function normalQuantile(p: number): number {
  if (p <= 0) return Number.NEGATIVE_INFINITY;
  if (p >= 1) return Number.POSITIVE_INFINITY;
  if (p > 0.5) return -normalQuantile(1 - p);
  return bisect(-40, 0, (x) => normalCdf(x) < p);
}

/** The point of a span up to which a test holds. */
function bisect(from: number, to: number, isBelow: (x: number) => boolean): number {
  let [low, high] = [from, to];
  for (let i = 0; i < HALVINGS; i += 1) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (isBelow(middle)) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** The coefficients of Stirling's series. */
const STIRLING = [1 / 12, -1 / 360, 1 / 1_260, -1 / 1_680, 1 / 1_188] as const;
const STIRLING_FROM = 20;

/** The logarithm of the gamma function of a value over 0. */
export function logGamma(x: number): number {
  let [at, product] = [x, 1];
  for (; at < STIRLING_FROM; at += 1) product *= at;
  const square = at * at;
  let [power, series] = [at, 0];
  for (const one of STIRLING) {
    series += one / power;
    power *= square;
  }
  const body = (at - 0.5) * Math.log(at) - at + Math.log(2 * Math.PI) / 2;
  return body + series - Math.log(product);
}

/** A beta distribution by its two counts, both over 0. */
export type Beta = { readonly a: number; readonly b: number };

/** The chance that a value of a beta distribution lies at most at `x`. */
export function betaCdf(x: number, { a, b }: Beta): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const scale = Math.exp(
    logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x),
  );
  const isLeft = x < (a + 1) / (a + b + 2);
  return isLeft
    ? (scale * betaFraction(x, { a, b })) / a
    : 1 - (scale * betaFraction(1 - x, { a: b, b: a })) / b;
}

/** The continued fraction of the incomplete beta function (Lentz). */
function betaFraction(x: number, { a, b }: Beta): number {
  const notTiny = (value: number) => (Math.abs(value) < TINY ? TINY : value);
  let c = 1;
  let d = 1 / notTiny(1 - ((a + b) * x) / (a + 1));
  let value = d;
  for (let m = 1; m <= TERMS_MAX * TERMS_MAX; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / notTiny(1 + even * d);
    c = notTiny(1 + even / c);
    value *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / notTiny(1 + odd * d);
    c = notTiny(1 + odd / c);
    const step = d * c;
    value *= step;
    if (Math.abs(step - 1) < EPSILON) break;
  }
  return value;
}

/** The value under which one of a beta distribution lies with the chance `p`. */
export function betaQuantile(p: number, beta: Beta): number {
  return bisect(0, 1, (x) => betaCdf(x, beta) < p);
}
