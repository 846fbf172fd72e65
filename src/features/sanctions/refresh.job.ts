// Answers one question: is there a newer sanctions list, and may it replace the one in force.
// Mirrors are tried in order; the first whose file passes the gate serves. Whatever goes wrong, the
// last good list stays in force: this file can replace a list or leave it, never remove it.

import { startOfDay } from '../../chain/time.ts';
import { Read } from '../../evidence/reading.ts';
import type {
  HeldPublication,
  PublicationStore,
  Written,
} from '../../ports/sanctions/publication-store.ts';
import {
  type Acceptance,
  type Delivery,
  type Gate,
  isListRefusal,
  type ListRefusal,
  type Mirror,
  type PublicationReader,
  type PublishedList,
  type Publisher,
  type RefreshedList,
  type RefreshOutcome,
  type SpooledFile,
  type Tried,
  UNREADABLE,
} from '../../ports/sanctions/publisher.ts';

/** The outside of a refresh. `now` gives Unix seconds. */
type RefreshWorld = {
  readonly publisher: Publisher;
  readonly reader: PublicationReader;
  readonly gate: Gate;
  readonly store: PublicationStore;
  readonly now: () => number;
};

/** How often a refresh starts over because another process replaced the list meanwhile. */
const RACES_MAX = 5;

type Refused = Extract<RefreshOutcome, { kind: 'refused' }>;

/** The outcome of one mirror; `moved`: another process succeeded, and it is asked again. */
type Step =
  | { readonly kind: 'served'; readonly outcome: RefreshOutcome }
  | { readonly kind: 'refused'; readonly refused: Refused }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'store'; readonly reason: string }
  | { readonly kind: 'moved' };

/** Asks the mirrors once. `acceptance` lets exactly one file pass that only a size rule refuses. */
export async function refreshSanctions(
  world: RefreshWorld,
  acceptance: Acceptance | null,
  signal: AbortSignal,
): Promise<RefreshOutcome> {
  const tried: Tried[] = [];
  let refused: Refused | null = null;
  for (const mirror of world.publisher.mirrors) {
    if (signal.aborted) return { kind: 'unreachable', reason: 'The refresh was stopped.', tried };
    const step = await untilSettled(world, mirror, acceptance, signal);
    if (step.kind === 'store') return { kind: 'unreachable', reason: step.reason, tried };
    if (step.kind === 'served') return { ...step.outcome, tried };
    if (step.kind === 'refused') {
      if (refused === null) refused = step.refused;
      const { code, reason } = step.refused;
      tried.push({ source: mirror.url, result: `refused as ${code}: ${reason}` });
    } else {
      tried.push({ source: mirror.url, result: step.reason });
    }
  }
  if (refused !== null) return { ...refused, tried };
  const reason = tried.map(({ result }) => result).join(' ');
  return {
    kind: 'unreachable',
    reason: reason === '' ? 'No source of the list is configured.' : reason,
    tried,
  };
}

async function untilSettled(
  world: RefreshWorld,
  mirror: Mirror,
  acceptance: Acceptance | null,
  signal: AbortSignal,
): Promise<Exclude<Step, { kind: 'moved' }>> {
  for (let races = 0; races < RACES_MAX; races += 1) {
    const step = await askMirror(world, mirror, acceptance, signal);
    if (step.kind !== 'moved') return step;
  }
  return { kind: 'failed', reason: 'Other processes kept replacing the list.' };
}

async function askMirror(
  world: RefreshWorld,
  mirror: Mirror,
  acceptance: Acceptance | null,
  signal: AbortSignal,
): Promise<Step> {
  const { store } = world;
  const inForce = await store.inForce();
  if (!(inForce instanceof Read)) return { kind: 'store', reason: inForce.why.reason };
  const before = inForce.value.publication;
  const known = before === null ? null : await store.validators(before.id, mirror.key);
  if (known !== null && !(known instanceof Read))
    return { kind: 'store', reason: known.why.reason };
  const asked = known === null ? null : known.value;
  const delivered = await mirror.deliver(asked, signal);
  if (!(delivered instanceof Read)) return { kind: 'failed', reason: delivered.why.reason };
  const delivery = delivered.value;
  if (delivery.kind === 'file') {
    try {
      return await weigh(world, { mirror, delivery, before, acceptance, signal });
    } finally {
      await delivery.file.discard();
    }
  }
  if (before === null || asked === null) {
    return { kind: 'failed', reason: `${mirror.url}: unchanged, though nothing was known of it.` };
  }
  return await stillNewest(world, mirror, delivery, before);
}

