// Answers one question: why was something not checked, or not answered.
// Every reason is a row here with a stable code; docs/reference/reasons.md is made from this table.

import { BRIDGE_REASONS } from './bridge-reasons.ts';
import { ENTITY_REASONS } from './entity-reasons.ts';
import { FLAG_REASONS } from './flag-reasons.ts';
import { LAUNCH_REASONS } from './launch-reasons.ts';

/** Why a reading is silent or an answer absent: a stable code and one sentence for people. */
export type Why = { readonly code: ReasonCode; readonly reason: string };

type Row = { readonly sentence: string; readonly means: string; readonly next: string };

/** The reasons. `{name}` marks what the sentence is filled with. */
export const REASONS = {
  list_never_loaded: {
    sentence: 'No sanctions list has been loaded on this deployment{detail}; nothing was checked.',
    means: 'The published list was never read to its end here.',
    next: 'The operator runs `exhibit sanctions refresh` and reads `exhibit sanctions status`.',
  },
  list_too_old: {
    sentence:
      'The list was last checked {age} ago; past {limit} it can show a listing, not an absence.',
    means: 'The list in force is past its maximum age. Hits stay, misses are no answer.',
    next: 'The operator restores the refresh, or lifts the age on purpose.',
  },
  no_receipt: {
    sentence: 'None of the published receipts ({published}) covers the question.',
    means: 'The folder of receipts was read whole, and none of them holds what was asked for.',
    next: 'This is not a statement about an address. Ask for other words, or for none.',
  },
  list_superseded: {
    sentence:
      'A list of {published} stands refused for {span} ({code}); an older one shows no absence.',
    means: 'A newer file was seen over a day ago and refused. Hits stay, misses are no answer.',
    next: 'The operator reads `exhibit sanctions status` and accepts the file, or upgrades.',
  },
  list_ahead_of_clock: {
    sentence: 'The list is of {published}, ahead of its clock ({today}); it shows no absence.',
    means: 'The clock of the control store was wrong when the list came into force, or is now.',
    next: 'The operator sets the clock of the control store.',
  },
  list_date_not_covered: {
    sentence:
      'No held publication is known newest on {on}. Before it: {before}; after: {after}.{both}',
    means:
      'A question about a past day needs a publication that a check after the end of that day in ' +
      'Washington still found newest.',
    next: 'Ask for a day before the last check of the publication that was in force then.',
  },
  store_unreadable: {
    sentence: '{what} could not be read: {fault}.',
    means: 'A store of this deployment did not answer.',
    next: 'Try again later; the operator looks at `exhibit doctor`.',
  },
  table_never_imported: {
    sentence: 'No import of {what} has completed on this deployment; nothing was checked.',
    means: 'The table exists but has never held rows from a completed import.',
    next: 'The operator imports one.',
  },
  list_rows_refused: {
    sentence: 'Refused at import: {lists}; that list can show a listing, not an absence.',
    means: 'An entry may be missing for each refused row. Hits stay, misses are no answer.',
    next: 'The operator corrects the rows that `exhibit lists import` named, and imports it again.',
  },
  no_history: {
    sentence:
      'This deployment holds no transfer history and reads none live, so no path was looked for.',
    means: 'No transfer warehouse holds this address and no live source is configured.',
    next: 'The operator imports history, follows a chain, or configures an explorer.',
  },
  not_walked_kind: {
    sentence: 'Transfer history of this kind of address ({kind}) is not read by this deployment.',
    means: 'The walk needs history on a chain of the address’s own kind.',
    next: 'Nothing: only the direct check was made.',
  },
  timed_out: {
    sentence: '{what} did not answer within {limit}.',
    means: 'The time for a reading ran out.',
    next: 'Try again later.',
  },
  provider_failed: {
    sentence: '{provider} failed: {fault}.',
    means: 'An outside source was asked and did not give a usable answer.',
    next: 'Try again later; the fault names what the source did.',
  },
  not_configured: {
    sentence: '{what} is not configured on this deployment; nothing was checked.',
    means: 'The operator has named no source for this.',
    next: 'The operator sets the source.',
  },
  simulated: {
    sentence: 'Simulated: the history served here is made up, so nothing can be said to be absent.',
    means: 'The deployment serves the simulated world.',
    next: 'Configure a real source.',
  },
  no_record_held: {
    sentence: 'None of the tables that were read holds a record of this address: {tables}.',
    means: 'Every table that applies was read, and none holds the address.',
    next: 'This is not a statement about the address. Ask the score route for its full record.',
  },
  tables_unread: {
    sentence: 'Could not be read: {tables}. Nothing was found in the rest, which is no negative.',
    means: 'At least one table that applies was not read, so a miss cannot be said.',
    next: 'Try again later; the operator looks at `exhibit doctor`.',
  },
  form_not_recognised: {
    sentence: 'address: form not recognised; nothing was checked',
    means: 'The text is no address of a known form and does not stand on the list.',
    next: 'Send an EVM, Solana, Bitcoin or Tron address.',
  },
  solana_letter_case: {
    sentence: 'address: not a 32-byte key; check its letter case',
    means: 'The text looks like base58 but does not decode to a Solana key.',
    next: 'Send the address exactly as its owner shows it.',
  },
  no_table_applies: {
    sentence: 'None of the tables that were asked about holds this kind of address.',
    means: 'The question was limited to tables of another kind of address; nothing was checked.',
    next: 'Ask about the sanctions list or the exchange-wallet table, or about all of them.',
  },
  no_table_read: {
    sentence: 'None of the tables gave an answer: {tables}; nothing was checked.',
    means: 'Every table that applies was unread, or too old to show the absence of a listing.',
    next: 'Try again later; the operator looks at `exhibit doctor`.',
  },
  file_unreadable: {
    sentence: 'The file could not be read: {fault}.',
    means: 'A file that an operator named was missing, damaged, too large or of no known format.',
    next: 'The operator corrects the file and imports it again; nothing of it was kept.',
  },
  partial_history: {
    sentence: 'partial_history: transfers are held only in part: {gaps}.',
    means:
      'A negative needs native, token and internal transfers from the first block to a fresh tip.',
    next: 'The operator imports the missing blocks, or lets the follower reach the tip.',
  },
  ring_partial: {
    sentence: 'ring_partial: listed addresses are held only in part: {gaps}.',
    means: 'Who dealt with a listed address is known only where each of those is held in full.',
    next: 'The operator reads `exhibit warehouse ring status`.',
  },
  ring_unbuilt: {
    sentence: 'ring_unbuilt: the counterparties of listed addresses cannot be told: {cause}.',
    means: 'The ring around the list is being built, or cannot be held by this deployment.',
    next: 'The operator reads `exhibit warehouse ring status`.',
  },
  node_budget: {
    sentence: 'node_budget: the walk met {met} addresses, more than the {limit} it may hold.',
    means: 'The walk was larger than it may be, so it is not taken as complete.',
    next: 'Nothing: the direct check is complete, and any path that was found is shown.',
  },
  followed_elsewhere: {
    sentence: 'Another process follows {chain}.',
    means: 'A chain has one writer; this process waits to take its place.',
    next: 'Nothing: it takes over within a minute once the other has stopped.',
  },
  follower_failed: {
    sentence: 'Following {chain} failed by a fault of this service; its log has the cause.',
    means: 'The follower met something that it does not know.',
    next: 'It tries again within a minute; the operator looks at the log.',
  },
  follower_stopped: {
    sentence: 'The process that followed {chain} was stopped.',
    means: 'Nothing was lost, and nothing is followed while no process does.',
    next: 'The operator starts `exhibit up` or `exhibit work`.',
  },
  follower_silent: {
    sentence: 'Nothing more was heard of the process that followed {chain}.',
    means: 'It has ended without a word, or cannot reach the control store.',
    next: 'The operator looks at the process that follows it (`exhibit up` or `exhibit work`).',
  },
  row_cap: {
    sentence: 'row_cap: the transfers of {address} were cut after {limit} rows.',
    means: 'An address has more transfers than one reading takes, so some were not seen.',
    next: 'Nothing: the direct check is complete, and any path that was found is shown.',
  },
  time_budget: {
    sentence: 'time_budget: the time for reading transfer history ran out before the walk ended.',
    means: 'A request may spend a fixed time on reading history.',
    next: 'Ask again: what was read live by then is stored, and is not read a second time.',
  },
  high_degree: {
    sentence: 'high_degree: no walk starts from a hub: {degree} counterparties, over {limit}.',
    means: 'The address has so many counterparties, as an exchange has, that it links nobody.',
    next: 'Nothing: the direct check is complete.',
  },
  walk_is_of_today: {
    sentence: 'The walk reads transfer history as it is today, so it was not made for a past day.',
    means: 'The question named a day; the list of that day was searched, and nothing else.',
    next: 'Ask without `on` for the walk of today.',
  },
  other_lists_are_of_today: {
    sentence: 'Other lists are held as they are now, so they were not asked for a past day.',
    means: 'The question named a day; the SDN list of that day was searched, and no other.',
    next: 'Ask without `on` for the other lists of today.',
  },
  other_list_names: {
    sentence: 'Another list names it: {lists}.',
    means: 'The SDN list could not answer, but the address stands on a list of another authority.',
    next: 'See `other_lists` once the SDN list answers; the match stands whatever it says.',
  },
  equivalent_listed: {
    sentence: 'Another form of the same key or account stands on it: {forms}.',
    means: 'The list could not answer for the address as asked, but it holds an equivalent form.',
    next: 'Ask about that form by itself.',
  },
  ...ENTITY_REASONS,
  call_budget: {
    sentence: 'call_budget: more than the {limit} calls that a request may make were needed.',
    means: 'A request may ask outside sources a fixed number of times.',
    next: 'Ask again: what was read live by then is stored, and is not read a second time.',
  },
  ...BRIDGE_REASONS,
  deposit_candidates: {
    sentence:
      'deposit_candidates: {candidates} unlabelled addresses were paid; {limit} of them are read.',
    means: 'The history of each address paid is read in turn, of so many and no more.',
    next: 'Nothing: what was found among those read is shown; the rest was not looked at.',
  },
  no_exchange_held: {
    sentence:
      'No label of this address is held among {rows} rows of the exchange-wallet table. {rest}',
    means: 'The table was read and does not name the address; what else was checked is said.',
    next: 'This does not say that the address is no exchange’s.',
  },
  deployer_chain_not_served: {
    sentence: 'No deployers of {chain}: {refusal}; nothing was checked, and so nothing was found.',
    means: 'Who made which contract is read on Ethereum alone.',
    next: 'Ask about Ethereum. The reason names what keeps the chain from being read.',
  },
  deployer_not_walked: {
    sentence: 'The launches of this address were never walked to their end. {queued}',
    means: 'No record is committed for the address; nothing was checked.',
    next: 'Ask again later, or let the operator run `exhibit deployers walk`.',
  },
  ...LAUNCH_REASONS,
  walk_out_of_time: {
    sentence: 'The walk ran out of time before it came to its end; nothing of it was kept.',
    means: 'A walk of a deployer may take a fixed time, and was longer.',
    next: 'It is walked again later; a deployer of very many contracts may stay without a record.',
  },
  model_not_published: {
    sentence: 'No rug model has been published on this deployment; nothing is scored.',
    means: 'The product ships no model: an operator trains one on launches and publishes it.',
    next: 'The operator runs `exhibit model train` and `exhibit model publish`.',
  },
  model_unusable: {
    sentence: 'The published rug model {version} cannot be used: {fault}; nothing is scored.',
    means: 'The artefact in force is damaged, or was made by another version of Exhibit.',
    next: 'The operator publishes an artefact that this version can read.',
  },
  no_record: {
    sentence: 'no_record: the walk of {at} attributes no token launch to this address. {examined}',
    means: 'A walk ran and credits the address with no ERC-20 token.',
    next:
      'This does not clear the address: launches through a public launchpad are credited to ' +
      'nobody here.',
  },
  ...FLAG_REASONS,
  page_of_nobody: {
    sentence:
      'Nobody is signed in here, and this is read from outside sources: it was not looked at.',
    means: 'A page that anybody may open shows what is held, and asks no provider.',
    next: 'Sign in and open the page again, or ask the route with a key.',
  },
  page_membership_inactive: {
    sentence: 'The membership that is signed in is not active, so this was not looked at.',
    means: 'Only an active membership has anything read from outside sources.',
    next: 'See the plans, or sign in as another membership.',
  },
  page_allowance_spent: {
    sentence: 'All {limit} requests of this UTC day are used, so this was not looked at.',
    means: 'A page that is read from outside sources is a request of the membership’s allowance.',
    next: 'Open the page again after midnight UTC.',
  },
  sections_unanswered: {
    sentence: 'Each section was left without an answer. {sections}',
    means: 'Of the routes that a scan asks, each said why it could not answer.',
    next: 'Read the reason of each section: it is that of its own route.',
  },
} as const satisfies { readonly [code: string]: Row };

/** A stable name of a reason. */
export type ReasonCode = keyof typeof REASONS;

/** All codes, for those who validate one that another process told. */
export const REASON_CODES = Object.keys(REASONS) as ReasonCode[];

const HOLE = /\{([a-z_]+)\}/g;

type Holes<S extends string> = S extends `${string}{${infer Hole}}${infer Rest}`
  ? Hole | Holes<Rest>
  : never;
type Filling<C extends ReasonCode> = {
  readonly [H in Holes<(typeof REASONS)[C]['sentence']>]: string;
};

/** Fills a reason's sentence. Fillings name sources by scheme and host at most. */
export function why<C extends ReasonCode>(
  code: C,
  ...filling: [Holes<(typeof REASONS)[C]['sentence']>] extends [never] ? [] : [Filling<C>]
): Why {
  const sentence: string = REASONS[code].sentence;
  const [holes] = filling;
  if (holes === undefined) return { code, reason: sentence };
  // In one pass and by function: a filling may come from outside, and is never a pattern itself.
  const fillings = new Map(Object.entries<string>(holes));
  const filled = sentence.replace(HOLE, (hole, name: string) => {
    const value = fillings.get(name);
    return value === undefined ? hole : value;
  });
  return { code, reason: filled };
}
