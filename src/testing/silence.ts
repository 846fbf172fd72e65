// Does a route ever say "nothing there" where nothing was looked at?
// It drives a handler through worlds in which ports and single answers fall silent, driven by the
// route's own declaration. It knows no route; what it finds is returned, not asserted.

import { setMaxListeners } from 'node:events';
import { Answer, Reply } from '../contract/answer.ts';
import { Refusal } from '../contract/refusals.ts';
import { type AnyEvidenceRoute, type Caller, envelopeSchema, NOBODY } from '../contract/route.ts';
import type { World } from './planted.ts';
import { isRecord, type Leaf, leavesOf, NO_SECTIONS, placesOf } from './silence-answer.ts';
import { type Ask, asksOf, type SilenceRoute } from './silence-asks.ts';
import {
  type Cell,
  checkPlanted,
  checkShown,
  checkTurned,
  checkWeak,
  checkWords,
  hasToShow,
  leak,
  noteSaid,
  type Run,
  type Sample,
  type Trial,
  type Utterance,
} from './silence-judge.ts';
import {
  type Fault,
  isPaged,
  type PortAnswer,
  type PortName,
  type SilencePorts,
  type Spoiled,
  type Spoiler,
  silencing,
  spoiledPorts,
  type Tightness,
} from './silence-ports.ts';
import type { Leak } from './silence-rules.ts';
import { RECORD_OF } from './twins/screening.ts';

/** The findings of a check. */
export type Findings = {
  readonly leaks: readonly Leak[];
  /** How many times the handler was asked under a named condition. */
  readonly cells: number;
  /** The patterns of claims that denied something in the empty world; and in any whole one. */
  readonly saidInEmpty: ReadonlySet<string>;
  readonly said: ReadonlySet<string>;
  /** The patterns that stood in an answer of the empty world, whatever they said. */
  readonly stoodInEmpty: ReadonlySet<string>;
  /** The patterns that a world showed the other way. */
  readonly otherwise: ReadonlySet<string>;
  /** The patterns that a planted fact contradicts, where it was asked about. */
  readonly contradicted: ReadonlySet<string>;
  /** The ports that were asked. */
  readonly asked: ReadonlySet<PortName>;
};

/** Checks one route in every world. It asks on until the leaks are enough for the caller. */
export async function checkSilence(
  { route, make, tags }: Pick<Run, 'route' | 'make' | 'tags'>,
  worlds: readonly World[],
  sample: Sample,
  isEnough: (leaks: readonly Leak[]) => boolean = () => false,
): Promise<Findings> {
  const sets = {
    saidInEmpty: new Set<string>(),
    stoodInEmpty: new Set<string>(),
    said: new Set<string>(),
    otherwise: new Set<string>(),
    contradicted: new Set<string>(),
    asked: new Set<PortName>(),
  };
  const places = new Map(placesOfRoute(route).map((one) => [one.pattern, one]));
  const heard = new Map<string, Utterance>();
  const trials: Trial[] = [];
  const run: Run = { route, make, tags, places, leaks: [], cells: 0, sets, sample, heard, trials };
  for (const world of worlds) {
    for (const ask of asksOf(route, world)) {
      if (isEnough(run.leaks)) break;
      heard.clear();
      trials.length = 0;
      await checkAsk(run, world, ask);
    }
  }
  return { leaks: run.leaks, cells: run.cells, ...sets };
}

/** Every place that a route's answers declare. */
export function placesOfRoute(route: SilenceRoute) {
  if (route.kind === 'evidence') return placesOf(route.data);
  return Object.values(route.responses).flatMap((schema) => placesOf(schema));
}

/** The claims that a route declares and that are no mere flags, by pattern. */
export function negativesOf(route: SilenceRoute): string[] {
  const claims = placesOfRoute(route).filter(
    ({ meta }) => meta !== null && meta.rule !== 'checked',
  );
  return [...new Set(claims.map(({ pattern }) => pattern))];
}