type Case = {
  readonly mirror: Mirror;
  readonly delivery: Extract<Delivery, { kind: 'file' }>;
  readonly before: HeldPublication | null;
  readonly acceptance: Acceptance | null;
  readonly signal: AbortSignal;
};

/** Validates a delivered file against the list in force and puts it in its place if it passes. */
async function weigh(world: RefreshWorld, weighed: Case): Promise<Step> {
  const { mirror, delivery, before, acceptance } = weighed;
  const { file } = delivery;
  if (before !== null && before.sha256 === file.sha256) {
    return await stillNewest(world, mirror, delivery, before);
  }
  const list = await world.reader(file.path, weighed.signal);
  if (isListRefusal(list)) {
    if (list.code !== UNREADABLE) return await refuse(world, mirror, file, list);
    return { kind: 'failed', reason: `${mirror.url}: ${list.reason}.` };
  }
  if (list.sha256 !== file.sha256) {
    return { kind: 'failed', reason: `${mirror.url}: the file changed while it was read.` };
  }
  const absolute = world.gate.absolute(list);
  const against = absolute === null ? world.gate.relative(list, before) : absolute;
  const overruled = against?.size === true && acceptance?.sha256 === list.sha256;
  if (against !== null && !overruled) return await refuse(world, mirror, file, against);
  return await putInForce(world, weighed, list, overruled ? acceptance.why : null);
}

async function putInForce(
  world: RefreshWorld,
  { mirror, delivery, before }: Case,
  list: PublishedList,
  accepted_why: string | null,
): Promise<Step> {
  const checked_at = checkTime(mirror, list.published, world.now());
  const written = await world.store.accept({
    list,
    source: { key: mirror.key, url: mirror.url },
    validators: delivery.validators,
    accepted_at: world.now(),
    checked_at,
    accepted_why,
    instead_of: before === null ? null : before.id,
  });
  if (!(written instanceof Read)) return { kind: 'store', reason: written.why.reason };
  return servedUnlessMoved(written.value, {
    kind: 'updated',
    list: {
      published: list.published,
      addresses: list.distinct_addresses,
      sha256: list.sha256,
      source: mirror.url,
      checked_at,
    },
    replaced: before === null ? null : { published: before.published, sha256: before.sha256 },
    accepted_why,
    tried: NOTHING_TRIED,
  });
}

const NOTHING_TRIED: readonly Tried[] = Object.freeze([]);

async function stillNewest(
  world: RefreshWorld,
  mirror: Mirror,
  { validators }: Delivery,
  before: HeldPublication,
): Promise<Step> {
  const checked_at = checkTime(mirror, before.published, world.now());
  const source = { key: mirror.key, url: mirror.url };
  const written = await world.store.recordCheck({
    publication_id: before.id,
    source,
    validators,
    checked_at,
  });
  if (!(written instanceof Read)) return { kind: 'store', reason: written.why.reason };
  const list: RefreshedList = {
    published: before.published,
    addresses: before.distinct_addresses,
    sha256: before.sha256,
    source: before.source_url,
    checked_at: Math.max(before.checked_at, checked_at),
  };
  return servedUnlessMoved(written.value, { kind: 'unchanged', list, tried: NOTHING_TRIED });
}

function servedUnlessMoved(written: Written, outcome: RefreshOutcome): Step {
  return written === 'moved' ? { kind: 'moved' } : { kind: 'served', outcome };
}

/** A server was checked when it answered; a file says nothing newer than its publication date. */
function checkTime(mirror: Mirror, published: string, now: number): number {
  return mirror.kind === 'http' ? now : startOfDay(published);
}

async function refuse(
  world: RefreshWorld,
  mirror: Mirror,
  file: SpooledFile,
  { code, reason, size }: ListRefusal,
): Promise<Step> {
  const { sha256 } = file;
  const written = await world.store.recordRefusal({
    sha256,
    source_url: mirror.url,
    code,
    reason,
    refused_at: world.now(),
  });
  if (!(written instanceof Read)) return { kind: 'store', reason: written.why.reason };
  const aside = await file.keepAside(code, reason);
  const refused: Refused = {
    kind: 'refused',
    code,
    reason: aside instanceof Read ? reason : `${reason} (not kept aside: ${aside.why.reason})`,
    sha256,
    source: mirror.url,
    acceptable: size,
    tried: NOTHING_TRIED,
  };
  return { kind: 'refused', refused };
}
