// Screens watched addresses again: tables and walks each in one process at a time, by a lease of
// its own, so that a list is never behind a walk. The process first updates its tables, so that no
// older list is compared with a newer finding. Lists and tables are due when one of them or the day
// changed; hops when the list changed, and at intervals, since transfers arrive without notice.

import { parseAddress } from '../../chain/address.ts';
import { CHAINS, type ChainName } from '../../chain/chain.ts';
import { formatIsoDate, formatIsoTime, type UnixSeconds } from '../../chain/time.ts';
import { listOrNone } from '../../evidence/measure.ts';
import type { Why } from '../../evidence/reasons.ts';
import {
  type BoundedTask,
  type RoundPace,
  repeatRounds,
  signalFor,
} from '../../evidence/waiting.ts';
import type { Leases } from '../../ports/indexing.ts';
import type { NewDispatch } from '../../ports/integrations.ts';
import type { ServedVersions } from '../../ports/screening.ts';
import { type Screening, settle } from './changes.ts';
import {
  screenClusters,
  screenHops,
  screenTables,
  signatureOf,
  versionTexts,
  type WatchPorts,
} from './screening.ts';
import {
  type DueFor,
  type DueWatch,
  inferredText,
  type NewWatchChange,
  WATCH_LEASES,
  WATCH_PART_TITLES,
  type WatchFinding,
  type WatchPart,
  type WatchScreening,
} from './shapes.ts';

/** The dependencies of the job. */
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
  /** The longest that one walk may take: less than a lease lasts. */
  readonly walkMs: number;
};

const LEASE_S = 60;
/** So many addresses are read at once; of hops, one of each membership. */
const AT_ONCE = { tables: 200, hops: 10 } as const;
const BATCHES_MAX = { tables: 1_000, hops: 100 } as const;
/** Seconds after which the hops of an address are walked again. */
const HOPS_AGAIN_S = 900;

/** Screens once everything that is due; why it could not, or `null`. */
export async function rescreenOnce(
  parts: RescreenParts,
  of: DueFor,
  signal: AbortSignal,
): Promise<Why | null> {
  const taken = await parts.leases.take(WATCH_LEASES[of], LEASE_S);
  if (!taken.checked) return taken.why;
  if (taken.value === null) return null;
  try {
    await parts.refresh();
    return await rescreenAs(parts, of, taken.value.epoch, signal);
  } finally {
    await parts.leases.release(WATCH_LEASES[of]);
  }
}

type Round = {
  readonly epoch: number;
  readonly versions: Screening['versions'];
  readonly day: string;
};

async function rescreenAs(
  parts: RescreenParts,
  of: DueFor,
  epoch: number,
  signal: AbortSignal,
): Promise<Why | null> {
  const read = await parts.versions.now(null);
  if (!read.checked) return read.why;
  const versions = versionTexts(read.value);
  const round: Round = { epoch, versions, day: formatIsoDate(parts.now()) };
  const signature = signatureOf(versions, round.day)[of];
  for (let batch = 0; batch < BATCHES_MAX[of]; batch += 1) {
    const request = { of, signature, limit: AT_ONCE[of] } as const;
    const due = await parts.screening.due({ ...request, againS: HOPS_AGAIN_S });
    if (!due.checked) return due.why;
    if (due.value.length === 0) return null;
    const outcome = await rescreenAll(parts, round, due.value, request, signal);
    if (outcome !== 'goes on') return outcome;
  }
  return null;
}

