// Which transfers are there between listed addresses and those who may have dealt with them?
// The same few hubs deal with the list in every walk, so what is final between two addresses is
// kept until the engine's parts change. The tip is read each time, by one statement for all.

import { heldUnder } from '../../../evidence/measure.ts';
import type { Warehouse } from '../engine/executor.ts';
import { coalesced } from '../history/coalesce.ts';
import type { HeldTransfer } from '../history/packed-side.ts';
import { READ_TIMEOUT_MS, type WarehouseReads } from '../history/warehouse-reads.ts';
import { readBetween } from '../history/warehouse-rows.ts';
import { type Held, tipRows } from '../transfers/held.ts';
import { interrupted, type Mark } from './ring-rows.ts';

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
 * Reads between two addresses. `marked` tells what is written now; `listed` lists have to be the
 * same arrays for as long as they hold the same.
 */
export function betweenTwo(
  warehouse: Warehouse,
  reads: WarehouseReads,
  marked: () => Promise<Mark>,
) {
  const kept = keptPeers();
  const load = (where: 'final' | 'tip') =>
    coalesced((keys, signal) => loaded(warehouse, reads, where, keys, signal), LIMITS);
  const [loadFinal, loadTip] = [load('final'), load('tip')];

  async function final(may: MayHave, signal: AbortSignal): Promise<Map<string, BetweenListed>> {
    const between = new Map<string, BetweenListed>();
    const missing: [string, readonly string[]][] = [];
    for (const [peer, listed] of may) {
      const known = kept.of(peer, listed);
      if (known === null) missing.push([peer, listed]);
      else between.set(peer, known);
    }
    if (missing.length === 0) return between;
    const [epoch, atMs] = [kept.epoch(), performance.now()];
    const fresh = await loadFinal(missing.flatMap(keysOf), signal);
    for (const [peer, listed] of missing) {
      const own = ofPeer(fresh, peer, listed);
      between.set(peer, own);
      kept.add({ peer, listed, own, atMs }, epoch);
    }
    return between;
  }

  return async (may: MayHave, signal: AbortSignal): Promise<Settled> => {
    for (let attempt = 0; attempt < READS_MAX; attempt += 1) {
      const held = await reads.fresh();
      const { parts } = await marked();
      kept.renew(parts.sides);
      const between = await final(may, signal);
      if (tipRows(held.followed) === null) return { held, between };
      const tip = await loadTip([...may].flatMap(keysOf), signal);
      // What became final meanwhile may have left the tip after the final rows were read.
      if (!isSameSet((await marked()).parts.sides, parts.sides)) continue;
      for (const [peer, own] of between) between.set(peer, joined(own, tip, peer));
      return { held, between };
    }
    throw interrupted();
  };
}

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

function isSameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a === b || (a.size === b.size && [...a].every((one) => b.has(one)));
}

type KeptPeer = {
  readonly peer: string;
  readonly listed: readonly string[];
  readonly own: BetweenListed;
  readonly atMs: number;
};

/** What is final between two, for as long as the parts are the same. */
function keptPeers() {
  let parts: ReadonlySet<string> = new Set();
  let epoch = 0;
  let size = 0;
  const peers = new Map<string, KeptPeer>();

  const clear = () => {
    peers.clear();
    size = 0;
  };
  return {
    epoch: () => epoch,
    renew: (now: ReadonlySet<string>): void => {
      if (isSameSet(now, parts)) return;
      parts = now;
      epoch += 1;
      clear();
    },
    of: (peer: string, listed: readonly string[]): BetweenListed | null => {
      const known = peers.get(peer);
      if (known === undefined || known.listed !== listed) return null;
      return performance.now() - known.atMs < KEEP_MS ? known.own : null;
    },
    /** Keeps what was read under an epoch, if it is still that one. */
    add: (one: KeptPeer, under: number): void => {
      if (under !== epoch) return;
      for (const { rows, more } of one.own.values()) {
        if (more || !rows.every(isLasting)) return;
        size += 1 + rows.length;
      }
      if (size > KEPT_MAX) clear();
      peers.set(one.peer, one);
    },
  };
}

/** That a token is worthless is told only while the reading that says so is young. */
function isLasting({ transfer }: HeldTransfer): boolean {
  return transfer.has_market !== false;
}
