// Screens a watched address against the lists, the tables and two hops of transfers. A finding is
// an entry there, by the name of its source.

import { matchKey } from '../../chain/address.ts';
import type { ChainName } from '../../chain/chain.ts';
import { listOrNone, present, rowsUnder } from '../../evidence/measure.ts';
import { map, type Partly, Read, rowsSeen } from '../../evidence/reading.ts';
import type { EntityCluster, EntityClusters } from '../../ports/entities.ts';
import type { CounterpartyRing, TransferHistory } from '../../ports/history.ts';
import type { FlaggedAddresses } from '../../ports/rug-flags.ts';
import type { SanctionsList } from '../../ports/sanctions.ts';
import type { Versions } from '../../ports/screening.ts';
import { type ExchangeLabels, type OtherLists, standsOn } from '../../ports/tables.ts';
import { causesText } from '../history/address-history.ts';
import { listSubject, spellingsOf } from '../sanctions/direct-check.ts';
import { proximity, WALK_LIMITS } from '../sanctions/walk.ts';
import { endOf, stopsOf } from '../sanctions/walk-hop.ts';
import type { PartSeen } from './changes.ts';
import type { SeenFinding, TablePart, WatchFinding, WatchPart } from './shapes.ts';

export type WatchPorts = {
  readonly sanctionsList: SanctionsList;
  readonly otherLists: OtherLists;
  readonly exchangeLabels: ExchangeLabels;
  readonly flaggedAddresses: FlaggedAddresses;
  readonly transferHistory: TransferHistory;
  readonly counterpartyRing: CounterpartyRing;
  readonly entityClusters: EntityClusters;
};

/** The lists and tables, which are in memory. `day` is today in ISO 8601. */
export async function screenTables(
  address: string,
  ports: Pick<WatchPorts, 'sanctionsList' | 'otherLists' | 'exchangeLabels' | 'flaggedAddresses'>,
  day: string,
): Promise<{ readonly [P in TablePart]: PartSeen }> {
  const subject = listSubject(address);
  const spelled = subject === null ? [address] : spellingsOf(subject);
  const keys = [...new Set(spelled.map(matchKey))];
  const [list, others, labels, flagged] = await Promise.all([
    ports.sanctionsList.lookUp(spelled),
    ports.otherLists.lookUp(spelled),
    ports.exchangeLabels.lookUp([address]),
    ports.flaggedAddresses.lookUp([address]),
  ]);
  return {
    sanctions_list: partSeen(list, ({ list: { name }, found }) =>
      keys.flatMap((key) =>
        rowsUnder(found, key).map((entry) => ({
          source: name,
          address: entry.address,
          entity: entry.entity,
          ref: entry.uid,
          detail: entry.programs === null ? null : entry.programs.join(', '),
        })),
      ),
    ),
    other_lists: partSeen(others, ({ found }) =>
      keys.flatMap((key) =>
        rowsUnder(found, key)
          .filter((entry) => standsOn(entry, day))
          .map(({ source, address: as, entity, entry_id: ref, programs: detail }) => {
            return { source, address: as, entity, ref, detail };
          }),
      ),
    ),
    exchange_labels: partSeen(labels, ({ found }) =>
      rowsUnder(found, matchKey(address)).map(
        ({ source, address: as, entity, chain, label, role }) => {
          return { source, address: as, entity, ref: chain, detail: `${label} (${role})` };
        },
      ),
    ),
    flagged_addresses: partSeen(flagged, ({ found }) =>
      rowsUnder(found, matchKey(address)).map(({ source, address: as, tag, chain, category }) => {
        return { source, address: as, entity: tag, ref: chain, detail: category };
      }),
    ),
  };
}

function partSeen<T>(
  reading: Partly<T, never>,
  find: (value: T) => readonly SeenFinding[],
): PartSeen {
  const findings = rowsSeen(map(reading, find));
  if (reading instanceof Read) return { read: 'whole', findings: find(reading.value) };
  const unread = { why: reading.why.reason, fallen: null };
  return findings === null ? { read: 'not', ...unread } : { read: 'in_part', findings, ...unread };
}