async function checkAsk(run: Run, world: World, ask: Ask): Promise<void> {
  const unheld = notHeld(world, ask);
  const whole: Cell = {
    world,
    ask,
    name: 'whole',
    weak: unheld,
    inPart: unheld.size > 0,
    throughout: true,
  };
  const trial = await askSpoiled(run, whole, () => null);
  if (trial === null) return;
  const { said: spoken } = trial;
  const log = trial.log.map(({ told }) => told);
  for (const { port } of log) run.sets.asked.add(port);
  noteSaid(run, whole, spoken);
  checkPlanted(run, whole, spoken);
  checkWords(run, whole, spoken, null);
  if (whole.weak.size > 0) checkWeak(run, whole, spoken);
  // A refusal before any port is called says nothing about an address.
  if (spoken.kind === 'refused' && log.length === 0) return;
  if (!run.sample.faults.includes(world)) return;
  const asked = await checkPorts(run, whole, spoken, log);
  // The calls behind a section are its own route's, and spoiled one by one where that is asked.
  if (!holdsSections(run.route)) await checkCalls(run, whole, spoken, log);
  await checkBudgets(run, whole, spoken, asked);
}

/** Whether a route's answers hold those of others. */
export function holdsSections(route: SilenceRoute): boolean {
  return placesOfRoute(route).some(({ sections }) => sections !== NO_SECTIONS);
}

/** The ports that hold only a part of what is asked in a world. */
function notHeld({ unheld, chainsRead }: World, { chain }: Ask): ReadonlySet<PortName> {
  const isRead = chain === null || chainsRead.some((one) => one === chain);
  const isWhole = unheld === null || (chain !== null && chain !== unheld);
  return new Set(isRead && isWhole ? [] : ['transferHistory']);
}

// 1. Each port silent, each two, and all; and each port that pages stale or cut short throughout.
async function checkPorts(
  run: Run,
  whole: Cell,
  spoken: Utterance,
  log: readonly PortAnswer[],
): Promise<ReadonlySet<PortName>> {
  const asked = new Set(log.map(({ port }) => port));
  const silence = async (ports: readonly PortName[]) => {
    const name = `silent: ${ports.join(', ')}`;
    const cell: Cell = { ...whole, name, weak: union(whole.weak, ports), inPart: false };
    const trial = await askSpoiled(run, cell, silencing(new Set(ports)));
    if (trial === null) return;
    const { said } = trial;
    // One port may be asked only where another says nothing.
    for (const { told } of trial.log) asked.add(told.port);
    checkWeak(run, cell, said);
    checkAgainst(run, cell, said, spoken);
    const isAll = [...asked].every((port) => ports.includes(port));
    const answers = said.kind === 'ok' || said.kind === 'insufficient_evidence';
    if (isAll && answers && run.route.kind === 'evidence') {
      leak(run, cell, 'an answer of which nothing was read', said.kind);
    }
  };
  // The set grows while it is walked, and a port that joins it late is walked too.
  for (const port of asked) await silence([port]);
  const names = [...asked];
  for (const [i, one] of run.sample.pairs.includes(whole.world) ? names.entries() : []) {
    for (const other of names.slice(i + 1)) await silence([one, other]);
  }
  if (names.length > 2) await silence(names);
  for (const port of names) {
    if (isPaged(port)) await checkPaged(run, whole, spoken, port);
  }
  return asked;
}

function union(held: ReadonlySet<PortName>, more: Iterable<PortName>): Set<PortName> {
  return new Set([...held, ...more]);
}

async function checkPaged(run: Run, whole: Cell, spoken: Utterance, port: PortName): Promise<void> {
  for (const fault of ['truncated', 'stale'] as const) {
    const name = `all of ${port} ${fault}`;
    const cell: Cell = { ...whole, name, weak: union(whole.weak, [port]), inPart: true };
    const trial = await askSpoiled(run, cell, (told) =>
      told.port === port && told.faults.includes(fault) ? fault : null,
    );
    if (trial === null) continue;
    const { said } = trial;
    const spoiled = trial.log.filter((one) => one.fault !== null);
    // A fact cannot be cut in two, so that a port of facts may have nothing to truncate.
    if (spoiled.length === 0) continue;
    checkWeak(run, cell, said);
    checkAgainst(run, { ...cell, named: spoiled.every(({ told }) => told.isPart) }, said, spoken);
  }
}

