// Answers GET /api/v1/wallet/{address}/ofac: the direct list check, and the walk to a listed one.
// It refuses to answer a miss from a list that is unread or past its age, and to say anything of
// proximity that the walk did not read to its end.

import type { z } from 'zod';
import { formatUnits } from '../../chain/amount.ts';
import { CHAINS } from '../../chain/chain.ts';
import { formatIsoDate, formatIsoTime, parseIsoDate } from '../../chain/time.ts';
import { badInput, type Refusal } from '../../contract/refusals.ts';
import type { Asked, Handler } from '../../contract/route.ts';
import { type Claim, claim } from '../../evidence/claim.ts';
import { both, map, type Partly, Read, seen, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  CounterpartyRing,
  CounterpartyRingPort,
} from '../../ports/history/counterparty-ring.ts';
import { isSignedBy, signerOf } from '../../ports/history/signing.ts';
import type { HistoryTransfer, TransferHistory } from '../../ports/history/transfer-history.ts';
import type { ExchangeLabels } from '../../ports/labels/exchange-labels.ts';
import type { OtherLists } from '../../ports/lists/other-lists.ts';
import type { ListEntry, ListFacts, SanctionsList } from '../../ports/sanctions/sanctions-list.ts';
import { causesText } from '../history/causes.ts';
import { ofacCaveat } from './caveat.ts';
import {
  directCheck,
  entriesOf,
  type ListSubject,
  listSubject,
  type ScreenedForm,
  spellingsOf,
} from './direct-check.ts';
import { askOtherLists, otherListsNaming, otherListsShown, standsOnOthers } from './other-lists.ts';
import { proximity, settledWalk, WALK_LIMITS, type Walk, type WalkPort } from './walk.ts';
import type { Hit, LeftOutContact, WalkLimits } from './walk-hop.ts';
import { endOf, type Hop, stopsOf } from './walk-path.ts';
import { walletOfac } from './wallet-ofac.contract.ts';

type HubContactShown = Walk['hub_contacts'][number];
type Data = z.input<typeof walletOfac.data>;
type Proximity = Data['proximity'];

/** The ports that a screen of one address reads. */
export type OfacPorts = {
  readonly sanctionsList: SanctionsList;
  readonly exchangeLabels: ExchangeLabels;
  readonly otherLists: OtherLists;
  readonly transferHistory: TransferHistory;
  readonly counterpartyRing: CounterpartyRing;
};

/** The handler of the screen of one address. A deployment's own limits replace the default ones. */
export function walletOfacHandler(
  ports: OfacPorts,
  limits: WalkLimits = WALK_LIMITS,
): Handler<typeof walletOfac> {
  return async ({ params, query }, asked) => {
    const on = query.on === undefined ? null : query.on;
    const badDay = on === null ? null : refusedDay(on, asked.now());
    if (badDay !== null) return badDay;
    const subject = listSubject(params.address);
    if (subject === null) return badInput([why('form_not_recognised').reason]);

    const spellings = spellingsOf(subject);
    const { sanctionsList } = ports;
    const others = await askOtherLists(ports.otherLists, subject, on);
    const check = directCheck(
      subject,
      await (on === null ? sanctionsList.lookUp(spellings) : sanctionsList.lookUpOn(on, spellings)),
      standsOnOthers(others, subject),
    );
    if (check.outcome === 'misformed') return badInput([why(check.code).reason]);
    const { address } = subject;
    const named = otherListsNaming(others, subject);
    if (check.outcome === 'silent') {
      return walletOfac.absent.not_deployed({ subject: address, ...silenceBeside(check, named) });
    }
    const { look, forms, listedForms } = check;
    const walk = await walkFrom(subject, on, ports, limits, asked);
    const { list } = look.value;
    const data: Data = {
      address,
      sanctioned: claim(look, (found) => entriesOf(found, address).length > 0),
      matches: claim(look, (found) => entriesOf(found, address).map(matchOf)),
      list: listOf(list),
      equivalent_forms: claim(look, () => forms.map(formOf)),
      ...otherListsShown(others, subject, asked.now()),
      proximity_checked: claim(settledWalk(walk), isWhole, isNot),
      proximity: proximityOf(address, walk),
      caveat: ofacCaveat({ subject, list, listedForms, named, walk, on }),
    };
    return walletOfac.ok({ subject: address, data });
  };
}

type Silence = Extract<ReturnType<typeof directCheck>, { outcome: 'silent' }>;

