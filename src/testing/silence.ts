// Answers one question: does a route ever say "nothing there" where nothing was looked at.
// It drives a handler through worlds in which ports and single answers fall silent, driven by the
// route's own declaration. It knows no route; what it finds is returned, not asserted.

import type { EvidencePorts } from '../compose/list.ts';
import { Answer, type Envelope } from '../contract/answer.ts';
import { Refusal } from '../contract/refusals.ts';
import { type AnyEvidenceRoute, envelopeSchema } from '../contract/route.ts';
import type { Fact } from './planted.ts';
import { claimsOf, isDenial, type Leaf, leavesOf } from './silence-answer.ts';
import { type Ask, asksOf } from './silence-asks.ts';
import { consultedPorts } from './silence-consulted.ts';
import type { MakeHandler } from './silence-made.ts';
import {
  type Fault,
  PAGED_PORTS,
  PORT_TAGS,
  type PortName,
  partlySilent,
  type Spoiler,
  spoiledPorts,
  type Tightness,
  type Told,
} from './silence-ports.ts';
import type { World } from './worlds.ts';

/**
 * A field of which the empty form is no denial of its own, although no claim is declared for it.
 */
export type Allowance = {
  readonly pattern: string;
  /** It may be empty only while these ports spoke. */
  readonly restsOn: readonly string[];
  readonly because: string;
};

/** What is known of one route beside its declaration. */
export type Expectations = {
  readonly allowances: readonly Allowance[];
  /** Claims whose empty form denies nothing, so that silence may leave it or turn to it. */
  readonly careful: readonly string[];
  /** Claims that the empty world does not say empty. */
  readonly unsaidInEmpty: readonly string[];
  /**
   * The ports that a miss rests on where the interface wants it said although others are silent:
   * its reason then names what was not checked. Left out: a miss rests on all.
   */
  readonly missRestsOn?: readonly string[];
};

/** One thing that was said and must not be. */
export type Leak = { readonly rule: string; readonly cell: string; readonly said: string };

/** What a check found. */
export type Findings = {
  readonly leaks: readonly Leak[];
  /** How many times the handler was asked under a named condition. */
  readonly cells: number;
  /** The patterns of claims that denied something in the empty world; and anywhere. */
  readonly saidInEmpty: ReadonlySet<string>;
  readonly said: ReadonlySet<string>;
  /** The patterns that a world showed the other way. */
  readonly otherwise: ReadonlySet<string>;
  /** The patterns that a planted fact contradicts, where it was asked about. */
  readonly contradicted: ReadonlySet<string>;
  /** The allowances that were needed. */
  readonly allowed: ReadonlySet<string>;
};

type Said = { readonly envelope: Envelope | null; readonly leaves: readonly Leaf[]; text: string };
type State = {
  [F in keyof Findings]: Findings[F] extends ReadonlySet<string> ? Set<string> : never;
};
type Run = {
  readonly route: AnyEvidenceRoute;
  /** The envelope as the route declares it. */
  readonly declared: ReturnType<typeof envelopeSchema>;
  readonly make: MakeHandler;
  readonly expect: Expectations;
  /** The ports that the route asks: silence of the others changes nothing. */
  readonly consulted: readonly PortName[];
  readonly leaks: Leak[];
  cells: number;
  readonly sets: Pick<State, 'saidInEmpty' | 'said' | 'otherwise' | 'contradicted' | 'allowed'>;
};

/** Checks one route in every world. */
export async function checkSilence(
  route: AnyEvidenceRoute,
  make: MakeHandler,
  worlds: readonly World[],
  expect: Expectations,
): Promise<Findings> {
  const sets = {
    saidInEmpty: new Set<string>(),
    said: new Set<string>(),
    otherwise: new Set<string>(),
    contradicted: new Set<string>(),
    allowed: new Set<string>(),
  };
  const declared = envelopeSchema(route);
  const consulted = await consultedPorts(route, make, worlds);
  const run: Run = { route, declared, make, expect, consulted, leaks: [], cells: 0, sets };
  for (const world of worlds) {
    for (const ask of asksOf(route, world)) await checkAsk(run, world, ask);
  }
  return { leaks: run.leaks, cells: run.cells, ...sets };
}

