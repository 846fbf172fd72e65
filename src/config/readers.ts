// Readers of settings. A reader never repeats the text that it refuses: it may hold a credential.

import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { inspect } from 'node:util';

/** The printing of a value: as it is, by scheme and host only, or not at all. */
type Showing = 'value' | 'origin' | 'nothing';

/** Parses the text of a setting, which has no white space around it. */
export type SettingReader<T> = {
  /** Completes "expected …" where the text has no value. */
  readonly expected: string;
  readonly showing: Showing;
  readonly parse: (text: string) => T | undefined;
};

function reader<T>(
  expected: string,
  parse: (text: string) => T | undefined,
  showing: Showing = 'value',
): SettingReader<T> {
  return { expected, showing, parse };
}

/** A whole number within bounds. */
export function whole(min: number, max: number, what: string): SettingReader<number> {
  return reader(`${what}, a whole number from ${min} to ${max}`, (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return number >= min && number <= max ? number : undefined;
  });
}

/** `true` or `false`, also written `1` and `0`. */
export const trueOrFalse: SettingReader<boolean> = reader('true or false', (text) => {
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : undefined;
});

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i;

/** An address of this machine, or a host name. */
export const host: SettingReader<string> = reader('an IP address or a host name', (text) =>
  isIP(text) !== 0 || HOST_NAME.test(text) ? text : undefined,
);

/** The value of a header: printable ASCII. */
export const headerText: SettingReader<string> = reader(
  '1 to 256 printable ASCII characters',
  (text) => (/^[\x20-\x7e]{1,256}$/.test(text) ? text : undefined),
);

/** A path of this machine. */
export const path: SettingReader<string> = reader('a path', (text) =>
  /^[^\p{Cc}]+$/u.test(text) ? text : undefined,
);

const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** The address of a contract, in lower case. */
export const contractAddress: SettingReader<string> = reader(
  'an address: 0x and 40 hex digits',
  (text) => (EVM_ADDRESS.test(text) ? text.toLowerCase() : undefined),
);

/** The order of the group of secp256k1 (SEC 2, section 2.4.1): a private key lies below it. */
const KEYS_END = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const PRIVATE_KEY = /^0x[0-9a-fA-F]{64}$/;

/** A private key of secp256k1. */
export const privateKey: SettingReader<Secret> = reader(
  'a private key: 0x and 64 hex digits',
  (text) => {
    const isKey = PRIVATE_KEY.test(text) && BigInt(text) > 0n && BigInt(text) < KEYS_END;
    return isKey ? new Secret(text) : undefined;
  },
  'nothing',
);

/** A credential of at least so many characters. */
export function secret(charsMin: number): SettingReader<Secret> {
  const expected = `at least ${charsMin} characters without white space`;
  return reader(
    expected,
    (text) => (text.length >= charsMin ? secretOf(text) : undefined),
    'nothing',
  );
}

/** A key and its secret, joined by the first colon. */
export const keyAndSecret: SettingReader<Secret> = reader(
  'a key and its secret as `key:secret`, without white space',
  (text) => (/^[^:]+:.+$/.test(text) ? secretOf(text) : undefined),
  'nothing',
);

function secretOf(text: string): Secret | undefined {
  return /^[^\s\p{C}]+$/u.test(text) ? new Secret(text) : undefined;
}

function privateUrl(text: string, schemes: readonly string[]): PrivateUrl | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (!schemes.includes(url.protocol.slice(0, -1))) return undefined;
  if (!isDecodable(url.username) || !isDecodable(url.password)) return undefined;
  return new PrivateUrl(text);
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

function formsOf(schemes: readonly string[]): string {
  return schemes.map((one) => `${one}:`).join(' or ');
}

/** An absolute URL of one of these schemes. */
export function url(...schemes: readonly string[]): SettingReader<PrivateUrl> {
  const expected = `an absolute URL (${formsOf(schemes)})`;
  return reader(expected, (text) => privateUrl(text, schemes), 'origin');
}

const PRICE = /^(\d{1,6}(?:\.\d{1,6})?):(\d{1,6}(?:\.\d{1,6})?)$/;

