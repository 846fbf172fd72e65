// Would the check of silence notice a leak? One of each kind stands here.
// The specimen with one part of it replaced by a lie, declared routes over a lie, and adapters that
// lie under any of them. Nothing of this is served.

import { decide, Part, type Partly, Read, read } from '../evidence/reading.ts';
import { walletBridges, walletBridgesHandler } from '../features/bridges/wallet-bridges.route.ts';
import { labelChanges, labelChangesHandler } from '../features/tables/label-changes.route.ts';
import type { ListLookUp } from '../ports/sanctions.ts';
import type { LabelLookUp } from '../ports/tables.ts';
import { STILL_NOW } from './clock.ts';
import { HONEST, linkOf, type ScreenPorts, screenHandler, standingIn } from './planted-screen.ts';
import type { SilenceRoute } from './silence-asks.ts';
import type { MakeHandler } from './silence-made.ts';
import {
  emptyOf,
  type Passing,
  type PortTags,
  type SilencePorts,
  tagOf,
  throughPorts,
} from './silence-ports.ts';
import type { LeakRule } from './silence-rules.ts';

/** A leak: what it is, the rule that has to notice it, and the screen that has it. */
type PlantedLeak = {
  /** Where it is no leak of the screen. */
  readonly route?: SilenceRoute;
  readonly name: string;
  readonly rules: readonly LeakRule[];
  /** The cell in which it has to be noticed; left out, any. */
  readonly at?: RegExp;
  /** Noticed only where two ports are silent at once. */
  readonly inPairs?: true;
  readonly make: MakeHandler;
};

