// Answers one question: what do the elements that matter say, in a document of any length.
// A grammar of places names them; all else is passed over. It keeps nothing, and it refuses a
// document that is not XML, declares a type, is nested or stretched beyond reason, or never ends.

import { SaxesParser, type SaxesTagNS } from 'saxes';
import { type Document, quoted, Refused } from './publication.ts';

/** The attributes of an element, by name. */
export type Attributes = SaxesTagNS['attributes'];

/** An element that matters: what happens at its start, with its text, at its end, and within it. */
export type Place = {
  readonly within?: ReadonlyMap<string, Place>;
  readonly opens?: (attributes: Attributes) => void;
  /** Called with the element's own text, before `closes`. */
  readonly reads?: (text: string) => void;
  readonly closes?: () => void;
};

/** The grammar of one format, and what was read by it once the walk has ended. */
export type DocumentReader = { readonly root: Place; readonly finish: () => Document };

/** A root element: its name without prefix, and the namespace that it is in. */
export type Root = { readonly local: string; readonly namespace: string };

/** Chooses the grammar by the root element; throws `Refused` for a root that it does not know. */
export type ChooseRoot = (root: Root) => Place;

const DEPTH_MAX = 64;
/** No text, tag or comment of the publisher comes near this. */
const STRETCH_BYTES_MAX = 1024 * 1024;

/** A table of places by element name. */
export function places(table: Readonly<Record<string, Place>>): ReadonlyMap<string, Place> {
  return new Map(Object.entries(table));
}

/** A place whose text is read without its outer white space. */
export function leaf(reads: (text: string) => void): Place {
  return { reads: (text) => reads(text.trim()) };
}

/** An attribute that the reader relies on. */
export function required(attributes: Attributes, name: string, where: string): string {
  const found = attributes[name];
  if (found === undefined || found.value === '') {
    throw new Refused('dangling_reference', `${where} has no ${name}`);
  }
  return found.value;
}

/** Whether an attribute says `true`. */
export function saysTrue(attributes: Attributes, name: string): boolean {
  return attributes[name]?.value === 'true';
}

type Level = { readonly place: Place; text: string };

/** Walks a document chunk by chunk: `write` each chunk, then `end`. Both throw `Refused`. */
export class XmlWalk {
  readonly #parser = new SaxesParser({ xmlns: true, position: false });
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  readonly #choose: ChooseRoot;
  readonly #levels: Level[] = [];
  #namespace: string | null = null;
  #skipped = 0;
  #bytes = 0;
  #lastTagAt = 0;

  constructor(choose: ChooseRoot) {
    this.#choose = choose;
    // Six handlers are the most: with a seventh the engine keeps the parser as a dictionary, and
    // parsing takes four times as long.
    this.#parser.on('opentag', (tag) => this.#open(tag));
    this.#parser.on('closetag', () => this.#close());
    this.#parser.on('text', (text) => this.#text(text));
    this.#parser.on('cdata', (text) => this.#text(text));
    this.#parser.on('doctype', () => {
      throw new Refused('not_xml', 'it declares a document type, which the publisher never does');
    });
    this.#parser.on('error', (error) => {
      throw error;
    });
  }

  /** Reads the next chunk. */
  write(chunk: Uint8Array): void {
    this.#attempt(() => this.#parser.write(this.#decoder.decode(chunk, { stream: true })));
    this.#bytes += chunk.byteLength;
    if (this.#bytes - this.#lastTagAt > STRETCH_BYTES_MAX) {
      throw new Refused('too_large', `over ${STRETCH_BYTES_MAX} bytes follow without an element`);
    }
  }

  /** Asserts that the root element was closed. */
  end(): void {
    this.#attempt(() => {
      this.#parser.write(this.#decoder.decode());
      this.#parser.close();
    });
  }

  #attempt(step: () => void): void {
    try {
      step();
    } catch (error) {
      if (error instanceof Refused || !(error instanceof Error)) throw error;
      const about = quoted(error.message);
      if (this.#namespace === null) throw new Refused('not_xml', `it is not XML: ${about}`);
      const reason = `it does not parse to its closing root element, near byte ${this.#bytes}`;
      throw new Refused('truncated', `${reason}: ${about}`);
    }
  }

  #open(tag: SaxesTagNS): void {
    this.#lastTagAt = this.#bytes;
    if (this.#namespace === null) {
      this.#assertEncoding();
      const place = this.#choose({ local: tag.local, namespace: tag.uri });
      this.#namespace = tag.uri;
      this.#enter(place, tag);
      return;
    }
    const here = this.#levels.at(-1);
    const place =
      this.#skipped > 0 || tag.uri !== this.#namespace
        ? undefined
        : here?.place.within?.get(tag.local);
    if (place !== undefined) {
      this.#enter(place, tag);
      return;
    }
    this.#skipped += 1;
    if (this.#skipped > DEPTH_MAX) throw new Refused('too_large', 'its elements nest too deep');
  }

  #assertEncoding(): void {
    const { encoding } = this.#parser.xmlDecl;
    if (encoding === undefined || encoding.toLowerCase() === 'utf-8') return;
    throw new Refused('not_xml', `its encoding is ${quoted(encoding)}, not UTF-8`);
  }

  #enter(place: Place, tag: SaxesTagNS): void {
    this.#levels.push({ place, text: '' });
    place.opens?.(tag.attributes);
  }

  #close(): void {
    this.#lastTagAt = this.#bytes;
    if (this.#skipped > 0) {
      this.#skipped -= 1;
      return;
    }
    const level = this.#levels.pop();
    level?.place.reads?.(level.text);
    level?.place.closes?.();
  }

  #text(text: string): void {
    if (this.#skipped > 0) return;
    const level = this.#levels.at(-1);
    if (level?.place.reads !== undefined) level.text += text;
  }
}