/** One way of asking: in a world, of something, under a condition. */
type Cell = {
  readonly world: World;
  readonly ask: Ask;
  readonly name: string;
  /** The ports that do not speak, or not to the end. */
  readonly weak: ReadonlySet<PortName>;
  /** Whether those ports answer in part: what convicts may then still say that it was checked. */
  readonly inPart: boolean;
};

async function checkAsk(run: Run, world: World, ask: Ask): Promise<void> {
  const whole: Cell = { world, ask, name: 'whole', weak: new Set(), inPart: false };
  const log: Told[] = [];
  const spoken = await told(
    run,
    whole,
    spoiledPorts(world.ports, () => null, log),
  );
  if (spoken === null) return;
  noteCoverage(run, whole, spoken);
  checkPlanted(run, whole, spoken);
  await checkPorts(run, world, ask, spoken);
  await checkCalls(run, world, ask, spoken, log);
  await checkBudgets(run, world, ask, spoken);
}

function noteCoverage(run: Run, { world }: Cell, { leaves }: Said): void {
  for (const leaf of leaves) {
    if (!leaf.declared) continue;
    if (isDenial(leaf)) {
      run.sets.said.add(leaf.pattern);
      if (world.empty) run.sets.saidInEmpty.add(leaf.pattern);
    } else if (leaf.value !== null && leaf.value !== undefined) {
      run.sets.otherwise.add(leaf.pattern);
    }
  }
}

// 1. Whole ports silent, every subset; and each port that pages stale or cut short throughout.
async function checkPorts(run: Run, world: World, ask: Ask, spoken: Said): Promise<void> {
  for (const silent of subsets(run.consulted)) {
    const name = `silent: ${[...silent].join(', ')}`;
    const cell: Cell = { world, ask, name, weak: silent, inPart: false };
    const said = await told(run, cell, partlySilent(world.ports, silent));
    if (said !== null) checkWeak(run, cell, said, spoken);
  }
  for (const port of PAGED_PORTS) {
    for (const fault of ['truncated', 'stale'] as const) {
      const spoiler: Spoiler = (told) =>
        told.port === port && told.faults.includes(fault) ? fault : null;
      const name = `all of ${port} ${fault}`;
      const cell: Cell = { world, ask, name, weak: new Set([port]), inPart: true };
      const said = await told(run, cell, spoiledPorts(world.ports, spoiler));
      if (said !== null) checkWeak(run, cell, said, spoken);
    }
  }
}

function checkWeak(run: Run, cell: Cell, said: Said, spoken: Said): void {
  const weak = tagsOf(cell);
  for (const leaf of said.leaves) {
    if (!isDenial(leaf)) continue;
    if (!leaf.declared) checkUndeclared(run, cell, leaf, weak);
    else if (restsOnAny(leaf, weak) && !isCareful(run, leaf)) {
      if (cell.inPart && leaf.meta?.rule === 'checked') continue;
      leak(run, cell, 'a negative on a silent port', leaf);
    }
  }
  if (run.consulted.every((port) => cell.weak.has(port)) && said.envelope !== null) {
    const { state } = said.envelope;
    if (state === 'ok' || state === 'insufficient_evidence') {
      leak(run, cell, 'an answer of which nothing was read', state);
    }
  }
  checkTurned(run, cell, said, spoken);
  checkPlanted(run, cell, said);
}

function tagsOf({ weak }: Cell): Set<string> {
  return new Set([...weak].map((port) => PORT_TAGS[port]));
}

function restsOnAny({ meta }: Leaf, weak: ReadonlySet<string>): boolean {
  return meta === null || meta.rests_on.some((port) => weak.has(port));
}

