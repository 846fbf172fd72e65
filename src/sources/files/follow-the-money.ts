// Reads listed wallets with their holders and sanctions from FollowTheMoney entities, one entity a
// line, as OpenSanctions publishes them (followthemoney.tech): flat, where a wallet names its
// holder and a sanction its entity by id, before or after it; or nested, where entities lie inside
// each other, at any place. So the file is read twice: for its wallets, and for the parties that
// they name. A possible wallet that cannot be read is a reported row.

import { z } from 'zod';
import { collect, present, rowsUnder } from '../../evidence/measure.ts';
import type { BrokenRow, RawRow } from '../../ports/tables.ts';
import { jsonIn, outsideRow } from '../http/fetch.ts';
import { FileFault, textLines } from './text-lines.ts';

/** The longest line, in characters: a nested entity holds all that belongs to it. */
const LINE_CHARS_MAX = 4 * 1024 * 1024;
/** The most addresses of one file, a wallet without any counted as one. */
const ADDRESSES_MAX = 1_000_000;
const BETWEEN = '; ';

/** Whether the beginning of a file is a line of FollowTheMoney. */
export function isFollowTheMoney(beginning: string): boolean {
  return /^\ufeff?\s*\{/.test(beginning) && /"schema"\s*:\s*"[A-Z]/.test(beginning);
}

/** The facts of a file about one wallet, at however many places it occurs. */
type Wallet = {
  /** Where it stands first. */
  readonly line: number;
  readonly id: string;
  name: string | null;
  readonly addresses: Set<string>;
  /** Accounts of a service, which are no addresses. */
  readonly accounts: Set<string>;
  readonly currencies: Set<string>;
  readonly pages: Set<string>;
  firstSeen: string | null;
  lastSeen: string | null;
  /** Ids of the entities that hold it. */
  readonly holders: Set<string>;
  /** Ids of the named entities that it stands inside, which may not hold it. */
  readonly inside: Set<string>;
};

/** The facts about a party that a wallet names. */
type Party = { readonly name: string | null; readonly schema: string };

type Sanction = {
  readonly id: string;
  readonly programs: readonly string[];
  readonly pages: readonly string[];
  readonly starts: readonly string[];
  readonly ends: readonly string[];
};

type Known = {
  readonly parties: Map<string, Party>;
  /** The sanctions on an entity, by its id. */
  readonly sanctions: Map<string, Sanction[]>;
};

/**
 * The rows of a file, one for each address. `read` gives its bytes from the start, and is called
 * twice. Throws `FileFault` where it ends within a line.
 */
export async function* followTheMoneyRows(
  read: () => AsyncIterable<Uint8Array>,
): AsyncGenerator<RawRow | BrokenRow> {
  const wallets = new Map<string, Wallet>();
  let addresses = 0;
  for await (const { line, placed } of placesIn(read())) {
    if (placed === null) yield { line, problem: 'not an entity' };
    else if (placed.entity === null) {
      yield { line, problem: 'what stands inside an entity is none itself' };
    } else if (placed.entity.schema === 'CryptoWallet') {
      addresses += gatherWallet(placed.entity, placed, line, wallets);
      if (addresses > ADDRESSES_MAX)
        throw new FileFault(`it lists over ${ADDRESSES_MAX} addresses`);
      for (let at = unreadAddresses(placed.entity); at > 0; at -= 1) {
        yield { line, problem: 'an address of a wallet is no text' };
      }
    }
  }
  const named = new Set(
    [...wallets.values()].flatMap(({ id, holders, inside }) => [id, ...holders, ...inside]),
  );
  const known: Known = { parties: new Map(), sanctions: new Map() };
  for await (const { placed } of placesIn(read())) {
    if (placed !== null && placed.entity !== null) {
      gatherKnown(placed.entity, placed, named, known);
    }
  }
  for (const wallet of wallets.values()) yield* rowsOf(wallet, known);
}

/** Every entity of a file, those inside others too; `null` for a line that is none. */
async function* placesIn(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly line: number; readonly placed: Placed | null }> {
  for await (const { line, text, isEnded } of textLines(chunks, LINE_CHARS_MAX)) {
    const value = jsonIn(text);
    // A file that was cut off ends in the middle of an entity: what follows it is not known.
    if (value === undefined && !isEnded) throw new FileFault('it ends in the middle of a line');
    for (const placed of entitiesInside(value)) {
      const isNone = placed.entity === null && placed.around.length === 0;
      yield { line, placed: isNone ? null : placed };
    }
  }
}

/** Adds what one place says of a wallet; answers how many addresses more there are. */
function gatherWallet(
  one: FtmEntity,
  { around }: Placed,
  line: number,
  wallets: Map<string, Wallet>,
): number {
  const before = wallets.get(one.id);
  const wallet = before === undefined ? newWallet(one, line) : before;
  const held = wallet.addresses.size;
  addAll(wallet.addresses, textsOf(one, 'publicKey'));
  addAll(wallet.accounts, textsOf(one, 'accountId'));
  addAll(wallet.currencies, textsOf(one, 'currency'));
  addAll(wallet.pages, textsOf(one, 'sourceUrl'));
  addAll(wallet.holders, idsOf(one, 'holder'));
  if (wallet.name === null) wallet.name = nameOf(one);
  if (wallet.firstSeen === null) wallet.firstSeen = textIn(one.first_seen);
  if (wallet.lastSeen === null) wallet.lastSeen = lastSeenOf(one);
  const nearest = around.at(-1);
  if (nearest?.property === 'cryptoWallets') wallet.holders.add(nearest.entity.id);
  const party = around.findLast(({ entity }) => textsOf(entity, 'name').length > 0);
  if (party !== undefined) wallet.inside.add(party.entity.id);
  wallets.set(one.id, wallet);
  return wallet.addresses.size - held + (before === undefined ? 1 : 0);
}

function newWallet({ id }: FtmEntity, line: number): Wallet {
  return {
    line,
    id,
    name: null,
    addresses: new Set(),
    accounts: new Set(),
    currencies: new Set(),
    pages: new Set(),
    firstSeen: null,
    lastSeen: null,
    holders: new Set(),
    inside: new Set(),
  };
}

/** When the file's maker last saw it in its source, or else last saw it change. */
function lastSeenOf({ last_seen, last_change }: FtmEntity): string | null {
  const seen = textIn(last_seen);
  return seen === null ? textIn(last_change) : seen;
}

function addAll(to: Set<string>, texts: readonly string[]): void {
  for (const text of texts) to.add(text);
}

/** How many values stand in the place of an address and are no text. */
function unreadAddresses({ properties }: FtmEntity): number {
  const held = properties['publicKey'];
  const values: readonly unknown[] = Array.isArray(held) ? held : present([held]);
  return values.filter((value) => typeof value !== 'string').length;
}

/** Adds what is said of those whom wallets name: who they are, and the sanctions on them. */
function gatherKnown(
  one: FtmEntity,
  { around }: Placed,
  named: ReadonlySet<string>,
  { parties, sanctions }: Known,
): void {
  const before = parties.get(one.id);
  if (named.has(one.id) && (before === undefined || before.name === null)) {
    parties.set(one.id, { name: nameOf(one), schema: one.schema });
  }
  if (one.schema !== 'Sanction') return;
  const nearest = around.at(-1);
  const on = new Set(idsOf(one, 'entity'));
  if (nearest?.property === 'sanctions') on.add(nearest.entity.id);
  for (const id of on) {
    const isKnown = rowsUnder(sanctions, id).some((sanction) => sanction.id === one.id);
    if (named.has(id) && !isKnown) collect(sanctions, id, sanctionOf(one));
  }
}

function sanctionOf(one: FtmEntity): Sanction {
  const programs = textsOf(one, 'program');
  return {
    id: one.id,
    programs: programs.length > 0 ? programs : textsOf(one, 'authority'),
    pages: textsOf(one, 'sourceUrl'),
    starts: textsOf(one, 'startDate'),
    ends: textsOf(one, 'endDate'),
  };
}

function* rowsOf(wallet: Wallet, known: Known): Generator<RawRow | BrokenRow> {
  const { line, addresses, accounts } = wallet;
  if (addresses.size === 0 && accounts.size === 0) {
    yield { line, problem: 'a wallet without an address' };
    return;
  }
  const facts = factsOf(wallet, known);
  if (addresses.size === 0) yield rowWith(line, { ...facts, account: joinTexts([...accounts]) });
  for (const address of addresses) yield rowWith(line, { address, ...facts });
}

type Facts = { readonly [column: string]: string | null };

function rowWith(line: number, facts: Facts): RawRow {
  const fields = new Map<string, string>();
  for (const [name, value] of Object.entries(facts)) if (value !== null) fields.set(name, value);
  return { line, fields };
}

function factsOf(wallet: Wallet, { parties, sanctions }: Known): Facts {
  const { id, name, holders, inside, currencies, pages, firstSeen, lastSeen } = wallet;
  const whom = [...(holders.size > 0 ? holders : inside)];
  const known = whom.flatMap((one) => {
    const party = parties.get(one);
    return party === undefined ? [] : [party];
  });
  const on = [id, ...whom].flatMap((one) => rowsUnder(sanctions, one));
  const named = joinTexts(known.map((party) => party.name));
  const started = dayOf(on.flatMap(({ starts }) => starts).sort()[0]);
  const allPages = [...on.flatMap((sanction) => sanction.pages), ...pages];
  const lastEnd = on
    .flatMap(({ ends }) => ends)
    .sort()
    .at(-1);
  const page = allPages.find((text) => /^https?:\/\//.test(text));
  return {
    entity: named === null ? name : named,
    entity_type: joinTexts(known.map(({ schema }) => schema)),
    currency: joinTexts([...currencies]),
    programs: joinTexts(on.flatMap(({ programs }) => programs)),
    entry_id: id,
    source_url: page === undefined ? null : page,
    // The day since which it is sanctioned; else the day on which the file's maker first saw it.
    listed_at: started === null ? dayOf(firstSeen) : started,
    ended_at: on.length > 0 && on.every(({ ends }) => ends.length > 0) ? dayOf(lastEnd) : null,
    seen_at: lastSeen,
    note: noteOf(wallet, known),
  };
}

function noteOf({ id, holders, inside }: Wallet, known: readonly Party[]): string | null {
  if (holders.size === 0) {
    const none = 'the file names no holder of this wallet';
    return inside.size === 0 ? none : `${none}; it stands inside the entity that is named`;
  }
  if (known.length < holders.size) return 'a holder of this wallet is not in the file';
  return known.some(({ name }) => name === null) ? `a holder of ${id} has no name` : null;
}

function nameOf(one: FtmEntity): string | null {
  const [first] = textsOf(one, 'name');
  return first === undefined ? textIn(one.caption) : first;
}

/** A whole day, ISO 8601; the schema allows less exact dates, which are none. */
function dayOf(text: string | null | undefined): string | null {
  const day = /^\d{4}-\d{2}-\d{2}/.exec(typeof text === 'string' ? text : '');
  return day === null ? null : day[0];
}

function joinTexts(texts: readonly (string | null)[]): string | null {
  const said = new Set(texts.filter((text) => text !== null));
  return said.size === 0 ? null : [...said].join(BETWEEN);
}

// Finds the FollowTheMoney entities in a JSON value, at any depth. Cosmetic fields may be of any
// kind; another value in the place of an entity is reported.

/** The maximum depth of nested entities; a deeper file is not read. */
const DEPTH_MAX = 16;

const entity = outsideRow({
  id: z.string().min(1),
  schema: z.string().min(1),
  caption: z.unknown().optional(),
  first_seen: z.unknown().optional(),
  last_seen: z.unknown().optional(),
  last_change: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()),
});
/** An entity. Its properties hold texts, entities, or a list of either. */
export type FtmEntity = z.output<typeof entity>;

/** An entity that another stands inside, and under which of its properties. */
type Around = { readonly entity: FtmEntity; readonly property: string };

/** An entity with those around it, the outermost first; `null` where something else stands. */
export type Placed = { readonly entity: FtmEntity | null; readonly around: readonly Around[] };

/** A value as an entity, and every entity inside it. Throws `FileFault` beyond the depth. */
export function entitiesInside(value: unknown): Generator<Placed> {
  return entitiesBelow(value, []);
}

function* entitiesBelow(value: unknown, around: readonly Around[]): Generator<Placed> {
  if (around.length > DEPTH_MAX) {
    throw new FileFault(`entities stand over ${DEPTH_MAX} deep inside each other`);
  }
  const parsed = entity.safeParse(value);
  if (!parsed.success) {
    yield { entity: null, around };
    return;
  }
  const one = parsed.data;
  yield { entity: one, around };
  for (const property of Object.keys(one.properties)) {
    // A value in the place of an address that is no entity is reported as such.
    if (one.schema === 'CryptoWallet' && property === 'publicKey') continue;
    for (const inner of valuesOf(one, property)) {
      if (typeof inner !== 'object') continue;
      yield* entitiesBelow(inner, [...around, { entity: one, property }]);
    }
  }
}

/** The values of a property, without those that are null. */
export function valuesOf({ properties }: FtmEntity, name: string): readonly unknown[] {
  const held = properties[name];
  const values: readonly unknown[] = Array.isArray(held) ? held : [held];
  return values.filter((value) => value !== null && value !== undefined);
}

const withId = z.union([z.string(), outsideRow({ id: z.string() }).transform(({ id }) => id)]);

/**
 * The ids that a property names, of entities elsewhere or inside. What is neither names nobody; the
 * address beside it stays listed.
 */
export function idsOf(one: FtmEntity, name: string): string[] {
  return present(valuesOf(one, name).map((value) => withId.safeParse(value).data));
}

/** The texts of a property, without white space around them and without empty ones. */
export function textsOf(one: FtmEntity, name: string): string[] {
  return valuesOf(one, name)
    .map(textIn)
    .filter((text) => text !== null);
}

/** The text of a value; `null` where it is none, or blank. */
export function textIn(value: unknown): string | null {
  const text = typeof value === 'string' ? value.trim() : '';
  return text === '' ? null : text;
}
