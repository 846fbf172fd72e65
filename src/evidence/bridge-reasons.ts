// Why was something of bridges not checked, or not answered? Rows of the table of reasons.

/** The reasons of receipts, contacts and arrivals. */
export const BRIDGE_REASONS = {
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
    sentence: 'Nothing was traced on {chain}: no bridge contact in {rows} transfers, and {rest}',
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
} as const;
