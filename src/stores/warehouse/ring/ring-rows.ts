// Reads the counterparties of listed addresses from the warehouse. Rows are read by the parts that
// hold them, so that only new parts are read again.

import { z } from 'zod';
import { CHAIN_NAMES, type ChainName } from '../../../chain/chain.ts';
import { collect, rowsUnder, slices } from '../../../evidence/measure.ts';
import {
  type Call,
  type Params,
  queryNumber,
  type Warehouse,
  WarehouseUnavailable,
} from '../engine/executor.ts';
import { READ_TIMEOUT_MS, type WarehouseReads } from '../history/warehouse.ts';
import { coalesce, type HeldTransfer, readBetween } from '../history/warehouse-rows.ts';
import { addressHex } from '../transfers/append.ts';
import { type KeptParts, type Mark, partsCache, readMark, tipRows } from '../transfers/held.ts';

/** The tables that hold transfers under their addresses: what is final, and the tip. */
export const RING_TABLES = ['sides', 'tip_sides'] as const;
/** Counterparties of one listed address on one chain, as fingerprints in hexadecimal. */
export type RingRow = {
  readonly chain: ChainName;
  readonly listedHex: string;
  readonly fingerprintsHex: string;
};

/** Sides whose fingerprints one statement gives; more are asked in so many. */
const PAGE_SIDES = 250_000;
/** The last byte of a counterparty says in which page it is. */
const PAGES_MAX = 256;
/** Rows of one answer: chains times listed addresses. */
const ROWS_MAX = 100_000;
const ringRow = z.tuple([z.enum(CHAIN_NAMES), z.string(), z.string()]);

const LISTED = '(SELECT unhex(arrayJoin({listed:Array(String)})))';

/** The rows to read from a table: all of some listed addresses, or only those in some parts. */
export type RingQuestion = {
  readonly table: (typeof RING_TABLES)[number];
  readonly listed: readonly string[];
  readonly parts: KeptParts | null;
};

/** Reads the ring of some listed addresses, page by page. A part that is gone has no rows. */
export async function* ringRows(
  warehouse: Warehouse,
  { table, listed, parts }: RingQuestion,
  call: Call,
): AsyncGenerator<readonly RingRow[]> {
  const names =
    parts === null ? null : [...parts.keys()].map((part) => part.slice(0, part.indexOf(' ')));
  const of = names === null ? '' : 'AND _part IN {parts:Array(String)}';
  const from = `${table} WHERE addr IN ${LISTED} ${of}`;
  const params = {
    listed: listed.map(addressHex),
    ...(names === null ? {} : { parts: names }),
  };
  const pages = await pagesOf(warehouse, from, params, parts, call);
  for (let page = 0; page < pages; page += 1) {
    const sql = `SELECT toString(chain), lower(hex(addr)),
        hex(arrayStringConcat(groupUniqArray(right(peer, ${FINGERPRINT_BYTES}))))
      FROM ${from} AND addr != peer AND reinterpretAsUInt8(right(peer, 1)) % ${pages} = ${page}
      GROUP BY chain, addr`;
    const query = { ...call, params, row: ringRow, tuples: true, rowsMax: ROWS_MAX };
    const rows = await warehouse.query(sql, query);
    yield rows.map(([chain, listedHex, fingerprintsHex]) => {
      return { chain, listedHex, fingerprintsHex };
    });
  }
}

/** In how many pages such rows come: few parts hold too little for two. */
async function pagesOf(
  warehouse: Warehouse,
  from: string,
  params: Params,
  parts: KeptParts | null,
  call: Call,
): Promise<number> {
  const most = parts === null ? null : [...parts.values()].reduce((sum, rows) => sum + rows, 0);
  if (most !== null && most <= PAGE_SIDES) return 1;
  const sides = await queryNumber(warehouse, `SELECT count() FROM ${from}`, { ...call, params });
  return Math.min(PAGES_MAX, Math.ceil(sides / PAGE_SIDES));
}

/** A step that others' writes undid again and again. */
export function interruption(): WarehouseUnavailable {
  return new WarehouseUnavailable('interrupted');
}

