// The answer of the list about one address, and the listed addresses within two hops of it.
// `walk.ts` defines the reach of the walk and its hops; `direct-check.ts` holds the direct check.

import { z } from 'zod';
import { FORM_RELATIONS } from '../../chain/address.ts';
import { formatIsoDate } from '../../chain/time.ts';
import { badField } from '../../contract/refusals.ts';
import { evidenceRoute, type Handler, type RequestContext } from '../../contract/route.ts';
import {
  addressText,
  askedDay,
  checkedFlag,
  checkedFlagOrNull,
  harmless,
  isoDay,
  isoTime,
  negative,
  oneOf,
  prose,
  rowFact,
  rowFacts,
  words,
} from '../../contract/wire.ts';
import { claim, claimOrNull, claimWhole } from '../../evidence/claim.ts';
import { both, map, type Partly, Read, rowsSeen, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import {
  type CounterpartyRing,
  type CounterpartyRingPort,
  HISTORY_PROVENANCES,
  signerOf,
  type TransferHistory,
} from '../../ports/history.ts';
import {
  type ListEntry,
  type ListFacts,
  listFacts,
  type SanctionsList,
} from '../../ports/sanctions.ts';
import {
  type ExchangeLabels,
  entryLogged,
  type OtherLists,
  otherList,
} from '../../ports/tables.ts';
import { causesText, viewTransfer } from '../history/address-history.ts';
import { LEFT_OUT_RULES } from '../history/edge-rule.ts';
import {
  askOtherLists,
  type DirectCheck,
  directCheck,
  entriesOf,
  type ListSubject,
  listSubject,
  otherListsNaming,
  otherListsShown,
  spellingsOf,
  standsOnOthers,
} from './direct-check.ts';
import {
  proximity,
  settledWalk,
  WALK_LIMITS,
  type Walk,
  type WalkPort,
  walkWithHubs,
} from './walk.ts';
import { endOf, type Hop, type LeftOutContact, type ListWalkLimits, stopsOf } from './walk-hop.ts';

const LIST = { restsOn: ['sanctions_list'] } as const;
const OTHER = { restsOn: ['other_lists'] } as const;
const WALK = { restsOn: ['sanctions_list', 'transfer_history'] } as const;
const RING = { restsOn: ['sanctions_list', 'transfer_history', 'counterparty_ring'] } as const;

// Fields that the publisher's file leaves open are null, and `note` gives the reason.
const match = z.strictObject({
  entity: words().nullable(),
  type: words().nullable(),
  programs: z.array(words()).nullable(),
  currency: words(),
  listed_address: words(),
  uid: words(),
  remarks: words().nullable(),
  note: words().nullable(),
});

// `listed` is null where the list is too old to show that a form does not stand on it.
const equivalentForm = z.strictObject({
  form: words(),
  address: words(),
  relation: oneOf(FORM_RELATIONS),
  listed: z.boolean().nullable(),
});

const otherMatch = z.strictObject({
  listed_address: words(),
  ...rowFacts(entryLogged).omit({ address: true }).shape,
  listed_at: isoDay.nullable(),
  ended_at: isoDay.nullable(),
});

// A list of another authority as it was imported. `listed` is true while an entry has not ended.
// Where rows of its file were refused what would be a miss is null, and `reason` says so.
const otherListShown = z.strictObject({
  list: words(),
  ...rowFacts(otherList).omit({ name: true }).shape,
  checked: checkedFlag(OTHER),
  listed: negative(z.boolean().nullable(), OTHER),
  matches: negative(z.array(otherMatch).nullable(), OTHER),
  equivalent_matches: negative(z.array(otherMatch).nullable(), OTHER),
  equivalent_listed: negative(z.boolean().nullable(), OTHER).describe(
    'Whether another form of it has an entry that has not ended.',
  ),
  reason: prose().nullable(),
});

// A hop is told by the largest transfer of it. `from` and `to` are the transfer's own; `direction`
// is as seen from the end nearer to the subject. `amount` is null where the decimals are unknown.
// An NFT (ERC-721, ERC-1155) has a `token_id` and no amount.
const hop = z.strictObject({
  from: words(),
  to: words(),
  chain: words(),
  tx: words(),
  token: words().nullable(),
  symbol: words().nullable(),
  amount: words().nullable(),
  raw_amount: words().nullable(),
  token_id: words().nullable(),
  usd: words().nullable(),
  at: isoTime,
  direction: oneOf(['out', 'in']),
  initiator: words().nullable(),
  initiated_by_subject: rowFact(z.boolean().nullable()),
  success: z.boolean().nullable(),
});

const leftOut = z.strictObject({
  chain: words(),
  tx: words(),
  token: words().nullable(),
  why: oneOf(LEFT_OUT_RULES),
  listed_address: words(),
});

const hub = z.strictObject({
  address: words(),
  degree: z.int().positive(),
  label: words().nullable(),
});

const hubContact = z.strictObject({
  address: words(),
  degree: z.int().positive(),
  label: words().nullable(),
  listed_address: words(),
  chain: words(),
  tx: words(),
});

const leftOutCount = negative(z.int().nonnegative(), WALK);

const proximityShape = z.strictObject({
  checked: checkedFlag(WALK),
  reason: prose().nullable(),
  found: negative(z.boolean().nullable(), WALK),
  hops: z.int().min(1).max(2).nullable(),
  path: z.array(words()).min(2).nullable(),
  hops_detail: z.array(hop).min(1).nullable(),
  entity: words().nullable(),
  program: words().nullable(),
  listed_address: words().nullable(),
  hops_examined: harmless(
    negative(z.int().nonnegative().nullable(), WALK),
    'that no hop was examined whole is what a walk that was cut has to say',
  ),
  nodes_examined: negative(z.int().nonnegative().nullable(), WALK),
  nodes_unread: harmless(
    z.int().nonnegative().nullable(),
    'null unless the walk was read to its end, which leaves no address unread',
    WALK,
  ),
  frontier_exhausted: checkedFlagOrNull(WALK),
  node_budget_hit: negative(z.boolean().nullable(), WALK),
  hubs_not_expanded: negative(z.array(hub).nullable(), WALK),
  hubs_not_expanded_count: negative(z.int().nonnegative().nullable(), WALK),
  hub_contacts: negative(z.array(hubContact).nullable(), RING),
  hub_contacts_count: negative(z.int().nonnegative().nullable(), RING),
  edges_left_out: z
    .strictObject({ zero_value: leftOutCount, no_market_token: leftOutCount })
    .nullable(),
  left_out_contacts: negative(z.array(leftOut).nullable(), WALK),
  chains_examined: z.array(words()).min(1).nullable(),
  chains_not_examined: negative(z.array(words()).nullable(), WALK),
  nft_not_examined: negative(z.array(words()).nullable(), WALK),
  provenance: oneOf(HISTORY_PROVENANCES).nullable(),
  is_screen: z.literal(true),
});

export const walletOfac = evidenceRoute({
  name: 'wallet_ofac',
  surface: 'hosted',
  method: 'GET',
  path: '/api/v1/wallet/{address}/ofac',
  summary: 'Whether the address stands on the published sanctions list, and what history reaches.',
  access: 'analyst',
  params: z.strictObject({ address: addressText }),
  query: z.strictObject({ on: askedDay.optional() }),
  data: z.strictObject({
    address: words(),
    sanctioned: negative(z.boolean(), LIST),
    matches: negative(z.array(match), LIST),
    list: rowFacts(listFacts),
    equivalent_forms: harmless(
      negative(z.array(equivalentForm), LIST),
      'the other forms of an address follow from the address alone',
    ),
    other_lists: z.array(otherListShown).min(1).nullable(),
    other_lists_reason: prose().nullable(),
    proximity_checked: checkedFlag(WALK),
    proximity: proximityShape,
    caveat: prose().min(1),
  }),
  absences: ['not_deployed'],
  tool: {
    name: 'wallet_ofac',
    description:
      'Checks one address against the published sanctions list (SDN only) and, where transfer ' +
      'history is held, walks up to two hops to a listed address. A false is not a clearance.',
  },
});

// Product text with a stable code for each sentence. It refuses to deny anything: a sentence says
// what was left unseen, or what was seen.

const OFAC_CAVEATS = {
  sdn_only: 'A direct match against the published SDN list only; no other list was searched.',
  sdn_beside:
    'A direct match against the published SDN list only; what other lists say stands in ' +
    '`other_lists` and is no part of `sanctioned`.',
  other_list_names: 'It stands on another list: {lists}.',
  no_clearance: 'It is a screen: a false is not a clearance.',
  of_a_day: 'It is answered from the list that was the newest on {on}, of {published}.',
  literal_form: 'The text is of no known address form and was compared as it is printed.',
  equivalent_listed: 'Another form of the same key or account stands on the list: {forms}.',
  graph_fact:
    'Proximity walks transfer history up to two hops; being near a listed address is a fact ' +
    'about the graph, not a designation, and no part of `sanctioned`.',
  unchecked: 'Proximity was not checked, and while it is not, a false is no negative result.',
  cut_short: 'The walk found a way before it came to its end: {causes}',
  hubs: 'Addresses with too many counterparties were not walked past: {count}.',
  hub_contacts:
    'Addresses with too many counterparties, which are not walked past, dealt with listed ones: ' +
    '{count}, with {listed}.',
  by_address: 'The second hop was read address by address: {reason}',
  labels_unread: 'They are shown without a label: {reason}',
  chains: 'Chains not examined: {chains}.',
  nft: 'NFT transfers (ERC-721, ERC-1155) were not all read on: {chains}.',
  left_out:
    'Transfers that the walk leaves out as unwanted touch listed addresses: {count}, of {listed}.',
} as const;

type OfacCaveat = keyof typeof OFAC_CAVEATS;

type Screened = {
  readonly subject: ListSubject;
  readonly list: ListFacts;
  readonly listedForms: readonly string[];
  /** The other lists that name it; `null` where none was read. */
  readonly named: readonly string[] | null;
  readonly walk: Partly<Walk, WalkPort>;
  /** The day asked about, `null` for now. */
  readonly on: string | null;
};

/** @internal The caveat of one screen. */
export function ofacCaveat({ walk, ...direct }: Screened): string {
  return [...directCaveat(direct), say('graph_fact'), ...walkCaveats(walk)].join(' ');
}

/** The sentences about the list alone. */
export function directCaveat({
  subject,
  list,
  listedForms,
  named: others,
  on,
}: Omit<Screened, 'walk'>): readonly string[] {
  const said = [say(others === null ? 'sdn_only' : 'sdn_beside'), say('no_clearance')];
  if (others !== null && others.length > 0) {
    said.push(say('other_list_names', { lists: nameSome(others) }));
  }
  if (on !== null) said.push(say('of_a_day', { on, published: list.published }));
  said.push(...list.age_notes);
  if (!subject.recognised) said.push(say('literal_form'));
  if (listedForms.length > 0) said.push(say('equivalent_listed', { forms: nameSome(listedForms) }));
  return said;
}

function walkCaveats(walk: Partly<Walk, WalkPort>): string[] {
  const said: string[] = [];
  const checked = settledWalk(walk) instanceof Read;
  if (!checked) said.push(say('unchecked'));
  const sight = rowsSeen(map(walk, (one) => [one]));
  if (sight === null) return said;
  const [one] = sight;
  if (checked && one.causes.length > 0) {
    said.push(say('cut_short', { causes: causesText(one.causes) }));
  }
  if (one.hubs_count > 0) said.push(say('hubs', { count: String(one.hubs_count) }));
  if (!(one.ring instanceof Read) && one.found?.way.length !== 1) {
    said.push(say('by_address', { reason: one.ring.why.reason }));
  }
  if (one.hub_contacts_count > 0) {
    const listed = [...new Set(one.hub_contacts.map(({ listed_address }) => listed_address))];
    said.push(
      say('hub_contacts', { count: String(one.hub_contacts_count), listed: nameSome(listed) }),
    );
  }
  if (one.labels_unread !== null) {
    said.push(say('labels_unread', { reason: one.labels_unread.reason }));
  }
  if (one.chains_not_examined.length > 0) {
    said.push(say('chains', { chains: one.chains_not_examined.join(', ') }));
  }
  const nft = one.nft_not_examined.filter((chain) => !one.chains_not_examined.includes(chain));
  if (nft.length > 0) said.push(say('nft', { chains: nft.join(', ') }));
  if (one.contacts_count > 0) {
    const listed = [...new Set(one.contacts.map(({ listed_address }) => listed_address))];
    said.push(say('left_out', { count: String(one.contacts_count), listed: nameSome(listed) }));
  }
  return said;
}

const NAMED_MAX = 5;

function nameSome(texts: readonly string[]): string {
  const shown = texts.slice(0, NAMED_MAX);
  const rest = texts.length - shown.length;
  return shown.join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

const HOLE = /\{([a-z]+)\}/g;

function say(code: OfacCaveat, filling?: { readonly [hole: string]: string }): string {
  const text = OFAC_CAVEATS[code];
  if (filling === undefined) return text;
  return text.replace(HOLE, (hole, name: string) => {
    const value = filling[name];
    return value === undefined ? hole : value;
  });
}

// The handler answers no miss from a list that is unread or past its age, and says nothing of
// proximity that the walk did not read to its end.

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

/**
 * The handler of the screen of one address. A deployment's own limits replace the default ones.
 * @internal
 */
export function walletOfacHandler(
  ports: OfacPorts,
  limits: ListWalkLimits = WALK_LIMITS,
): Handler<typeof walletOfac> {
  return async ({ params, query }, asked) => {
    const on = query.on === undefined ? null : query.on;
    if (on !== null && on > formatIsoDate(asked.now())) {
      return badField('on', 'a day that is not in the future');
    }
    const subject = listSubject(params.address);
    if (subject === null) return badField('address', why('form_not_recognised').reason);

    const spellings = spellingsOf(subject);
    const { sanctionsList } = ports;
    const others = await askOtherLists(ports.otherLists, subject, on);
    const check = directCheck(
      subject,
      await (on === null ? sanctionsList.lookUp(spellings) : sanctionsList.lookUpOn(on, spellings)),
      standsOnOthers(others, subject),
    );
    if (check.outcome === 'misformed') return badField('address', why(check.code).reason);
    const { address } = subject;
    const named = otherListsNaming(others, subject);
    if (check.outcome === 'silent') {
      return walletOfac.absent.not_deployed({ subject: address, ...silenceBeside(check, named) });
    }
    const { look, forms, listedForms } = check;
    const walk = await walkFrom(subject, on, ports, limits, asked);
    const { list } = look.value;
    const { age_notes: _, ...listShown } = list;
    const data: Data = {
      address,
      sanctioned: claim(look, (found) => entriesOf(found, address).length > 0),
      matches: claim(look, (found) => entriesOf(found, address).map(matchOf)),
      list: listShown,
      equivalent_forms: claim(look, () => [...forms]),
      ...otherListsShown(others, subject, asked.now()),
      proximity_checked: claimWhole(settledWalk(walk)),
      proximity: proximityOf(address, walk),
      caveat: ofacCaveat({ subject, list, listedForms, named, walk, on }),
    };
    return walletOfac.ok({ subject: address, data });
  };
}

/** A list that cannot answer does not hide that another one names the address. */
function silenceBeside(
  { silent, why: because }: Extract<DirectCheck, { outcome: 'silent' }>,
  named: readonly string[] | null,
) {
  if (named === null || named.length === 0) return { silent, why: because };
  const { reason } = why('other_list_names', { lists: named.join(', ') });
  return { silent, why: { code: because.code, reason: `${because.reason} ${reason}` } };
}

async function walkFrom(
  { parsed, kind }: ListSubject,
  on: string | null,
  ports: OfacPorts,
  limits: ListWalkLimits,
  asked: RequestContext,
): Promise<Partly<Walk, WalkPort>> {
  if (on !== null) return unread<WalkPort>('transfer_history', why('walk_is_of_today'));
  if (parsed === null) {
    return unread<WalkPort>('transfer_history', why('not_walked_kind', { kind }));
  }
  const { sanctionsList: list, transferHistory: history, exchangeLabels: labels } = ports;
  // The asker's signal ends when the client hangs up or the time for reading history is spent.
  return proximity({ list, history, ring: ports.counterpartyRing, labels }, parsed, limits, asked);
}

function matchOf({ address: listed_address, listed_on: _, programs, ...entry }: ListEntry) {
  return { ...entry, listed_address, programs: programs === null ? null : [...programs] };
}

function proximityOf(subject: string, walk: Partly<Walk, WalkPort>): Proximity {
  const settled = settledWalk(walk);
  const sight = rowsSeen(map(walk, (one) => [one]));
  const found = sight === null ? null : sight[0].found;
  // A walk that settles nothing is still what was looked at: its sources are the answer's too.
  const rest: Partly<Walk, WalkPort> = settled instanceof Read ? settled : walk;
  return {
    checked: claimWhole(settled),
    reason: settled instanceof Read ? null : reasonOf(walk),
    found: claim(
      rest,
      (one) => one.found !== null,
      () => (found === null ? null : true),
    ),
    // Field by field: to spread one object into another costs more than all of the others together.
    hops: found === null ? null : found.way.length,
    path: found === null ? null : stopsOf(found.way),
    hops_detail: found === null ? null : found.way.map((hop) => hopOf(subject, hop)),
    entity: found === null ? null : found.entry.entity,
    program: found?.entry.programs?.join(', ') || null,
    listed_address: found === null ? null : endOf(found.way),
    hops_examined: claimOrNull(rest, (one) => one.hops_examined),
    nodes_examined: claimOrNull(rest, (one) => one.nodes_examined),
    nodes_unread: nodesUnread(walk),
    frontier_exhausted:
      settled instanceof Read ? claim(settled, (one) => one.frontier_exhausted) : null,
    node_budget_hit: claimOrNull(walkWithBudget(walk), (one) => one.node_budget_hit),
    hubs_not_expanded: claimOrNull(walkWithHubs(walk), (one) => [...one.hubs]),
    hubs_not_expanded_count: claimOrNull(walkWithHubs(walk), (one) => one.hubs_count),
    hub_contacts: claim(
      withRing(walk),
      (one) => one.hub_contacts.map(hubContactOf),
      () => rowsSeen(map(walk, (one) => one.hub_contacts.map(hubContactOf))),
    ),
    hub_contacts_count: claimOrNull(withRing(walk), (one) => one.hub_contacts_count),
    edges_left_out:
      walk instanceof Read
        ? {
            zero_value: claim(walk, ({ left_out }) => left_out.zero_value),
            no_market_token: claim(walk, ({ left_out }) => left_out.no_market_token),
          }
        : null,
    left_out_contacts: claim(
      walk,
      (one) => one.contacts.map(contactOf),
      () => rowsSeen(map(walk, (one) => one.contacts.map(contactOf))),
    ),
    chains_examined:
      settled instanceof Read && settled.value.chains_examined.length > 0
        ? [...settled.value.chains_examined]
        : null,
    chains_not_examined: claimOrNull(rest, (one) => [...one.chains_not_examined]),
    nft_not_examined: claimOrNull(rest, (one) => [...one.nft_not_examined]),
    provenance: settled instanceof Read ? settled.value.provenance : null,
    is_screen: true,
  };
}

/** The walk as far as it tells that it met more than it may hold. */
function walkWithBudget(walk: Partly<Walk, WalkPort>): Partly<Walk, WalkPort> {
  const settled = settledWalk(walk);
  return settled instanceof Read && settled.value.node_budget_hit ? settled : walk;
}

/** The walk together with the ring: only both can say that no hub dealt with a listed address. */
function withRing(walk: Partly<Walk, WalkPort>): Partly<Walk, WalkPort | CounterpartyRingPort> {
  const sight = rowsSeen(map(walk, (one) => [one.ring]));
  const ring = sight === null ? RING_NOT_MET : sight[0];
  return map(both({ walk, ring }), (joined): Walk => joined.walk);
}

const RING_NOT_MET = unread(
  'counterparty_ring' as const,
  why('ring_unbuilt', { cause: 'nobody was met with it' }),
);

function reasonOf(walk: Partly<Walk, WalkPort>): string {
  const causes = rowsSeen(map(walk, (one) => one.causes));
  if (causes !== null) return causesText(causes);
  if (walk instanceof Read) throw new Error('ofac: a walk read to its end has no reason');
  return walk.why.reason;
}

/** How many addresses went unread; a walk that never began left its subject unread. */
function nodesUnread(walk: Partly<Walk, WalkPort>): number | null {
  const sight = rowsSeen(map(walk, (one) => [one.nodes_unread]));
  if (sight === null) return SUBJECT_ONLY;
  // A walk that is no whole one for another cause may not say that nothing went unread.
  return sight[0] > 0 || walk instanceof Read ? sight[0] : null;
}

const SUBJECT_ONLY = 1;

function hopOf(subject: string, { near, transfer }: Hop) {
  const { from, to, success, token_id } = transfer;
  const { raw_amount, ...moved } = viewTransfer(subject, transfer);
  return {
    ...moved,
    from,
    to,
    raw_amount: token_id === undefined ? raw_amount : null,
    token_id: token_id === undefined ? null : token_id.toString(),
    direction: from === near ? ('out' as const) : ('in' as const),
    initiator: signerOf(transfer),
    success,
  };
}

function contactOf({ transfer, why: rule, listed_address }: LeftOutContact) {
  const { chain, tx, token } = transfer;
  return { chain, tx, token, why: rule, listed_address };
}

function hubContactOf({ transfer, ...contact }: Walk['hub_contacts'][number]) {
  return { ...contact, chain: transfer.chain, tx: transfer.tx };
}
