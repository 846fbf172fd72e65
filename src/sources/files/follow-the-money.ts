// Which addresses does a file of FollowTheMoney entities list, whose are they, and under what?
// One entity a line, as OpenSanctions publishes them (followthemoney.tech): flat, where a wallet
// names its holder and a sanction its entity by id, before or after it; or nested, where one stands
// inside the other. So the file is read twice: for its wallets, and for whom they name.

import { StringDecoder } from 'node:string_decoder';
import { z } from 'zod';
import { collect, heldUnder, written } from '../../evidence/measure.ts';
import type { BrokenRow, RawRow } from '../../ports/tables/table-import.ts';
import { jsonIn } from '../http/json-text.ts';
import { FileFault } from './fault.ts';

/** The longest line, in characters: a nested entity holds all that belongs to it. */
const LINE_CHARS_MAX = 4 * 1024 * 1024;
/** The most addresses of one file. */
const ADDRESSES_MAX = 1_000_000;
/** How deep entities stand inside each other: a sanction in a holder in a wallet. */
const DEPTH_MAX = 3;
const BETWEEN = '; ';

type Entity = {
  readonly id: string;
  readonly schema: string;
  readonly caption?: string | undefined;
  readonly first_seen?: string | null | undefined;
  readonly properties: { readonly [name: string]: readonly unknown[] };
};

const entity: z.ZodType<Entity> = z.object({
  id: z.string().min(1),
  schema: z.string().min(1),
  caption: z.string().optional(),
  first_seen: z.string().nullish(),
  properties: z.record(z.string(), z.array(z.unknown())),
});

/** Whether the beginning of a file is a line of FollowTheMoney. */
export function isFollowTheMoney(beginning: string): boolean {
  return /^\ufeff?\s*\{/.test(beginning) && /"schema"\s*:\s*"[A-Z]/.test(beginning);
}

type Wallet = {
  readonly line: number;
  readonly entity: Entity;
  /** Ids of the entities that hold it. */
  readonly holders: readonly string[];
};

/** What is known of somebody whom a wallet names. */
type Party = { readonly name: string | null; readonly schema: string };

type Gathered = {
  readonly wallets: Wallet[];
  readonly parties: Map<string, Party>;
  /** The sanctions on an entity, by its id. */
  readonly sanctions: Map<string, Entity[]>;
  readonly broken: BrokenRow[];
  addresses: number;
};

/**
 * The rows of a file, one for each address. `read` gives its bytes from the start, and is called
 * twice. Throws `FileFault` where it ends within a line.
 */
export async function* followTheMoneyRows(
  read: () => AsyncIterable<Uint8Array>,
): AsyncGenerator<RawRow | BrokenRow> {
  const gathered: Gathered = {
    wallets: [],
    parties: new Map(),
    sanctions: new Map(),
    broken: [],
    addresses: 0,
  };
  for await (const { line, value } of entitiesIn(read())) {
    if (value === null) gathered.broken.push({ line, problem: 'not an entity' });
    else gatherWallets(value, line, gathered);
  }
  const named = new Set(
    gathered.wallets.flatMap(({ entity: { id }, holders }) => [id, ...holders]),
  );
  for await (const { value } of entitiesIn(read())) {
    if (value !== null) gatherParties(value, named, gathered, 0);
  }
  yield* gathered.broken;
  for (const wallet of gathered.wallets) yield* rowsOf(wallet, gathered);
}

async function* entitiesIn(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly line: number; readonly value: Entity | null }> {
  let line = 0;
  for await (const text of linesIn(chunks)) {
    line += 1;
    const content = line === 1 ? text.replace(/^\ufeff/, '') : text;
    if (content.trim() === '') continue;
    const parsed = entity.safeParse(jsonIn(content));
    yield { line, value: parsed.success ? parsed.data : null };
  }
}

async function* linesIn(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of chunks) {
    const whole = (rest + decoder.write(Buffer.from(chunk))).split('\n');
    rest = written(whole.pop());
    if (rest.length > LINE_CHARS_MAX) throw new FileFault('a line is too long');
    yield* whole;
  }
  const end = rest + decoder.end();
  if (end.trim() === '') return;
  // A file that was cut off ends in the middle of an entity: what follows it is not known.
  if (jsonIn(end) === undefined) throw new FileFault('it ends in the middle of a line');
  yield end;
}

/** Takes the wallets of an entity: itself, or those that stand inside it. */
function gatherWallets(one: Entity, line: number, gathered: Gathered): void {
  const own = one.schema === 'CryptoWallet' ? [{ wallet: one, holder: null }] : [];
  const inside = entitiesOf(one, 'cryptoWallets').map((wallet) => ({ wallet, holder: one.id }));
  for (const { wallet, holder } of [...own, ...inside]) {
    const holders = holder === null ? idsOf(wallet, 'holder') : [holder];
    gathered.wallets.push({ line, entity: wallet, holders });
    gathered.addresses += wallet.properties['publicKey']?.length ?? 1;
    if (gathered.addresses > ADDRESSES_MAX) {
      throw new FileFault(`it lists over ${ADDRESSES_MAX} addresses`);
    }
  }
}

