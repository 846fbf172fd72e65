// Which reasons are about launches of Solana, and about who made them?
// They are rows of the one table of reasons, which says what a row holds.

/** Reasons of the launches on record. */
export const LAUNCH_REASONS = {
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
    sentence:
      'no_record: this wallet signed none of {launches} settled launches on record.{unsettled}',
    means: 'The launches on record were read, and none that has settled is of this wallet.',
    next: 'This does not clear the wallet: what is on record is a part of what is launched.',
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
} as const;
