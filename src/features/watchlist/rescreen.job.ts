// Who screens watched addresses again, and when?
// One process at a time, by a lease: what it answers from is brought up to date first, so that no
// older list is held against a newer finding. Lists and tables when one of them changed, or the day
// did; hops when the list changed, and now and then, since transfers come without a call.

import { parseAddress } from '../../chain/address.ts';
import { CHAINS, type ChainName } from '../../chain/chain.ts';
import { formatIsoDate, MS_PER_S, type UnixSeconds } from '../../chain/time.ts';
import type { Why } from '../../evidence/reasons.ts';
import { type Running, untilStopped } from '../../evidence/until-stopped.ts';
import type { Leases } from '../../ports/indexing/leases.ts';
import type { ServedVersions } from '../../ports/screening/served-versions.ts';
import {
  type DueWatch,
  WATCH_LEASE,
  type WatchScreening,
} from '../../ports/watchlist/watchlist.ts';
import { type Screening, settle } from './changes.ts';
import {
  screenClusters,
  screenHops,
  screenTables,
  signatureOf,
  versionTexts,
  type WatchPorts,
} from './screening.ts';
import { dispatchOf } from './told.ts';

/** What screening again needs. */
export type RescreenParts = {
  readonly ports: WatchPorts;
  readonly screening: WatchScreening;
  readonly versions: Pick<ServedVersions, 'now'>;
  readonly leases: Leases;
  /** Brings what is answered from up to date with its store. */
  readonly refresh: () => Promise<void>;
  readonly simulated: boolean;
  readonly now: () => UnixSeconds;
  /** The chains on which ties are held. */
  readonly clusterChains: readonly ChainName[];
  /** The longest that one walk may take. */
  readonly walkMs: number;
};

/** The lease is held for so long, and again before each address. */
const LEASE_S = 60;
/** Addresses that are read at once, and how often in one round. */
const TABLES_AT_ONCE = 200;
const HOPS_AT_ONCE = 10;
const BATCHES_MAX = 100;
/** Seconds after which the hops of an address are walked again. */
const HOPS_AGAIN_S = 900;

/** Screens once everything that is due; why it could not, or `null`. */
export async function rescreenOnce(parts: RescreenParts, signal: AbortSignal): Promise<Why | null> {
  const taken = await parts.leases.take(WATCH_LEASE, LEASE_S);
  if (!taken.checked) return taken.why;
  if (taken.value === null) return null;
  try {
    await parts.refresh();
    return await rescreenAs(parts, taken.value.epoch, signal);
  } finally {
    await parts.leases.release(WATCH_LEASE);
  }
}

type Round = {
  readonly epoch: number;
  readonly versions: Screening['versions'];
  readonly day: string;
};

async function rescreenAs(
  parts: RescreenParts,
  epoch: number,
  signal: AbortSignal,
): Promise<Why | null> {
  const read = await parts.versions.now(null);
  if (!read.checked) return read.why;
  const versions = versionTexts(read.value);
  const round: Round = { epoch, versions, day: formatIsoDate(parts.now()) };
  const signatures = signatureOf(versions, round.day);
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const asked = { of: 'tables', signature: signatures.tables, limit: TABLES_AT_ONCE } as const;
    const due = await parts.screening.due({ ...asked, againS: HOPS_AGAIN_S });
    if (!due.checked) return due.why;
    if (due.value.length === 0) break;
    const outcome = await rescreenAll(parts, round, due.value, asked, signal);
    if (outcome !== 'goes on') return outcome;
  }
  // Walks take long: what else is due is looked at between them.
  const asked = { of: 'hops', signature: signatures.hops, limit: HOPS_AT_ONCE } as const;
  const due = await parts.screening.due({ ...asked, againS: HOPS_AGAIN_S });
  if (!due.checked) return due.why;
  const outcome = await rescreenAll(parts, round, due.value, asked, signal);
  return outcome === 'goes on' ? null : outcome;
}

/** Screens some addresses, and says whether the round goes on; `null`: another one has to begin. */
async function rescreenAll(
  parts: RescreenParts,
  { epoch, versions, day }: Round,
  due: readonly DueWatch[],
  { of, signature: is }: { readonly of: 'tables' | 'hops'; readonly signature: string },
  signal: AbortSignal,
): Promise<'goes on' | Why | null> {
  for (const watch of due) {
    if (signal.aborted) return null;
    const held = await parts.leases.take(WATCH_LEASE, LEASE_S);
    if (!held.checked) return held.why;
    if (held.value?.epoch !== epoch) return null;
    const found = await screened(parts, watch, of, day, signal);
    const again = await parts.versions.now(null);
    if (!again.checked) return again.why;
    // What was found may be of either version: it is looked at anew.
    if (!isSame(versions, versionTexts(again.value))) return null;
    const at = parts.now();
    const screening: Screening = { parts: found, versions, at, simulated: parts.simulated };
    const settled = settle(watch.parts, screening);
    const kept = await parts.screening.commit({
      watch,
      parts: settled.parts,
      signature: { of, is },
      changes: settled.changes,
      dispatches: settled.changes.map((change) => dispatchOf(watch, change)),
      epoch,
    });
    if (!kept.checked) return kept.why;
  }
  return 'goes on';
}

function isSame(one: Screening['versions'], other: Screening['versions']): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

async function screened(
  { ports, walkMs, clusterChains }: RescreenParts,
  { address }: DueWatch,
  of: 'tables' | 'hops',
  day: string,
  signal: AbortSignal,
): Promise<Screening['parts']> {
  if (of === 'tables') return screenTables(address, ports, day);
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(walkMs)]);
  const kind = parseAddress(address)?.kind;
  const chains = clusterChains.filter((chain) => CHAINS[chain].kind === kind);
  const entity_clusters = await screenClusters(address, ports, chains);
  return { entity_clusters, hops: await screenHops(address, ports, inTime) };
}

/** How rounds follow each other. */
type Rounds = RescreenParts & {
  readonly everyS: number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onFault: (why: Why) => void;
  readonly onBug: (fault: unknown) => void;
};

/** Screens round after round until it is stopped. */
export function rescreenRounds(parts: Rounds): Running {
  return untilStopped(async (signal) => {
    let before: string | null = null;
    while (!signal.aborted) {
      try {
        const why = await rescreenOnce(parts, signal);
        // What lasts is told once, and not at every round.
        if (why !== null && why.reason !== before) parts.onFault(why);
        before = why === null ? null : why.reason;
      } catch (error) {
        parts.onBug(error);
      }
      await parts.sleep(parts.everyS * MS_PER_S, signal);
    }
  });
}