function gatherParties(
  one: Entity,
  named: ReadonlySet<string>,
  gathered: Gathered,
  depth: number,
): void {
  if (named.has(one.id)) gathered.parties.set(one.id, { name: nameOf(one), schema: one.schema });
  if (one.schema === 'Sanction') {
    for (const id of idsOf(one, 'entity')) {
      if (named.has(id)) collect(gathered.sanctions, id, one);
    }
  }
  if (depth >= DEPTH_MAX) return;
  for (const sanction of entitiesOf(one, 'sanctions')) {
    if (named.has(one.id)) collect(gathered.sanctions, one.id, sanction);
  }
  for (const inner of entitiesOf(one, 'holder')) gatherParties(inner, named, gathered, depth + 1);
}

function* rowsOf(
  { line, entity: wallet, holders }: Wallet,
  { parties, sanctions }: Gathered,
): Generator<RawRow | BrokenRow> {
  const addresses = textsOf(wallet, 'publicKey');
  if (addresses.length === 0) {
    yield { line, problem: 'a wallet without an address' };
    return;
  }
  const known = holders.flatMap((id) => {
    const party = parties.get(id);
    return party === undefined ? [] : [party];
  });
  const on = [wallet.id, ...holders].flatMap((id) => heldUnder(sanctions, id));
  const named = joined(known.map(({ name }) => name));
  const facts = {
    entity: named === null ? nameOf(wallet) : named,
    entity_type: joined(known.map(({ schema }) => schema)),
    currency: joined(textsOf(wallet, 'currency')),
    programs: joined(on.flatMap(programOf)),
    entry_id: wallet.id,
    source_url: webPageOf([...on, wallet]),
    listed_at: firstDayOf(on, wallet),
    ended_at: on.length > 0 && on.every(hasEnded) ? latest(on) : null,
    note: noteOf(wallet, holders, known),
  };
  for (const address of addresses) {
    const fields = new Map<string, string>([['address', address]]);
    for (const [name, value] of Object.entries(facts)) if (value !== null) fields.set(name, value);
    yield { line, fields };
  }
}

function noteOf(
  wallet: Entity,
  holders: readonly string[],
  known: readonly Party[],
): string | null {
  if (holders.length === 0) return 'the file names no holder of this wallet';
  if (known.length < holders.length) return 'a holder of this wallet is not in the file';
  return known.some(({ name }) => name === null) ? `a holder of ${wallet.id} has no name` : null;
}

/** The entities that stand inside one, under a property. */
function entitiesOf({ properties }: Entity, name: string): Entity[] {
  return valuesOf(properties, name).flatMap((value) => {
    const parsed = entity.safeParse(value);
    return parsed.success ? [parsed.data] : [];
  });
}

const withId = z.union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)]);

/** The ids that a property names, of entities elsewhere or inside. */
function idsOf({ properties }: Entity, name: string): string[] {
  return valuesOf(properties, name).flatMap((value) => {
    const parsed = withId.safeParse(value);
    return parsed.success ? [parsed.data] : [];
  });
}

function textsOf({ properties }: Entity, name: string): string[] {
  const texts = valuesOf(properties, name).map((value) => {
    return typeof value === 'string' ? value.trim() : '';
  });
  return texts.filter((text) => text !== '');
}

function valuesOf(properties: Entity['properties'], name: string): readonly unknown[] {
  return heldUnder(new Map(Object.entries(properties)), name);
}

function nameOf(one: Entity): string | null {
  const [first] = textsOf(one, 'name');
  if (first !== undefined) return first;
  return one.caption === undefined || one.caption === '' ? null : one.caption;
}

function programOf(sanction: Entity): string[] {
  const programs = textsOf(sanction, 'program');
  return programs.length > 0 ? programs : textsOf(sanction, 'authority');
}

function webPageOf(all: readonly Entity[]): string | null {
  const pages = all.flatMap((one) => textsOf(one, 'sourceUrl'));
  const page = pages.find((text) => /^https?:\/\//.test(text));
  return page === undefined ? null : page;
}

function hasEnded(sanction: Entity): boolean {
  return textsOf(sanction, 'endDate').length > 0;
}

function latest(sanctions: readonly Entity[]): string | null {
  return dayOf(
    sanctions
      .flatMap((one) => textsOf(one, 'endDate'))
      .sort()
      .at(-1),
  );
}

/** The day since which it is sanctioned; else the day on which the file's maker first saw it. */
function firstDayOf(sanctions: readonly Entity[], wallet: Entity): string | null {
  const started = dayOf(sanctions.flatMap((one) => textsOf(one, 'startDate')).sort()[0]);
  return started === null ? dayOf(wallet.first_seen) : started;
}

/** A whole day, ISO 8601; the schema allows less exact dates, which are none. */
function dayOf(text: string | null | undefined): string | null {
  const day = /^\d{4}-\d{2}-\d{2}/.exec(typeof text === 'string' ? text : '');
  return day === null ? null : day[0];
}

function joined(texts: readonly (string | null)[]): string | null {
  const said = new Set(texts.filter((text) => text !== null));
  return said.size === 0 ? null : [...said].join(BETWEEN);
}
