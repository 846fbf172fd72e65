// Answers one question: would the check of silence notice a leak. One of each kind stands here.
// A small screen of its own, honest, and the same with one part of it replaced by a lie; and
// adapters that lie under the declared routes. Nothing of this is served.

import { z } from 'zod';
import type { EvidencePorts } from '../compose/list.ts';
import { evidenceRoute, type Handler } from '../contract/route.ts';
import { addressText, checked, negative } from '../contract/wire.ts';
import { claim } from '../evidence/claim.ts';
import { heldUnder } from '../evidence/measure.ts';
import {
  both,
  decided,
  map,
  Part,
  type Partly,
  Read,
  type Reading,
  read,
  seen,
  Unread,
  unread,
} from '../evidence/reading.ts';
import type { RegistryTable } from '../ports/bridges/bridge-registry.ts';
import type { LabelLookUp } from '../ports/labels/exchange-labels.ts';
import type { ListLookUp } from '../ports/sanctions/sanctions-list.ts';
import { evm } from './addresses.ts';
import { STILL_NOW } from './clock.ts';
import type { MakeHandler } from './silence-made.ts';

const LIST = { restsOn: ['sanctions_list'] } as const;
const WALK = { restsOn: ['sanctions_list', 'transfer_history'] } as const;

/** The specimen: a screen of several addresses by three ports. */
export const plantedScreen = evidenceRoute({
  name: 'planted_screen',
  surface: 'hosted',
  method: 'POST',
  path: '/planted',
  summary: 'A screen that only the check of silence asks.',
  access: 'open',
  body: z.strictObject({ addresses: z.array(addressText).min(1) }),
  data: z.strictObject({
    results: z
      .array(
        z.strictObject({
          address: z.string(),
          listed: negative(z.boolean(), LIST),
          labels: negative(z.array(z.string()).nullable(), { restsOn: ['exchange_labels'] }),
          linked: negative(z.boolean().nullable(), WALK),
          linked_checked: checked(WALK),
        }),
      )
      .min(1),
    notes: z.array(z.string()),
    caveat: z.string(),
  }),
  absences: ['not_deployed'],
  tool: null,
});

type Look = Partly<ListLookUp, 'sanctions_list'>;
type LinkedPort = 'sanctions_list' | 'transfer_history';
type Linked = Partly<boolean, LinkedPort>;

/** The parts of the screen, each of which a leak may replace. */
type Screen = {
  readonly list: (ports: EvidencePorts, address: string, all: readonly string[]) => Promise<Look>;
  readonly listed: (look: ListLookUp, address: string) => boolean;
  readonly labels: (
    ports: EvidencePorts,
    address: string,
  ) => Promise<Reading<LabelLookUp, 'exchange_labels'>>;
  readonly linked: (ports: EvidencePorts, address: string, signal: AbortSignal) => Promise<Linked>;
  readonly notes: (labels: Reading<unknown, 'exchange_labels'>) => string[];
};

const HONEST: Screen = {
  list: ({ sanctionsList }, address) => sanctionsList.lookUp([address]),
  listed: ({ found }, address) => found.has(address),
  labels: ({ exchangeLabels }, address) => exchangeLabels.lookUp([address]),
  linked: async (ports, address, signal) => {
    const reading = await linkOf(ports, address, signal);
    return decided(reading, (linked) => linked);
  },
  notes: () => ['Three tables were asked.'],
};

async function linkOf(ports: EvidencePorts, address: string, signal: AbortSignal): Promise<Linked> {
  const caps = { rowsMax: 100, degreeMax: 100, batchRowsMax: 100 };
  const limits = { ...caps, transfersPerCounterpartyMax: 1, signal };
  const near = (await ports.transferHistory.neighbourhoods([address], limits)).get(address);
  if (near === undefined) throw new Error('planted: no reading for the address');
  if (near instanceof Unread) return unread<LinkedPort>('transfer_history', near.why);
  const others = map(near, ({ counterparties }) => counterparties.map((one) => one.address));
  const met = seen(others);
  const list = await ports.sanctionsList.lookUp(met === null ? [] : met);
  return map(both({ others, list }), (known) =>
    known.others.some((one) => known.list.found.has(one)),
  );
}