// Stores the listed addresses that an address may have dealt with. Sorted numbers in memory, 8
// bytes for each pair: 40 bits of the counterparty, then the listed one's number. A miss is a
// proof, since all of an address's pairs lie under its own bits. Two addresses of the same bits are
// harmless: a read of the transfers between the two settles a hit, and finds none.

/** Bytes of a counterparty that its fingerprint holds: its last ones. */
export const FINGERPRINT_BYTES = 5;
/** So many listed addresses can be numbered: 13 bits, which with the 40 are an exact number. */
export const RING_LISTED_MAX = 8_192;

const HEX_DIGITS = 2 * FINGERPRINT_BYTES;
const BUCKETS = 1_024;
const BUCKET_SPAN = (2 ** (8 * FINGERPRINT_BYTES) * RING_LISTED_MAX) / BUCKETS;
const NUMBER_BYTES = 8;
/** Buckets that are put in order before others have their turn. */
const BUCKETS_AT_ONCE = 32;

export function ringFingerprint(address: string): number {
  return Number.parseInt(addressHex(address).slice(-HEX_DIGITS), 16);
}

/** The pairs of a listed address with fingerprints that stand one behind another in hexadecimal. */
export function pairsIn(fingerprintsHex: string, listedNumber: number): number[] {
  const bytes = Buffer.from(fingerprintsHex, 'hex');
  const pairs: number[] = [];
  for (let at = 0; at < bytes.length; at += FINGERPRINT_BYTES) {
    pairs.push(bytes.readUIntBE(at, FINGERPRINT_BYTES) * RING_LISTED_MAX + listedNumber);
  }
  return pairs;
}

/** Pairs of one chain, each once. */
export type Fingerprints = ReturnType<typeof fingerprints>;

/** An empty set of pairs. `rest` lets others have their turn. */
export function fingerprints(rest: () => Promise<void>) {
  const buckets: Float64Array[] = Array.from({ length: BUCKETS }, () => NO_PAIRS);
  let size = 0;

  return {
    /** How many pairs it holds, and the bytes of memory that they take. */
    size: () => size,
    bytes: () => size * NUMBER_BYTES,
    add: async (pairs: readonly number[]): Promise<void> => {
      const fresh = new Map<number, number[]>();
      for (const pair of pairs) collect(fresh, bucketAt(pair), pair);
      let done = 0;
      for (const [at, more] of fresh) {
        const before = buckets[at] as Float64Array;
        const after = joinNumbers(before, more);
        buckets[at] = after;
        size += after.length - before.length;
        done += 1;
        if (done % BUCKETS_AT_ONCE === 0) await rest();
      }
    },
    /** The numbers of the listed addresses that are filed under a fingerprint. */
    under: (fingerprint: number): readonly number[] => {
      const from = fingerprint * RING_LISTED_MAX;
      const bucket = buckets[bucketAt(from)] as Float64Array;
      const found: number[] = [];
      for (let i = firstFrom(bucket, from); i < bucket.length; i += 1) {
        const listed = Number(bucket[i]) - from;
        if (listed >= RING_LISTED_MAX) break;
        found.push(listed);
      }
      return found;
    },
  };
}

const NO_PAIRS = new Float64Array();

function bucketAt(pair: number): number {
  return Math.floor(pair / BUCKET_SPAN);
}

function joinNumbers(before: Float64Array, more: readonly number[]): Float64Array {
  const all = new Float64Array(before.length + more.length);
  all.set(before);
  all.set(more, before.length);
  all.sort();
  let end = 0;
  for (const pair of all) {
    if (end > 0 && all[end - 1] === pair) continue;
    all[end] = pair;
    end += 1;
  }
  return all.slice(0, end);
}

