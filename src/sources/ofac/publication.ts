// The shapes of a publication, and the words for refusing one; nothing is read here.

import { parseKnownAddress } from '../../chain/address.ts';
import { parseIsoDate } from '../../chain/time.ts';
import { tally } from '../../evidence/measure.ts';
import type { ListEntry } from '../../ports/sanctions.ts';

/**
 * The version of what the readers make of a file. It is raised whenever the same bytes may come
 * out as other rows, so that a list read by an older reader is read again from its kept file.
 */
export const READER_VERSION = 3;

/** The types of a listed party, in the publisher's words. */
export const PARTY_TYPES = ['Individual', 'Entity', 'Vessel', 'Aircraft'] as const;
export type PartyType = (typeof PARTY_TYPES)[number];

/** The type by its printed name; `null` for any other word. */
export function partyType(name: string | null): PartyType | null {
  const found = PARTY_TYPES.find((type) => type === name);
  return found === undefined ? null : found;
}

/** The two formats whose completeness the file itself can show. */
export const FORMATS = ['sdn_xml', 'sdn_advanced_xml'] as const;
export type SdnFormat = (typeof FORMATS)[number];

/** The label before every currency code, in both formats. */
export const ADDRESS_LABEL = 'Digital Currency Address - ';

/** One row of the list, whose party is of a type that the publisher's formats know. */
export type ListedAddress = ListEntry & { readonly type: PartyType | null };

/** The contents of a document, before the forms of its addresses are validated. */
export type Document = {
  readonly format: SdnFormat;
  /** Publication date, `YYYY-MM-DD`. */
  readonly published: string;
  /** Entries on the SDN list, as declared (legacy) or as counted (advanced). */
  readonly record_count: number;
  /** Parties on the SDN list. */
  readonly parties: number;
  readonly addresses: readonly ListedAddress[];
};

/** A document with its counts and with the digests of the file that carried it. */
export type ReadDocument = Document & {
  readonly distinct_addresses: number;
  /** Rows by currency code, in order of first appearance. */
  readonly currencies: Readonly<Record<string, number>>;
  /** SHA-256 of the file as delivered: of the ZIP where it was zipped. */
  readonly sha256: string;
  /** SHA-256 of the unpacked document. */
  readonly sha256_xml: string;
  /** Bytes as delivered. */
  readonly bytes: number;
};

/** A publication that was read to its end and whose inner references close. */
export type Publication = ReadDocument & {
  /** Distinct addresses of no known form: kept as literals, counted here. */
  readonly unparsed: number;
};

/** Why a file is refused. `unreadable` is the only one that says nothing about the file. */
export const REFUSAL_CODES = [
  'enhanced_file',
  'delimited_file',
  'not_xml',
  'unknown_root',
  'unknown_namespace',
  'truncated',
  'no_publication_date',
  'no_addresses',
  'dangling_reference',
  'changed_schema',
  'record_count_mismatch',
  'too_large',
  'bad_archive',
  'unreadable',
] as const;
export type ListRefusalCode = (typeof REFUSAL_CODES)[number];

/** A refused file: a stable code, and one sentence for people. */
export type PublicationRefusal = {
  readonly refused: true;
  readonly code: ListRefusalCode;
  readonly reason: string;
  /** The day that the file states, where its beginning could be read. */
  readonly published: string | null;
};

export function refusal(
  code: ListRefusalCode,
  reason: string,
  published: string | null = null,
): PublicationRefusal {
  return { refused: true, code, reason, published };
}

/** Tells a refusal from whatever else a reader answers. */
export function isRefusal(outcome: object): outcome is PublicationRefusal {
  return 'refused' in outcome && outcome.refused === true;
}

/** Carries a refusal out of the depth of a parser. It never leaves this folder. */
export class ListRefused extends Error {
  readonly refusal: PublicationRefusal;
  constructor(code: ListRefusalCode, reason: string) {
    super(`${code}: ${reason}`);
    this.name = 'Refused';
    this.refusal = refusal(code, reason);
  }
}

/** Words by which a label would name an address if the publisher changed the label. */
const CURRENCY_WORDS =
  /currenc|crypto|wallet|(digital|virtual)\s*(asset|coin|address)|blockchain|stablecoin|bitcoin/i;

/** The currency code of a label, `null` where it labels no address; refused near the form. */
export function currencyOf(label: string): string | null {
  const code = label.startsWith(ADDRESS_LABEL) ? label.slice(ADDRESS_LABEL.length).trim() : '';
  if (code !== '') return copyText(code);
  if (!CURRENCY_WORDS.test(label)) return null;
  throw new ListRefused('changed_schema', `the label ${quoteText(label)} names no currency code`);
}

