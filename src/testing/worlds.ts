// An empty one, and for each fact one that holds that fact and nothing else.

import { otherForms, parseKnownAddress } from '../chain/address.ts';
import { type HistoryTransfer, RING_STATES, type RingExtent } from '../ports/history.ts';
import { addressNamed, evm } from './addresses.ts';
import { bridgeWorlds } from './bridge-worlds.ts';
import { DEPLOYER_PLANS } from './deployer-worlds.ts';
import { exchangePlans } from './exchange-worlds.ts';
import { forensicPlans } from './forensic-worlds.ts';
import {
  emptyWorld,
  type Fact,
  type Plan,
  SUBJECT,
  type World,
  walkPlan,
  worldOf,
} from './planted.ts';
import { RUG_PLANS } from './rug-worlds.ts';
import { BRIDGE } from './twins/bridges.ts';
import { transferOf } from './twins/history.ts';
import { SUBJECT_PLANS } from './twins/ports.ts';
import { entryOf } from './twins/sanctions.ts';
import { labelOf, OTHER_LIST, otherEntryOf } from './twins/tables.ts';
import { unheldPlans } from './unheld-worlds.ts';

/** The day that the older publication held answers for, and one that none does. */
const DAY_OF_OLDER = '2026-09-10';
const DAY_OF_NONE = '2026-09-22';

/** The claims that a listing contradicts. */
const LISTED: Fact['contradicts'] = {
  wallet_ofac: ['sanctioned', 'matches'],
  sanctions_changes: ['changes', 'files'],
  bulk_wallet_screen: [
    'results[].sanctions.listed',
    'results[].sanctions.programs',
    'results[].state',
  ],
  planted_screen: ['results[].listed'],
};
/** The claims that a row of another table contradicts. */
const HELD: Fact['contradicts'] = {
  bulk_wallet_screen: ['results[].state'],
  wallet_cex: ['labels'],
  label_changes: ['changes'],
  planted_screen: ['results[].labels'],
};
const LINKED: Fact['contradicts'] = {
  wallet_ofac: ['proximity.found'],
  planted_screen: ['results[].linked'],
};

/** The account of the Tron address `twice`, as EVM chains write it. */
const TWICE_AS_EVM = '0x267eaf316c8bb3c0246eff6649d7bc7de37c530c';
const NEAR = evm('near');
const FAR = evm('far, and listed');
const LISTED_FAR = [entryOf(FAR)];

const LISTINGS = ['evm', 'evm_checksum', 'solana', 'tron', 'bitcoin_bech32', 'monero'] as const;

const TWICE = evm('twice');

/** The only other form that an address has. */
function otherForm(text: string): string {
  const known = parseKnownAddress(text);
  const [form] = known === null ? [] : otherForms(known);
  if (form === undefined) throw new Error('test: an address without another form');
  return form.address;
}

const TABLE_PLANS: readonly Plan[] = [
  ...LISTINGS.map((form): Plan => {
    const about = addressNamed(form, 'listed');
    const item = form === 'evm_checksum' ? about.toLowerCase() : about;
    return { name: `listed: ${form}`, about, item, entries: [entryOf(about)], contradicts: LISTED };
  }),
  {
    name: 'listed under another form of the same key',
    about: otherForm(TWICE),
    item: TWICE,
    entries: [entryOf(TWICE)],
    contradicts: { wallet_ofac: ['equivalent_forms', 'equivalent_forms[].listed'] },
  },
  {
    name: 'one of several, listed under another form of the same key',
    about: otherForm(TWICE),
    entries: [entryOf(TWICE)],
    contradicts: { bulk_wallet_screen: ['results[].equivalent_forms', 'results[].state'] },
  },
  {
    name: 'listed by another authority',
    about: evm('listed by others'),
    item: OTHER_LIST,
    otherEntries: [otherEntryOf(evm('listed by others'))],
    contradicts: {
      wallet_ofac: ['other_lists[].listed', 'other_lists[].matches'],
      other_list_changes: ['changes', 'imports'],
    },
  },
  {
    name: 'one of several, listed by another authority',
    about: evm('listed by others'),
    otherEntries: [
      otherEntryOf(evm('listed by others')),
      { ...otherEntryOf(evm('listed by others')), entry_id: 'eu-2', ended_at: '2026-01-01' },
    ],
    contradicts: {
      bulk_wallet_screen: [
        'results[].other_lists[].listed',
        'results[].other_lists[].ended',
        'results[].state',
      ],
    },
  },
  {
    name: 'listed by another authority under another form of the same key',
    about: addressNamed('tron', 'twice'),
    item: OTHER_LIST,
    otherEntries: [otherEntryOf(TWICE_AS_EVM)],
    contradicts: {
      wallet_ofac: ['other_lists[].equivalent_matches', 'other_lists[].equivalent_listed'],
    },
  },
  {
    name: 'one of several, listed by another authority under another form of the same key',
    about: addressNamed('tron', 'twice'),
    otherEntries: [otherEntryOf(TWICE_AS_EVM)],
    contradicts: {
      bulk_wallet_screen: ['results[].other_lists[].equivalent_forms', 'results[].state'],
    },
  },
  {
    name: 'listed on an earlier day',
    about: evm('delisted'),
    on: DAY_OF_OLDER,
    days: [DAY_OF_OLDER, DAY_OF_NONE],
    olderEntries: [entryOf(evm('delisted'))],
    contradicts: { wallet_ofac: ['sanctioned', 'matches'] },
  },
  {
    name: 'labelled',
    about: evm('exchange'),
    // Beside it, a signal whose row somebody changed.
    signalled: { isChanged: true },
    labels: [labelOf(evm('exchange'), 'Exchange')],
    contradicts: HELD,
  },
  {
    name: 'labelled by sources that disagree',
    about: evm('exchange'),
    labels: ['Exchange', 'Another'].map((entity) => labelOf(evm('exchange'), entity)),
    contradicts: { wallet_cex: ['labels', 'conflicts'] },
  },
  ...SUBJECT_PLANS,
  {
    name: 'a launcher',
    about: addressNamed('solana', 'launcher'),
    launchers: [addressNamed('solana', 'launcher')],
    contradicts: { bulk_wallet_screen: ['results[].state'] },
  },
  {
    name: 'a launcher of whose launches one waits',
    about: addressNamed('solana', 'launcher'),
    launchers: [addressNamed('solana', 'launcher')],
    waiting: [addressNamed('solana', 'launcher')],
    contradicts: { solana_deployer: ['suppressed'] },
  },
  {
    name: 'a mint whose launcher has a record',
    about: addressNamed('solana', `mint of ${addressNamed('solana', 'launcher')}`),
    launchers: [addressNamed('solana', 'launcher')],
    contradicts: {},
  },
];

