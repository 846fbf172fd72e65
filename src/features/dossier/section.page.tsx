// The frame of every part of a dossier: its state, its sources, its API call and, if it was not
// answered, the reason.

import type { ComponentChildren, ComponentProps } from 'preact';
import { shellCommand } from '../../contract/shell-command.ts';
import { collect, listOrNone } from '../../evidence/measure.ts';
import { isNoneFound } from '../../evidence/reason-kinds.ts';
import { REASON_CODES } from '../../evidence/reasons.ts';
import type { Weight } from '../../evidence/weight.ts';
import {
  ageText,
  Badge,
  countWords,
  Moment,
  Prose,
  shorten,
  type Tone,
} from '../../pages/words.tsx';
import { type Look, lookOfLists, lookOfOther } from '../screening/shapes.ts';
import type {
  BridgesData,
  EntityData,
  EvidenceData,
  ExchangesData,
  LaunchesData,
  ListsData,
  PartName,
  PartOf,
  PartSource,
} from './shapes.ts';

/** The facts of a part beside its answer. */
export type PartFacts = {
  readonly subject: string;
  readonly base: string;
  readonly now: number;
  /** Whether the part has the page for itself. */
  readonly alone: boolean;
};

type SectionProps<D> = {
  name: PartName;
  title: string;
  part: PartOf<D>;
  verdict: Verdict;
  facts: PartFacts;
  /** Drawn after the part, whatever it answers. */
  after?: ComponentChildren;
  children: (data: D) => ComponentChildren;
};

export function DossierSection<D>({
  name,
  title,
  part,
  verdict,
  facts,
  after,
  children,
}: SectionProps<D>) {
  const { alone } = facts;
  return (
    <section
      class={`part ${part.state === 'ok' ? 'told' : 'untold'}`}
      slot={name}
      aria-labelledby={name}
    >
      <header>
        <h2 id={name}>{title}</h2>
        <Badge {...verdict} />
      </header>
      {part.state === 'ok' ? children(part.data) : <Untold part={part} verdict={verdict} />}
      {after}
      <footer>
        <Rests part={part} facts={facts} name={name} />
        {alone && 'json' in part && <Json text={part.json} />}
      </footer>
    </section>
  );
}

type UntoldPart = Exclude<PartOf<unknown>, { state: 'ok' }>;

const UNTOLD: { readonly [S in UntoldPart['state']]: string } = {
  insufficient_evidence: 'What was read does not answer it',
  not_supported: 'Not read for this kind of address',
  not_deployed: 'Not read on this deployment',
  refused: 'Not read for this kind of address',
  unasked: 'Nobody looked',
  late: 'Not read in time',
  failed: 'It could not be drawn',
};

function Untold({ part: { state, reason }, verdict }: { part: UntoldPart; verdict: Verdict }) {
  if (verdict.tone !== 'open') return <Says verdict={verdict} />;
  return (
    <div class="nothing unread">
      <p>
        <strong>{UNTOLD[state]}.</strong> <Prose text={withoutCode(reason)} />
      </p>
      <p class="quiet">This says nothing about the address.</p>
    </div>
  );
}

/** The state of a part in its section. */
export function Says({ verdict: { tone, says } }: { verdict: Verdict }) {
  return (
    <p class={`says ${tone}`}>
      <Prose text={says} />
    </p>
  );
}

type RestsProps = { part: PartOf<unknown>; facts: PartFacts; name: PartName };

function Rests({ part, facts: { base, now, alone, subject }, name }: RestsProps) {
  const key = part.path.startsWith('/api/v1/') ? 'EXHIBIT_API_KEY' : 'EXHIBIT_STREAM_TOKEN';
  const sources = 'sources' in part ? part.sources : null;
  return (
    <details open={alone}>
      <summary>{sources === null ? 'Asked by a program' : sourcesText(sources, now)}</summary>
      {sources !== null && sources.length > 0 && (
        <Sources sources={sources} now={now} name={name} />
      )}
      <p>Ask for it by a program:</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached. */}
      <pre class="curl" tabIndex={0}>
        {shellCommand(
          ['curl', '-H', { before: 'Authorization: Bearer ', variable: key }],
          [`${base}${part.path}`],
        )}
      </pre>
      {!alone && (
        <p>
          <a href={`/address/${encodeURIComponent(subject)}/${name}`}>
            This part alone, with its JSON
          </a>
        </p>
      )}
    </details>
  );
}

type PartSources = readonly PartSource[];