function firstFrom(sorted: Float64Array, least: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (Number(sorted[middle]) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Reads the transfers between listed addresses and possible counterparties. The same few hubs deal
// with the list in every walk, so final transfers between two addresses are cached until the
// engine's parts change. The tip is read each time, by one statement for all.

/** The transfers between two, each once, newest first; `more` where some were left out. */
export type BetweenTwo = { readonly rows: readonly HeldTransfer[]; readonly more: boolean };

/** By the listed address, the transfers between one of the others and it. */
export type BetweenListed = ReadonlyMap<string, BetweenTwo>;
/** The possible counterparties among listed addresses. */
export type MayHave = ReadonlyMap<string, readonly string[]>;

/**
 * The maximum size of the cache, past which all is dropped. A pair without transfers counts as one.
 */
const KEPT_MAX = 50_000;
/** How long it is kept: as long as what was read of its tokens. */
const KEEP_MS = 60_000;
/** How often a read may be made again because blocks became final under it. */
const READS_MAX = 5;
const LIMITS = { waitMs: 1, keysMax: 4_096, divideFrom: 512, loadsMax: 2 };

/**
 * Reads between two addresses, of which final rows lay in the parts `written` a moment ago.
 * `listed` lists have to be the same arrays for as long as they hold the same.
 */
export function betweenTwo(warehouse: Warehouse, reads: WarehouseReads) {
  const kept = partsCache<KeptPeer>(KEPT_MAX);
  const load = (where: 'final' | 'tip') =>
    coalesce((keys, signal) => loadPairs(warehouse, reads, where, keys, signal), LIMITS);
  const [loadFinal, loadTip] = [load('final'), load('tip')];

  async function final(
    may: MayHave,
    epoch: number,
    signal: AbortSignal,
  ): Promise<Map<string, BetweenListed>> {
    const between = new Map<string, BetweenListed>();
    const missing: [string, readonly string[]][] = [];
    for (const [peer, listed] of may) {
      const known = kept.of(peer);
      if (known === undefined || !isStanding(known, listed, reads)) missing.push([peer, listed]);
      else between.set(peer, known.own);
    }
    if (missing.length === 0) return between;
    const atMs = performance.now();
    const fresh = await loadFinal(missing.flatMap(keysOf), signal);
    for (const [peer, listed] of missing) {
      const own = new Map(
        listed.map((one) => {
          const two = fresh.get(`${one} ${peer}`);
          if (two === undefined) throw new RangeError('a pair was not read');
          return [one, two];
        }),
      );
      between.set(peer, own);
      const one = keptPeer(listed, own, atMs);
      if (one !== null) kept.add(peer, one, one.size, epoch);
    }
    return between;
  }

  return async (may: MayHave, written: KeptParts, signal: AbortSignal) => {
    kept.renew(written);
    for (let attempt = 0; attempt < READS_MAX; attempt += 1) {
      const held = await reads.fresh();
      const epoch = kept.epoch();
      const between = await final(may, epoch, signal);
      const hasTip = tipRows(held.followed) !== null;
      const tip = hasTip ? await loadTip([...may].flatMap(keysOf), signal) : NOTHING;
      // The cached rows may be older than this, and rows that became final may have left the tip.
      kept.renew((await reads.marked()).parts.sides);
      if (kept.epoch() !== epoch) continue;
      if (hasTip) {
        for (const [peer, own] of between) between.set(peer, joinedMeetings(own, tip, peer));
      }
      return { held, between };
    }
    throw interruption();
  };
}

const NOTHING: ReadonlyMap<string, BetweenTwo> = new Map();

function keysOf([peer, listed]: readonly [string, readonly string[]]): string[] {
  return listed.map((one) => `${one} ${peer}`);
}

async function loadPairs(
  warehouse: Warehouse,
  reads: WarehouseReads,
  where: 'final' | 'tip',
  keys: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, BetweenTwo>> {
  const call = { timeoutMs: READ_TIMEOUT_MS, signal };
  const held = await reads.fresh();
  const pairs = keys.map((key) => key.split(' '));
  const asked = {
    listed: [...new Set(pairs.map(([listed]) => String(listed)))],
    peers: [...new Set(pairs.map(([, peer]) => String(peer)))],
  };
  const rows = await readBetween(warehouse, held, reads.names(held, call), asked, where, call);
  const found = new Map<string, HeldTransfer[]>();
  for (const [listed, { rows: all }] of rows) {
    for (const row of all) collect(found, `${listed} ${row.peer}`, row);
  }
  return new Map(
    keys.map((key, i) => {
      const more = rows.get(String(pairs[i]?.[0]))?.more === true;
      return [key, { rows: rowsUnder(found, key), more }];
    }),
  );
}

/** The same map where the tip holds nothing between these two. */
function joinedMeetings(
  final: BetweenListed,
  tip: ReadonlyMap<string, BetweenTwo>,
  peer: string,
): BetweenListed {
  const newer = [...final.keys()].filter((listed) => tip.get(`${listed} ${peer}`)?.rows.length);
  if (newer.length === 0) return final;
  const between = new Map(final);
  for (const listed of newer) {
    const [told, fresh] = [final.get(listed), tip.get(`${listed} ${peer}`)];
    if (told === undefined || fresh === undefined) throw new RangeError('a pair was not read');
    const names = new Set(fresh.rows.map(nameOf));
    const rows = [...fresh.rows, ...told.rows.filter((row) => !names.has(nameOf(row)))];
    between.set(listed, { rows, more: told.more || fresh.more });
  }
  return between;
}

function nameOf({ transfer, id }: HeldTransfer): string {
  return `${transfer.chain} ${id}`;
}

/** The final transfers between one address and its possible listed counterparties. */
type KeptPeer = {
  readonly listed: readonly string[];
  readonly own: BetweenListed;
  readonly atMs: number;
  readonly size: number;
  /** The tokens among it that are told to be worthless. */
  readonly worthless: readonly TokenOf[];
};
type TokenOf = { readonly chain: ChainName; readonly tokenHex: string };

/** `null` where it may not be kept: of a pair that was cut off there is more. */
function keptPeer(listed: readonly string[], own: BetweenListed, atMs: number): KeptPeer | null {
  let size = 0;
  const worthless = new Map<string, TokenOf>();
  for (const { rows, more } of own.values()) {
    if (more) return null;
    size += 1 + rows.length;
    for (const { transfer } of rows) {
      if (transfer.has_market !== false || transfer.token === null) continue;
      const one = { chain: transfer.chain, tokenHex: addressHex(transfer.token) };
      worthless.set(`${one.chain} ${one.tokenHex}`, one);
    }
  }
  return { listed, own, atMs, size, worthless: [...worthless.values()] };
}

/** That a token is worthless is told only while the reading that says so is young. */
function isStanding(
  { listed, atMs, worthless }: KeptPeer,
  asked: readonly string[],
  { tokenIs }: WarehouseReads,
): boolean {
  if (listed !== asked || performance.now() - atMs >= KEEP_MS) return false;
  return worthless.every(({ chain, tokenHex }) => tokenIs(chain, tokenHex).has_market === false);
}

// The ring: all counterparties of the listed addresses, as far as rows were read. It holds at least
// the contents of the tables at its last update, and perhaps more (from undone blocks, and
// addresses that left the list): less would be a false miss.

/** Pairs of a ring in all: 8 bytes each. */
export const PAIRS_MAX = 30_000_000;
/** How often parts may be joined under a read of them before it is given up. */
const TRIES_MAX = 8;
/** Addresses that were met before. */
const MET_MAX = 20_000;
/** Listed addresses of one statement. */
const LISTED_AT_ONCE = 512;

/** A ring that has no room for more. */
export class RingFull extends Error {}

/** How far a build has come, in listed addresses. */
export type RingProgress = (done: number, of: number) => void;

export class RingState {
  readonly #warehouse: Warehouse;
  readonly #marked: () => Promise<Mark>;
  readonly #chains = new Map<ChainName, Fingerprints>();
  /** Listed addresses by their number; one whose reading was cut off has more than one. */
  readonly #listed: string[] = [];
  readonly #byHex = new Map<string, number>();
  readonly #filed = new Set<string>();
  /** The possible counterparties of earlier addresses, until rows are added. */
  readonly #met = new Map<string, readonly string[]>();
  #parts: Pick<Mark['parts'], (typeof RING_TABLES)[number]> = {
    sides: new Map(),
    tip_sides: new Map(),
  };

  /** `marked` reads what is written, anew where something can have been written since. */
  constructor(warehouse: Warehouse, marked: () => Promise<Mark>) {
    this.#warehouse = warehouse;
    this.#marked = marked;
  }

  /** How many listed addresses it knows, and how many numbers it has given for them. */
  get listed(): number {
    return this.#filed.size;
  }
  get numbers(): number {
    return this.#listed.length;
  }
  get byChain(): readonly { readonly chain: ChainName; readonly pairs: number }[] {
    return CHAIN_NAMES.flatMap((chain) => {
      const held = this.#chains.get(chain);
      return held === undefined ? [] : [{ chain, pairs: held.size() }];
    });
  }
  get pairs(): number {
    return this.byChain.reduce((sum, { pairs }) => sum + pairs, 0);
  }
  get bytes(): number {
    return [...this.#chains.values()].reduce((sum, one) => sum + one.bytes(), 0);
  }

  has(address: string): boolean {
    return this.#filed.has(address);
  }

  /**
   * By address, the listed ones that it may have dealt with: the same array for as long as they are
   * the same.
   */
  met(addresses: readonly string[]): Map<string, readonly string[]> {
    const found = new Map<string, readonly string[]>();
    const chains = [...this.#chains.values()];
    for (const address of addresses) {
      const fingerprint = ringFingerprint(address);
      const under = chains.flatMap((held) => held.under(fingerprint));
      if (under.length === 0) continue;
      const known = this.#met.get(address);
      const listed = known ?? [...new Set(under.map((number) => String(this.#listed[number])))];
      if (known === undefined) {
        if (this.#met.size >= MET_MAX) this.#met.clear();
        this.#met.set(address, listed);
      }
      found.set(address, listed);
    }
    return found;
  }

  /**
   * Brings it up to all that was written when this was called. A part that was joined with others
   * while it was read may have given nothing: what it became is read then.
   */
  async catchUp(missing: readonly string[], call: Call, told: RingProgress = quiet): Promise<Mark> {
    const before = [...this.#filed];
    let mark = await this.#marked();
    await this.#list(missing, call, told);
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const fresh = RING_TABLES.map((table) => {
        const parts = [...mark.parts[table]].filter(([part]) => !this.#parts[table].has(part));
        return { table, parts: new Map(parts) };
      }).filter(({ parts }) => parts.size > 0);
      if (fresh.length === 0 && missing.length === 0) return mark;
      for (const one of before.length === 0 ? [] : fresh) {
        await this.#takeAll({ ...one, listed: before }, call);
      }
      const after = await readMark(this.#warehouse, call);
      const isThere = fresh.every(({ table, parts }) => {
        return [...parts.keys()].every((part) => after.parts[table].has(part));
      });
      this.#parts = mark.parts;
      // An address that was filed just now was read completely, whatever its parts were called.
      if (isThere || before.length === 0) return { ...mark, rollbacks: after.rollbacks };
      mark = after;
    }
    throw interruption();
  }

  /** Files addresses that were not listed before, with all that is written of them. */
  async #list(addresses: readonly string[], call: Call, told: RingProgress): Promise<void> {
    let done = 0;
    for (const some of slices(addresses, LISTED_AT_ONCE)) {
      for (const address of some) {
        this.#byHex.set(addressHex(address), this.#listed.length);
        this.#listed.push(address);
      }
      for (const table of RING_TABLES) {
        await this.#takeAll({ table, listed: some, parts: null }, call);
      }
      // Not before all of it was read: who is filed is taken for known.
      for (const address of some) this.#filed.add(address);
      done += some.length;
      told(done, addresses.length);
    }
  }

  async #takeAll(question: RingQuestion, call: Call): Promise<void> {
    for await (const rows of ringRows(this.#warehouse, question, call)) await this.#take(rows);
  }

  async #take(rows: readonly RingRow[]): Promise<void> {
    const fresh = new Map<ChainName, number[]>();
    for (const { chain, listedHex, fingerprintsHex } of rows) {
      const number = this.#byHex.get(listedHex);
      if (number === undefined) throw new RangeError('a row of an address that was not asked');
      for (const pair of pairsIn(fingerprintsHex, number)) collect(fresh, chain, pair);
    }
    for (const [chain, more] of fresh) {
      const held = this.#chains.get(chain) ?? fingerprints(nextTick);
      this.#chains.set(chain, held);
      await held.add(more);
    }
    this.#met.clear();
    if (this.pairs > PAIRS_MAX) throw new RingFull();
  }
}

const quiet: RingProgress = () => undefined;

const nextTick = () => new Promise<void>((reached) => setImmediate(reached));
