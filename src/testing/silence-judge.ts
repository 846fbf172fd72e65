// Is anything said in one answer that must not be said of what was read?
// The rules of `silence-rules.ts` against one answer, and against what the whole world was told.

import type { Absence } from '../contract/answer.ts';
import { type ClaimMeta, missRests } from '../contract/wire.ts';
import { denies } from '../contract/writer.ts';
import { listOrNone } from '../evidence/measure.ts';
import type { Fact, World } from './planted.ts';
import { type Declared, isDenial, type Leaf } from './silence-answer.ts';
import type { Ask, SilenceRoute } from './silence-asks.ts';
import type { MakeHandler } from './silence-made.ts';
import {
  type Fault,
  type PortAnswer,
  type PortName,
  type PortTags,
  type Spoiled,
  tagsOf,
} from './silence-ports.ts';
import type { Leak, LeakRule } from './silence-rules.ts';
import { wordingOf } from './silence-words.ts';

/** A parsed answer. `unavailable`: a plain route's answer of another status than 200. */
export type Utterance = {
  readonly kind: 'ok' | Absence | 'unavailable' | 'refused';
  readonly reason: string | null;
  readonly leaves: readonly Leaf[];
  readonly text: string;
};

/** One way of asking: in a world, of something, under a condition. */
export type Cell = {
  readonly world: World;
  readonly ask: Ask;
  readonly name: string;
  /** The ports that do not speak, or not to the end. */
  readonly weak: ReadonlySet<PortName>;
  /** Whether those ports answer in part: what convicts may then still say that it was checked. */
  readonly inPart: boolean;
  /** Whether every answer of those ports is so, and not one of many. */
  readonly throughout: boolean;
  /** Whether what was spoiled had stopped early before, and the whole answer names that already. */
  readonly named?: boolean;
};

type Patterns = 'saidInEmpty' | 'stoodInEmpty' | 'said' | 'otherwise' | 'contradicted';

/** The worlds in which the ports of a route are spoiled, and those in which two fall silent. */
export type Sample = { readonly faults: readonly World[]; readonly pairs: readonly World[] };

/** A check under way. */
export type Run = {
  readonly route: SilenceRoute;
  readonly make: MakeHandler;
  readonly tags: PortTags;
  /** The declarations of the route, by pattern. */
  readonly places: ReadonlyMap<string, Declared>;
  readonly sample: Sample;
  readonly leaks: Leak[];
  cells: number;
  readonly sets: { readonly [P in Patterns]: Set<string> } & { readonly asked: Set<PortName> };
  /** The answers of the current request so far, by their text. */
  readonly heard: Map<string, Utterance>;
  /** The trials of that request so far. */
  readonly trials: Trial[];
};

/** One way in which a handler was asked: what its ports told it, and what it said. */
export type Trial = { readonly log: readonly Spoiled[]; readonly said: Utterance };

/** Derives a value from an answer once, however many cells had that answer. */
function oncePerAnswer<T>(make: (said: Utterance) => T): (said: Utterance) => T {
  const made = new WeakMap<Utterance, { readonly value: T }>();
  return (said) => {
    const held = made.get(said) ?? { value: make(said) };
    made.set(said, held);
    return held.value;
  };
}

const denialsIn = oncePerAnswer(({ leaves }) => leaves.filter(isDenial));
const pathsDenied = oncePerAnswer((said) => new Set(denialsIn(said).map(({ path }) => path)));
const sentencesIn = oncePerAnswer(({ reason, leaves }) => {
  const texts = leaves.flatMap(({ value }) => (typeof value === 'string' ? [value] : []));
  return new Set(reason === null ? texts : [reason, ...texts]);
});
/** The sentences with a word that denies. */
const denyingIn = oncePerAnswer((said) =>
  [...sentencesIn(said)]
    .map((text) => ({ text, ...wordingOf(text) }))
    .filter(({ denials, undeclared }) => denials.length > 0 || undeclared !== null),
);
const wordsIn = oncePerAnswer((said) => new Set(wordsOf(said)));
const shownIn = oncePerAnswer(({ leaves }) => new Set(leaves.flatMap(viewOf)));
// A claim that is null says by its declaration that it was not measured.
const unmeasuredIn = oncePerAnswer(({ leaves }) => {
  const unmeasured = leaves.filter(({ declared, value }) => declared && value === null);
  return new Set(unmeasured.map(({ pattern }) => pattern));
});

/** How much of an answer a leak shows. */
const SHOWN_CHARS = 300;

/** Notes a leak. */
export function leak(run: Run, cell: Cell, rule: LeakRule, what: Leaf | string): void {
  const text = typeof what === 'string' ? what : `${what.path} = ${JSON.stringify(what.value)}`;
  const at = `${cell.world.name} | ${cell.ask.name} | ${cell.name}`;
  run.leaks.push({ rule, cell: at, said: text.slice(0, SHOWN_CHARS) });
}

