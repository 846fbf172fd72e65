// Who of everyone dealt with whom of the listed ones, as far as rows were read?
// It holds at least what the tables held when it was last brought up to date, and perhaps more (of
// blocks undone since, of addresses that left the list): less would be a false miss.

import { CHAIN_NAMES, type ChainName } from '../../../chain/chain.ts';
import type { Call, Warehouse } from '../engine/executor.ts';
import { addressHex } from '../transfers/bytes.ts';
import { type Mark, readMark } from '../transfers/written.ts';
import { type Fingerprints, fingerprintOf, fingerprints, pairsIn } from './fingerprints.ts';
import {
  interrupted,
  RING_TABLES,
  type RingQuestion,
  type RingRow,
  ringRows,
} from './ring-rows.ts';

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

/** A ring in memory. */
export class RingState {
  readonly #warehouse: Warehouse;
  readonly #marked: () => Promise<Mark>;
  readonly #chains = new Map<ChainName, Fingerprints>();
  /** Listed addresses by their number; one whose reading was cut off has more than one. */
  readonly #listed: string[] = [];
  readonly #byHex = new Map<string, number>();
  readonly #filed = new Set<string>();
  /** Whom those met before may have dealt with, until rows are added. */
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
      const fingerprint = fingerprintOf(address);
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
      // Who was filed just now was read whole, whatever its parts were called.
      if (isThere || before.length === 0) return { ...mark, rollbacks: after.rollbacks };
      mark = after;
    }
    throw interrupted();
  }

  /** Files addresses that were not listed before, with all that is written of them. */
  async #list(addresses: readonly string[], call: Call, told: RingProgress): Promise<void> {
    for (let at = 0; at < addresses.length; at += LISTED_AT_ONCE) {
      const some = addresses.slice(at, at + LISTED_AT_ONCE);
      for (const address of some) {
        this.#byHex.set(addressHex(address), this.#listed.length);
        this.#listed.push(address);
      }
      for (const table of RING_TABLES) {
        await this.#takeAll({ table, listed: some, parts: null }, call);
      }
      // Not before all of it was read: who is filed is taken for known.
      for (const address of some) this.#filed.add(address);
      told(Math.min(at + LISTED_AT_ONCE, addresses.length), addresses.length);
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
      const known = fresh.get(chain);
      const more = pairsIn(fingerprintsHex, number);
      if (known === undefined) fresh.set(chain, more);
      else for (const pair of more) known.push(pair);
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
