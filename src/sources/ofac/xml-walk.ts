// Walks an XML document by a grammar of places; all else is passed over, and refused where it holds
// what only a place may hold. The walk keeps nothing, and refuses a document that is not XML,
// declares a type, is nested or stretched beyond reason, or never ends.

import { SaxesParser, type SaxesTagNS } from 'saxes';
import { textOrEmpty } from '../../evidence/measure.ts';
import { type Document, ListRefused, quoteText } from './publication.ts';

/** The attributes of an element, by name. */
export type Attributes = SaxesTagNS['attributes'];

/** An element that matters: what happens at its start, with its text, at its end, and within it. */
export type Place = {
  readonly within?: ReadonlyMap<string, Place>;
  readonly opens?: (attributes: Attributes) => void;
  /** Called with the element's own text, before `closes`. */
  readonly reads?: (text: string) => void;
  readonly closes?: () => void;
  /** Stands once at most within its parent: of two, one would be lost. */
  readonly once?: true;
  /** Takes no element but those within: what an unknown one says could be an address. */
  readonly closed?: true;
  /** Known to hold no address: its texts are passed over unread. */
  readonly passed?: true;
};

/** The grammar of one format, and what was read by it once the walk has ended. */
export type DocumentReader = {
  readonly root: Place;
  /** The elements that lead to an address. One that stands where no place is refuses the file. */
  readonly carriers: ReadonlySet<string>;
  /** Whether a text names or is an address; one in an unknown element refuses the file. */
  readonly holdsAddress: (text: string) => boolean;
  readonly finish: () => Document;
};

/** A root element: its name without prefix, and the namespace that it is in. */
export type Root = { readonly local: string; readonly namespace: string };

/** Chooses the grammar by the root element; throws `Refused` for a root that it does not know. */
export type ChooseRoot = (root: Root) => DocumentReader;

const DEPTH_MAX = 64;
/** No text, tag or comment of the publisher comes near this. */
const STRETCH_BYTES_MAX = 1024 * 1024;

/** A table of places by element name. */
export function places(table: Readonly<Record<string, Place>>): ReadonlyMap<string, Place> {
  return new Map(Object.entries(table));
}

/** A place whose text is read without its outer white space, and that stands once. */
export function leaf(reads: (text: string) => void): Place {
  return { ...leaves(reads), once: true };
}

/** The same where a parent may hold several. */
export function leaves(reads: (text: string) => void): Place {
  return { reads: (text) => reads(text.trim()) };
}

/** The place of an element that is known to hold no address. */
export const PASSED: Place = { passed: true };

/** Several elements that are known to hold no address, by name. */
export function passPlaces(...names: readonly string[]): Record<string, Place> {
  return Object.fromEntries(names.map((name) => [name, PASSED]));
}

/** An attribute that the reader relies on. */
export function requireAttribute(attributes: Attributes, name: string, where: string): string {
  const found = attributes[name];
  if (found === undefined || found.value === '') {
    throw new ListRefused('dangling_reference', `${where} has no ${name}`);
  }
  return found.value;
}

/** An attribute that a reader can do without: empty where it is missing. */
export function attributeText(attributes: Attributes, name: string): string {
  return textOrEmpty(attributes[name]?.value);
}

/** Whether an attribute says `true`. */
export function saysTrue(attributes: Attributes, name: string): boolean {
  return attributes[name]?.value === 'true';
}

type Level = { readonly place: Place; text: string; readonly once: string[] };