/** A list that cannot answer does not hide that another one names the address. */
function silenceBeside({ silent, why: because }: Silence, named: readonly string[] | null) {
  if (named === null || named.length === 0) return { silent, why: because };
  const { reason } = why('other_list_names', { lists: named.join(', ') });
  return { silent, why: { code: because.code, reason: `${because.reason} ${reason}` } };
}

function refusedDay(on: string, now: number): Refusal | null {
  if (parseIsoDate(on) === null) return badInput(['on: not a calendar day written YYYY-MM-DD']);
  return on > formatIsoDate(now) ? badInput(['on: a day that is not in the future']) : null;
}

async function walkFrom(
  { parsed, kind }: ListSubject,
  on: string | null,
  ports: OfacPorts,
  limits: WalkLimits,
  asked: Asked,
): Promise<Partly<Walk, WalkPort>> {
  if (on !== null) return unread<WalkPort>('transfer_history', why('walk_is_of_today'));
  if (parsed === null) {
    return unread<WalkPort>('transfer_history', why('not_walked_kind', { kind }));
  }
  const { sanctionsList: list, transferHistory: history, exchangeLabels: labels } = ports;
  // The asker's signal ends when the client hangs up or the time for reading history is spent.
  return proximity({ list, history, ring: ports.counterpartyRing, labels }, parsed, limits, asked);
}

const isWhole = (): true => true;
const isNot = (): false => false;
const unmeasured = (): null => null;

function matchOf(entry: ListEntry) {
  const { entity, type, currency, uid, remarks, note, programs, address } = entry;
  return {
    entity,
    type,
    programs: programs === null ? null : [...programs],
    currency,
    listed_address: address,
    uid,
    remarks,
    note,
  };
}

function listOf({ name, published, addresses, source, sha256, as_of }: ListFacts): Data['list'] {
  return { name, published, addresses, source, sha256, as_of };
}

function formOf({ form, address, relation, look, key }: ScreenedForm) {
  const listed = look instanceof Read ? look.value.found.has(key) : null;
  return { form, address, relation, listed };
}

function proximityOf(subject: string, walk: Partly<Walk, WalkPort>): Proximity {
  const settled = settledWalk(walk);
  const sight = seen(map(walk, (one) => [one]));
  const found = sight === null ? null : sight[0].found;
  // A walk that settles nothing is still what was looked at: its sources are the answer's too.
  const rest: Partly<Walk, WalkPort> = settled instanceof Read ? settled : walk;
  const way = pathOf(subject, found);
  return {
    checked: claim(settled, isWhole, isNot),
    reason: settled instanceof Read ? null : reasonOf(walk),
    found: claim(
      rest,
      (one) => one.found !== null,
      () => (found === null ? null : true),
    ),
    // Field by field: to spread one object into another costs more than all of the others together.
    hops: way.hops,
    path: way.path,
    hops_detail: way.hops_detail,
    entity: way.entity,
    program: way.program,
    listed_address: way.listed_address,
    hops_examined: claim(rest, (one) => one.hops_examined, unmeasured),
    nodes_examined: claim(rest, (one) => one.nodes_examined, unmeasured),
    nodes_unread: nodesUnread(walk),
    frontier_exhausted:
      settled instanceof Read ? claim(settled, (one) => one.frontier_exhausted) : null,
    node_budget_hit: fact(walk, (one) => one.node_budget_hit),
    hubs_not_expanded: fact(walk, (one) => [...one.hubs]),
    hubs_not_expanded_count: fact(walk, (one) => one.hubs_count),
    hub_contacts: claim(
      withRing(walk),
      (one) => one.hub_contacts.map(hubContactOf),
      () => seen(map(walk, (one) => one.hub_contacts.map(hubContactOf))),
    ),
    hub_contacts_count: claim(withRing(walk), (one) => one.hub_contacts_count, unmeasured),
    edges_left_out: walk instanceof Read ? leftOutOf(walk) : null,
    left_out_contacts: claim(
      walk,
      (one) => one.contacts.map(contactOf),
      () => seen(map(walk, (one) => one.contacts.map(contactOf))),
    ),
    chains_examined: settled instanceof Read ? filled(settled.value.chains_examined) : null,
    chains_not_examined: claim(rest, (one) => [...one.chains_not_examined], unmeasured),
    nft_not_examined: claim(rest, (one) => [...one.nft_not_examined], unmeasured),
    provenance: settled instanceof Read ? settled.value.provenance : null,
    is_screen: true,
  };
}

