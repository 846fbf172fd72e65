// Answers one question: which texts are good values of a setting, and what do they mean.
// A reader never repeats the text that it refuses: it may hold a credential.

import { isIP } from 'node:net';
import { z } from 'zod';
import { PrivateUrl, Secret } from './secret.ts';

/** A schema from a setting's text to its value. */
export type Reader<T> = z.ZodType<T, string>;

/** A reader of what `parse` understands; `expected` completes "expected …" where it does not. */
function reader<T>(expected: string, parse: (text: string) => T | undefined): Reader<T> {
  return z.string().transform((text, context) => {
    const value = parse(text.trim());
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: `expected ${expected}` });
    return z.NEVER;
  });
}

/** A whole number within bounds. */
export function whole(min: number, max: number, what: string): Reader<number> {
  return reader(`${what}, a whole number from ${min} to ${max}`, (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return number >= min && number <= max ? number : undefined;
  });
}

/** An amount that may have decimals, within bounds. */
export function decimal(min: number, max: number, what: string): Reader<number> {
  return reader(`${what}, a number from ${min} to ${max}`, (text) => {
    const number = /^\d{1,12}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
    return number >= min && number <= max ? number : undefined;
  });
}

/** `true` or `false`, also written `1` and `0`. */
export const flag: Reader<boolean> = reader('true or false', (text) => {
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : undefined;
});

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i;

/** An address of this machine, or a host name. */
export const host: Reader<string> = reader('an IP address or a host name', (text) =>
  isIP(text) !== 0 || HOST_NAME.test(text) ? text : undefined,
);

/** Text without white space or control characters. */
export const word: Reader<string> = reader('text without white space', (text) =>
  /^[^\s\p{C}]+$/u.test(text) ? text : undefined,
);

/** A path of this machine. */
export const path: Reader<string> = reader('a path', (text) =>
  /^[^\p{Cc}]+$/u.test(text) ? text : undefined,
);

/** A credential of at least so many characters. */
export function secret(charsMin: number): Reader<Secret> {
  return reader(`at least ${charsMin} characters without white space`, (text) =>
    text.length >= charsMin && /^[^\s\p{C}]+$/u.test(text) ? new Secret(text) : undefined,
  );
}

/** A credential with a fixed beginning. */
export function secretBeginning(prefix: string): Reader<Secret> {
  return reader(`a secret that begins with ${prefix}`, (text) =>
    text.startsWith(prefix) && /^[^\s\p{C}]+$/u.test(text.slice(prefix.length))
      ? new Secret(text)
      : undefined,
  );
}

function privateUrl(text: string, schemes: readonly string[]): PrivateUrl | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (!schemes.includes(url.protocol.slice(0, -1))) return undefined;
  if (!isDecodable(url.username) || !isDecodable(url.password)) return undefined;
  const hostNeeded = ['http:', 'https:', 'redis:', 'rediss:'].includes(url.protocol);
  return hostNeeded && url.host === '' ? undefined : new PrivateUrl(text);
}

// User info goes out decoded, as a header: what no decoder takes is a mistake in the setting.
function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch (fault) {
    if (fault instanceof URIError) return false;
    throw fault;
  }
}

/** An absolute URL of one of these schemes. */
export function url(...schemes: readonly string[]): Reader<PrivateUrl> {
  return reader(`an absolute URL (${schemes.map((one) => `${one}:`).join(' or ')})`, (text) =>
    privateUrl(text, schemes),
  );
}

const MIRRORS_MAX = 8;

/** Several such URLs, separated by commas. */
export function urls(...schemes: readonly string[]): Reader<readonly PrivateUrl[]> {
  const forms = schemes.map((one) => `${one}:`).join(' or ');
  return reader(`1 to ${MIRRORS_MAX} absolute URLs (${forms}), comma-separated`, (text) => {
    const all = text.split(',').map((one) => privateUrl(one.trim(), schemes));
    const good = all.filter((one) => one !== undefined);
    return good.length === all.length && all.length <= MIRRORS_MAX ? good : undefined;
  });
}

