// Compares a screening with the last findings of an address. A complete part can add and remove
// findings. An incomplete one can add, and removes only what another complete reading denies: a
// path to an address that the list in force does not hold. Incomplete parts are named beside the
// changes.

import { listOrNone } from '../../evidence/measure.ts';
import {
  type NewWatchChange,
  type SeenFinding,
  WATCH_PART_TITLES,
  WATCH_PARTS,
  type WatchedPart,
  type WatchFinding,
  type WatchPart,
} from './shapes.ts';

/**
 * The findings of a part of a screening. `why`: the reason why it is incomplete. `fallen`: earlier
 * findings that another complete reading denies; `null` where there was no such reading.
 */
export type PartSeen =
  | { readonly read: 'whole'; readonly findings: readonly SeenFinding[] }
  | (PartUnread & { readonly read: 'in_part'; readonly findings: readonly SeenFinding[] })
  | (PartUnread & { readonly read: 'not' });
type PartUnread = { readonly why: string; readonly fallen: readonly SeenFinding[] | null };

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
    one.read === 'whole' ? [] : [`${WATCH_PART_TITLES[part]}: ${one.why}`],
  );
  for (const [part, one] of seen) {
    const last = held.get(part) ?? { part, ...NEVER_READ };
    const why = one.read === 'whole' ? null : one.why;
    const version = versions[part];
    const seenNow = { version, read_at: at };
    const found = findingsAfter(last, one, seenNow);
    if (found === null) {
      held.set(part, { ...last, not_read: why });
      continue;
    }
    // Where all fell and the look was no whole one, something else may stand there.
    const isKnown = one.read === 'whole' || found.length > 0;
    const isLook = one.read === 'whole' || (one.read === 'in_part' && one.findings.length > 0);
    const look = isLook ? seenNow : { version: last.version, read_at: last.read_at };
    held.set(part, { part, found: isKnown ? found : null, ...look, not_read: why });
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
function findingsAfter(
  { found }: WatchedPart,
  seen: PartSeen,
  seenNow: Pick<WatchFinding, 'version' | 'read_at'>,
): readonly WatchFinding[] | null {
  if (seen.read === 'whole') return seen.findings.map((one) => ({ ...one, ...seenNow }));
  const added = listOrNone(seen.read === 'not' ? null : seen.findings);
  const fallen = listOrNone(seen.fallen);
  if (added.length === 0 && fallen.length === 0) return null;
  const known = new Map(listOrNone(found).map((one) => [keyOf(one), one]));
  for (const one of fallen) known.delete(keyOf(one));
  for (const one of added) known.set(keyOf(one), { ...one, ...seenNow });
  return [...known.values()];
}

function keyOf({ source, address, ref }: SeenFinding): string {
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