/** Notes which claims a whole answer shows, and how. */
export function noteSaid(run: Run, { world }: Cell, { leaves }: Utterance): void {
  for (const leaf of leaves) {
    if (!leaf.declared || leaf.value === null || leaf.value === undefined) continue;
    if (world.empty) run.sets.stoodInEmpty.add(leaf.pattern);
    if (!isDenial(leaf)) run.sets.otherwise.add(leaf.pattern);
    else {
      run.sets.said.add(leaf.pattern);
      if (world.empty) run.sets.saidInEmpty.add(leaf.pattern);
    }
  }
}

/** Nothing that rests on a weak port is denied, and no flag says that it was read to its end. */
export function checkWeak(run: Run, cell: Cell, said: Utterance): void {
  const weak = weakTags(run, cell);
  for (const leaf of denialsIn(said)) {
    if (!leaf.declared) {
      if (restsOnAny(leaf.meta, weak)) leak(run, cell, 'an undeclared empty value', leaf);
    } else if (leaf.meta !== null && restsOnAny(leaf.meta, weak) && !leaf.free) {
      const isFlag = leaf.meta.rule === 'checked';
      if (isFlag && cell.inPart && isConvicted(run, cell, said, leaf)) continue;
      const rule = isFlag
        ? 'a flag of what was not read to its end'
        : 'a negative on a silent port';
      leak(run, cell, rule, leaf);
    }
  }
}

function weakTags({ tags }: Run, { weak }: Cell): Set<string> {
  return new Set([...weak].flatMap((port) => tagsOf(tags, port)));
}

function restsOnAny(meta: ClaimMeta | null, weak: ReadonlySet<string>): boolean {
  return meta === null || meta.rests_on.some((port) => weak.has(port));
}

/** Whether an answer shows a planted fact that rests on what a flag rests on. */
function isConvicted(run: Run, { world, ask }: Cell, { leaves }: Utterance, flag: Leaf): boolean {
  const ports = new Set(flag.meta === null ? [] : flag.meta.rests_on);
  const patterns = world.facts.flatMap((fact) =>
    isAskedAbout(fact, ask) ? patternsOf(run, fact) : [],
  );
  return leaves.some(
    (leaf) =>
      patterns.includes(leaf.pattern) &&
      leaf.meta !== null &&
      restsOnAny(leaf.meta, ports) &&
      leaf.value !== null &&
      leaf.value !== undefined &&
      !isDenial(leaf),
  );
}

// A route that holds the answers of others is contradicted in them as each of them is.
function patternsOf({ route, places }: Run, { contradicts }: Fact): readonly string[] {
  const own = listOrNone(contradicts[route.name]);
  const inSections = [...places.values()].flatMap(({ pattern, sections }) =>
    Object.entries(sections).flatMap(([section, routes]) =>
      routes.flatMap(({ name }) =>
        listOrNone(contradicts[name]).map((one) => `${pattern}.${section}.data.${one}`),
      ),
    ),
  );
  return [...own, ...inSections];
}

/**
 * Whether a fault has to be seen. An answer that claims nothing has said that it was not told all;
 * and a stale answer that convicts is shown as the fact that it is, where nothing is denied on it.
 */
export function hasToShow(
  { tags }: Run,
  { isConviction, port }: PortAnswer,
  fault: Fault,
  { kind, leaves }: Utterance,
): boolean {
  if (kind === 'refused' || kind === 'not_deployed' || kind === 'not_supported') return false;
  if (fault === 'silent') return true;
  const claimed = leaves.filter((leaf) => leaf.declared && isDenial(leaf));
  if (fault === 'truncated') return claimed.length > 0 || kind === 'insufficient_evidence';
  const onIt = claimed.some(
    ({ meta }) =>
      meta?.rule !== 'checked' && tagsOf(tags, port).some((tag) => meta?.rests_on.includes(tag)),
  );
  return onIt && !isConviction();
}

/** Nothing that was not denied is denied now, and nothing that was answered is refused. */
export function checkTurned(run: Run, cell: Cell, said: Utterance, spoken: Utterance): void {
  if (said.kind === 'refused') {
    if (spoken.kind !== 'refused') leak(run, cell, 'a refusal that a silence made', said.text);
    return;
  }
  const missed = said.kind === 'insufficient_evidence';
  if (missed && spoken.kind !== 'insufficient_evidence' && !mayMiss(run, cell)) {
    leak(run, cell, 'turned negative', said.text);
  }
  const weak = weakTags(run, cell);
  const denied = pathsDenied(spoken);
  for (const leaf of denialsIn(said)) {
    if (denied.has(leaf.path) || leaf.free) continue;
    if (leaf.declared) leak(run, cell, 'turned negative', leaf);
    else if (restsOnAny(leaf.meta, weak)) leak(run, cell, 'an undeclared empty value', leaf);
  }
}

