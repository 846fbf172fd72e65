// Answers one question: is there a newer sanctions list, and may it replace the one in force.
// The publisher is asked first, its mirrors where it gave no list that passes; its word alone is a
// check. Whatever goes wrong, the last good list stays in force: it is replaced or left.

import { Read } from '../../evidence/reading.ts';
import type {
  HeldPublication,
  HeldRefusal,
  Served,
} from '../../ports/sanctions/publication-store.ts';
import type { Acceptance, Mirror, RefreshOutcome, Tried } from '../../ports/sanctions/publisher.ts';
import {
  type Case,
  isReadByThis,
  type RefreshWorld,
  type Refused,
  readAgain,
  refusedAgain,
  refusedBefore,
  type Step,
  StoreSilent,
  stillNewest,
  stored,
  type Updated,
  weigh,
} from './weighing.ts';

/** How often a refresh starts over because another process replaced the list meanwhile. */
const RACES_MAX = 5;

/** What is asked of one round. */
type Round = { readonly acceptance: Acceptance | null; readonly signal: AbortSignal };

/** Asks once around. `acceptance` lets exactly one file pass that only a size rule refuses. */
export async function refreshSanctions(
  world: RefreshWorld,
  acceptance: Acceptance | null,
  signal: AbortSignal,
): Promise<RefreshOutcome> {
  const tried: Tried[] = [];
  try {
    await readAgain(world, signal);
    return await askedAround(world, { acceptance, signal }, tried);
  } catch (error) {
    if (!(error instanceof StoreSilent)) throw error;
    return { kind: 'unreachable', reason: error.message, tried, retry: 'soon' };
  }
}

async function askedAround(
  world: RefreshWorld,
  round: Round,
  tried: Tried[],
): Promise<RefreshOutcome> {
  let updated: Updated | null = null;
  let refused: Refused | null = null;
  let retry: RefreshOutcome['retry'] = 'soon';
  let later: Pick<RefreshOutcome, 'after_s'> = {};
  for (const [place, mirror] of world.publisher.mirrors.entries()) {
    if (round.signal.aborted) break;
    const first = place === 0;
    const step = await untilSettled(world, round, mirror, first);
    if (step.kind === 'served') {
      if (first) return { ...step.end, tried, retry: 'in_turn' };
      if (step.end.kind === 'updated') updated = step.end;
      continue;
    }
    if (step.kind === 'refused') {
      if (refused === null) refused = step.refused;
      // The same file would be refused again; what was cut short may come whole.
      if (first && !step.passing) retry = 'in_turn';
    }
    if (first && step.kind === 'failed' && step.after_s !== undefined) {
      later = { after_s: step.after_s };
    }
    tried.push({ source: mirror.url, result: wordsOf(step) });
  }
  const end = { tried, retry, ...later };
  if (updated !== null) return { ...updated, ...end };
  if (refused !== null) return { ...refused, ...end };
  const reason = tried.map(({ result }) => result).join(' ');
  if (reason !== '') return { kind: 'unreachable', reason, ...end };
  const asked = world.publisher.mirrors.length > 0;
  const nobody = asked ? 'The refresh was stopped.' : 'No source of the list is configured.';
  return { kind: 'unreachable', reason: nobody, tried, retry };
}

type Settled = Exclude<Step, { kind: 'moved' }>;

function wordsOf(step: Settled): string {
  if (step.kind === 'served') return step.end.kind;
  if (step.kind === 'refused') return `refused as ${step.refused.code}: ${step.refused.reason}`;
  return step.reason;
}

async function untilSettled(
  world: RefreshWorld,
  round: Round,
  mirror: Mirror,
  first: boolean,
): Promise<Settled> {
  for (let races = 0; races < RACES_MAX; races += 1) {
    const { publication: before, now } = stored(await world.store.inForce());
    const step = await askMirror(world, mirror, { ...round, mirror, first, before, now });
    if (step.kind === 'moved') continue;
    const source = { key: mirror.key, url: mirror.url };
    const asked = { source, asked_at: now, result: wordsOf(step) };
    stored(await world.store.recordAsked(asked, step.served));
    return step;
  }
  const reason = 'Other processes kept replacing the list.';
  return { kind: 'failed', reason, served: null };
}

async function askMirror(world: RefreshWorld, mirror: Mirror, asked: Case): Promise<Step> {
  const known = await knownOf(world, asked);
  const validators = known === null ? null : known.served.validators;
  const delivered = await mirror.deliver(validators, asked.signal);
  if (!(delivered instanceof Read)) {
    return { kind: 'failed', reason: delivered.why.reason, served: null };
  }
  const delivery = delivered.value;
  if (delivery.kind === 'later') {
    const { reason, after_s } = delivery;
    return { kind: 'failed', reason, after_s, served: null };
  }
  if (delivery.kind === 'file') {
    try {
      return await weigh(world, asked, delivery);
    } finally {
      await delivery.file.discard();
    }
  }
  if (known === null) {
    const reason = `${mirror.url}: unchanged, though nothing was known of it.`;
    return { kind: 'failed', reason, served: null };
  }
  const served = { sha256: known.served.sha256, validators: delivery.validators };
  if (known.means === 'refused') return await refusedAgain(world, asked, known.refusal, served);
  return await stillNewest(world, asked, known.before, served);
}

/** What "unchanged" would mean: that the list in force is served, or a file that was refused. */
type Known = { readonly served: Served } & (
  | { readonly means: 'in_force'; readonly before: HeldPublication }
  | { readonly means: 'refused'; readonly refusal: HeldRefusal }
);

/** What the source gave last, where its file need not be fetched to know what it is. */
async function knownOf(world: RefreshWorld, asked: Case): Promise<Known | null> {
  const { mirror, before, acceptance } = asked;
  const served = stored(await world.store.lastServed(mirror.key));
  // A file that is to be accepted is fetched, whatever was said of it before.
  if (served === null || acceptance !== null) return null;
  if (before !== null && before.sha256 === served.sha256 && isReadByThis(world, before)) {
    return { served, means: 'in_force', before };
  }
  const refusal = await refusedBefore(world, served.sha256, before);
  return refusal === null ? null : { served, means: 'refused', refusal };
}
