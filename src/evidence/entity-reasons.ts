// Which reasons are about what an account is, and about who shares a controller?
// They are rows of the one table of reasons, which says what a row holds.

/** Reasons of chain facts and entities. */
export const ENTITY_REASONS = {
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
} as const;
