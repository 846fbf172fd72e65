// Why something was not checked, or not answered: each reason is a row with a stable code, and
// `why` fills its sentence in. A sentence begins with its code where an answer has one text for
// the code and the sentence. docs/reference/reasons.md is made from this table.

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
    means: 'A past day needs a publication that a check after its end in Washington found newest.',
    next: 'Ask for a day before the last check of the publication that was in force then.',
  },
  store_unreadable: {
    sentence: '{what} could not be read: {fault}.',
    means: 'A store of this deployment did not answer.',
    next: 'Try again later; the operator looks at `exhibit doctor`.',
  },
  stored_form_unknown: {
    sentence: '{what} holds this in a form that this version does not read.',
    means: 'A newer version wrote the row, or it is damaged. Nothing was read of it.',
    next: 'The operator brings all processes to the newer version.',
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
    sentence: 'form not recognised; nothing was checked',
    means: 'The text is no address of a known form and does not stand on the list.',
    next: 'Send an EVM, Solana, Bitcoin or Tron address.',
  },
  solana_letter_case: {
    sentence: 'not a 32-byte key; check its letter case',
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
  series_not_held: {
    sentence: 'series_not_held: {series} was not read for any part of {span}.',
    means: 'Nobody read this market series for this time, so it says nothing about it.',
    next: 'The operator imports the series, or configures its venue.',
  },
  series_in_part: {
    sentence: 'series_in_part: {series} is held only in part; not covered: {holes}.',
    means: 'A market series is complete only where its coverage holds every instant.',
    next: 'The operator imports what is missing (`exhibit series status` lists it).',
  },
  series_too_long: {
    sentence: 'series_too_long: {series} has over {limit} rows in this span.',
    means: 'One reading of a market series takes so many rows at most, and shows none of them cut.',
    next: 'Ask for a shorter span.',
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
  hub_unread: {
    sentence:
      'hub_unread: too busy to walk past: {hubs}. If they dealt with the list is unread: {cause}',
    means:
      'An address with too many counterparties is left out of a walk. Whether it dealt with a ' +
      'listed address is told by the histories of those, which are not all read.',
    next: 'The operator reads `exhibit warehouse ring status`; the next walk looks again.',
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
  entity_not_examined: {
    sentence: 'The history of this address on {chain} was not examined to its end for links.',
    means: 'A cluster without a link needs the whole history of the address, read and examined.',
    next: 'Ask the entity route for it, or let the operator import the history that is missing.',
  },
  no_evidence: {
    sentence: 'No chain facts, no label and no engine answer exist for this address: {silent}',
    means: 'What could be asked here was read and holds nothing; the rest cannot be asked here.',
    next: 'This is not a statement about the address. The reason names what is not read here.',
  },
  account_without_code: {
    sentence: 'An account without code was made by nobody, has no source and hands out no powers.',
    means: 'The address holds no code on this chain, so that what concerns contracts is not asked.',
    next: 'Nothing.',
  },
  not_for_this_kind: {
    sentence: 'This table is of EVM contracts and was not asked of this kind of address.',
    means: 'A registry of contracts holds none of the address’s own kind.',
    next: 'Nothing.',
  },
  not_wanted: {
    sentence: 'This fact was not asked for.',
    means: 'A reading that an answer does not show was left out to save calls.',
    next: 'Nothing.',
  },
  fact_not_told: {
    sentence: '{source} does not tell {fact}.',
    means: 'A source of chain facts has no means to tell this one.',
    next: 'The operator configures a node or an explorer that does.',
  },
  set_by_unseen: {
    sentence: '{source} does not name the transaction that set it.',
    means: 'A constructor, or a setter without an event, set it.',
    next: 'Read the creation of the contract.',
  },
  set_by_unasked: {
    sentence: 'What set it is read only where the list or a table of flags names whom it names.',
    means: 'Reading it costs calls, and is kept for findings about listed or flagged addresses.',
    next: 'Nothing.',
  },
  creation_not_found: {
    sentence: '{source} knows of no creation of this address, which does not show that it is none.',
    means: 'Explorers leave out accounts, and also contracts that they have not indexed.',
    next: 'Read `code_size` beside it.',
  },
  creation_relayed: {
    sentence: 'It was made by way of {relay} ({tx}): who signed that did so for somebody else.',
    means:
      'A bundler (ERC-4337) or a relayer signs what others want to have done, and pays for it.',
    next: 'Read the transaction: the operation inside names the account that it was signed for.',
  },
  creation_relay_unread: {
    sentence: 'Whether the signer of its creation signed for somebody else was not read.',
    means: 'Bundlers and relayers do; of blocks that are held it is not known what was called.',
    next: 'The operator sets EXHIBIT_EXPLORER_URL or a Blockscout instance of the chain.',
  },
  creations_in_part: {
    sentence: 'The creations of contracts on {chain} are held only in part: {held}.',
    means: 'That no other contract has the same signer needs every creation of the chain.',
    next: 'The operator imports traces of the missing blocks, or lets the follower reach the tip.',
  },
  entity_service: {
    sentence: 'The address serves many (an exchange’s wallet, or a hub), so it links nobody.',
    means: 'Whoever many unrelated people pay or are paid by would join all of them into one.',
    next: 'Ask the exchange route for its label.',
  },
  neighbours_cut: {
    sentence: 'The address has more neighbours than are read in turn for links.',
    means: 'The histories of the neighbours that could show a link are read up to a fixed number.',
    next: 'Nothing: what was found among those read is shown; the rest was not looked at.',
  },
  blocks_without_change: {
    sentence: 'In blocks {from} to {to} of Bitcoin no change was told: others were read first.',
    means: 'That an address was paid for the first time needs all blocks before, and none after.',
    next: 'The operator imports into an empty store, from the first block on and in order.',
  },
  entity_nobody: {
    sentence: 'The address belongs to the chain itself or to nobody, so it links nobody.',
    means: 'Burn addresses and the system addresses of chains are no members of an entity.',
    next: 'Nothing.',
  },
  blocks_without_signatures: {
    sentence: 'Blocks {from} to {to} of Bitcoin were taken in without all of their signatures.',
    means:
      'From 2023 on coins are traded by half-signed transactions. Where the source leaves out ' +
      'the witnesses (bitcoin-etl does), a trade looks like a payment, so none is read as one.',
    next: 'The operator imports those blocks from a node, into a store that does not hold them.',
  },
  members_not_examined: {
    sentence: 'Of the members of this cluster {count} were not examined to their end.',
    means: 'Each member may lead to others; so many of them are examined for one answer.',
    next: 'Ask again: what was examined is kept, and the next answer goes on from there.',
  },
  deposit_kind_unknown: {
    sentence: 'Nothing read shows whether {address} is a contract or an account of a customer.',
    means: 'A contract that passes coins on serves anybody; its users are not one customer.',
    next: 'Set a node, so that the code at an address can be read.',
  },
  cluster_cut: {
    sentence: 'The cluster has more than {limit} addresses; what is shown is a part of it.',
    means: 'Ties between addresses are followed as far as a fixed number of addresses.',
    next: 'Nothing: what is shown stands, and the id may be that of a part.',
  },
  call_budget: {
    sentence: 'call_budget: more than the {limit} calls that a request may make were needed.',
    means: 'A request may ask outside sources a fixed number of times.',
    next: 'Ask again: what was read live by then is stored, and is not read a second time.',
  },
  receipts_capped: {
    sentence: 'receipts_capped: only the newest {limit} receipts were read in one request.',
    means: 'Events are read from receipts, of which one request reads a fixed number.',
    next: 'Nothing: transfers are counted whether or not their events were read.',
  },
  receipt_not_held: {
    sentence: '{provider} holds no receipt of this transaction.',
    means: 'A node that does not know a transaction has said nothing about it.',
    next: 'The operator asks an archive node, or reads the receipt from a file.',
  },
  bridge_event_unknown: {
    sentence: 'bridge_event_unknown: {contract} logged an event whose layout is not known.',
    means: 'A contract of the registry of bridges logged something that cannot be read.',
    next: 'The operator reads the transaction in an explorer, or waits for the layout.',
  },
  arrivals_out_of_time: {
    sentence: 'arrivals_out_of_time: the time for reading where it arrived ran out.',
    means: 'A request may spend a fixed time on what another chain logged.',
    next: 'Ask again, or run `exhibit bridges explain --destination`, which has more time.',
  },
  arrivals_cut: {
    sentence:
      'arrivals_cut: it may arrive on {chain} in more than the {blocks} blocks that are read.',
    means: 'What another chain logged is read in so many questions and no more.',
    next: 'Run `exhibit bridges explain --destination`, which reads further.',
  },
  arrivals_head_old: {
    sentence: 'arrivals_head_old: the node of {chain} is behind; what was paid since is not known.',
    means: 'The newest block of the other chain’s node is over an hour old.',
    next: 'The operator looks after the node, or waits until it has caught up.',
  },
  arrivals_not_held: {
    sentence:
      'arrivals_not_held: not all transfers of {chain} in the time of its arrival are held here.',
    means: 'Who was paid what on the other chain is known only where its blocks were imported.',
    next: 'The operator imports those blocks, or follows that chain (`exhibit warehouse follow`).',
  },
  flows_not_held: {
    sentence: 'flows_not_held: not all transfers of {chain} from {from} to {to} are held here.',
    means: 'What flowed into exchanges in an hour is known only where the whole hour is held.',
    next: 'The operator follows that chain (`exhibit warehouse follow`), or imports its blocks.',
  },
  flows_cut: {
    sentence: 'flows_cut: over {limit} pairs of addresses of {chain} moved its coin in an hour.',
    means: 'Of one hour a fixed number of pairs is read, and no sum is made of a part of them.',
    next: 'Nothing: this hour stays a hole.',
  },
  payments_cut: {
    sentence:
      'payments_cut: its recipient was paid more than {limit} times on {chain} in that time.',
    means: 'Of one recipient a fixed number of payments is read.',
    next: 'The operator sets a node of that chain, whose logs tell which payment it was.',
  },
  payments_unread: {
    sentence:
      'payments_unread: {transactions} payments on {chain} may be it; their receipts are unread.',
    means: 'A transfer says who paid how much to whom, and not for which deposit.',
    next: 'The operator sets a node of that chain (EXHIBIT_RPC_<CHAIN>), or looks at them.',
  },
  payments_fit: {
    sentence:
      'payments_fit: {transactions} payments on {chain} have its terms and may be others: {tx}.',
    means: 'They have the terms of the deposit, and anybody could have paid them.',
    next: 'Look at the transaction, or set a node of that chain (EXHIBIT_RPC_<CHAIN>).',
  },
  paid_by_terms: {
    sentence:
      'paid_by_terms: a contract of {protocol} paid its terms; an equal deposit looks the same.',
    means: 'The transfers of that chain are held whole, and exactly one has these terms.',
    next: 'Read the receipt of the transaction, which names the deposit.',
  },
  payee_not_named: {
    sentence:
      'payee_not_named: {event} does not tell whom it pays on {chain}; its sender was looked at.',
    means: 'Without the recipient a payment can be found and never ruled out.',
    next: 'The operator sets a node of that chain, whose logs tell it by its id.',
  },
  payee_may_change: {
    sentence:
      'payee_may_change: {protocol} may pay it to another, where its sender signs for that.',
    means: 'What the recipient was paid does not tell that nobody was.',
    next: 'The operator sets a node of that chain, whose logs tell it by its id.',
  },
  destinations_capped: {
    sentence: 'destinations_capped: where it arrived is looked for of the newest {limit} deposits.',
    means: 'The other side is looked for in one request of a fixed number of deposits.',
    next: 'Run `exhibit bridges explain --destination` for an older one.',
  },
  destination_not_covered: {
    sentence: 'destination_not_covered: what {chain} logs is not read here.',
    means: 'The deposit names a chain whose bridge contracts are on no registry here, or does not.',
    next: 'The operator sets the status page of the protocol, where it has one.',
  },
  destination_not_joined: {
    sentence: 'destination_not_joined: {event} tells too little to know its other side by.',
    means: 'It logs an id on one side only, or terms that the other side does not repeat.',
    next: 'The protocol’s own explorer may know it.',
  },
  payer_not_listed: {
    sentence: 'payer_not_listed: {contract} on {chain}, which may pay this, is not read here.',
    means: 'A contract that pays such deposits is missing on the registry of bridge contracts.',
    next: 'The operator adds its row and runs `exhibit registry check`.',
  },
  status_page_says: {
    sentence: 'status_page_says: {page} says “{word}”, which is its word and not the chain’s.',
    means: 'The protocol’s own status page was asked, and says something else than an arrival.',
    next: 'Look at the page itself. A denial rests on the other chain’s logs alone.',
  },
  status_page_unasked: {
    sentence:
      'status_page_unasked: {page} is not asked about a deposit without an id that it knows.',
    means: 'The protocol’s status page looks deposits up by an id that this event does not bear.',
    next: 'Look the transaction up on the page itself.',
  },
  deposit_not_told: {
    sentence: 'deposit_not_told: which event of its receipt sent this on is not known.',
    means: 'The receipt was read, and its events do not name the user, asset and amount.',
    next: 'The operator reads the transaction in an explorer.',
  },
  deposit_receipt_unread: {
    sentence: 'deposit_receipt_unread: the receipt was not read, and it names where this went.',
    means: 'Where something was sent stands in an event of its transaction alone.',
    next: 'The operator sets a node (EXHIBIT_RPC_<CHAIN>), or reads the receipt from a file.',
  },
  no_bridge_seen: {
    sentence: 'Nothing was traced on {chain}: no bridge contact in {transfers}. {rest}',
    means: 'What could be read shows no bridge contact, and not everything could be read.',
    next: 'Not a negative. The reason names what is missing.',
  },
  registry_row_missing: {
    sentence: 'The table of bridge contracts holds no row for {chain}; nothing was checked.',
    means: 'A chain without a row cannot be traced, whatever its history.',
    next: 'The operator adds rows to the table and runs `exhibit registry check`.',
  },
  not_traced_kind: {
    sentence: 'Bridges are traced for EVM addresses alone; this is a {kind} address.',
    means: 'The table of bridge contracts covers EVM chains.',
    next: 'Nothing.',
  },
  deposit_candidates: {
    sentence:
      'deposit_candidates: {candidates} unlabelled addresses were paid; {limit} of them are read.',
    means: 'The history of each address paid is read in turn, of so many and no more.',
    next: 'Nothing: what was found among those read is shown; the rest was not looked at.',
  },
  no_exchange_held: {
    sentence:
      'No label of this address is held among {rows} rows of the exchange-wallet table. {rest}',
    means: 'The table, its cluster and its activity were read, and none names an exchange.',
    next: 'This does not say that the address is no exchange’s.',
  },
  no_exchange_held_partly: {
    sentence:
      'No label of it among {rows} rows of the exchange-wallet table; not all was read. {rest}',
    means:
      'The table was read and does not name the address; its cluster or activity was not read.',
    next: 'Not a negative. The reason names what was not checked.',
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
  mint_not_held: {
    sentence: 'Not among the launches on record, of which {launches} have settled.',
    means: 'The launches on record were read, and none of them is of this mint.',
    next: 'This is not a statement about the mint: the corpus is a part of what is launched.',
  },
  creator_unsettled: {
    sentence: 'None of the launches of this creator has settled; {waiting} wait to be.',
    means: 'A launch settles 24 hours after it was made, once the venue has told of it.',
    next: 'Ask again after that.',
  },
  no_record_settled: {
    sentence: 'no_record: this wallet signed none of {launches} settled launches on record.',
    means: 'The launches on record were read, and none that has settled is of this wallet.',
    next: 'This does not clear the wallet: what is on record is a part of what is launched.',
  },
  no_record_waiting: {
    sentence:
      'no_record: this wallet signed none of {launches} settled launches; not settled: {waiting}.',
    means: 'The launches on record were read: what this wallet launched has not settled yet.',
    next: 'Ask again 24 hours after its launch.',
  },
  no_record_misread: {
    sentence:
      'no_record: not a 32-byte key; check its letter case. None of {launches} launches has it.',
    means: 'The text has the characters of a Solana key and is none: often a letter in wrong case.',
    next: 'Copy the address again, letter by letter.',
  },
  collected_elsewhere: {
    sentence: 'Another process has gone on from this place; nothing was kept of this step.',
    means: 'Two processes collect the same account, and one of them was faster.',
    next: 'Nothing: the next round goes on from where the other one ended.',
  },
  launch_collection_stale: {
    sentence: 'Launches were collected up to {at} only; past 48 hours a miss shows no absence.',
    means: 'The collection of Solana launches has fallen behind. What it recorded still stands.',
    next: 'The operator looks at the node of `EXHIBIT_RPC_SOLANA` and at the log of the collector.',
  },
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
  signing_key_missing: {
    sentence: 'No signing key is in force on this deployment; nothing was signed.',
    means: 'The control store holds no key whose time has come, or all are marked compromised.',
    next: 'The operator runs `exhibit signing rotate --at-once`.',
  },
  signing_key_unopened: {
    sentence: 'The secret does not open the signing key {kid}; nothing was signed.',
    means: 'The private part was sealed under another EXHIBIT_SECRET, or was changed since.',
    next: 'The operator sets EXHIBIT_SECRET_PREVIOUS, or runs `exhibit signing rotate --at-once`.',
  },
  deployer_walk_in_part: {
    sentence: 'The launches of this address were walked in part: {unread}.',
    means: 'A record is held, and its counts are a floor.',
    next: 'Ask again later: the address is walked again while it launches.',
  },
  no_record_no_token: {
    sentence: 'no_record: the walk of {at} met no token in {contracts} contracts. {examined}',
    means: 'A walk read every contract that the address made, and none of them is a token.',
    next:
      'This does not clear the address: launches through a public launchpad are credited to ' +
      'nobody here.',
  },
  no_record_outdated: {
    sentence: 'no_record: the walk of {at} attributes no token to this address. {examined} {newer}',
    means: 'What is on record is of an older walk; a newer one failed and may have met more.',
    next: 'Ask again later: the address is walked again.',
  },
  no_record: {
    sentence: 'no_record: the walk of {at} attributes no token launch to this address. {examined}',
    means: 'A walk ran and credits the address with no ERC-20 token.',
    next:
      'This does not clear the address: launches through a public launchpad are credited to ' +
      'nobody here.',
  },
  model_withdrawn: {
    sentence: '{withdrawn} Nothing is flagged until another model is published.',
    means: 'Flags of a model whose flags do not die as its card expects are withdrawn by rule.',
    next: 'The operator trains a model on newer launches and publishes it.',
  },
  model_without_level: {
    sentence: 'The rug model {version} flags nothing: no level of its card qualifies.',
    means: 'From no score on did launches of the test part die more often than all of them.',
    next: 'The operator trains a model on more launches; scores are kept meanwhile.',
  },
  quiet_window: {
    sentence:
      'quiet_window: none of {scored} launches scored in {hours} hours ({chains}) is flagged{but}.',
    means: 'A scorer ran to its end over everything that became known in the window.',
    next: 'This clears nobody: what was not collected was not scored.',
  },
  never_scored: {
    sentence:
      'never_scored: no scorer has ever written to the table of flags of this deployment; ' +
      'nothing was checked.',
    means: 'The table exists and no run of a scorer has ended yet.',
    next: 'The operator publishes a model and runs `exhibit work`; `/health` says what is missing.',
  },
  chain_never_scored: {
    sentence: 'Launches on {chain} were never scored on this deployment; nothing was checked.',
    means: 'A scorer has run for another chain, and not for this one.',
    next: 'The operator publishes a model that scores the chain, and collects its launches.',
  },
  scoring_partial: {
    sentence: 'scoring_partial: the last {hours} hours were scored only in part: {gaps}.',
    means: 'A launch that was not scored may be one that the model flags.',
    next: 'Try again later; the operator reads the log of the scorer. Flags that are shown stand.',
  },
  page_of_nobody: {
    sentence:
      'Nobody is signed in here, and this is read from outside sources: it was not looked at.',
    means: 'A page that anybody may open shows what is held, and asks no provider.',
    next: 'Sign in and open the page again, or ask the route with a key.',
  },
  page_being_read: {
    sentence: 'This is being read, and follows on the page.',
    means: 'The list has answered; what is read outside comes later.',
    next: 'Wait until the page has loaded to its end.',
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
  no_evidence_source: {
    sentence: '{what} is read by no source that this version has; nothing was checked.',
    means: 'The bundle of evidence has a place for it, and no provider of it is served.',
    next: 'Nothing: no setting changes it.',
  },
  evidence_made_up: {
    sentence:
      'What this source holds was imported as made up; beside measured evidence it is none.',
    means: 'Rows were imported with `--origin simulated` into a deployment that is not.',
    next: 'The operator imports observed rows.',
  },
  evidence_too_large: {
    sentence: 'The evidence of this source is larger than a bundle may be; none of it is in it.',
    means: 'A bundle has a bound in bytes and in keys, and the largest source gives way.',
    next: 'Ask the route of that source.',
  },
  signal_calls_spent: {
    sentence:
      'Signals may make {limit} calls outside a day (UTC); they are spent, and this was not asked.',
    means: 'The producer of signals has calls of its own, so that it takes none of a caller’s.',
    next: 'The target is looked at again the next day; the operator sets `EXHIBIT_SIGNAL_CALLS`.',
  },
  analyst_over_budget: {
    sentence: 'The language model may cost no more today: {spent} of {limit} USD are spent.',
    means: 'A day (UTC) has a bound in money, which the next question could have passed.',
    next: 'Nothing: the rules word the verdict until the next day.',
  },
  analyst_request_too_large: {
    sentence: 'The bundle is larger than the language model is sent: {bytes} of {limit} bytes.',
    means: 'A question to the language model has a bound in tokens.',
    next: 'Nothing: the rules word the verdict.',
  },
  anchoring_off: {
    sentence: 'No anchoring contract is set on this deployment; the roots of the log are queued.',
    means: 'What stands in the log can be proved against its checkpoints, and on no chain yet.',
    next: 'The operator deploys the contract and sets `EXHIBIT_ANCHOR_CONTRACT`.',
  },
  anchor_contract_other: {
    sentence: 'At {contract} is no anchoring contract that {sender} owns; no root is sent there.',
    means: 'The address, the key or the chain of the anchoring contract is another one.',
    next: 'The operator corrects `EXHIBIT_ANCHOR_CONTRACT`, `_KEY` or `_CHAIN`.',
  },
  anchor_origin_other: {
    sentence:
      'The contract {contract} holds roots of the log {origin}; no root of another is sent.',
    means: 'A log that was restarted, or has another name, counts its sizes anew.',
    next: 'The operator deploys another contract and sets `EXHIBIT_ANCHOR_CONTRACT`.',
  },
  anchor_store_behind: {
    sentence: 'The store does not know every root that was sent to {contract}; none is sent there.',
    means: 'The control store was put back to an earlier state. A second history is not anchored.',
    next: 'The operator restarts the log, deploys another contract and sets it.',
  },
  anchor_file_unread: {
    sentence: 'The file anchoring.json of the data directory {fault}; no root is sent.',
    means:
      'The file tells which roots this machine sent last. Without it a store that was put back ' +
      'would send a second history.',
    next:
      'The operator puts a copy of the file back. Where the control store lost nothing, the file ' +
      'may be moved away: the next root writes it anew.',
  },
  anchor_refused: {
    sentence: 'The contract {contract} would refuse the root of size {size}; it is not sent.',
    means: 'The contract takes roots of growing sizes from its owner only.',
    next: 'The operator looks at the contract on its chain.',
  },
  anchor_behind: {
    sentence: 'The next root waits for size {size} to {contract}, nonce {nonce} of {sender}.',
    means: 'Another contract or account was set while a root was under way. It is followed still.',
    next: 'Nothing: the next root is sent once that one is final or refused.',
  },
  anchor_node_absent: {
    sentence: 'What was sent to {contract} is not followed: no node of chain {chain} is set.',
    means: 'Another chain was set while a root was under way. Its send stays open.',
    next: 'The operator sets the node of the former chain until the root has ended there.',
  },
  anchor_key_absent: {
    sentence: 'A root of {contract} needs a transaction of {sender}, whose key is not set.',
    means: 'What was signed before is sent again as it is, and cannot be made to pay more.',
    next: 'The operator sets the former key until the root has ended, or waits.',
  },
  anchor_nonce_behind: {
    sentence: 'What {sender} sent with nonce {nonce} is in no block that the node knows.',
    means: 'The node lags, the transaction is not mined, or another one took its nonce.',
    next: 'Nothing, or the account uses the nonce for anything else: the next root goes on then.',
  },
  anchor_fee_high: {
    sentence: 'A unit of gas costs {fee} wei, over the limit of {max}; no root is sent.',
    means: 'The fees of the chain are higher than anchoring may pay.',
    next: 'Nothing: the root is sent once the fees have fallen.',
  },
  anchor_purse_empty: {
    sentence: '{sender} has {has} wei, and the transaction of a root may cost {needs}.',
    means: 'The account that anchors cannot pay for its transaction.',
    next: 'The operator sends coins to the account.',
  },
  analysis_broken: {
    sentence: 'The analysis was ended by a fault of this service; its log has the cause.',
    means: 'Nothing was found out about the account: neither the venue nor a store refused.',
    next: 'It is tried again. The operator reads the log where it happens again.',
  },
  sections_unanswered: {
    sentence: 'Each section was left without an answer. {sections}',
    means: 'Of the routes that a scan asks, each said why it could not answer.',
    next: 'Read the reason of each section: it is that of its own route.',
  },
  log_behind: {
    sentence: 'log_behind: the log {origin} is frozen: {cause}.',
    means: 'The store holds less than the log signed, or other than it signed: it was put back.',
    next:
      'The operator brings back the newest control store. Where that is gone, `exhibit log ' +
      'restart --why TEXT --yes` ends this origin with a signed statement and begins another.',
  },
  log_renamed: {
    sentence: 'The log {origin} is frozen: EXHIBIT_LOG_ORIGIN names it {named}.',
    means: 'A log keeps its name: under another one it is another log.',
    next: 'The operator sets the former name again, or begins anew: `exhibit log restart`.',
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

/**
 * The reason of a code, its sentence filled in. Fillings name sources by scheme and host at most.
 * One that may be empty (`{detail}`, `{both}`, `{but}`) brings its own space or comma.
 */
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
