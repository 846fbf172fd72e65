// Answers one question: what did a screening change of what was last found of an address?
// What was read to its end can add and take away; a part of it can only add. What was not read
// changes nothing: it is told beside the changes, and never as something that left.

import type { UnixSeconds } from '../../chain/time.ts';
import type {
  Finding,
  NewWatchChange,
  PartStanding,
  WatchPart,
  WatchStanding,
} from '../../ports/watchlist/watchlist.ts';

/** What a part of a screening saw. `why` says why it was not read to its end. */
export type PartSeen =
  | { readonly read: 'whole'; readonly findings: readonly Finding[] }
  | { readonly read: 'in_part'; readonly findings: readonly Finding[]; readonly why: string }
  | { readonly read: 'not'; readonly why: string };

/** A screening: of each part that was looked at, what was seen, and on which version. */
export type Screening = {
  readonly parts: { readonly [P in WatchPart]?: PartSeen };
  readonly versions: { readonly [P in WatchPart]: string };
  readonly at: UnixSeconds;
  readonly simulated: boolean;
};

/** What an address stands at after a screening, and what is to be told. */
export type Settled = {
  readonly parts: WatchStanding;
  readonly changes: readonly NewWatchChange[];
};

/** Holds a screening against what was last found. */
export function settle(before: WatchStanding, screening: Screening): Settled {
  const parts: { [P in WatchPart]?: PartStanding } = { ...before };
  const changes: NewWatchChange[] = [];
  const seen = Object.entries(screening.parts) as [WatchPart, PartSeen][];
  const notRead = seen.flatMap(([part, one]) =>
    one.read === 'not' ? [`${part}: ${one.why}`] : [],
  );
  for (const [part, one] of seen) {
    const held = before[part];
    const standing = held === undefined ? NEVER_READ : held;
    const version = screening.versions[part];
    const after = findingsAfter(standing, one);
    if (after === null) {
      parts[part] = { ...standing, not_read: one.read === 'whole' ? null : one.why };
      continue;
    }
    const read_at = screening.at;
    parts[part] = {
      findings: after,
      version,
      read_at,
      not_read: one.read === 'whole' ? null : one.why,
    };
    const change = changeOf(standing.findings, after);
    if (change === null) continue;
    changes.push({
      part,
      change,
      before: standing.findings,
      after,
      version_before: standing.version,
      version_after: version,
      not_read: notRead,
      simulated: screening.simulated,
      at: screening.at,
    });
  }
  return { parts, changes };
}

const NEVER_READ: PartStanding = { findings: null, version: null, read_at: null, not_read: null };

/** What is on record after a look; `null` where the look says nothing. */
function findingsAfter({ findings }: PartStanding, seen: PartSeen): readonly Finding[] | null {
  if (seen.read === 'not') return null;
  if (seen.read === 'whole') return seen.findings;
  if (seen.findings.length === 0) return null;
  if (findings === null) return seen.findings;
  const known = new Map(findings.map((one) => [keyOf(one), one]));
  for (const one of seen.findings) known.set(keyOf(one), one);
  return [...known.values()];
}

function keyOf({ source, address, ref }: Finding): string {
  return JSON.stringify([source, address, ref]);
}

function changeOf(
  before: readonly Finding[] | null,
  after: readonly Finding[],
): NewWatchChange['change'] | null {
  if (before === null) return after.length === 0 ? null : 'first_seen';
  if (textOf(before) === textOf(after)) return null;
  if (before.length === 0) return 'entered';
  return after.length === 0 ? 'left' : 'changed';
}

/** Findings in an order of their own, so that none counts as another for its place. */
function textOf(findings: readonly Finding[]): string {
  const texts = findings.map(({ source, address, entity, ref, detail }) =>
    JSON.stringify([source, address, entity, ref, detail]),
  );
  return texts.sort().join();
}