// An empty value inside a claim rests on that claim's ports; any other has to be allowed by name.
function checkUndeclared(run: Run, cell: Cell, leaf: Leaf, weak: ReadonlySet<string>): void {
  const allowance = run.expect.allowances.find((one) => one.pattern === leaf.pattern);
  if (allowance === undefined) {
    if (restsOnAny(leaf, weak)) leak(run, cell, 'an undeclared empty value', leaf);
    return;
  }
  run.sets.allowed.add(leaf.pattern);
  if (allowance.restsOn.some((port) => weak.has(port))) {
    leak(run, cell, 'an undeclared empty value', leaf);
  }
}

// 2. Each answer by itself silent, cut short or stale: nothing turns, and the fault shows.
async function checkCalls(
  run: Run,
  world: World,
  ask: Ask,
  spoken: Said,
  log: readonly Told[],
): Promise<void> {
  for (const answer of log) {
    for (const fault of answer.faults) {
      const spoiler: Spoiler = (one) => (one.call === answer.call ? fault : null);
      const name = `${fault}: ${answer.call}`;
      const weak = new Set([answer.port]);
      const cell: Cell = { world, ask, name, weak, inPart: fault !== 'silent' };
      const said = await told(run, cell, spoiledPorts(world.ports, spoiler));
      if (said === null) continue;
      checkTurned(run, cell, said, spoken);
      checkPlanted(run, cell, said);
      if (said.text === spoken.text && hasToShow(answer, fault, spoken)) {
        leak(run, cell, 'a fault that does not show', said.text.slice(0, SHOWN_CHARS));
      }
    }
  }
}

// A refusal says nothing that could have changed; and a stale answer that convicts is shown as the
// fact that it is, where nothing is denied beside it. Every other fault is seen.
function hasToShow({ convicts, port }: Told, fault: Fault, { envelope, leaves }: Said): boolean {
  if (envelope === null) return false;
  const deniesOnIt = leaves.some(
    (leaf) =>
      leaf.declared &&
      leaf.meta?.rule !== 'checked' &&
      leaf.meta?.rests_on.includes(PORT_TAGS[port]) === true &&
      isDenial(leaf),
  );
  return fault !== 'stale' || (deniesOnIt && !convicts);
}

// 3. With the smallest pages, and with no time at all, what was planted is found or not denied.
async function checkBudgets(run: Run, world: World, ask: Ask, spoken: Said): Promise<void> {
  const budgets: readonly [string, Tightness][] = [
    ['one row of each address', { rowsMax: 1 }],
    ['two rows of each address', { rowsMax: 2 }],
    ['one row of each batch', { batchRowsMax: 1 }],
    ['no row at all', { batchRowsMax: 0 }],
  ];
  for (const [name, tight] of budgets) {
    const weak = new Set<PortName>(['transferHistory']);
    const cell: Cell = { world, ask, name, weak, inPart: true };
    const said = await told(
      run,
      cell,
      spoiledPorts(world.ports, () => null, [], tight),
    );
    if (said === null) continue;
    checkTurned(run, cell, said, spoken);
    checkPlanted(run, cell, said);
  }
  const cell: Cell = { world, ask, name: 'no time', weak: new Set(), inPart: true };
  const said = await told(run, cell, world.ports, AbortSignal.abort());
  if (said === null) return;
  checkTurned(run, cell, said, spoken);
  checkPlanted(run, cell, said);
}

/** Nothing that was not denied is denied now, and nothing that was answered is refused. */
function checkTurned(run: Run, cell: Cell, said: Said, spoken: Said): void {
  if (said.envelope === null) {
    if (spoken.envelope !== null) leak(run, cell, 'a refusal that a silence made', said.text);
    return;
  }
  const before = spoken.envelope === null ? null : spoken.envelope.state;
  const missed = said.envelope.state === 'insufficient_evidence';
  if (missed && before !== 'insufficient_evidence' && !mayMiss(run, cell)) {
    leak(run, cell, 'turned negative', 'insufficient_evidence');
  }
  const denied = new Set(spoken.leaves.filter(isDenial).map((leaf) => leaf.path));
  for (const leaf of said.leaves) {
    if (!isDenial(leaf) || denied.has(leaf.path) || isCareful(run, leaf)) continue;
    if (leaf.declared) leak(run, cell, 'turned negative', leaf);
    else checkUndeclared(run, cell, leaf, tagsOf(cell));
  }
}