/** The shortest way to a listed address, two hops at most. `before` is what was found earlier. */
export async function screenHops(
  address: string,
  ports: WatchPorts,
  before: readonly WatchFinding[],
  signal: AbortSignal,
): Promise<PartSeen> {
  const subject = listSubject(address);
  const parsed = subject === null ? null : subject.parsed;
  if (parsed === null) return { read: 'not', why: NO_HISTORY, fallen: null };
  const { sanctionsList: list, transferHistory: history, counterpartyRing: ring } = ports;
  const read = { list, history, ring, labels: null };
  const walk = await proximity(read, parsed, WALK_LIMITS, { signal });
  const hits = rowsSeen(map(walk, ({ found }) => present([found])));
  const findings =
    hits === null
      ? null
      : hits.map(({ way, entry }) => {
          const [{ transfer }] = way;
          const { chain: source, tx: ref } = transfer;
          return {
            source,
            address: endOf(way),
            entity: entry.entity,
            ref,
            detail: stopsOf(way).join(' → '),
          };
        });
  // A walk that was read to its end and met nobody has no findings.
  if (walk instanceof Read) return { read: 'whole', findings: listOrNone(findings) };
  const causes = rowsSeen(map(walk, (one) => one.causes));
  const why = causes === null ? walk.why.reason : causesText(causes);
  const unread = { why, fallen: await pathsToUnlisted(before, list) };
  return findings === null ? { read: 'not', ...unread } : { read: 'in_part', findings, ...unread };
}

/** The paths whose end the list in force does not hold; `null` where it was not read whole. */
async function pathsToUnlisted(
  paths: readonly WatchFinding[],
  list: SanctionsList,
): Promise<readonly SeenFinding[] | null> {
  if (paths.length === 0) return null;
  const look = await list.lookUp(paths.map(({ address }) => address));
  if (!(look instanceof Read)) return null;
  const { found } = look.value;
  return paths.filter(({ address }) => rowsUnder(found, matchKey(address)).length === 0);
}

/** The clusters that hold the address, as far as ties of it are held: nothing is read for it. */
export async function screenClusters(
  address: string,
  { entityClusters }: Pick<WatchPorts, 'entityClusters'>,
  chains: readonly ChainName[],
  before: readonly WatchFinding[],
): Promise<PartSeen> {
  if (chains.length === 0) return { read: 'not', why: NO_TIES, fallen: null };
  const asked = await Promise.all(
    chains.map(async (chain) => {
      const cluster = await entityClusters.clusterOf(chain, address);
      return map(cluster, (one) => (one === null ? [] : [clusterFound(chain, address, one)]));
    }),
  );
  const findings = asked.flatMap((one) => listOrNone(rowsSeen(one)));
  const silent = new Set(asked.flatMap((one) => (one instanceof Read ? [] : [one.why.reason])));
  if (silent.size === 0) return { read: 'whole', findings };
  const whole = chains.filter((_, i) => asked[i] instanceof Read).map(clusterSource);
  const fallen = before.filter(({ source }) => whole.includes(source));
  const unread = { why: [...silent].join(' '), fallen };
  if (findings.length === 0) return { read: 'not', ...unread };
  return { read: 'in_part', findings, ...unread };
}

function clusterSource(chain: ChainName): string {
  return `cluster on ${chain}`;
}

function clusterFound(
  chain: ChainName,
  address: string,
  { cluster_id: ref, confidence: weight, basis, members, labels }: EntityCluster,
): SeenFinding {
  const entity = labels === null || labels.length === 0 ? null : labels.join(', ');
  const detail = `${members.length} addresses`;
  const inferred = { weight, basis };
  return { source: clusterSource(chain), address, entity, ref, detail, inferred };
}

const NO_TIES = 'No ties are held of this kind of address.';
const NO_HISTORY = 'The history of this kind of address is not walked.';

/** The version of each part in words: of a list its day and hash, of tables their imports'. */
export function versionTexts({ list, tables }: Versions): { readonly [P in WatchPart]: string } {
  const of = list.read ? `${list.facts.published} sha256:${list.facts.sha256}` : 'not read';
  const textOf = (name: string) => {
    const imports = tables.filter(({ table }) => table === name);
    if (imports.length === 0) return 'as it comes with the product, or not imported';
    return imports
      .map(({ source, sha256 }) => `${source} sha256:${sha256}`)
      .sort()
      .join('; ');
  };
  return {
    sanctions_list: of,
    other_lists: textOf('other_lists'),
    exchange_labels: textOf('exchange_labels'),
    flagged_addresses: textOf('flagged_addresses'),
    entity_clusters: 'ties as observed here',
    hops: `list of ${of}`,
  };
}

/**
 * The versions whose change makes a screening due: any table's and the day for tables, the list's
 * for hops.
 */
export function signatureOf(
  texts: { readonly [P in WatchPart]: string },
  day: string,
): { readonly tables: string; readonly hops: string } {
  const { hops, entity_clusters: _, ...tables } = texts;
  return { tables: JSON.stringify([tables, day]), hops };
}