/**
 * A fact of a walk that settled something: what it met is told, but that it met nothing of a kind
 * is told only of a walk that was read to its end.
 */
function fact<T extends boolean | number | readonly unknown[]>(
  walk: Partly<Walk, WalkPort>,
  pick: (one: Walk) => T,
): Claim<T, null, WalkPort> {
  const settled = settledWalk(walk);
  const met = settled instanceof Read && isSomething(pick(settled.value));
  return claim(met ? settled : walk, pick, unmeasured);
}

/** The walk together with the ring: only both can say that no hub dealt with a listed address. */
function withRing(walk: Partly<Walk, WalkPort>): Partly<Walk, WalkPort | CounterpartyRingPort> {
  const sight = seen(map(walk, (one) => [one.ring]));
  const ring = sight === null ? RING_NOT_MET : sight[0];
  return map(both({ walk, ring }), (joined): Walk => joined.walk);
}

const RING_NOT_MET = unread(
  'counterparty_ring' as const,
  why('ring_unbuilt', { cause: 'nobody was met with it' }),
);

function isSomething(value: boolean | number | readonly unknown[]): boolean {
  return typeof value === 'object' ? value.length > 0 : value !== false && value !== 0;
}

function reasonOf(walk: Partly<Walk, WalkPort>): string {
  const causes = seen(map(walk, (one) => one.causes));
  if (causes !== null) return causesText(causes);
  if (walk instanceof Read) throw new Error('ofac: a walk read to its end has no reason');
  return walk.why.reason;
}

/** How many addresses went unread; a walk that never began left its subject unread. */
function nodesUnread(walk: Partly<Walk, WalkPort>): number | null {
  const sight = seen(map(walk, (one) => [one.nodes_unread]));
  if (sight === null) return SUBJECT_ONLY;
  // A walk that is no whole one for another cause may not say that nothing went unread.
  return sight[0] > 0 || walk instanceof Read ? sight[0] : null;
}

const SUBJECT_ONLY = 1;

type Path = Pick<
  Proximity,
  'hops' | 'path' | 'hops_detail' | 'entity' | 'program' | 'listed_address'
>;

const NO_PATH: Path = {
  hops: null,
  path: null,
  hops_detail: null,
  entity: null,
  program: null,
  listed_address: null,
};

function pathOf(subject: string, found: Hit | null): Path {
  if (found === null) return NO_PATH;
  const { way, entry } = found;
  return {
    hops: way.length,
    path: stopsOf(way),
    hops_detail: way.map((hop) => hopOf(subject, hop)),
    entity: entry.entity,
    program: programmeText(entry),
    listed_address: endOf(way),
  };
}

function programmeText({ programs }: ListEntry): string | null {
  return programs === null || programs.length === 0 ? null : programs.join(', ');
}

function hopOf(subject: string, { near, transfer }: Hop) {
  const { from, to, chain, tx, token, usd, success } = transfer;
  const native = token === null ? CHAINS[chain].native : null;
  const { token_id } = transfer;
  return {
    from,
    to,
    chain,
    tx,
    token,
    symbol: native === null ? transfer.symbol : native.symbol,
    amount: amountOf(transfer, native === null ? transfer.decimals : native.decimals),
    raw_amount: token_id === undefined ? transfer.raw_amount.toString() : null,
    token_id: token_id === undefined ? null : token_id.toString(),
    usd,
    at: formatIsoTime(transfer.at),
    direction: from === near ? ('out' as const) : ('in' as const),
    initiator: signerOf(transfer),
    initiated_by_subject: isSignedBy(subject, transfer),
    success,
  };
}

function amountOf({ kind, raw_amount }: HistoryTransfer, decimals: number | null): string | null {
  return decimals === null || kind === 'nft' ? null : formatUnits(raw_amount, decimals);
}

function leftOutOf(walk: Read<Walk, WalkPort>): Proximity['edges_left_out'] {
  return {
    zero_value: claim(walk, ({ left_out }) => left_out.zero_value),
    no_market_token: claim(walk, ({ left_out }) => left_out.no_market_token),
  };
}

function contactOf({ transfer, why: rule, listed_address }: LeftOutContact) {
  const { chain, tx, token } = transfer;
  return { chain, tx, token, why: rule, listed_address };
}

function hubContactOf({ address, degree, label, listed_address, transfer }: HubContactShown) {
  return { address, degree, label, listed_address, tx: transfer.tx };
}

function filled<T>(list: readonly T[]): T[] | null {
  return list.length === 0 ? null : [...list];
}
