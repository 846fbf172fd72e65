// The specimen of the silence check: a small screen, made of parts of which a leak may replace
// each. Nothing of it is served.

import { z } from 'zod';
import { parseAddress } from '../chain/address.ts';
import { badField } from '../contract/refusals.ts';
import { evidenceRoute, type Handler } from '../contract/route.ts';
import { addressText, checkedFlag, negative, prose, words } from '../contract/wire.ts';
import { claim } from '../evidence/claim.ts';
import { rowsUnder } from '../evidence/measure.ts';
import {
  both,
  decide,
  map,
  type Partly,
  Read,
  type Reading,
  rowsSeen,
  unread,
} from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';
import { addressHistory } from '../features/history/address-history.ts';
import type { FlaggedLookUp } from '../ports/rug-flags.ts';
import type { ListLookUp } from '../ports/sanctions.ts';
import type { LabelLookUp } from '../ports/tables.ts';
import type { MakeHandler } from './silence-made.ts';
import type { SilencePorts } from './silence-ports.ts';

const LIST = { restsOn: ['sanctions_list'] } as const;
const WALK = { restsOn: ['sanctions_list', 'transfer_history'] } as const;

/** The specimen: a screen of several addresses by four ports. */
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
          wallet: words(),
          listed: negative(z.boolean(), LIST),
          labels: negative(z.array(words()).nullable(), { restsOn: ['exchange_labels'] }),
          linked: negative(z.boolean().nullable(), WALK),
          linked_checked: checkedFlag(WALK),
          linked_reason: prose().nullable(),
        }),
      )
      .min(1),
    tables: z.array(words()).min(1),
    sizes: z.record(z.string(), z.strictObject({ rows: z.int().nonnegative() })),
    newest: z.union([
      z.strictObject({ label: words(), is_new: z.boolean() }),
      z.strictObject({ reason: prose() }),
    ]),
    standing: words(),
    notes: z.array(prose()),
    caveat: prose(),
  }),
  absences: ['not_deployed'],
  tool: null,
});

type Look = Partly<ListLookUp, 'sanctions_list'>;
type WalkPort = 'sanctions_list' | 'transfer_history';
type Linked = Partly<boolean, WalkPort>;

type Labels = Reading<LabelLookUp, 'exchange_labels'>;
type Flagged = Reading<FlaggedLookUp, 'flagged_addresses'>;

/** The parts of the screen, each of which a leak may replace. */
export type ScreenPorts = {
  readonly list: (ports: SilencePorts, address: string, all: readonly string[]) => Promise<Look>;
  readonly listed: (look: ListLookUp, address: string) => boolean;
  readonly labels: (ports: SilencePorts, address: string) => Promise<Labels>;
  readonly linked: (ports: SilencePorts, address: string, signal: AbortSignal) => Promise<Linked>;
  /** The reading that the flag of `linked` is made from. */
  readonly flag: (linked: Linked) => Linked;
  /** Whether an input is refused because of what was read. */
  readonly refuses: (labels: Labels) => boolean;
  readonly notes: (labels: Labels) => string[];
  readonly tables: (labels: Labels) => string[];
  readonly sizes: (labels: Labels) => { [table: string]: { rows: number } };
  readonly newest: (labels: Labels) => { label: string; is_new: boolean } | { reason: string };
  /** The state of the addresses in the table of flags, in a word. */
  readonly standing: (flagged: Flagged) => string;
};

/** Every part without a lie. */
export const HONEST: ScreenPorts = {
  list: ({ sanctionsList }, address) => sanctionsList.lookUp([address]),
  listed: ({ found }, address) => found.has(address),
  labels: ({ exchangeLabels }, address) => exchangeLabels.lookUp([address]),
  linked: async (ports, address, signal) => {
    const reading = await linkOf(ports, address, signal);
    return decide(reading, (linked) => linked);
  },
  flag: (linked) => linked,
  refuses: () => false,
  notes: () => ['Three tables were asked.'],
  tables: () => ['list', 'labels', 'transfers'],
  sizes: () => ({ list: { rows: 1 } }),
  newest: (labels) =>
    labels instanceof Read ? { label: 'Elsewhere', is_new: true } : { reason: labels.why.reason },
  standing: (flagged) => (flagged instanceof Read ? standingIn(flagged.value) : 'unread'),
};

/** The word for addresses of which a table was read. */
export function standingIn({ found }: FlaggedLookUp): string {
  return found.size > 0 ? 'flagged' : 'unflagged';
}

/** Whether a listed address is among those that an address dealt with. */
export async function linkOf(
  ports: SilencePorts,
  address: string,
  signal: AbortSignal,
): Promise<Linked> {
  // No history is read of this kind, so that nobody is asked.
  if (parseAddress(address)?.kind === 'tron') {
    return unread<WalkPort>('transfer_history', why('not_walked_kind', { kind: 'tron' }));
  }
  const asked = { chains: null, signal, rowsMax: 100 };
  const near = await addressHistory(ports.transferHistory, address, asked);
  const others = map(near, ({ transfers }) => transfers.flatMap(({ from, to }) => [from, to]));
  const met = rowsSeen(others);
  // Of a history without anybody only a whole one has nobody to look up.
  if (met === null && !(others instanceof Read)) {
    return unread<WalkPort>('transfer_history', others.why);
  }
  const list = await ports.sanctionsList.lookUp(met === null ? [] : met);
  return map(both({ others, list }), (known) =>
    known.others.some((one) => known.list.found.has(one)),
  );
}

/** The handler of the screen made of these parts. */
export function screenHandler(
  ports: SilencePorts,
  screen: ScreenPorts,
): Handler<typeof plantedScreen> {
  return async ({ body }, { signal }) => {
    const results = [];
    const rests: Read<unknown, never>[] = [];
    let told = null;
    for (const address of body.addresses) {
      const reading = await screen.list(ports, address, body.addresses);
      const look = decide(reading, ({ found }) => found.has(address));
      if (!(look instanceof Read)) {
        return plantedScreen.absent.not_deployed({ subject: 'planted', silent: look });
      }
      const labels = await screen.labels(ports, address);
      const linked = await screen.linked(ports, address, signal);
      rests.push(look);
      if (screen.refuses(labels)) return badField('addresses', 'not now');
      const { tables, sizes, newest, notes } = screen;
      told = {
        tables: tables(labels),
        sizes: sizes(labels),
        newest: newest(labels),
        notes: notes(labels),
      };
      results.push({
        wallet: address,
        listed: claim(look, (list) => screen.listed(list, address)),
        labels: claim(
          labels,
          ({ found }) => rowsUnder(found, address).map(({ label }) => label),
          () => null,
        ),
        linked: claim(
          linked,
          (is) => is,
          () => null,
        ),
        linked_checked: claim(
          screen.flag(linked),
          () => true,
          () => false as const,
        ),
        linked_reason: linked instanceof Read ? null : linked.why.reason,
      });
    }
    const flagged = await ports.flaggedAddresses.lookUp(body.addresses);
    if (flagged instanceof Read) rests.push(flagged);
    const [first, ...more] = rests;
    if (first === undefined || told === null) throw new Error('planted: nobody was asked about');
    const standing = screen.standing(flagged);
    const data = { results, ...told, standing, caveat: 'A specimen.' };
    return plantedScreen.ok({ subject: 'planted', data, rests: [first, ...more] });
  };
}

/** The screen without a leak: the check has to find nothing. */
export const honestScreen: MakeHandler = (ports) => screenHandler(ports, HONEST);