/** Whether a miss denies what this claim tells of: all that rests on no more than a miss does. */
function isOfMiss({ expect, route }: Run, pattern: string): boolean {
  const rests = expect.missRestsOn;
  const meta = claimsOf(route.data).get(pattern);
  return rests === undefined || meta?.rests_on.every((port) => rests.includes(port)) === true;
}

function mayMiss({ expect }: Run, cell: Cell): boolean {
  const rests = expect.missRestsOn;
  return rests !== undefined && !rests.some((port) => tagsOf(cell).has(port));
}

/** What is planted in the world is never denied, whatever else fell silent. */
function checkPlanted(run: Run, cell: Cell, said: Said): void {
  for (const fact of cell.world.facts) {
    if (!isAskedAbout(fact, cell.ask)) continue;
    const patterns = fact.contradicts[run.route.name];
    const missed = said.envelope?.state === 'insufficient_evidence';
    for (const pattern of patterns === undefined ? [] : patterns) {
      if (cell.name === 'whole') run.sets.contradicted.add(pattern);
      if (missed && isOfMiss(run, pattern)) {
        leak(run, cell, `a planted fact denied: ${fact.name}`, 'insufficient_evidence');
      }
      for (const leaf of said.leaves) {
        const about = leaf.of.length === 0 || leaf.of.includes(fact.item);
        if (leaf.pattern === pattern && about && isDenial(leaf)) {
          leak(run, cell, `a planted fact denied: ${fact.name}`, leaf);
        }
      }
    }
  }
}

function isAskedAbout(fact: Fact, ask: Ask): boolean {
  return ask.addresses.includes(fact.about) && ask.on === fact.on;
}

function isCareful(run: Run, leaf: Leaf): boolean {
  return run.expect.careful.includes(leaf.pattern);
}

/** How much of an answer a leak shows. */
const SHOWN_CHARS = 300;

function leak(run: Run, cell: Cell, rule: string, what: Leaf | string): void {
  const said = typeof what === 'string' ? what : `${what.path} = ${JSON.stringify(what.value)}`;
  run.leaks.push({ rule, cell: `${cell.world.name} | ${cell.ask.name} | ${cell.name}`, said });
}

/** Asks once. `null` where the handler threw, which is a leak of its own: weather never throws. */
async function told(
  run: Run,
  cell: Cell,
  ports: EvidencePorts,
  signal: AbortSignal = new AbortController().signal,
): Promise<Said | null> {
  run.cells += 1;
  const { world, ask } = cell;
  const now = () => world.now;
  try {
    const answer = await run.make(ports)(ask.input, { now, signal });
    if (answer instanceof Refusal) {
      return { envelope: null, leaves: [], text: JSON.stringify(answer.body) };
    }
    if (!(answer instanceof Answer)) throw new Error('no answer');
    const envelope = answer.envelope(world.now);
    const parsed = run.declared.safeParse(envelope);
    if (!parsed.success) throw new Error(`not as declared: ${parsed.error.message}`);
    const { data } = envelope;
    const leaves = data === null ? [] : leavesOf(run.route.data, data);
    return { envelope, leaves, text: JSON.stringify(envelope) };
  } catch (fault) {
    leak(run, cell, 'threw', fault instanceof Error ? fault.message : String(fault));
    return null;
  }
}

function subsets(names: readonly PortName[]): Set<PortName>[] {
  const all = 2 ** names.length;
  return Array.from({ length: all - 1 }, (_, n) => {
    const mask = n + 1;
    return new Set(names.filter((_name, i) => Math.floor(mask / 2 ** i) % 2 === 1));
  });
}

/** The claims that a route declares and that are no mere flags, by pattern. */
export function negativesOf(route: AnyEvidenceRoute): string[] {
  return [...claimsOf(route.data)].filter(([, meta]) => meta.rule !== 'checked').map(([at]) => at);
}