/** `in:out`, US dollars for a million tokens. */
export const priceOfTokens: SettingReader<{ readonly in_usd: number; readonly out_usd: number }> =
  reader('in:out, US dollars for a million tokens, such as 0.15:0.60', (text) => {
    const [, into, out] = PRICE.exec(text) ?? [];
    return into === undefined || out === undefined
      ? undefined
      : { in_usd: Number(into), out_usd: Number(out) };
  });

const MIRRORS_MAX = 8;

/** Several such URLs, separated by commas. */
export function urls(...schemes: readonly string[]): SettingReader<readonly PrivateUrl[]> {
  const expected = `1 to ${MIRRORS_MAX} absolute URLs (${formsOf(schemes)}), comma-separated`;
  const parse = (text: string) => {
    const all = text.split(',').map((one) => privateUrl(one.trim(), schemes));
    const good = all.filter((one) => one !== undefined);
    return good.length === all.length && all.length <= MIRRORS_MAX ? good : undefined;
  };
  return reader(expected, parse, 'origin');
}

const ASSETS_MAX = 100;
const ASSET = /^[A-Za-z0-9]{1,20}$/;

/** Assets as venues write them. */
export const assets: SettingReader<readonly string[]> = reader(
  `1 to ${ASSETS_MAX} distinct assets in letters and digits, comma-separated: BTC,ETH,kPEPE`,
  (text) => {
    const all = text.split(',').map((one) => one.trim());
    const isGood = all.every((one) => ASSET.test(one)) && new Set(all).size === all.length;
    return isGood && all.length <= ASSETS_MAX ? all : undefined;
  },
);

/** A public host name, in lower case and without a port. */
export const hostName: SettingReader<string> = reader(
  'a host name such as exhibit.example, without scheme, port and path',
  (text) => (isIP(text) === 0 && HOST_NAME.test(text) ? text.toLowerCase() : undefined),
);

/** A witness of the log: where it is asked, and its verifier key (C2SP signed-note). */
export type WitnessSetting = { readonly url: PrivateUrl; readonly key: string };

const WITNESSES_MAX = 16;
const WITNESS_KEY = /^([^\s+]{1,255})\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/;
/** The first byte of the key of a witness that signs with Ed25519 (C2SP tlog-cosignature). */
const COSIGNATURE_TYPE = 0x04;

/** Witnesses, each the URL of its API with its verifier key as fragment. */
export const witnesses: SettingReader<readonly WitnessSetting[]> = reader(
  `1 to ${WITNESSES_MAX} https: or http: URLs, comma-separated, each with the verifier key of ` +
    'the witness (type 04) behind `#`',
  (text) => {
    const all = text.split(',').map((one) => witnessIn(one.trim()));
    const good = all.filter((one) => one !== undefined);
    return good.length === all.length && all.length <= WITNESSES_MAX ? good : undefined;
  },
  'origin',
);

function witnessIn(text: string): WitnessSetting | undefined {
  const at = text.indexOf('#');
  const url = privateUrl(text.slice(0, Math.max(at, 0)), ['https', 'http']);
  const key = text.slice(at + 1);
  const [, name, id, encoded] = WITNESS_KEY.exec(key) ?? [];
  if (url === undefined || name === undefined || encoded === undefined) return undefined;
  const typed = Buffer.from(encoded, 'base64');
  const named = createHash('sha256').update(`${name}\n`).update(typed).digest('hex');
  return typed[0] === COSIGNATURE_TYPE && named.startsWith(String(id)) ? { url, key } : undefined;
}