function missPorts({ route }: Run): readonly string[] | null {
  return route.kind === 'evidence' ? missRests(route.data) : null;
}

/** Whether a miss denies what this claim tells of: all that rests on no more than a miss does. */
function isOfMiss(run: Run, pattern: string): boolean {
  const rests = missPorts(run);
  const meta = run.places.get(pattern)?.meta;
  if (rests === null) return true;
  return meta?.rests_on.every((one) => rests.includes(one)) === true;
}

function mayMiss(run: Run, cell: Cell): boolean {
  const rests = missPorts(run);
  return rests !== null && !rests.some((port) => weakTags(run, cell).has(port));
}

/** A planted fact is never denied, whatever else fell silent. */
export function checkPlanted(run: Run, cell: Cell, said: Utterance): void {
  for (const fact of cell.world.facts) {
    if (!isAskedAbout(fact, cell.ask)) continue;
    const missed = said.kind === 'insufficient_evidence';
    for (const pattern of [...patternsOf(run, fact), ...ringlessPatterns(run, cell, fact)]) {
      if (missed && isOfMiss(run, pattern)) {
        leak(run, cell, 'a planted fact denied', `${fact.name}: ${said.kind}`);
      }
      for (const leaf of said.leaves) {
        const about = leaf.of.length === 0 || leaf.of.includes(fact.item);
        if (leaf.pattern !== pattern || !about) continue;
        if (cell.name === 'whole') run.sets.contradicted.add(pattern);
        if (isDenial(leaf)) leak(run, cell, 'a planted fact denied', leaf);
      }
    }
  }
}

/** What a fact contradicts beside its own patterns while the ring is weak, by the same rule. */
function ringlessPatterns(run: Run, { weak }: Cell, fact: Fact): readonly string[] {
  if (!weak.has('counterpartyRing')) return [];
  return patternsOf(run, { ...fact, contradicts: fact.ringless });
}

function isAskedAbout({ about, on, chain }: Fact, ask: Ask): boolean {
  const onChain = ask.chain === null || ask.chain === chain;
  return ask.addresses.includes(about) && ask.on === on && onChain;
}

/** The sentences of an answer deny nothing that was not read, and each that denies is declared. */
export function checkWords(run: Run, cell: Cell, said: Utterance, spoken: Utterance | null): void {
  const weak = weakTags(run, cell);
  const before = spoken === null ? null : sentencesIn(spoken);
  for (const { text, denials, undeclared } of denyingIn(said)) {
    if (undeclared !== null) {
      leak(run, cell, 'a denial in words that nobody declared', undeclared);
    }
    // One answer of many that was spoiled may be no matter of a sentence that was said before.
    if (!cell.throughout && before?.has(text) === true) continue;
    if (denials.some((ports) => ports.some((port) => weak.has(port)))) {
      leak(run, cell, 'a denial in words', text);
    }
  }
}

/** Each fact of the complete answer is still there, or the answer has a new word. */
export function checkShown(run: Run, cell: Cell, said: Utterance, spoken: Utterance): void {
  if (said.kind === 'refused' || spoken.kind === 'refused' || cell.named === true) return;
  const shown = shownIn(said);
  const unmeasured = unmeasuredIn(said);
  const gone = [...shownIn(spoken)].find((one) => !shown.has(one) && !unmeasured.has(one));
  if (gone === undefined) return;
  const before = wordsIn(spoken);
  if ([...wordsIn(said)].every((word) => before.has(word))) {
    leak(run, cell, 'vanished without a word', gone);
  }
}

/** As what a leaf is known again: a field by its place, an item of a list by what it says. */
function viewOf(leaf: Leaf): string[] {
  const { value, pattern, prose, meta, declared } = leaf;
  const isEmpty = value === null || value === undefined;
  if (isEmpty || prose || meta?.rule === 'checked' || isDenial(leaf)) return [];
  const inList = pattern.includes('[]') || pattern.includes('{}');
  return inList && !declared && typeof value === 'string' ? [`${pattern}=${value}`] : [pattern];
}

/** The words of silence: sentences, flags that are not set, states that claim nothing. */
function wordsOf(said: Utterance): string[] {
  const told = said.leaves.flatMap(({ path, prose, meta, declared, value }) => {
    if (prose) return [`${path}: ${String(value)}`];
    const isFlag = declared && meta?.rule === 'checked' && value === false;
    const isState = declared && meta?.rule === 'literals' && !denies(meta, value);
    return isFlag || isState ? [`${path}: ${String(value)}`] : [];
  });
  return said.reason === null ? told : [said.reason, ...told];
}