/** Screens some addresses, and says whether the round goes on; `null`: another one has to begin. */
async function rescreenAll(
  parts: RescreenParts,
  { epoch, versions, day }: Round,
  due: readonly DueWatch[],
  { of, signature: is }: { readonly of: DueFor; readonly signature: string },
  signal: AbortSignal,
): Promise<'goes on' | Why | null> {
  for (const watch of due) {
    if (signal.aborted) return null;
    const held = await parts.leases.take(WATCH_LEASES[of], LEASE_S);
    if (!held.checked) return held.why;
    if (held.value?.epoch !== epoch) return null;
    const found = await screen(parts, watch, of, day, signal);
    const again = await parts.versions.now(null);
    if (!again.checked) return again.why;
    // The findings may be of either version: they are read again.
    if (!(JSON.stringify(versions) === JSON.stringify(versionTexts(again.value)))) return null;
    const nowS = parts.now();
    const at = formatIsoTime(nowS);
    const screening: Screening = { parts: found, versions, at, simulated: parts.simulated };
    const settled = settle(watch.parts, screening);
    const kept = await parts.screening.commit({
      watch,
      parts: settled.parts,
      signature: { of, is },
      changes: settled.changes,
      dispatches: settled.changes.map((change) => dispatchOf(watch, change, nowS)),
      epoch,
    });
    if (!kept.checked) return kept.why;
  }
  return 'goes on';
}

async function screen(
  { ports, walkMs, clusterChains }: RescreenParts,
  { address, parts, membership_id }: DueWatch,
  of: DueFor,
  day: string,
  signal: AbortSignal,
): Promise<Screening['parts']> {
  if (of === 'tables') return screenTables(address, ports, day);
  const timed = AbortSignal.any([signal, AbortSignal.timeout(walkMs)]);
  const inTime = signalFor(`the watchlist of ${membership_id}`, timed);
  const kind = parseAddress(address)?.kind;
  const chains = clusterChains.filter((chain) => CHAINS[chain].kind === kind);
  const lastOf = (name: WatchPart) =>
    parts.flatMap(({ part, found }) => (part === name ? listOrNone(found) : []));
  return {
    entity_clusters: await screenClusters(address, ports, chains, lastOf('entity_clusters')),
    hops: await screenHops(address, ports, lastOf('hops'), inTime),
  };
}

/** Screens round after round until it is stopped. */
export function rescreenRounds(parts: RescreenParts & RoundPace<Why>, of: DueFor): BoundedTask {
  return repeatRounds(parts, (signal) => rescreenOnce(parts, of, signal));
}

const CHANGED: { readonly [C in NewWatchChange['change']]: string } = {
  first_seen: 'it stands there; what stood there before is not known',
  entered: 'it stands there now, and did not at the last look',
  changed: 'what stands there has changed',
  left: 'it stood there at the last look, and does not any more',
};

const CAVEAT =
  'This tells what changed in what is held here. What left a list was on it, and a list that ' +
  'does not hold an address says that of itself alone.';

const FINDINGS_IN_MESSAGE_MAX = 6;

/** The message of a change, once for the revision of the address that it came of. */
function dispatchOf(
  { id, membership_id, address, revision }: DueWatch,
  change: NewWatchChange,
  at: UnixSeconds,
): NewDispatch {
  const { part, before, after, version_before, version_after, not_read } = change;
  const textsOf = (all: readonly WatchFinding[] | null, version: string | null) =>
    listOrNone(all)
      .slice(0, FINDINGS_IN_MESSAGE_MAX)
      .map((one) => findingText(one, part, version));
  return {
    membership_id,
    key: `${id}:${revision}:${part}`,
    kind: 'watch',
    chain: null,
    address,
    message: {
      title: `${WATCH_PART_TITLES[part]}: ${CHANGED[change.change]}`,
      facts: [
        `Watched address: ${address}`,
        ...textsOf(before, version_before).map((text) => `Before: ${text}`),
        ...textsOf(after, version_after).map((text) => `Now: ${text}`),
        ...(version_before === null ? [] : [`Version before: ${version_before}`]),
        `Version now: ${version_after}`,
        ...not_read.map((why) => `Not read to its end: ${why}`),
      ],
      caveat: CAVEAT,
      path: '/watchlist',
      at,
      simulated: change.simulated,
    },
  };
}

/** A finding in words, with its own version where that is not the one told beside it. */
function findingText(finding: WatchFinding, part: WatchPart, beside: string | null): string {
  const { source, address, entity, ref, detail, version } = finding;
  const own = version === beside || version === null ? null : `last found in: ${version}`;
  const all = [inferredText(part, finding), entity, detail, ref, own];
  const details = all.filter((one) => one !== null);
  return `${source}: ${address}${details.length === 0 ? '' : ` (${details.join('; ')})`}`;
}