function screenHandler(ports: EvidencePorts, screen: Screen): Handler<typeof plantedScreen> {
  return async ({ body }, { signal }) => {
    const results = [];
    const rests: Read<unknown, never>[] = [];
    let notes: string[] = [];
    for (const address of body.addresses) {
      const reading = await screen.list(ports, address, body.addresses);
      const look = decided(reading, ({ found }) => found.has(address));
      if (!(look instanceof Read)) {
        return plantedScreen.absent.not_deployed({ subject: 'planted', silent: look });
      }
      const labels = await screen.labels(ports, address);
      const linked = await screen.linked(ports, address, signal);
      rests.push(look);
      notes = screen.notes(labels);
      results.push({
        address,
        listed: claim(look, (list) => screen.listed(list, address)),
        labels: claim(
          labels,
          ({ found }) => heldUnder(found, address).map(({ label }) => label),
          () => null,
        ),
        linked: claim(
          linked,
          (is) => is,
          () => null,
        ),
        linked_checked: claim(
          linked,
          () => true,
          () => false as const,
        ),
      });
    }
    const [first, ...more] = rests;
    if (first === undefined) throw new Error('planted: nobody was asked about');
    const data = { results, notes, caveat: 'A specimen.' };
    return plantedScreen.ok({ subject: 'planted', data, rests: [first, ...more] });
  };
}

/** The screen without a leak: the check has to find nothing. */
export const honestScreen: MakeHandler = (ports) => screenHandler(ports, HONEST);

/** A leak: what it is, the rule that has to notice it, and the screen that has it. */
type PlantedLeak = {
  readonly name: string;
  readonly rule: RegExp;
  readonly make: MakeHandler;
};

function leaky(name: string, rule: RegExp, lie: Partial<Screen>): PlantedLeak {
  return { name, rule, make: (ports) => screenHandler(ports, { ...HONEST, ...lie }) };
}

const LIAR = {
  name: 'Liar',
  url: 'memory:',
  as_of: STILL_NOW,
  kind: 'table',
  simulated: false,
} as const;
const LIST_FACTS = {
  name: 'Liar',
  published: '2026-09-23',
  addresses: 1,
  source: 'memory:',
  sha256: '0'.repeat(64),
  as_of: STILL_NOW,
  age_notes: [],
};
const EMPTY_LOOK: ListLookUp = { list: LIST_FACTS, found: new Map() };

/** One leak of each kind. */
export const PLANTED_LEAKS: readonly PlantedLeak[] = [
  leaky('a cast reading', /threw/, {
    list: async ({ sanctionsList }, address) => {
      const reading = await sanctionsList.lookUp([address]);
      const cast = { checked: true, value: EMPTY_LOOK } as unknown;
      return reading instanceof Read ? reading : (cast as Read<ListLookUp, 'sanctions_list'>);
    },
    listed: () => false,
  }),
  leaky('a reading minted out of silence', /negative on a silent port/, {
    list: async ({ sanctionsList }, address) =>
      passedAsWhole(await sanctionsList.lookUp([address]), 'sanctions_list', EMPTY_LOOK),
  }),
  leaky('an empty list from another call', /planted fact denied/, {
    labels: async ({ exchangeLabels }, address) => {
      const reading = await exchangeLabels.lookUp([address]);
      return reading instanceof Read ? reading : exchangeLabels.lookUp([]);
    },
  }),
  leaky('a swallowed second page', /planted fact denied/, {
    linked: async (ports, address, signal) =>
      decided(await linkOf(ports, address, signal), () => true),
  }),
  leaky('every item answered from the first address', /planted fact denied/, {
    list: ({ sanctionsList }, _address, all) => sanctionsList.lookUp(all.slice(0, 1)),
  }),
  leaky('a constant negative', /planted fact denied/, { listed: () => false }),
  leaky('an undeclared empty list', /undeclared empty value/, {
    notes: (labels) => (labels instanceof Read ? ['The labels were asked.'] : []),
  }),
  leaky('a fault that nobody is told of', /does not show/, {
    labels: async ({ exchangeLabels }, address) => {
      await exchangeLabels.lookUp([address, address]);
      return exchangeLabels.lookUp([address]);
    },
  }),
];

/** Whatever a port said, as a reading that came to its end: the lie of an adapter. */
function passedAsWhole<T, P extends string>(reading: Partly<T, P>, port: P, empty: T): Read<T, P> {
  if (reading instanceof Read) return reading;
  if (!(reading instanceof Part)) return read(empty, { port, source: LIAR });
  const whole = decided(reading, () => true);
  if (!(whole instanceof Read)) throw new Error('planted: a decided part is unread');
  return whole;
}