/** Walks a document chunk by chunk: `write` each chunk, then `end`. Both throw `Refused`. */
export class XmlWalk {
  readonly #parser = new SaxesParser({ xmlns: true, position: false });
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  readonly #choose: ChooseRoot;
  readonly #levels: Level[] = [];
  #reader: DocumentReader | null = null;
  #namespace: string | null = null;
  #skipped = 0;
  /** The text since the last tag within an unknown element; `null` outside of one. */
  #unknown: string | null = null;
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
      throw new ListRefused(
        'not_xml',
        'it declares a document type, which the publisher never does',
      );
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
      throw new ListRefused(
        'too_large',
        `over ${STRETCH_BYTES_MAX} bytes follow without an element`,
      );
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
      if (error instanceof ListRefused || !(error instanceof Error)) throw error;
      const about = quoteText(error.message);
      if (this.#namespace === null) throw new ListRefused('not_xml', `it is not XML: ${about}`);
      const reason = `it does not parse to its closing root element, near byte ${this.#bytes}`;
      throw new ListRefused('truncated', `${reason}: ${about}`);
    }
  }

  #open(tag: SaxesTagNS): void {
    this.#lastTagAt = this.#bytes;
    if (this.#reader === null) {
      this.#assertEncoding();
      this.#reader = this.#choose({ local: tag.local, namespace: tag.uri });
      this.#namespace = tag.uri;
      this.#enter(this.#reader.root, tag);
      return;
    }
    const here = this.#levels.at(-1);
    if (here === undefined) throw new ListRefused('truncated', 'a second element follows the root');
    const known =
      this.#skipped > 0 || tag.uri !== this.#namespace
        ? undefined
        : here.place.within?.get(tag.local);
    if (known === undefined) this.#pass(tag, here, this.#reader);
    else if (known.passed === true) this.#skipped = 1;
    else this.#enterOnce(known, tag, here);
  }

  /** Passes over an element that no place awaits, unless what it holds could be an address. */
  #pass(tag: SaxesTagNS, { place }: Level, { carriers, holdsAddress }: DocumentReader): void {
    if (carriers.has(tag.local)) {
      throw new ListRefused(
        'changed_schema',
        `the element ${quoteText(tag.name)} stands where none should`,
      );
    }
    if (this.#skipped === 0 && (place.closed === true || place.reads !== undefined)) {
      throw new ListRefused(
        'changed_schema',
        `nobody knows the element ${quoteText(tag.name)} there`,
      );
    }
    if (this.#skipped === 0) this.#unknown = '';
    this.#skipped += 1;
    if (this.#skipped > DEPTH_MAX) throw new ListRefused('too_large', 'its elements nest too deep');
    if (this.#unknown === null) return;
    this.#hearUnknown();
    if (!Object.values(tag.attributes).some(({ value }) => holdsAddress(value))) return;
    throw new ListRefused(
      'changed_schema',
      `the unknown element ${quoteText(tag.name)} has an address`,
    );
  }

  /** Refuses the text of an unknown element that could be an address. */
  #hearUnknown(): void {
    const text = this.#unknown;
    if (text === null) return;
    this.#unknown = '';
    if (this.#reader?.holdsAddress(text) !== true) return;
    const what = 'an address, or the label of one, stands in an unknown element';
    const reason = `${what}: ${quoteText(text)}`;
    throw new ListRefused('changed_schema', reason);
  }

  #assertEncoding(): void {
    const { encoding } = this.#parser.xmlDecl;
    if (encoding === undefined || encoding.toLowerCase() === 'utf-8') return;
    throw new ListRefused('not_xml', `its encoding is ${quoteText(encoding)}, not UTF-8`);
  }

  #enterOnce(place: Place, tag: SaxesTagNS, { once }: Level): void {
    if (place.once === true) {
      if (once.includes(tag.local)) {
        throw new ListRefused(
          'changed_schema',
          `the element ${quoteText(tag.name)} stands twice in one`,
        );
      }
      once.push(tag.local);
    }
    this.#enter(place, tag);
  }

  #enter(place: Place, tag: SaxesTagNS): void {
    this.#levels.push({ place, text: '', once: [] });
    place.opens?.(tag.attributes);
  }

  #close(): void {
    this.#lastTagAt = this.#bytes;
    if (this.#skipped > 0) {
      this.#hearUnknown();
      this.#skipped -= 1;
      if (this.#skipped === 0) this.#unknown = null;
      return;
    }
    const level = this.#levels.pop();
    level?.place.reads?.(level.text);
    level?.place.closes?.();
  }

  #text(text: string): void {
    if (this.#skipped > 0) {
      if (this.#unknown !== null) this.#unknown += text;
      return;
    }
    const level = this.#levels.at(-1);
    if (level?.place.reads !== undefined) level.text += text;
  }
}