/** The base of public links: printed as it is, so that it may not carry a credential. */
export const publicUrl: Reader<string> = reader(
  'an absolute http: or https: URL without user info, query or fragment',
  (text) => {
    if (!URL.canParse(text)) return undefined;
    const { protocol, host: at, username, password, search, hash, href } = new URL(text);
    if (!['http:', 'https:'].includes(protocol) || at === '') return undefined;
    if (username + password + search + hash !== '') return undefined;
    return href.replace(/\/+$/, '');
  },
);

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof UNITS_MS;
const UNIT_WORDS: { readonly [U in Unit]: string } = {
  s: 'seconds',
  m: 'minutes',
  h: 'hours',
  d: 'days',
};

function isUnit(text: string): text is Unit {
  return Object.hasOwn(UNITS_MS, text);
}

/** Milliseconds, from `90m`, `2h`, `7d`, `30s`, or a bare number in the setting's own unit. */
export function duration(bare: Unit, minMs: number, maxMs: number): Reader<number> {
  return reader(`a time such as 90m, 2h or 7d (a bare number is ${UNIT_WORDS[bare]})`, (text) => {
    const ms = durationMs(text, bare);
    return ms !== undefined && ms >= minMs && ms <= maxMs ? ms : undefined;
  });
}

function durationMs(text: string, bare: Unit): number | undefined {
  const [, digits, letter] = /^(\d{1,9}(?:\.\d{1,3})?)\s*([smhd]?)$/.exec(text) ?? [];
  if (digits === undefined || letter === undefined) return undefined;
  return Math.round(Number(digits) * UNITS_MS[isUnit(letter) ? letter : bare]);
}

/** An age limit, or `none`, which lifts it. */
export type AgeLimit =
  | { readonly kind: 'limited'; readonly ms: number }
  | { readonly kind: 'lifted' };

/** A duration as for `duration`, or `none`. */
export function ageLimit(bare: Unit, maxMs: number): Reader<AgeLimit> {
  return reader(
    `a time such as 90m, 2h or 7d (a bare number is ${UNIT_WORDS[bare]}), or none`,
    (text) => {
      if (text === 'none') return { kind: 'lifted' };
      const ms = durationMs(text, bare);
      return ms !== undefined && ms > 0 && ms <= maxMs ? { kind: 'limited', ms } : undefined;
    },
  );
}

/** One of a closed list of words. */
export function oneOf<const W extends string>(words: readonly W[]): Reader<W> {
  return reader(`one of ${words.join(', ')}`, (text) => words.find((one) => one === text));
}

/** Some of a closed list of words, comma-separated, each once. */
export function someOf<const W extends string>(words: readonly W[]): Reader<readonly W[]> {
  return reader(`some of ${words.join(', ')}, comma-separated`, (text) => {
    const asked = text.split(',').map((one) => one.trim());
    const known = words.filter((one) => asked.includes(one));
    return known.length === asked.length && known.length > 0 ? known : undefined;
  });
}

const PAIRS_MAX = 1_000;

/** `left:right` pairs, comma-separated; the left ends at the first colon. */
export function pairs<T>(
  expected: string,
  pair: (left: string, right: string) => T | undefined,
): Reader<readonly T[]> {
  return reader(expected, (text) => {
    const texts = text.split(',').map((one) => one.trim());
    const read = texts.map((one) => {
      const colon = one.indexOf(':');
      return colon < 1 ? undefined : pair(one.slice(0, colon), one.slice(colon + 1));
    });
    const good = read.filter((one) => one !== undefined);
    return good.length === texts.length && good.length <= PAIRS_MAX ? good : undefined;
  });
}

/** A 20-byte EVM address, lower-cased. */
export const evmAddress: Reader<string> = reader('a 20-byte address, 0x and 40 digits', (text) =>
  /^0x[0-9a-f]{40}$/i.test(text) ? text.toLowerCase() : undefined,
);
