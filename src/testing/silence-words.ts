// The sentences of answers that deny something, with their ports. Reasons, caveats and notes are
// coded constants: each with a word that denies stands in this table.

import { REASONS, type ReasonCode } from '../evidence/reasons.ts';

/** A word by which a sentence could deny something. */
const DENYING = new RegExp(
  [
    /\b(no|none|never|nothing|nobody|neither|nor|zero)\b/,
    /\b(not (found|seen|held|listed|flagged|labelled|linked|named)|without (any|a single))\b/,
    /\b(absent|unlabelled|unlinked|unlisted|untouched|(clean|clear|free) of)\b/,
    // A count or a contraction: “contacts: 0.”, “0 transfers were met”, “it isn’t listed”.
    /:\s0(;|\.(?!\d)|$)|(^|\s)0 [a-z]+ (is|are|was|were)\b|n['’]t\b/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
);

/** A sentence with such a word, and what it rests on: nothing, where it denies nothing. */
type Saying = readonly [sentence: string, restsOn: readonly string[]];

const LABELS = ['exchange_labels'];
const LISTS = ['sanctions_list', 'exchange_labels'];

/** Reasons with such a word that tell what was not looked at, and deny nothing of an address. */
const OF_SILENCE: readonly ReasonCode[] = [
  ...(['tables_unread', 'no_table_read', 'no_evidence', 'no_bridge_seen', 'no_history'] as const),
  ...(['high_degree', 'entity_service', 'entity_nobody', 'creation_not_found'] as const),
  ...(['list_never_loaded', 'list_date_not_covered', 'table_never_imported'] as const),
  ...(['not_configured', 'registry_row_missing', 'receipt_not_held', 'simulated'] as const),
  ...(['partial_history', 'form_not_recognised', 'deployer_not_walked'] as const),
  'deployer_chain_not_served',
  'launch_collection_stale',
  'never_scored',
  'ring_partial',
];

/** Every sentence with such a word. One that fits is taken out of a text before the next. */
const SAYINGS: readonly Saying[] = [
  [REASONS.no_record_held.sentence, LISTS],
  [REASONS.no_exchange_held.sentence, LABELS],
  [REASONS.no_exchange_held_partly.sentence, LABELS],
  [REASONS.account_without_code.sentence, ['chain_facts']],
  ['No labelled address was found in its cluster.', ['exchange_labels', 'entity_clusters']],
  [
    'Its transfer history was read, and none of it is with a labelled exchange wallet.',
    ['exchange_labels', 'transfer_history'],
  ],
  [REASONS.no_receipt.sentence, ['receipts']],
  [REASONS.no_record_outdated.sentence, ['deployer_records']],
  [REASONS.no_record.sentence, ['deployer_records']],
  [REASONS.no_record_no_token.sentence, ['deployer_records']],
  [REASONS.mint_not_held.sentence, ['wallet_launches']],
  [REASONS.creator_unsettled.sentence, ['wallet_launches']],
  [REASONS.no_record_settled.sentence, ['wallet_launches']],
  [REASONS.no_record_waiting.sentence, ['wallet_launches']],
  [REASONS.no_record_misread.sentence, ['wallet_launches']],
  [REASONS.quiet_window.sentence, ['rug_flags']],
  ['The log holds no such leaf.', ['transparency_log']],
  ['No signal has this id.', ['signals']],
  ['Nothing was emitted for this pair.', ['emitted_calls']],
  ['No root of this log that covers the signal was sent to the contract that is set.', ['anchors']],
  ['The venue was asked, and has no account at this address.', ['trader_analyses']],
  ['The venue was asked, and holds no fills of this account.', ['trader_analyses']],
  ['No published key that its operator alone holds signed the checkpoint.', ['transparency_log']],
  ['A source that gave no evidence stands in evidence_summary.gaps with its reason', []],
  ['dormant holds no data yet', []],
  ['unmeasured, never zero', []],
  ['Calls were received here before and none within three days:', ['provider_calls']],
  ['may have stopped. That says nothing about any provider.', []],
  ['No call was ever received here.', ['provider_calls']],
  ['A gap says nothing about the address.', []],
  ['It is no investment, legal or tax advice, and no recommendation to transact.', []],
  ['No creation by it was met.', ['deployer_records']],
  [' never listed: in no rate.', ['deployer_records']],
  [': no venue lists a pair.', ['deployer_records']],
  ...OF_SILENCE.map((code): Saying => [REASONS[code].sentence, []]),
  ['This membership has no such record.', []],
  ['This membership watches nothing under this id.', []],
  ['that the look before did not, or found no more; each with its version.', []],
  ['What could not be read is named in not_read and changes nothing:', []],
  // The meanings that a field or an answer does not have.
  ['a record that is not flagged is no clearance.', []],
  ['likelier to be gone 24 hours later, and nothing else.', []],
  ['could not be checked: in no rate, and no death.', []],
  ['Whether an exchange ever made a pair of what no venue lists was not read.', []],
  ['No node is set.', []],
  ['nothing here is scored, and a record without a death is no clearance.', []],
  ['could not be determined, which is not a finding.', []],
  ['no other list was searched.', []],
  ['and is no part of `sanctioned`.', []],
  ['No chain facts are read of this kind of address', []],
  ['The text is of no known address form', []],
  ['what is not listed was not looked for to the end.', []],
  ['not a designation, and no part of `sanctioned`.', []],
  ['while it is not, a false is no negative result.', []],
  ['That none was touched does not show that nothing was bridged.', []],
  ['that none is held does not say whose it is.', []],
  ['paid by many unrelated people and link nobody.', []],
  ['the address itself signed none of', []],
  ['none is counted as a contact', []],
  ['of no value', []],
  ['It is no label.', []],
  ['That no receipt names an address says nothing about it.', []],
  ['Nothing read shows whether an inferred address is a contract.', []],
  ['poisoning or spam make no activity;', []],
  ['while it is not, nothing is ruled out.', []],
  ['no finding is a judgement of the address or its owner, and a list without one is no', []],
  ['No transfer, counterparty or chain was read, so it is no forensic reconstruction', []],
  ['A label that was removed is no longer held from its source;', []],
  ['Confidence 1.0 with no evidence is the shape of no data, not a confident answer:', []],
  ['No link found does not show one owner of one address.', []],
  ['barred by a label link nobody.', []],
];

const HOLE = /\{[a-z_]+\}/g;
const SPECIAL = /[.*+?^${}()|[\]\\]/g;

const COMPILED = SAYINGS.map(([sentence, restsOn]) => {
  const literals = sentence.split(HOLE);
  const pattern = literals.map((one) => one.replace(SPECIAL, '\\$&')).join('.*?');
  // To look for a literal first costs a small part of what the pattern does.
  const [longest = ''] = [...literals].sort((a, b) => b.length - a.length);
  return { longest, pattern: new RegExp(pattern, 'gs'), restsOn };
});

/** The denials of a text: their ports, and undeclared ones. */
type Wording = {
  readonly denials: readonly (readonly string[])[];
  readonly undeclared: string | null;
};

const known = new Map<string, Wording>();

/** Reads a text for words that deny. */
export function wordingOf(text: string): Wording {
  const held = known.get(text);
  if (held !== undefined) return held;
  const denials: (readonly string[])[] = [];
  let rest = text;
  for (const { longest, pattern, restsOn } of COMPILED) {
    if (!rest.includes(longest)) continue;
    const less = rest.replace(pattern, ' ');
    if (less !== rest && restsOn.length > 0) denials.push(restsOn);
    rest = less;
  }
  const undeclared = DENYING.test(rest) ? rest.trim() : null;
  const wording = { denials, undeclared };
  known.set(text, wording);
  return wording;
}