/** The base of public links: printed as it is, so that it may not carry a credential. */
export const publicUrl: SettingReader<string> = reader(
  'an absolute http: or https: URL of a host alone, without user info, path, query or fragment; ' +
    'a path is not served',
  (text) => {
    if (!URL.canParse(text)) return undefined;
    const {
      protocol,
      host: at,
      username,
      password,
      search,
      hash,
      origin,
      pathname,
    } = new URL(text);
    if (!['http:', 'https:'].includes(protocol) || at === '') return undefined;
    if (username + password + search + hash !== '' || pathname !== '/') return undefined;
    return origin;
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
export function duration(bare: Unit, minMs: number, maxMs: number): SettingReader<number> {
  const bounds = `from ${durationText(minMs)} to ${durationText(maxMs)}`;
  return reader(
    `a time such as 90m, 2h or 7d (a bare number is ${UNIT_WORDS[bare]}), ${bounds}`,
    (text) => {
      const ms = durationMs(text, bare);
      return ms !== undefined && ms >= minMs && ms <= maxMs ? ms : undefined;
    },
  );
}

/** A whole number of the largest unit that divides it. */
function durationText(ms: number): string {
  for (const unit of ['d', 'h', 'm'] as const) {
    if (ms % UNITS_MS[unit] === 0) return `${ms / UNITS_MS[unit]}${unit}`;
  }
  return `${ms / UNITS_MS.s}s`;
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
export function ageLimit(bare: Unit, maxMs: number): SettingReader<AgeLimit> {
  return reader(
    `a time such as 90m, 2h or 7d (a bare number is ${UNIT_WORDS[bare]}), ` +
      `up to ${durationText(maxMs)}, or none`,
    (text) => {
      if (text === 'none') return { kind: 'lifted' };
      const ms = durationMs(text, bare);
      return ms !== undefined && ms > 0 && ms <= maxMs ? { kind: 'limited', ms } : undefined;
    },
  );
}

/** One of a closed list of words. */
export function oneWord<const W extends string>(words: readonly W[]): SettingReader<W> {
  return reader(`one of ${words.join(', ')}`, (text) => words.find((one) => one === text));
}

/** Some of a closed list of words, comma-separated, each once. */
export function someWords<const W extends string>(
  words: readonly W[],
): SettingReader<readonly W[]> {
  return reader(`some of ${words.join(', ')}, comma-separated`, (text) => {
    const asked = text.split(',').map((one) => one.trim());
    const known = words.filter((one) => asked.includes(one));
    return known.length === asked.length && known.length > 0 ? known : undefined;
  });
}

const PAIRS_MAX = 1_000;

// `left:right` pairs, comma-separated; the left ends at the first colon.
function pairsIn<T>(
  text: string,
  pair: (left: string, right: string) => T | undefined,
): readonly T[] | undefined {
  const texts = text.split(',').map((one) => one.trim());
  const all = texts.map((one) => {
    const colon = one.indexOf(':');
    return colon < 1 ? undefined : pair(one.slice(0, colon), one.slice(colon + 1));
  });
  const good = all.filter((one) => one !== undefined);
  return good.length === all.length && good.length <= PAIRS_MAX ? good : undefined;
}

/** `tier:token` pairs, of a closed list of tiers and with tokens of at least so many characters. */
export function tokensOf<const W extends string>(
  tiers: readonly W[],
  charsMin: number,
): SettingReader<readonly { readonly tier: W; readonly token: Secret }[]> {
  const pair = (left: string, right: string) => {
    const tier = tiers.find((one) => one === left);
    const token = right.length >= charsMin ? secretOf(right) : undefined;
    return tier === undefined || token === undefined ? undefined : { tier, token };
  };
  const expected =
    `tier:token pairs, comma-separated (tiers ${tiers.join(', ')}), ` +
    `each token of at least ${charsMin} characters without white space`;
  return reader(expected, (text) => pairsIn(text, pair), 'nothing');
}

/** `id:word` pairs of a closed list of words. */
export function idsTo<const W extends string>(
  words: readonly W[],
): SettingReader<readonly { readonly id: string; readonly word: W }[]> {
  const pair = (id: string, right: string) => {
    const word = words.find((one) => one === right);
    return word === undefined || !/^[\w-]{1,100}$/.test(id) ? undefined : { id, word };
  };
  const expected = `id:word pairs, comma-separated (words ${words.join(', ')})`;
  return reader(expected, (text) => pairsIn(text, pair));
}

/** `word:url` pairs: a public https URL for words of a closed list. */
export function urlsFor<const W extends string>(
  words: readonly W[],
): SettingReader<readonly { readonly word: W; readonly url: string }[]> {
  const pair = (left: string, right: string) => {
    const word = words.find((one) => one === left);
    const url = publicPage(right);
    return word === undefined || url === undefined ? undefined : { word, url };
  };
  const expected = `word:url pairs, comma-separated (words ${words.join(', ')}; https: URLs)`;
  return reader(expected, (text) => pairsIn(text, pair));
}

function publicPage(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, username, password, href } = new URL(text);
  return protocol === 'https:' && username + password === '' ? href : undefined;
}

/** The place of an address or a transaction in the template of a link. */
const LINK_PLACE = '{}';

/** `word:template` pairs: a public https URL with one place, behind its host; or `none`. */
export function linksFor<const W extends string>(
  words: readonly W[],
): SettingReader<readonly { readonly word: W; readonly template: string }[]> {
  const pair = (left: string, template: string) => {
    const word = words.find((one) => one === left);
    return word === undefined || !isLinkTemplate(template) ? undefined : { word, template };
  };
  const expected =
    `none, or word:template pairs, comma-separated, each word once (words ${words.join(', ')}; ` +
    `https: URLs with exactly one ${LINK_PLACE}, in the path, the query or the fragment)`;
  return reader(expected, (text) => {
    const pairs = text === 'none' ? [] : pairsIn(text, pair);
    const names = pairs?.map(({ word }) => word);
    return new Set(names).size === names?.length ? pairs : undefined;
  });
}

function isLinkTemplate(template: string): boolean {
  const [before, after, ...more] = template.split(LINK_PLACE);
  if (before === undefined || after === undefined || more.length > 0) return false;
  if (!/^https:\/\/[^/?#]+[/?#]/.test(before)) return false;
  return publicPage(`${before}0${after}`) !== undefined;
}

const WEBHOOK_SECRETS_MAX = 4;
/** The part after `whsec_`: base64 of 24 to 64 bytes. */
const WHSEC = /^whsec_(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const WS = /^ws_[\x21-\x2b\x2d-\x7e]{8,256}$/;

/** Secrets of a webhook as payment platforms show them; several during a rotation. */
export const webhookSecrets: SettingReader<readonly Secret[]> = reader(
  `1 to ${WEBHOOK_SECRETS_MAX} secrets, comma-separated: whsec_ with base64 of 24 to 64 bytes, ` +
    'or ws_…',
  (text) => {
    const all = text.split(',').map((one) => one.trim());
    const good = all.every((one) => WHSEC.test(one) || WS.test(one));
    return good && all.length <= WEBHOOK_SECRETS_MAX
      ? all.map((one) => new Secret(one))
      : undefined;
  },
  'nothing',
);

const LOWER_WORD = /^[a-z0-9-]+$/;

/** `provider:fault` pairs, both in lower case. */
export const faults: SettingReader<
  readonly { readonly provider: string; readonly fault: string }[]
> = reader('provider:fault pairs, comma-separated', (text) =>
  pairsIn(text, (provider, fault) =>
    LOWER_WORD.test(provider) && LOWER_WORD.test(fault) ? { provider, fault } : undefined,
  ),
);

// Only `reveal` gives the value of a credential; it is called where the value is used and nowhere
// else.

const SECRET_SHOWN = '[secret]';

/** A text that may not be printed. Every way of turning it into text gives `[secret]`. */
export class Secret {
  readonly #value: string;
  constructor(value: string) {
    this.#value = value;
  }
  /** The value itself. */
  reveal(): string {
    return this.#value;
  }
  toString(): string {
    return SECRET_SHOWN;
  }
  toJSON(): string {
    return SECRET_SHOWN;
  }
  [inspect.custom](): string {
    return SECRET_SHOWN;
  }
}

/**
 * A configured address of a source. Its user info, path and query may carry a key, so that every
 * way of turning it into text gives scheme and host only.
 */
export class PrivateUrl {
  readonly #url: URL;
  /** Takes an absolute URL; throws a TypeError, which names nothing of it, for any other text. */
  constructor(text: string) {
    if (!URL.canParse(text)) throw new TypeError('not an absolute URL');
    this.#url = new URL(text);
  }
  /** The whole URL. */
  reveal(): string {
    return this.#url.href;
  }
  /** `https:`, `file:`, `postgresql:` … */
  get scheme(): string {
    return this.#url.protocol;
  }
  /** Scheme and host, such as `https://rpc.example:8545`, or `file:`. */
  get shown(): string {
    const { protocol, host } = this.#url;
    return host === '' ? protocol : `${protocol}//${host}`;
  }
  toString(): string {
    return this.shown;
  }
  toJSON(): string {
    return this.shown;
  }
  [inspect.custom](): string {
    return this.shown;
  }
}
