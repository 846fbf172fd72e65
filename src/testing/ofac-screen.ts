// The handler over the memory adapters, its envelope held against the route's own declaration.

import type { z } from 'zod';
import { DAY_S } from '../chain/time.ts';
import type { Envelope } from '../contract/answer.ts';
import { Refusal } from '../contract/refusals.ts';
import { envelopeSchema } from '../contract/route.ts';
import { why } from '../evidence/reasons.ts';
import {
  type OfacPorts,
  walletOfac,
  walletOfacHandler,
} from '../features/sanctions/wallet-ofac.route.ts';

import { STILL_NOW, stillClock } from './clock.ts';
import { silentPorts } from './twins/ports.ts';
import { type MemoryOtherLists, memoryOtherLists } from './twins/tables.ts';
import { listedEntry, type WalkedWorld, walkedPorts } from './walked-world.ts';

/** The only address that is listed unless a world says otherwise. */
export const LISTED = '0x2222222222222222222222222222222222222def';

/** A world of a screen: of walks, and of what may be missing altogether. */
type ScreenWorld = Partial<WalkedWorld> & {
  /** No list was ever loaded. */
  readonly noList?: boolean;
  /** Lists of other authorities; left out, none was imported. */
  readonly otherLists?: MemoryOtherLists;
  /** No history is configured. */
  readonly noHistory?: boolean;
  /** The handler's limits, where they are not its own. */
  readonly limits?: Parameters<typeof walletOfacHandler>[1];
};

/** The data of a screen, as the client sees it. */
type OfacScreen = z.output<typeof walletOfac.data>;

function portsOf(world: ScreenWorld): OfacPorts {
  const older = [
    { published: '2026-09-10', checked_at: STILL_NOW - 10 * DAY_S, entries: [listedEntry(LISTED)] },
  ];
  const ports = walkedPorts({
    now: STILL_NOW,
    transfers: [],
    labels: [],
    listed: [listedEntry(LISTED)],
    older,
    ring: 'whole',
    ...world,
  });
  const noList = silentPorts(why('list_never_loaded', { detail: '' })).sanctionsList;
  const noHistory = silentPorts(why('no_history')).transferHistory;
  return {
    sanctionsList: world.noList === true ? noList : ports.list,
    exchangeLabels: ports.labels,
    otherLists: memoryOtherLists(world.otherLists ?? NO_OTHER_LISTS),
    transferHistory: world.noHistory === true ? noHistory : ports.history,
    counterpartyRing: ports.ring,
  };
}

const NO_OTHER_LISTS = { names: [], entries: null, as_of: 0, simulated: false } as const;

type Call = (
  input: { params: { address: string }; query: { on?: string }; body: undefined },
  asked: { now: () => number; signal: AbortSignal },
) => ReturnType<ReturnType<typeof walletOfacHandler>>;

/** The answer of the route about an address, now or on a day. */
export async function screen(
  world: ScreenWorld,
  address: string,
  on?: string,
): Promise<Envelope | Refusal> {
  const handler = walletOfacHandler(portsOf(world), world.limits) as Call;
  const query = on === undefined ? {} : { on };
  const asked = { now: stillClock(), signal: new AbortController().signal };
  const said = await handler({ params: { address }, query, body: undefined }, asked);
  if (said instanceof Refusal) return said;
  const envelope = said.envelope(STILL_NOW);
  envelopeSchema(walletOfac).parse(envelope);
  return envelope;
}

/** The data of an answer that is `ok`. Throws where it is none. */
export async function screenData(
  world: ScreenWorld,
  address: string,
  on?: string,
): Promise<OfacScreen> {
  const envelope = await screen(world, address, on);
  if (envelope instanceof Refusal || envelope.state !== 'ok') throw new Error('test: no data');
  return walletOfac.data.parse(envelope.data);
}

/** The status and body of a refusal. Throws where there is none. */
export async function screenRefusal(
  world: ScreenWorld,
  address: string,
  on?: string,
): Promise<{ status: number; body: unknown }> {
  const said = await screen(world, address, on);
  if (!(said instanceof Refusal)) throw new Error('test: not refused');
  return { status: said.status, body: said.body };
}

/** The shape of a proximity of which nothing is said, but for its reason. */
export const UNCHECKED = {
  checked: false,
  found: null,
  hops: null,
  path: null,
  hops_detail: null,
  entity: null,
  program: null,
  listed_address: null,
  hops_examined: null,
  nodes_examined: null,
  nodes_unread: 1,
  frontier_exhausted: null,
  node_budget_hit: null,
  hubs_not_expanded: null,
  hubs_not_expanded_count: null,
  hub_contacts: null,
  hub_contacts_count: null,
  edges_left_out: null,
  left_out_contacts: null,
  chains_examined: null,
  chains_not_examined: null,
  nft_not_examined: null,
  provenance: null,
  is_screen: true,
};