/** The rules for an answer with less data than the complete one. */
function checkAgainst(run: Run, cell: Cell, said: Utterance, spoken: Utterance): void {
  checkTurned(run, cell, said, spoken);
  checkPlanted(run, cell, said);
  checkWords(run, cell, said, spoken);
  checkShown(run, cell, said, spoken);
}

// 2. Each answer by itself silent, cut short or stale: nothing turns, and the fault shows.
async function checkCalls(
  run: Run,
  whole: Cell,
  spoken: Utterance,
  log: readonly PortAnswer[],
): Promise<void> {
  // A result that was incomplete from the start is already reported, in words that may cover the
  // rest.
  const isTold = ({ port }: PortAnswer) =>
    whole.weak.size > 0 || log.some((one) => one.port === port && one.isPart);
  const check = async (answer: PortAnswer, fault: Fault, call: string, spoiler: Spoiler) => {
    const cell: Cell = {
      ...whole,
      name: `${fault}: ${call}`,
      weak: union(whole.weak, [answer.port]),
      inPart: true,
      throughout: false,
      named: fault === 'truncated' && answer.isPart,
    };
    const trial = await askSpoiled(run, cell, spoiler);
    if (trial === null) return;
    const { said } = trial;
    checkAgainst(run, cell, said, spoken);
    if (fault !== 'silent' && isTold(answer)) return;
    if (said.text === spoken.text && hasToShow(run, answer, fault, spoken)) {
      leak(run, cell, 'a fault that does not show', said.text);
    }
  };
  const together = new Set<string>();
  for (const answer of log) {
    for (const fault of answer.faults) {
      const spoiler: Spoiler = (one) => (one.call === answer.call ? fault : null);
      await check(answer, fault, answer.call, spoiler);
    }
    const { together: call } = answer;
    if (call === null || together.has(call)) continue;
    together.add(call);
    await check(answer, 'silent', call, (one) => (one.together === call ? 'silent' : null));
  }
}

const BUDGETS: readonly (readonly [string, Tightness])[] = [
  ['one row of each address', { rowsMax: 1 }],
  ['two rows of each address', { rowsMax: 2 }],
  ['one row of each batch', { batchRowsMax: 1 }],
  ['no row at all', { batchRowsMax: 0 }],
];

// 3. With the smallest pages, and with no time at all, what was planted is found or not denied.
async function checkBudgets(
  run: Run,
  whole: Cell,
  spoken: Utterance,
  asked: ReadonlySet<PortName>,
): Promise<void> {
  const { ports } = whole.world;
  if (asked.has('transferHistory')) {
    for (const [name, tight] of BUDGETS) {
      const weak = union(whole.weak, ['transferHistory']);
      const cell: Cell = { ...whole, name, weak, inPart: true, throughout: false };
      run.cells += 1;
      const said = await ask(
        run,
        cell,
        spoiledPorts(ports, () => null, [], tight),
      );
      if (said !== null) checkAgainst(run, cell, said, spoken);
    }
  }
  const cell: Cell = { ...whole, name: 'no time', inPart: true, throughout: false };
  run.cells += 1;
  const said = await ask(run, cell, ports, AbortSignal.abort());
  if (said !== null) checkAgainst(run, cell, said, spoken);
}

/**
 * Asks with each answer of a port spoiled as `spoiler` says. A handler that was told the same
 * before says the same again, so that it is not asked twice.
 */
async function askSpoiled(run: Run, cell: Cell, spoiler: Spoiler): Promise<Trial | null> {
  run.cells += 1;
  const earlier = run.trials.find(({ log }) =>
    log.every(({ told, fault }) => spoiler(told) === fault),
  );
  if (earlier !== undefined) return earlier;
  const log: Spoiled[] = [];
  const said = await ask(run, cell, spoiledPorts(cell.world.ports, spoiler, log));
  if (said === null) return null;
  const trial = { log, said };
  run.trials.push(trial);
  return trial;
}