/** More counterparties than an address may have to be walked past. */
const HUB_DEGREE = 5_001;
/** Counterparties of each of three neighbours, together over the node budget of 10,000. */
const CROWD = 3_400;

function crowd(around: string, size: number): HistoryTransfer[] {
  return Array.from({ length: size }, (_, n) => transferOf(around, evm(`${n} of ${around}`)));
}

const POISON = { raw_amount: 0n, usd: '0', initiator: evm('poisoner') } as const;
const SPAM: Partial<HistoryTransfer> = {
  kind: 'token',
  token: evm('token'),
  symbol: 'SPAM',
  decimals: 18,
  usd: null,
  has_market: false,
  initiator: evm('spammer'),
};

const NFT: Partial<HistoryTransfer> = {
  kind: 'nft',
  token: evm('collection'),
  raw_amount: 0n,
  token_id: 7n,
  usd: null,
};

/** What a walk beside a hub may not say, as long as not all that listed addresses did is read. */
const UNLOOKED: Fact['contradicts'] = {
  wallet_ofac: ['proximity_checked', 'proximity.checked', 'proximity.found'],
  wallet_score: ['findings_checked', 'findings_found'],
};

/** A hub beside the subject that dealt with a listed address, in one state of the ring. */
function hubPlan(name: string, ringState: RingExtent): Plan {
  const met = ['proximity.hubs_not_expanded', 'proximity.hubs_not_expanded_count'];
  const contacts = ['proximity.hub_contacts', 'proximity.hub_contacts_count'];
  return walkPlan({
    name,
    ringState,
    entries: LISTED_FAR,
    transfers: [
      ...crowd(NEAR, HUB_DEGREE - 2),
      ...[transferOf(SUBJECT, NEAR), transferOf(NEAR, FAR)],
    ],
    labels: [labelOf(NEAR, 'Exchange')],
    contradicts: ringState === 'whole' ? { wallet_ofac: [...met, ...contacts] } : UNLOOKED,
    ringless: UNLOOKED,
  });
}

