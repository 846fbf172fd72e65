// What did a check of one address against a list come to, and what do many come to together?
// What could not be checked is `null`, never unlisted, and makes the exit status 3.

import { EXIT, type ExitStatus } from '../../command/command.ts';
import { formatTime } from '../../command/output.ts';
import { present, written } from '../../evidence/measure.ts';
import { Read } from '../../evidence/reading.ts';
import { SIMULATED_CAVEAT } from '../../evidence/source.ts';
import type { OtherLists } from '../../ports/lists/other-lists.ts';
import type { ListEntry, ListFacts, SanctionsList } from '../../ports/sanctions/sanctions-list.ts';
import { directCaveat } from './caveat.ts';
import { type CheckedOthers, checkOthers, NOT_ASKED } from './check-others.command.ts';
import {
  directCheck,
  entriesOf,
  listSubject,
  type ScreenedForm,
  spellingsOf,
} from './direct-check.ts';
import type { CaseHint } from './letter-case.ts';

/** The outcome of a check of one address. `listed` is `null` where it could not be checked. */
export type Checked = {
  readonly address: string;
  readonly reason: string | null;
  /** The other forms of it that the list holds, as far as it was read. */
  readonly listedForms: readonly string[];
  /** What the lists of other authorities say. */
  readonly others: CheckedOthers;
} & (
  | { readonly listed: null; readonly recognised: boolean }
  | {
      readonly listed: boolean;
      readonly matches: readonly ListEntry[];
      readonly forms: readonly ScreenedForm[];
      readonly list: ListFacts;
      /** With the label of made-up data, where it is. */
      readonly caveat: string;
    }
);

/** Who is asked by a check. */
export type CheckAsked = {
  readonly lookUp: SanctionsList['lookUp'];
  readonly otherLists: OtherLists;
  /** Unix seconds. */
  readonly now: () => number;
  readonly simulated: boolean;
  /** Which listed address a text of no known form may have been meant to be. */
  readonly hint: CaseHint;
};

/** Checks one address. */
export async function checkOne(
  address: string,
  { lookUp, otherLists, now, simulated, hint }: CheckAsked,
): Promise<Checked> {
  const subject = listSubject(address);
  if (subject === null) return notRecognised(address, null);
  const others = await checkOthers(otherLists, subject, now());
  const check = directCheck(subject, await lookUp(spellingsOf(subject)), others.holds);
  if (check.outcome === 'misformed') return notRecognised(address, await hint(address));
  const { listedForms } = check;
  if (check.outcome === 'silent') {
    const { reason } = check.why;
    return { address, listed: null, recognised: true, reason, listedForms, others };
  }
  const { look, forms } = check;
  const { list } = look.value;
  const matches = entriesOf(look.value, subject.address);
  const { named } = others;
  const caveat = directCaveat({ subject, list, listedForms, named, on: null }).join(' ');
  return {
    address,
    listed: matches.length > 0,
    reason: null,
    matches,
    forms,
    listedForms,
    others,
    list,
    caveat: simulated ? SIMULATED_CAVEAT + caveat : caveat,
  };
}

const NO_FORMS: readonly string[] = Object.freeze([]);

function notRecognised(address: string, meant: string | null): Checked {
  const alike = meant === null ? '' : ` The list holds ${meant}: check the letter case.`;
  const reason = `Form not recognised; nothing was checked.${alike}`;
  const nothing = { listedForms: NO_FORMS, others: NOT_ASKED };
  return { address, listed: null, recognised: false, reason, ...nothing };
}

/** A check for a pipe. */
export function jsonOfCheck(result: Checked, simulated: boolean): object {
  const { address, listed, reason } = result;
  const label = simulated ? { simulated } : {};
  const others = {
    other_lists: result.others.shown,
    other_lists_reason: result.others.reason,
  };
  if (result.listed === null) return { address, ...UNCHECKED, reason, ...others, ...label };
  const { matches, forms, list, caveat } = result;
  return {
    address,
    listed,
    reason,
    matches,
    equivalent_forms: forms.map(jsonOfForm),
    list: { ...list, as_of: formatTime(list.as_of) },
    ...others,
    caveat,
    ...label,
  };
}

/** The fields of what could not be checked; its `reason` says why. */
export const UNCHECKED = {
  listed: null,
  reason: null,
  matches: null,
  equivalent_forms: null,
  list: null,
  other_lists: null,
  other_lists_reason: null,
  caveat: null,
} as const;

function jsonOfForm({ form, address, relation, look, key }: ScreenedForm): object {
  const listed = look instanceof Read ? look.value.found.has(key) : null;
  return { form, address, relation, listed };
}

/** What the checks of one command came to. */
export type Tally = {
  addresses: number;
  listed: number;
  formListed: number;
  /** Addresses that, or another form of which, a list of another authority names. */
  elsewhere: number;
  /** Addresses for which a list of another authority could not show that it lacks them. */
  inPart: number;
  /** Addresses of no known form, and others, that were not checked. */
  misformed: number;
  unchecked: number;
  /** Rows of a file that could not be taken as its columns say. */
  unread: number;
  /** Why the rest of a file was not reached; `null` where all of it was. */
  stopped: string | null;
  /** The publications that answered. */
  readonly published: Set<string>;
};

/** Nothing counted yet. */
export function newTally(): Tally {
  const counts = { addresses: 0, listed: 0, formListed: 0, misformed: 0, unchecked: 0, unread: 0 };
  return { ...counts, elsewhere: 0, inPart: 0, stopped: null, published: new Set() };
}

/** Counts one address. */
export function countChecked(result: Checked, tally: Tally): void {
  tally.addresses += 1;
  if (result.listedForms.length > 0) tally.formListed += 1;
  if (result.others.listed) tally.elsewhere += 1;
  if (result.listed === null) {
    if (result.recognised) tally.unchecked += 1;
    else tally.misformed += 1;
    return;
  }
  if (result.listed) tally.listed += 1;
  if (result.others.isShort) tally.inPart += 1;
  tally.published.add(result.list.published);
}

/** A listing is no fault of a check, unless its caller says so. */
export function statusOf(tally: Tally, failOnListed: boolean): ExitStatus {
  const { addresses, listed, formListed, elsewhere, stopped } = tally;
  if (failOnListed && listed + formListed + elsewhere > 0) return EXIT.failed;
  const left = tally.misformed + tally.unchecked + tally.inPart + tally.unread;
  return addresses === 0 || left > 0 || stopped !== null ? EXIT.couldNotCheck : EXIT.done;
}

/** What of the lists of other authorities was not checked, and why. */
export function shortfallOf({ others }: Checked): string {
  const { shown, reason } = others;
  if (shown === null) return `lists of other authorities were not checked: ${written(reason)}`;
  const reasons = shown.flatMap((one) => ('reason' in one ? [one.reason] : []));
  return present(reasons).join(' ');
}