/** Asks once. `null` where the handler threw, which is a leak of its own: silence never throws. */
async function ask(
  run: Run,
  cell: Cell,
  ports: SilencePorts,
  signal: AbortSignal = new AbortController().signal,
): Promise<Utterance | null> {
  const { world, ask } = cell;
  const now = () => world.now;
  // A handler waits for more than ten readings at once.
  setMaxListeners(0, signal);
  try {
    const answer = await run.make(ports)(ask.input, { now, signal }, callerOf(run.route));
    return readAnswer(run, answer, world.now);
  } catch (fault) {
    leak(run, cell, 'threw', fault instanceof Error ? fault.message : String(fault));
    return null;
  }
}

const MEMBER: Caller = {
  kind: 'member',
  membership_id: RECORD_OF,
  plan: 'enterprise',
  key_id: 'key_asks',
};

/** The caller that a route admits. */
function callerOf({ access }: SilenceRoute): Caller {
  const takesKey = access === 'analyst' || access === 'desk' || access === 'optional_key';
  return takesKey ? MEMBER : NOBODY;
}

/** Parses an answer. Most answers to one request are the same text, and parsed once. */
function readAnswer({ route, heard }: Run, answer: unknown, now: number): Utterance {
  if (answer instanceof Refusal) {
    return { kind: 'refused', reason: null, leaves: [], text: JSON.stringify(answer.body) };
  }
  if (!(answer instanceof Answer || answer instanceof Reply)) throw new Error('no answer');
  const bytes = answer.bytes(now).toString();
  const text = answer instanceof Reply ? `${answer.status} ${bytes}` : bytes;
  const held = heard.get(text);
  if (held !== undefined) return held;
  const said =
    answer instanceof Reply ? readReply(route, answer) : readEnvelope(route, answer, now);
  heard.set(text, said);
  return said;
}

function readEnvelope(route: SilenceRoute, answer: Answer<string>, now: number): Utterance {
  if (route.kind === 'plain') throw new Error('no reply');
  const envelope = answer.envelope(now);
  const parsed = declarationOf(route).safeParse(envelope);
  if (!parsed.success) throw new Error(`not as declared: ${parsed.error.message}`);
  const { state, data, reason } = envelope;
  const leaves: Leaf[] = data === null ? [] : leavesOf(route.data, data);
  const why = reason === undefined ? null : reason;
  return { kind: state, reason: why, leaves, text: statementOf(envelope) };
}

/**
 * The statements of an answer, and of each answer of another route in it, without sources and their
 * date: a missing source line does not report an unread source.
 */
function statementOf(body: unknown): string {
  if (body instanceof Uint8Array) return Buffer.from(body).toString('base64');
  const { sources: _sources, as_of: _as_of, ...rest } = Object(body);
  return JSON.stringify(rest, (_, one: unknown) => {
    if (!isRecord(one) || !('sources' in one && 'as_of' in one)) return one;
    const { sources: _sources, as_of: _as_of, ...statement } = one;
    return statement;
  });
}

const envelopes = new Map<AnyEvidenceRoute, ReturnType<typeof envelopeSchema>>();

function declarationOf(route: AnyEvidenceRoute): ReturnType<typeof envelopeSchema> {
  const held = envelopes.get(route);
  if (held !== undefined) return held;
  const made = envelopeSchema(route);
  envelopes.set(route, made);
  return made;
}

function readReply(route: SilenceRoute, reply: Reply<string>): Utterance {
  if (route.kind !== 'plain') throw new Error('no answer');
  const schema = route.responses[reply.status];
  if (schema === undefined) throw new Error(`${reply.status} is not declared`);
  const parsed = schema.safeParse(reply.body);
  if (!parsed.success) throw new Error(`not as declared: ${parsed.error.message}`);
  // Bytes are published as they were stored: no field of theirs is made by this route.
  const leaves = reply.body instanceof Uint8Array ? [] : leavesOf(schema, reply.body);
  const kind = reply.status === OK ? 'ok' : 'unavailable';
  return { kind, reason: null, leaves, text: statementOf(reply.body) };
}

const OK = 200;
