// Which entity does an address form once every member of it was examined as well?
// What one member shows leads to the next, so that the answer is the same whichever was asked
// first. A bounded number is examined for one answer; what is left over makes it a part.

import type { ChainName } from '../../chain/chain.ts';
import { given, listFrom } from '../../evidence/measure.ts';
import { map, type Partly, Read, seen, weaken } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { ClusterStore, Heuristic } from '../../ports/entities/cluster-store.ts';
import { readOnce } from '../history/address-history.ts';
import {
  type ExaminationAsked,
  type ExaminationPort,
  type ExaminationPorts,
  type Examined,
  examine,
} from './examination.ts';
import {
  type Entity,
  type Fresh,
  type HeldPort,
  heldOf,
  isUnder,
  NOTHING_FRESH,
  noted,
} from './held-entity.ts';

/** The ports that an entity rests on. */
export type EntityPorts = ExaminationPorts & { readonly store: ClusterStore };

/** How many members are examined for one answer. */
const MEMBERS_EXAMINED_MAX = 10;

type Live = Partly<Examined, ExaminationPort>;

/** An entity, and what was examined for it. */
export type Closure = {
  readonly held: Partly<Entity, HeldPort>;
  /** The address's own examination. */
  readonly live: Live;
  /** Why the entity may have more members; `null` where each was examined to its end. */
  readonly open: Why | null;
  /** The same for one heuristic. */
  readonly openFor: (heuristic: Heuristic) => Why | null;
};

/** Examines an address, and its members until no new one is found. */
export async function closureOf(
  ports: EntityPorts,
  chain: ChainName,
  address: string,
  asked: ExaminationAsked,
): Promise<Closure> {
  const now = asked.now();
  const once = { ...ports, history: readOnce(ports.history) };
  const examined = new Map<string, Live>();
  let fresh = NOTHING_FRESH;
  const look = async (one: string): Promise<Live> => {
    const live = await examine(once, chain, one, asked);
    examined.set(one, live);
    fresh = withMore(fresh, live);
    await keep(ports.store, chain, one, live, now);
    return live;
  };
  const live = await look(address);
  const faults: Why[] = [];
  const step = async () => {
    const held = await heldOf(ports, { chain, address, now, fresh });
    if (!(held instanceof Read)) faults.push(held.why);
    return { held, next: openIn(held, examined, asked) };
  };
  let { held, next } = await step();
  while (next.length > 0 && examined.size <= MEMBERS_EXAMINED_MAX) {
    for (const one of next.slice(0, MEMBERS_EXAMINED_MAX + 1 - examined.size)) await look(one);
    ({ held, next } = await step());
  }
  const leftOver = (count: number) => {
    return count === 0 ? [] : [why('members_not_examined', { count: String(count) })];
  };
  const others = [...examined].filter(([one, made]) => one !== address && !isService(made));
  const countOf = (isDone: (made: Live) => boolean) =>
    others.filter(([, made]) => !isDone(made)).length + next.length;
  return {
    live,
    held: await noted(ports.store, held, now),
    open: firstOf([...faults, ...leftOver(countOf((made) => made instanceof Read))]),
    openFor: (heuristic) =>
      firstOf([...faults, ...leftOver(countOf((made) => ranOf(made, heuristic)))]),
  };
}

function firstOf(whys: readonly Why[]): Why | null {
  const [first] = whys;
  return first === undefined ? null : first;
}

/** A hub among those met links nobody, and nothing more is asked of it. */
function isService(live: Live): boolean {
  return !(live instanceof Read) && live.why.code === 'entity_service';
}

function ranOf(live: Live, heuristic: Heuristic): boolean {
  const runs = listFrom(seen(map(live, (one) => one.runs)), (told) => told);
  return runs.some((one) => one.heuristic === heuristic && one.ran instanceof Read);
}

function membersIn(held: Partly<Entity, HeldPort>): readonly string[] {
  return given(seen(map(held, (one) => (one.cluster === null ? [] : one.cluster.members))));
}

/** The members that nobody examined to their end lately. */
function openIn(
  held: Partly<Entity, HeldPort>,
  examined: ReadonlyMap<string, Live>,
  { now, tipMaxAgeS }: ExaminationAsked,
): string[] {
  const known = seen(map(held, (one) => [one.examinations]));
  return membersIn(held).filter((member) => {
    if (examined.has(member)) return false;
    const last = known === null ? undefined : known[0].get(member);
    return last === undefined || !last.whole || now() - last.read_at >= tipMaxAgeS;
  });
}

/** What was judged anew takes the place of what was judged before it. */
function withMore(fresh: Fresh, live: Live): Fresh {
  const told = seen(map(live, (one) => [one]));
  if (told === null) return fresh;
  const [{ ties, objections, judged, services }] = told;
  const before = fresh.ties.filter((tie) => !judged.some((one) => isUnder(tie, one)));
  return {
    ties: [...before, ...ties],
    objections: [...fresh.objections, ...objections],
    judged: [...fresh.judged, ...judged],
    services: [...fresh.services, ...services],
  };
}

async function keep(
  store: ClusterStore,
  chain: ChainName,
  address: string,
  live: Live,
  read_at: number,
): Promise<void> {
  const told = seen(map(live, (one) => [one]));
  if (told === null) return;
  const [{ ties, objections, judged, services }] = told;
  const reason = live instanceof Read ? null : live.why.reason;
  const examinations = [{ address, whole: live instanceof Read, read_at, reason }];
  // A store that does not take it is silent when it is asked next, and says so there.
  await store.keep(chain, { ties, objections, judged, services, examinations }, read_at);
}

/** A reading as far as it and what else it needs came. */
export function asFarAs<T, P extends string>(ran: Partly<T, P>, open: Why | null): Partly<T, P> {
  return open === null ? ran : weaken(ran, open);
}
