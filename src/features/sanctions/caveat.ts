// What must a reader of one sanctions screen be told beside its fields?
// Product text with a stable code for each sentence. It refuses to deny anything: a sentence says
// what was left unseen, or what was seen.

import { map, type Partly, Read, seen } from '../../evidence/reading.ts';
import type { ListFacts } from '../../ports/sanctions/sanctions-list.ts';
import { causesText } from '../history/causes.ts';
import type { ListSubject } from './direct-check.ts';
import { settledWalk, type Walk, type WalkPort } from './walk.ts';

/** The sentences of a screen's caveat. `{name}` marks what a sentence is filled with. */
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

/** The code of a caveat's sentence. */
type OfacCaveat = keyof typeof OFAC_CAVEATS;

/** The facts that the caveat of one screen is made from. */
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

/** The caveat of one screen. */
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
    said.push(say('other_list_names', { lists: named(others) }));
  }
  if (on !== null) said.push(say('of_a_day', { on, published: list.published }));
  said.push(...list.age_notes);
  if (!subject.recognised) said.push(say('literal_form'));
  if (listedForms.length > 0) said.push(say('equivalent_listed', { forms: named(listedForms) }));
  return said;
}

function walkCaveats(walk: Partly<Walk, WalkPort>): string[] {
  const said: string[] = [];
  const checked = settledWalk(walk) instanceof Read;
  if (!checked) said.push(say('unchecked'));
  const sight = seen(map(walk, (one) => [one]));
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
      say('hub_contacts', { count: String(one.hub_contacts_count), listed: named(listed) }),
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
    said.push(say('left_out', { count: String(one.contacts_count), listed: named(listed) }));
  }
  return said;
}

/** The most addresses that one sentence names; the rest are counted. */
const NAMED_MAX = 5;

function named(texts: readonly string[]): string {
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