const NO_BRIDGES: RegistryTable = {
  id: 'a lie',
  reviewed: '2026-09-01',
  refused: 0,
  rows: [
    {
      chain: 'ethereum',
      address: evm('bridge elsewhere'),
      protocol: 'hop',
      name: 'Bridge',
      role: 'lock',
      valid_from_block: null,
      sources: ['tests'],
      reviewed: '2026-09-01',
      note: null,
    },
  ],
};

type Forensics = 'chainFacts' | 'flaggedAddresses' | 'mixerRegistry';

function lyingForensics(ports: EvidencePorts): Pick<EvidencePorts, Forensics> {
  const { chainFacts, flaggedAddresses, mixerRegistry } = ports;
  const found = new Map<string, never>();
  const nobody = { implementation: null, admin: null, beacon: null, owner: null };
  const made = { creator: LIAR.url, factory: null, tx: LIAR.url, block: null };
  const whole = <T>(reading: Partly<T, 'chain_facts'>, empty: T) =>
    passedAsWhole(reading, 'chain_facts', empty);
  return {
    chainFacts: {
      stateChains: chainFacts.stateChains,
      of: async (...asked) => {
        const told = await chainFacts.of(...asked);
        return {
          code: whole(told.code, { size: 0, delegates_to: null, minimal_proxy_of: null }),
          nonce: whole(told.nonce, 0),
          balance_wei: whole(told.balance_wei, 0n),
          verified_name: whole(told.verified_name, null),
          creation: whole(told.creation, made),
          is_token: whole(told.is_token, false),
          authority: whole(told.authority, nobody),
        };
      },
    },
    flaggedAddresses: {
      lookUp: async (addresses) => {
        const empty = { table_rows: 1, found, created: found };
        return passedAsWhole(await flaggedAddresses.lookUp(addresses), 'flagged_addresses', empty);
      },
    },
    mixerRegistry: {
      lookUp: async (addresses) => {
        const empty = { table_rows: 1, found };
        return passedAsWhole(await mixerRegistry.lookUp(addresses), 'mixer_registry', empty);
      },
    },
  };
}

/** Adapters that pass silence on as emptiness and a part as the whole, for any declared route. */
export function lyingPorts(ports: EvidencePorts): EvidencePorts {
  const { sanctionsList, exchangeLabels, launchCorpus, transferHistory, entityClusters } = ports;
  const lies = { table_rows: 1, settled_launches: 1, found: new Map<string, never>() };
  return {
    sanctionsList: {
      lookUp: async (addresses) =>
        passedAsWhole(await sanctionsList.lookUp(addresses), 'sanctions_list', EMPTY_LOOK),
      lookUpOn: async (on, addresses) =>
        passedAsWhole(await sanctionsList.lookUpOn(on, addresses), 'sanctions_list', EMPTY_LOOK),
    },
    exchangeLabels: {
      lookUp: async (addresses) =>
        passedAsWhole(await exchangeLabels.lookUp(addresses), 'exchange_labels', lies),
    },
    launchCorpus: {
      lookUp: async (wallets) =>
        passedAsWhole(await launchCorpus.lookUp(wallets), 'launch_corpus', lies),
    },
    transferHistory: {
      chainsRead: async () =>
        passedAsWhole(await transferHistory.chainsRead(), 'transfer_history', []),
      neighbourhoods: async (addresses, limits) => {
        const readings = await transferHistory.neighbourhoods(addresses, limits);
        const each = [...readings].map(([address, reading]) => {
          const nothing = { address, degree: 0, counterparties: [], coverage: [], gaps: [] };
          const empty = { ...nothing, provenance: 'warehouse' } as const;
          return [address, passedAsWhole(reading, 'transfer_history', empty)] as const;
        });
        return new Map(each);
      },
    },
    entityClusters: {
      clusterOf: async (chain, address) =>
        passedAsWhole(await entityClusters.clusterOf(chain, address), 'entity_clusters', null),
    },
    ...lyingForensics(ports),
    bridgeRegistry: {
      table: async () =>
        passedAsWhole(await ports.bridgeRegistry.table(), 'bridge_registry', NO_BRIDGES),
    },
    transactionReceipts: {
      lookUp: async (chain, hashes, signal) => {
        const readings = await ports.transactionReceipts.lookUp(chain, hashes, signal);
        const each = [...readings].map(([tx, reading]) => {
          const nothing = { chain, tx, block: 1, from: LIAR.url, to: null, value: 0n } as const;
          const empty = { ...nothing, success: true, logs: [] };
          return [tx, passedAsWhole(reading, 'transaction_receipts', empty)] as const;
        });
        return new Map(each);
      },
    },
  };
}