/** A copy that does not keep alive the much longer text that it was cut from. */
export function copyText(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}

/** The day in ISO form, or `null` where the numbers name no day of the calendar. */
export function dayIn(year: string, month: string, day: string): string | null {
  if (!/^\d{4}$/.test(year) || !/^\d{1,2}$/.test(month) || !/^\d{1,2}$/.test(day)) return null;
  const iso = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  return parseIsoDate(iso) === null ? null : iso;
}

const QUOTED_CHARS_MAX = 80;

/** Foreign text as a reason may show it: one line, cut short. */
export function quoteText(text: string): string {
  const cut = text.length > QUOTED_CHARS_MAX ? `${text.slice(0, QUOTED_CHARS_MAX)}…` : text;
  return JSON.stringify(cut);
}

/**
 * Completes a publication with what follows from the forms of its addresses: a value of no known
 * form is kept as it is, and each address of a known form inside it has a row of its own.
 */
export function withForms(
  document: ReadDocument,
  isKnownForm: (address: string) => boolean,
): Publication {
  const literals = document.addresses.filter((row) => !isKnownForm(row.address));
  const addresses = [...document.addresses];
  const seen = new Set(addresses.map(rowKey));
  for (const row of literals) {
    const inside = `The list prints it inside ${quoteText(row.address)}`;
    const note = row.note === null ? inside : `${row.note}; ${inside}`;
    for (const address of addressesWithin(row.address, isKnownForm)) {
      const within = { ...row, address, note };
      if (seen.has(rowKey(within))) continue;
      seen.add(rowKey(within));
      addresses.push(within);
    }
  }
  const unparsed = new Set(literals.map((row) => row.address)).size;
  return { ...document, ...countAddresses(addresses), addresses, unparsed };
}

function rowKey({ address, currency, uid }: ListedAddress): string {
  return JSON.stringify([address, currency, uid]);
}

/** Figures derived from the rows of a document. */
export function countAddresses(
  addresses: readonly ListedAddress[],
): Pick<ReadDocument, 'distinct_addresses' | 'currencies'> {
  const currencies = new Map<string, number>();
  for (const { currency } of addresses) tally(currencies, currency);
  return {
    distinct_addresses: new Set(addresses.map(({ address }) => address)).size,
    currencies: Object.fromEntries(currencies),
  };
}

/** The note on a row of whose party the file left something open; `null` where it did not. */
export function leftOpen(what: readonly string[]): string | null {
  return what.length === 0 ? null : `The publisher's file leaves open ${what.join(' and ')}`;
}

// A value keeps its letters: only white space around it and invisible characters are stripped.

/** Format and control characters and others that nothing shows; white space is not among them. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]|[^\P{Cc}\s]/gu;
const LABEL_WORDS = /digital\s*currency/i;
/** Runs of letters and digits, alone and with a prefix as Bitcoin Cash prints it. */
const RUNS = [/[0-9A-Za-z]+/g, /[0-9A-Za-z]+:[0-9A-Za-z]+/g];
/** An EVM address in any neighbourhood; the prefix may have been put in capitals. */
const EVM_WITHIN = /0[xX]([0-9a-fA-F]{40})(?![0-9a-fA-F])/g;
/** No address with a checksum is shorter. */
const LONG_RUN = /[0-9A-Za-z]{25}/;

/** A printed value without the white space around it and without invisible characters. */
export function printedValue(text: string): string {
  return text.replace(INVISIBLE, '').trim();
}

/** The addresses of a known form inside a value that is none itself, in the order of the value. */
export function addressesWithin(
  value: string,
  isKnownForm: (address: string) => boolean,
): readonly string[] {
  const joined = value.replace(/\s+/g, '');
  const evm = [...joined.matchAll(EVM_WITHIN)].map(([, digits]) => `0x${digits}`);
  const runs = RUNS.flatMap((run) => [...value.matchAll(run)].map(([found]) => found));
  const held = new Set([joined, ...evm, ...runs].filter(isKnownForm));
  held.delete(value);
  return [...held];
}

/** Whether a text that should hold no address names or is one; Solana's form has no checksum. */
export function holdsAddress(text: string): boolean {
  if (LABEL_WORDS.test(text)) return true;
  if (!LONG_RUN.test(text)) return false;
  return addressesWithin(` ${printedValue(text)} `, isUnmistakable).length > 0;
}

function isUnmistakable(text: string): boolean {
  const known = parseKnownAddress(text);
  return known !== null && known.kind !== 'solana';
}