const WALK_PLANS: readonly Plan[] = [
  walkPlan({
    name: 'paid a listed address',
    entries: LISTED_FAR,
    transfers: [transferOf(SUBJECT, FAR), transferOf(SUBJECT, NEAR)],
    contradicts: { ...LINKED, wallet_ofac: ['proximity.found', 'proximity.nodes_examined'] },
  }),
  walkPlan({
    name: 'was paid by a listed address, before anything else',
    entries: LISTED_FAR,
    transfers: [FAR, NEAR, evm('next'), evm('last')].map((one) => transferOf(one, SUBJECT)),
    contradicts: LINKED,
  }),
  walkPlan({
    name: 'two hops from a listed address',
    entries: LISTED_FAR,
    transfers: [transferOf(FAR, NEAR), transferOf(NEAR, SUBJECT), transferOf(NEAR, evm('next'))],
    contradicts: { wallet_ofac: ['proximity.found'], wallet_score: ['findings_found'] },
  }),
  hubPlan('beside a hub that dealt with a listed address', 'whole'),
  walkPlan({
    name: 'beside a hub, the ring not built',
    ringState: 'absent',
    transfers: [...crowd(NEAR, HUB_DEGREE - 1), transferOf(SUBJECT, NEAR)],
    contradicts: {
      wallet_ofac: ['proximity.hubs_not_expanded', 'proximity.hubs_not_expanded_count'],
    },
  }),
  walkPlan({
    name: 'poisoned by a listed address',
    entries: LISTED_FAR,
    transfers: [transferOf(FAR, SUBJECT, POISON), transferOf(SUBJECT, NEAR)],
    contradicts: {
      wallet_ofac: ['proximity.left_out_contacts', 'proximity.edges_left_out.zero_value'],
      wallet_entity: ['edges_left_out.zero_value'],
    },
  }),
  walkPlan({
    name: 'sent spam by a listed address',
    entries: LISTED_FAR,
    transfers: [transferOf(FAR, SUBJECT, SPAM), transferOf(SUBJECT, NEAR)],
    contradicts: {
      wallet_ofac: ['proximity.left_out_contacts', 'proximity.edges_left_out.no_market_token'],
      wallet_entity: ['edges_left_out.no_market_token'],
    },
  }),
  walkPlan({
    name: 'in a crowd over the node budget, a listed address among it',
    ringState: 'absent',
    entries: LISTED_FAR,
    transfers: [NEAR, evm('next'), evm('last')].flatMap((one) => [
      ...crowd(one, CROWD),
      ...[transferOf(one, SUBJECT), transferOf(one, FAR)],
    ]),
    contradicts: { wallet_ofac: ['proximity.found', 'proximity.node_budget_hit'] },
  }),
  {
    name: 'a bitcoin address that paid a listed one, on the only chain of its kind',
    about: addressNamed('bitcoin', 'subject'),
    subjects: [addressNamed('bitcoin', 'subject')],
    entries: [entryOf(addressNamed('bitcoin', 'far'))],
    transfers: ['near', 'far'].map((name) =>
      transferOf(addressNamed('bitcoin', 'subject'), addressNamed('bitcoin', name), {
        chain: 'bitcoin',
        decimals: 8,
        raw_amount: 10n ** 8n,
        initiator: null,
      }),
    ),
    contradicts: { wallet_ofac: ['proximity.found'] },
  },
  walkPlan({
    name: 'sent an NFT to a listed address',
    entries: LISTED_FAR,
    transfers: [transferOf(SUBJECT, FAR, NFT), transferOf(SUBJECT, NEAR)],
    contradicts: { wallet_ofac: ['proximity.found'], wallet_score: ['findings_found'] },
  }),
  walkPlan({
    name: 'on chains of which some are not read',
    contradicts: {
      wallet_ofac: ['proximity.chains_not_examined', 'proximity.nft_not_examined'],
    },
  }),
];

const EXCHANGE_PLANS = exchangePlans({
  subject: SUBJECT,
  near: NEAR,
  far: FAR,
  listedFar: LISTED_FAR,
  poison: POISON,
  spam: SPAM,
  walkPlan,
  labelOf,
  transferOf,
});

const BRIDGE_PLANS: readonly Plan[] = bridgeWorlds({
  subject: SUBJECT,
  near: NEAR,
  poison: POISON,
  spam: SPAM,
  transferOf,
}).map(({ name, said, ...planted }) =>
  walkPlan({ name, ...planted, contradicts: { wallet_bridges: said } }),
);

const FORENSIC_PLANS = forensicPlans({
  subject: SUBJECT,
  near: NEAR,
  far: FAR,
  listedFar: LISTED_FAR,
  bridge: BRIDGE,
  labelOf,
  poison: POISON,
  walkPlan,
  transferOf,
});

/** The plan in which the rows are cut, with a bridge among those that are read. */
function alsoBridged(plan: Plan): Plan {
  if (!plan.name.startsWith('of more transfers than are read')) return plan;
  const { transfers = [], contradicts } = plan;
  return {
    ...plan,
    transfers: [...transfers, transferOf(SUBJECT, BRIDGE)],
    contradicts: {
      ...contradicts,
      wallet_bridges: ['truncated'],
      wallet_ofac: ['proximity.found'],
    },
  };
}

const UNHELD_PLANS = unheldPlans({ near: NEAR, listedFar: LISTED_FAR });

/** Every world. */
export const WORLDS: readonly World[] = [
  emptyWorld([DAY_OF_OLDER, DAY_OF_NONE]),
  ...[...TABLE_PLANS, ...WALK_PLANS, ...EXCHANGE_PLANS.map(alsoBridged)].map(worldOf),
  ...[...BRIDGE_PLANS, ...FORENSIC_PLANS, ...UNHELD_PLANS].map(worldOf),
  ...[...DEPLOYER_PLANS, ...RUG_PLANS].map(worldOf),
];

/** One world of each state of the ring: a route that reads the ring is asked in them too. */
export const RING_WORLDS: readonly World[] = RING_STATES.map((state) =>
  worldOf(hubPlan(`beside a hub that dealt with a listed address, the ring ${state}`, state)),
);
