// Which pages are drawn over silent ports, how each is asked, and which state nothing that a silent
// port could make false. A page that is declared stands in one of the two.

import type { Caller } from '../contract/route.ts';
import { ALONE_NAMES } from '../features/dossier/shapes.ts';
import { evm } from './addresses.ts';
import type { World } from './planted.ts';
import { KEPT_VERSION } from './twins/rug-flags.ts';
import { RECORD_ID, RECORD_OF } from './twins/screening.ts';
import { SIGNAL_ID } from './twins/signals.ts';

/** One request for a page. */
export type PageAsk = {
  readonly params?: { readonly [name: string]: string };
  readonly query?: { readonly [name: string]: string };
  readonly caller?: Caller;
};

type PageDrawing = {
  /** Whether it is about an address; then it is asked about those of each world. */
  readonly isAsked: boolean;
  /** Whether it is drawn whole in every world, or in those alone whose ports fall silent. */
  readonly inEvery?: true;
  readonly asks: (subject: string) => readonly PageAsk[];
};

const SESSION = { kind: 'session', session_id: 'ses_1', form_token: 'token' } as const;
/** Who had an address screened and watches one, and who did nothing yet. */
export const MEMBER = { ...SESSION, membership_id: RECORD_OF } as const;
const NEWCOMER = { ...SESSION, membership_id: 'mem_new' } as const;

const OF_ADDRESS: PageDrawing = {
  isAsked: true,
  inEvery: true,
  asks: (address) => [{ params: { address } }],
};
const OF_NOBODY: PageDrawing = { isAsked: false, asks: () => [{}] };
const OF_MEMBERS: PageDrawing = {
  isAsked: false,
  asks: () => [{ caller: MEMBER }, { caller: NEWCOMER }],
};

/** The subject of the article that every world holds. */
const HELD = evm('elsewhere').toLowerCase();

/** Pages that need more than an address, or a caller. */
const DRAWN: { readonly [page: string]: PageDrawing } = {
  dossier_part_page: {
    isAsked: true,
    asks: (address) => [
      ...ALONE_NAMES.map((part) => ({ params: { address, part } })),
      { params: { address, part: 'bridges' }, query: { chain: 'base' } },
    ],
  },
  deployer_page: { isAsked: true, inEvery: true, asks: onItsChain },
  token_page: { isAsked: true, inEvery: true, asks: onItsChain },
  receipts_page: {
    isAsked: false,
    asks: () => [{}, { query: { q: HELD } }, { query: { q: 'nobody' } }],
  },
  receipt_page: {
    isAsked: false,
    asks: () => [
      { params: { slug: `case-of-${HELD.slice(-8)}` } },
      { params: { slug: 'no-case' } },
    ],
  },
  rug_model_page: {
    isAsked: false,
    asks: () => [
      { params: { version: KEPT_VERSION } },
      { params: { version: 'rug-9-000000000000' } },
    ],
  },
  screens_page: OF_MEMBERS,
  screen_page: {
    isAsked: false,
    asks: () => [{ params: { id: RECORD_ID } }, { params: { id: 'scr_nobodys' } }],
  },
  providers_page: { isAsked: false, inEvery: true, asks: () => [{ query: { window: 'all' } }] },
  signals_page: {
    isAsked: false,
    inEvery: true,
    asks: () => [{}, { query: { after: `0.${SIGNAL_ID}` } }],
  },
  signal_page: {
    isAsked: false,
    inEvery: true,
    asks: () => [{ params: { id: SIGNAL_ID } }, { params: { id: 'sig_none' } }],
  },
  watchlist_page: OF_MEMBERS,
  settings_page: OF_MEMBERS,
  sessions_page: OF_MEMBERS,
};

/** The pages that state nothing of an address, a list or a source, and why. */
export const STATES_NOTHING: { readonly [page: string]: string } = {
  search_page: 'It leads to the dossier, or says that a text is no address.',
  integrations_page: 'It tells where a membership is told of what happens, and of no address.',
  pricing_page: 'It tells the plans, which are part of the release.',
  traders_methodology_page: 'It tells how traders are analysed, which changes with a release only.',
  new_key_shown: 'It shows a key once.',
  activate_page: 'It is the form by which one signs in.',
  policy_script: 'It is a script, which changes with a release only.',
  signal_script: 'It is a script, which changes with a release only.',
  leaderboard_script: 'It is a script, which changes with a release only.',
};

function onItsChain(address: string): readonly PageAsk[] {
  return [{ params: { address, chain: address.startsWith('0x') ? 'ethereum' : 'solana' } }];
}

/** The addresses for which a page is drawn in a world. */
export function subjectsOf({ isAsked }: PageDrawing, world: World): readonly string[] {
  return isAsked ? [...new Set(world.subjects)] : [''];
}

/** How each page is drawn, by name. One that takes an address, or nothing, needs no row. */
export function drawingsOf(
  pages: readonly { readonly name: string; readonly path: string }[],
): [name: string, drawing: PageDrawing][] {
  const told = new Map(Object.entries(DRAWN));
  return pages.flatMap(({ name, path }): [string, PageDrawing][] => {
    const own = told.get(name);
    if (own !== undefined) return [[name, own]];
    const params = path.match(/\{\w+\}/g);
    if (name in STATES_NOTHING) return [];
    if (params === null) return [[name, OF_NOBODY]];
    return params.join() === '{address}' ? [[name, OF_ADDRESS]] : [];
  });
}
