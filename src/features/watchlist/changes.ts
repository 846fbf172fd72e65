// Compares a screening with the last findings of an address. A complete part can add and remove
// findings; an incomplete one can only add. An unread part changes nothing: it is reported beside
// the changes, and never as a removal.

import {
  type NewWatchChange,
  WATCH_PARTS,
  type WatchedPart,
  type WatchFinding,
  type WatchPart,
} from './shapes.ts';

/** The findings of a part of a screening. `why`: the reason why it is incomplete. */
export type PartSeen =
  | { readonly read: 'whole'; readonly findings: readonly WatchFinding[] }
  | { readonly read: 'in_part'; readonly findings: readonly WatchFinding[]; readonly why: string }
  | { readonly read: 'not'; readonly why: string };

/** A screening: of each part that was looked at, what was seen, and on which version. */
export type Screening = {
  readonly parts: { readonly [P in WatchPart]?: PartSeen };
  readonly versions: { readonly [P in WatchPart]: string };
  /** In ISO 8601. */
  readonly at: string;
  readonly simulated: boolean;
};

/** The stored state of an address after a screening, and the changes to report. */
export type SettledScreening = {
  readonly parts: readonly WatchedPart[];
  readonly changes: readonly NewWatchChange[];
};

/** Compares a screening with what was last found. */
export function settle(before: readonly WatchedPart[], screening: Screening): SettledScreening {
  const { versions, at, simulated } = screening;
  const held = new Map(before.map((one) => [one.part, one]));
  const changes: NewWatchChange[] = [];
  const seen = Object.entries(screening.parts) as [WatchPart, PartSeen][];
  const not_read = seen.flatMap(([part, one]) =>
    one.read === 'not' ? [`${part}: ${one.why}`] : [],
  );
  for (const [part, one] of seen) {
    const last = held.get(part) ?? { part, ...NEVER_READ };
    const why = one.read === 'whole' ? null : one.why;
    const found = findingsAfter(last, one);
    if (found === null) {
      held.set(part, { ...last, not_read: why });
      continue;
    }
    const version = versions[part];
    held.set(part, { part, found, version, read_at: at, not_read: why });
    const change = changeOf(last.found, found);
    if (change === null) continue;
    changes.push({
      part,
      change,
      before: last.found,
      after: found,
      version_before: last.version,
      version_after: version,
      not_read,
      simulated,
      at,
    });
  }
  const parts = WATCH_PARTS.map((part) => held.get(part)).filter((one) => one !== undefined);
  return { parts, changes };
}

const NEVER_READ = { found: null, version: null, read_at: null, not_read: null };

/** The stored findings after a look-up; `null` if it shows nothing. */
function findingsAfter({ found }: WatchedPart, seen: PartSeen): readonly WatchFinding[] | null {
  if (seen.read === 'not') return null;
  if (seen.read === 'whole') return seen.findings;
  if (seen.findings.length === 0) return null;
  if (found === null) return seen.findings;
  const known = new Map(found.map((one) => [keyOf(one), one]));
  for (const one of seen.findings) known.set(keyOf(one), one);
  return [...known.values()];
}

function keyOf({ source, address, ref }: WatchFinding): string {
  return JSON.stringify([source, address, ref]);
}

function changeOf(
  before: readonly WatchFinding[] | null,
  after: readonly WatchFinding[],
): NewWatchChange['change'] | null {
  if (before === null) return after.length === 0 ? null : 'first_seen';
  if (textOf(before) === textOf(after)) return null;
  if (before.length === 0) return 'entered';
  return after.length === 0 ? 'left' : 'changed';
}

/** Findings in an order of their own, so that none counts as another for its place. */
function textOf(findings: readonly WatchFinding[]): string {
  const texts = findings.map(({ source, address, entity, ref, detail }) =>
    JSON.stringify([source, address, entity, ref, detail]),
  );
  return texts.sort().join();
}