function sourcesText(sources: PartSources, now: number): string {
  const oldest = Math.min(...sources.map(({ as_of }) => as_of));
  const count = new Set(sources.map(({ name }) => name)).size;
  if (count === 0) return 'It rests on no source';
  return `${countWords(count, 'source')}, the oldest of ${ageText(now - oldest)}`;
}

type SourcesProps = { sources: PartSources; now: number; name: string };

function Sources({ sources, now, name }: SourcesProps) {
  const oldest = new Map<string, number>();
  for (const { name: source, as_of } of sources) {
    const known = oldest.get(source);
    oldest.set(source, known === undefined ? as_of : Math.min(known, as_of));
  }
  return (
    <dl class="rests" aria-label={`What ${name} rests on`}>
      {[...oldest].map(([source, as_of]) => (
        <div key={source}>
          <dt>{source}</dt>
          <dd>
            <Moment at={as_of} /> <span class="quiet">({ageText(now - as_of)})</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Longer answers are left to a program: a page stays small. As a page holds it. */
const JSON_BYTES_MAX = 40_000;
const QUOTE_BYTES = '&quot;'.length - 1;
const INDENT = 2;

function Json({ text }: { text: string }) {
  const parsed: unknown = JSON.parse(text);
  const shown = JSON.stringify(parsed, null, INDENT);
  const bytes = Buffer.byteLength(shown) + QUOTE_BYTES * (shown.split('"').length - 1);
  return (
    <details open>
      <summary id="json">The answer as JSON</summary>
      {bytes > JSON_BYTES_MAX ? (
        <p>It is too long for a page: ask for it as above.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached.
        <pre class="json" tabIndex={0}>
          {shown}
        </pre>
      )}
    </details>
  );
}

/** The caveat of a claim. On a narrow page its beginning stands, and opens to all of it. */
export function Caveat({ text, chain }: ComponentProps<typeof Prose>) {
  return (
    <details class="caveat">
      <summary>
        <Prose text={text} {...(chain === undefined ? {} : { chain })} />
      </summary>
    </details>
  );
}

/** The unread parts of a section with reasons; nothing if there are none. */
export function Unchecked({ what, reason }: { what: string; reason: string | null }) {
  if (reason === null) return null;
  return (
    <p class="unchecked">
      <Badge tone="open" /> <strong>{what}</strong> <Prose text={withoutCode(reason)} />
    </p>
  );
}

/** Something that was not looked at to its end, and why. */
export type UncheckedPart = { readonly name: string; readonly reason: string | null };

/** Each reason once, with all that was not checked for it. */
export function UncheckedByReason({ of }: { of: readonly UncheckedPart[] }) {
  const names = new Map<string, string[]>();
  for (const { name, reason } of of) {
    collect(names, reason === null ? 'It was not read to its end.' : reason, name);
  }
  if (names.size === 0) return null;
  return (
    <div class="unchecked">
      {[...names].map(([reason, all]) => (
        <p key={reason}>
          <Badge tone="open" /> <strong>{all.join(', ')}:</strong>{' '}
          <Prose text={withoutCode(reason)} />
        </p>
      ))}
    </div>
  );
}

/** A table under the words that open it: at once where a part has the page for itself. */
export function Folded({
  says,
  open,
  children,
}: {
  says: ComponentChildren;
  open: boolean;
  children: ComponentChildren;
}) {
  return (
    <details open={open}>
      <summary>{says}</summary>
      {children}
    </details>
  );
}

// The state of each part of a dossier, in a sentence: found, searched without a hit, or not
// checked. A sentence denies something only on the flags of the answer: an incomplete reading never
// denies.

/** The state of a part. `open`: not read, or not completely, without a hit so far. */
export type Verdict = Tone & { readonly says: string };

const NAMED_MAX = 3;

function verdict<D>(part: PartOf<D>, of: (data: D) => Verdict): Verdict {
  return part.state === 'ok' ? of(part.data) : open(part.reason);
}

function open(reason: string | null): Verdict {
  const says = reason === null ? 'It was not read to its end.' : withoutCode(reason);
  return { tone: 'open', says };
}

const CODE = /(^|[.:)] )([a-z]+(?:_[a-z]+)+): (\S)/g;
const KNOWN_CODES: ReadonlySet<string> = new Set(REASON_CODES);

/** A reason without the codes that it and the reasons within it begin with, as a sentence. */
export function withoutCode(reason: string): string {
  const text = reason.replace(CODE, (found, before: string, code: string, first: string) => {
    if (before !== '' && !KNOWN_CODES.has(code)) return found;
    return `${before}${before.startsWith(':') ? first : first.toUpperCase()}`;
  });
  const isAddress = /^[a-z]+:\/\//.test(text);
  const first = isAddress ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?)]$/.test(first) ? first : `${first}.`;
}

function seenVerdict(says: string): Verdict {
  return { tone: 'seen', says };
}

/** An inference by these weights; the least of them stands for all. */
function inferredVerdict(weights: readonly [Weight, ...Weight[]], says: string): Verdict {
  const by = weights.reduce((least, one) => (isLess(one, least) ? one : least));
  return { tone: 'inferred', by, says };
}

function isLess(one: Weight, other: Weight): boolean {
  if (one.weight !== other.weight) return one.weight < other.weight;
  return one.basis === 'assumed';
}

function hitVerdict(says: string): Verdict {
  return { tone: 'hit', says };
}

function noneVerdict(says: string): Verdict {
  return { tone: 'none', says };
}

/** The first few names, and how many more there are. */
function joinNames(names: readonly (string | null)[]): string {
  const known = [
    ...new Set(names.map((name) => (name === null ? 'an entry without a name' : name))),
  ];
  const more = known.length - NAMED_MAX;
  const first = known.slice(0, NAMED_MAX).join(', ');
  return more > 0 ? `${first} and ${more} more` : first;
}

/** The combined state of several parts: found counts first, then unknown, then the rest. */
export function strongest(verdicts: readonly [Verdict, ...Verdict[]]): Verdict {
  const rank = ['hit', 'seen', 'inferred', 'open', 'none'];
  return verdicts.reduce((one, other) => {
    return rank.indexOf(other.tone) < rank.indexOf(one.tone) ? other : one;
  });
}

export function listVerdict(part: PartOf<ListsData>): Verdict {
  return verdict(part, ({ sanctioned, matches, list, equivalent_forms: forms }) => {
    if (sanctioned) return hitVerdict(`Listed: ${joinNames(matches.map(({ entity }) => entity))}.`);
    const others = forms.filter(({ listed }) => listed === true);
    if (others.length > 0)
      return hitVerdict(`Another form of it is listed: ${others[0]?.address}.`);
    return noneVerdict(`No entry on the ${list.name} published ${list.published}.`);
  });
}

export function otherListsVerdict(part: PartOf<ListsData>): Verdict {
  return verdict(part, ({ other_lists: lists, other_lists_reason: reason }) => {
    if (lists === null) return open(reason);
    const namesUnder = (look: Look) => {
      const those = lists.filter((one) => lookOfOther(one) === look);
      return joinNames(those.map(({ list }) => list));
    };
    switch (lookOfLists(lists.map(lookOfOther))) {
      case 'listed':
        return hitVerdict(`Listed on ${namesUnder('listed')}.`);
      case 'form_listed':
        return hitVerdict(`Another form of it is listed on ${namesUnder('form_listed')}.`);
      case 'ended':
        return seenVerdict(`Its entry has ended on ${namesUnder('ended')}.`);
      case 'no_record':
        return noneVerdict(`No entry on ${namesUnder('no_record')}.`);
      default: {
        const unread = lists.find((one) => lookOfOther(one) === 'not_checked');
        return open(unread === undefined ? null : unread.reason);
      }
    }
  });
}

/** The walk to a listed address. */
export function pathVerdict(part: PartOf<ListsData>): Verdict {
  return verdict(part, ({ proximity: { found, checked, hops, entity, reason } }) => {
    if (found === true) {
      return hitVerdict(
        `${hops === 1 ? 'One hop' : 'Two hops'} from a listed address: ${joinNames([entity])}.`,
      );
    }
    if (found === false && checked)
      return noneVerdict('No path of two hops leads to a listed address.');
    return open(reason);
  });
}

/** The state of the observations. */
export function evidenceVerdict(part: PartOf<EvidenceData>): Verdict {
  return verdict(part, ({ findings, findings_found, findings_checked, findings_coverage }) => {
    if (findings.length > 0)
      return seenVerdict(`${joinNames(findings.map(({ title }) => title))}.`);
    if (findings_found === false && findings_checked) {
      return noneVerdict('Each kind of finding was looked for, and none was seen.');
    }
    const missing = findings_coverage.find(({ checked }) => !checked);
    return open(missing === undefined ? null : missing.reason);
  });
}

/** The state of the ties to other addresses, which are inferences. */
export function entityVerdict(part: PartOf<EntityData>): Verdict {
  return verdict(part, (data) => {
    const { confidence: weight, confidence_basis: basis, checked, reason } = data;
    if (basis !== null) return inferredVerdict([{ weight, basis }], tiesText(data));
    return checked ? noneVerdict('No evidence ties it to another address.') : open(reason);
  });
}

function tiesText({ tied_as, members, related_wallets_total: total, labels }: EntityData): string {
  const deposits = members.filter((one) => one.tied_as === 'deposit_address').length;
  const others = countWords(total - 1, 'other address', 'other addresses');
  const least = members.length < total - 1 ? 'at least ' : '';
  const [one, many] = ['deposit address of an exchange', 'deposit addresses of exchanges'];
  const theirs = `${least}${countWords(deposits, one, many)}`;
  const more = deposits === 0 ? others : `${others}, among them ${theirs}`;
  const tied = deposits === total - 1 ? theirs : more;
  const named = joinNames(labels.map(({ address, label }) => `${label} (${shorten(address)})`));
  const labelled = labels.length === 0 ? '' : ` Labelled among them: ${named}.`;
  if (tied_as === 'deposit_address') {
    return `A deposit address of an exchange; who pays into it is tied: ${tied}.${labelled}`;
  }
  return `Tied to ${tied}.${labelled}`;
}

/** Exchanges: labels and dealings. */
export function exchangesVerdict(part: PartOf<ExchangesData>): Verdict {
  return verdict(part, ({ direct, linked, linked_reason, activity }) => {
    if (direct !== null) return seenVerdict(`Labelled ${direct.label}.`);
    const { exchanges, inferred_deposit_addresses: deposits, checked, reason } = activity;
    if (exchanges !== null && exchanges.length > 0) {
      return seenVerdict(`Transfers with ${joinNames(exchanges.map(({ entity }) => entity))}.`);
    }
    const inferred = depositVerdict(deposits);
    if (inferred !== null) return inferred;
    const [tie, ...others] = listOrNone(linked);
    if (tie !== undefined) {
      const names = joinNames([tie, ...others].map(({ label }) => label));
      return inferredVerdict([tie, ...others], `Tied to what is labelled ${names}.`);
    }
    if (!checked) return open(reason);
    if (linked === null) return open(linked_reason);
    return noneVerdict('No label is held, and no transfer with a labelled wallet.');
  });
}

type SeenDeposits = ExchangesData['activity']['inferred_deposit_addresses'];

/**
 * A subject that is a deposit address goes before those that it pays into; `null`: no deposit
 * address was seen.
 */
export function depositVerdict(deposits: SeenDeposits): Verdict | null {
  const seen = listOrNone(deposits);
  const own = seen.filter(({ is_subject }) => is_subject);
  const [first, ...more] = own.length > 0 ? own : seen;
  if (first === undefined) return null;
  const names = joinNames([first, ...more].map(({ entity }) => entity));
  const whose = first.is_subject ? 'It is a deposit address' : 'It pays into a deposit address';
  return inferredVerdict([first, ...more], `${whose} of ${names}.`);
}

export function bridgesVerdict(part: PartOf<BridgesData>): Verdict {
  return verdict(part, ({ bridges, coverage, chain }) => {
    if (bridges.length > 0)
      return seenVerdict(`${joinNames(bridges.map(({ name }) => name))} on ${chain}.`);
    if (!coverage.checked) return open(coverage.reason);
    return noneVerdict(`No contract of the registry was touched on ${chain}.`);
  });
}

const RECORDS = {
  all_died: 'Every listed launch has died.',
  mixed: 'Some listed launches live.',
  no_listed_launch: 'It launched tokens, and no venue ever listed one.',
  unchecked: 'What became of all of its launches could not be checked.',
} as const;

export function launchesVerdict(part: PartOf<LaunchesData>): Verdict {
  // The code tells a search in vain from launches that wait to be settled and from an old walk.
  if ('code' in part) {
    const { reason } = part;
    if (part.code === 'no_record_waiting') return seenVerdict(withoutCode(reason));
    return isNoneFound(part) ? noneVerdict(withoutCode(reason)) : open(reason);
  }
  return verdict(part, (data) => {
    if (data.chain === 'ethereum') {
      const { state, launches, finding } = data.record;
      const isUnknown = state === 'unchecked' && launches.length === 0;
      return isUnknown ? open(finding) : seenVerdict(RECORDS[state]);
    }
    return seenVerdict(
      data.wallet.answer === 'flagged'
        ? 'Every settled launch has died.'
        : 'At least one settled launch survived.',
    );
  });
}
