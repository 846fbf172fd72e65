// Which transfers are there between listed addresses and those who may have dealt with them?
// The same few hubs deal with the list in every walk, so what is final between two addresses is
// kept until the engine's parts change. The tip is read each time, by one statement for all.

import type { ChainName } from '../../../chain/chain.ts';
import { heldUnder } from '../../../evidence/measure.ts';
import type { Warehouse } from '../engine/executor.ts';
import { coalesced } from '../history/coalesce.ts';
import type { HeldTransfer } from '../history/packed-side.ts';
import { READ_TIMEOUT_MS, type WarehouseReads } from '../history/warehouse-reads.ts';
import { readBetween } from '../history/warehouse-rows.ts';
import { addressHex } from '../transfers/bytes.ts';
import { type Held, tipRows } from '../transfers/held.ts';
import { keptByParts, type Parts } from '../transfers/written.ts';
import { interrupted } from './ring-rows.ts';

/** The transfers between two, each once, newest first; `more` where some were left out. */
export type BetweenTwo = { readonly rows: readonly HeldTransfer[]; readonly more: boolean };

/** By the listed address, the transfers between one of the others and it. */
export type BetweenListed = ReadonlyMap<string, BetweenTwo>;
/** Who may have dealt with which listed addresses. */
export type MayHave = ReadonlyMap<string, readonly string[]>;

/** What is kept in all: past it all is forgotten. A pair without transfers counts as one. */
const KEPT_MAX = 50_000;
/** How long it is kept: as long as what was read of its tokens. */
const KEEP_MS = 60_000;
/** How often a read may be made again because blocks became final under it. */
const READS_MAX = 5;
const LIMITS = { waitMs: 1, keysMax: 4_096, divideFrom: 512, loadsMax: 2 };

type Loaded = ReadonlyMap<string, BetweenTwo>;
type Settled = { readonly held: Held; readonly between: ReadonlyMap<string, BetweenListed> };

/**
 * Reads between two addresses, of which final rows lay in the parts `written` a moment ago.
 * `listed` lists have to be the same arrays for as long as they hold the same.
 */
export function betweenTwo(warehouse: Warehouse, reads: WarehouseReads) {
  const kept = keptByParts<KeptPeer>(KEPT_MAX);
  const load = (where: 'final' | 'tip') =>
    coalesced((keys, signal) => loaded(warehouse, reads, where, keys, signal), LIMITS);
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
      const own = ofPeer(fresh, peer, listed);
      between.set(peer, own);
      const one = keptPeer(listed, own, atMs);
      if (one !== null) kept.add(peer, one, one.size, epoch);
    }
    return between;
  }

  return async (may: MayHave, written: Parts, signal: AbortSignal): Promise<Settled> => {
    kept.renew(written);
    for (let attempt = 0; attempt < READS_MAX; attempt += 1) {
      const held = await reads.fresh();
      const epoch = kept.epoch();
      const between = await final(may, epoch, signal);
      const hasTip = tipRows(held.followed) !== null;
      const tip = hasTip ? await loadTip([...may].flatMap(keysOf), signal) : NOTHING;
      // What is kept may be older than this, and what became final may have left the tip.
      kept.renew((await reads.marked()).parts.sides);
      if (kept.epoch() !== epoch) continue;
      for (const [peer, own] of between) between.set(peer, joined(own, tip, peer));
      return { held, between };
    }
    throw interrupted();
  };
}

const NOTHING: Loaded = new Map();

function keysOf([peer, listed]: readonly [string, readonly string[]]): string[] {
  return listed.map((one) => `${one} ${peer}`);
}

function ofPeer(read: Loaded, peer: string, listed: readonly string[]): BetweenListed {
  return new Map(
    listed.map((one) => {
      const two = read.get(`${one} ${peer}`);
      if (two === undefined) throw new RangeError('a pair was not read');
      return [one, two];
    }),
  );
}

async function loaded(
  warehouse: Warehouse,
  reads: WarehouseReads,
  where: 'final' | 'tip',
  keys: readonly string[],
  signal: AbortSignal,
): Promise<Loaded> {
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
    for (const row of all) {
      const key = `${listed} ${row.peer}`;
      const known = found.get(key);
      if (known === undefined) found.set(key, [row]);
      else known.push(row);
    }
  }
  return new Map(
    keys.map((key, i) => {
      const more = rows.get(String(pairs[i]?.[0]))?.more === true;
      return [key, { rows: heldUnder(found, key), more }];
    }),
  );
}

/** The same map where the tip holds nothing between these two. */
function joined(final: BetweenListed, tip: Loaded, peer: string): BetweenListed {
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

/** What is final between one and the listed addresses that it may have dealt with. */
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