function leaky(name: string, rules: readonly LeakRule[], lie: Partial<ScreenPorts>): PlantedLeak {
  return { name, rules, make: (ports) => screenHandler(ports, { ...HONEST, ...lie }) };
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
const LABELS = 'exchange_labels';
const EMPTY_LABELS: LabelLookUp = { table_rows: 0, found: new Map() };

/** One leak of each kind, with every rule that has to notice it. */
export const PLANTED_LEAKS: readonly PlantedLeak[] = [
  leaky('a cast reading', ['threw'], {
    list: async ({ sanctionsList }, address) => {
      const reading = await sanctionsList.lookUp([address]);
      const cast = { checked: true, value: EMPTY_LOOK } as unknown;
      return reading instanceof Read ? reading : (cast as Read<ListLookUp, 'sanctions_list'>);
    },
    listed: () => false,
  }),
  leaky(
    'a reading minted out of silence',
    ['a negative on a silent port', 'an answer of which nothing was read'],
    {
      list: async ({ sanctionsList }, address) =>
        passAsWhole(await sanctionsList.lookUp([address]), 'sanctions_list', EMPTY_LOOK),
    },
  ),
  leaky('an empty list from another call', ['a planted fact denied'], {
    labels: async ({ exchangeLabels }, address) => {
      const reading = await exchangeLabels.lookUp([address]);
      return reading instanceof Read ? reading : exchangeLabels.lookUp([]);
    },
  }),
  leaky('a swallowed second page', ['a planted fact denied', 'turned negative'], {
    linked: async (ports, address, signal) =>
      decide(await linkOf(ports, address, signal), () => true),
  }),
  {
    // The history is read, and nobody asks which blocks are held of it.
    ...leaky('blocks that nobody holds', ['a planted fact denied', 'a negative on a silent port'], {
      linked: async (ports, address, signal) =>
        decide(await linkOf(ports, address, signal), () => true),
    }),
    at: /^(a hole|a late start|an old tip), .*\| whole$/,
  },
  leaky('every item answered from the first address', ['a planted fact denied'], {
    list: ({ sanctionsList }, _address, all) => sanctionsList.lookUp(all.slice(0, 1)),
  }),
  leaky('a constant negative', ['a planted fact denied'], { listed: () => false }),
  leaky('a flag set on a part', ['a flag of what was not read to its end'], {
    flag: (linked) => decide(linked, () => true),
    linked: linkOf,
  }),
  leaky('an undeclared empty list', ['an undeclared empty value'], {
    notes: (labels) => (labels instanceof Read ? ['The labels were asked.'] : []),
  }),
  leaky('an undeclared zero in a record', ['an undeclared empty value'], {
    sizes: (labels) => ({ labels: { rows: labels instanceof Read ? 1 : 0 } }),
  }),
  leaky('an undeclared false in an option of a union', ['an undeclared empty value'], {
    newest: (labels) => ({ label: 'Elsewhere', is_new: labels instanceof Read }),
  }),
  leaky('a table that drops out', ['vanished without a word'], {
    tables: (labels) => (labels instanceof Read ? ['list', 'labels'] : ['list']),
    newest: () => ({ label: 'Elsewhere', is_new: true }),
    // A claim that is null is a word for itself alone.
    notes: () => ['Some tables were asked.'],
  }),
  leaky('a constant sentence that denies', ['a denial in words'], {
    notes: () => ['No labelled address was found in its cluster.'],
  }),
  leaky('a sentence that nobody declared', ['a denial in words that nobody declared'], {
    notes: () => ['Nobody deals with this address.'],
  }),
  leaky('a caller who is blamed', ['a refusal that a silence made'], {
    refuses: (labels) => !(labels instanceof Read),
  }),
  leaky('a fault that nobody is told of', ['a fault that does not show'], {
    labels: async ({ exchangeLabels }, address) => {
      await exchangeLabels.lookUp([address, address]);
      return exchangeLabels.lookUp([address]);
    },
  }),
  leaky('a table that the sources alone name', ['a fault that does not show'], {
    standing: (flagged) => (flagged instanceof Read ? standingIn(flagged.value) : 'unflagged'),
  }),
  leaky('a sentence over a table that the sources alone name', ['a fault that does not show'], {
    standing: () => 'asked',
    notes: () => ['The table of flags leaves it unflagged.'],
  }),
  {
    ...leaky('a table that stands in for another', ['a negative on a silent port'], {
      labels: async ({ exchangeLabels, flaggedAddresses }, address) => {
        const reading = await exchangeLabels.lookUp([address]);
        const other = await flaggedAddresses.lookUp([address]);
        return other instanceof Read ? reading : passAsWhole(reading, LABELS, EMPTY_LABELS);
      },
    }),
    at: /\| silent: \w+, \w+$/,
    inPairs: true,
  },
  {
    name: 'every chain answered from the first',
    rules: ['a negative on a silent port'],
    at: / on polygon /,
    route: walletBridges,
    make: (ports) => {
      const handle: ReturnType<MakeHandler> = walletBridgesHandler(ports);
      return (input, ...more) => handle({ ...input, query: { chain: 'ethereum' } }, ...more);
    },
  },
  {
    name: 'an empty log of a plain route',
    rules: ['a negative on a silent port'],
    route: labelChanges,
    make: ({ labelChanges: log }) =>
      labelChangesHandler({
        newest: async (asked) => passAsWhole(await log.newest(asked), 'label_changes', []),
      }),
  },
];

/** Passes any result of a port as a complete reading: the lie of an adapter. */
function passAsWhole<T, P extends string>(reading: Partly<T, P>, port: P, empty: T): Read<T, P> {
  if (reading instanceof Read) return reading;
  if (!(reading instanceof Part)) return read(empty, { port, source: LIAR });
  const whole = decide(reading, () => true);
  if (!(whole instanceof Read)) throw new Error('planted: a decided part is unread');
  return whole;
}

/**
 * Adapters that pass silence on as emptiness and a part as the whole, for any declared route. What
 * emptiness looks like they have from what the same method said before it fell silent.
 */
export function lyingAdapters(tags: PortTags): (ports: SilencePorts) => SilencePorts {
  const before = new Map<string, unknown>();
  return (ports) =>
    throughPorts(ports, ({ port, method, field, pages }, reading) => {
      const name = `${port}.${method}.${field}`;
      if (reading instanceof Read) before.set(name, reading.value);
      if (!before.has(name)) return reading;
      if (reading instanceof Part) return decide(reading, () => true);
      const value = reading instanceof Read ? reading.value : emptyLike(before.get(name), pages);
      return read(value, { port: tagOf(tags, port), source: LIAR });
    });
}

function emptyLike(value: unknown, pages: Passing['pages']): unknown {
  if (pages !== undefined && pages !== null && pages.length > 0) return emptyOf(value, pages);
  const fields = Object.entries(Object(value)).flatMap(([name, one]: [string, unknown]) =>
    pages === null || Array.isArray(one) || one instanceof Map || one instanceof Set ? [name] : [],
  );
  return emptyOf(value, fields);
}
