// Answers one question: how is a credential held so that printing it shows nothing.
// Only `reveal` gives the value; it is called where the value is used and nowhere else.

import { inspect } from 'node:util';

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
