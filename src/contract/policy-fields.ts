// The fields that a caller's policy may name, and by which typed fields of an answer each of them
// counts as read. `docs/reference/policy/fields.json` publishes the table.

import type { RuleField, RuleUnit } from './rules.ts';

/** The answers that a policy may read, by the routes that give them. */
export const POLICY_ANSWERS = {
  screen: 'bulk_wallet_screen',
  ofac: 'wallet_ofac',
  evidence: 'wallet_score',
  exchanges: 'wallet_cex',
  bridges: 'wallet_bridges',
  deployer: 'deployer_record',
} as const;
export type PolicyAnswer = keyof typeof POLICY_ANSWERS;

/** What stands at a path of an answer. `*` steps into every item of a list. */
type Standing = {
  readonly at: string;
  readonly in: readonly (string | boolean | null)[];
};

/** A field of an answer, as a policy names it. */
export type PolicyField = RuleField & {
  readonly answer: PolicyAnswer;
  /** Where its value stands; with a `*` there may be several, and one of them is enough. */
  readonly at: string;
  /** Its value is the number of items of the list that stands there. */
  readonly count?: true;
  /** The field was read where each of these stands so. */
  readonly read: readonly Standing[];
  /**
   * It was read and there is no value where all of one of these lists stand so. One of each list is
   * a null in place of the value: an answer that does not tell it says nothing.
   */
  readonly nothing: readonly (readonly Standing[])[];
};

const ALONE: readonly RuleUnit[] = [{ written: '', unit: null, assumed: false }];
const ALWAYS: readonly Standing[] = [];
const NEVER: PolicyField['nothing'] = [];

const FLAG = { type: 'flag' } as const;
const TEXT = { type: 'text' } as const;
const NUMBER = { type: 'number', units: ALONE } as const;

const stands = (at: string, ...values: readonly (string | boolean | null)[]): Standing => ({
  at,
  in: values,
});

const RESULT = 'data.results.*';
const LIST_READ = stands(`${RESULT}.checked.sanctions_list`, true);
const OTHERS_READ = stands(`${RESULT}.checked.other_lists`, true);
const LABELS_READ = stands(`${RESULT}.checked.exchange_table`, true);
const CORPUS_READ = stands(`${RESULT}.checked.launch_corpus`, true);
const NO_LABEL: PolicyField['nothing'] = [
  [stands(`${RESULT}.exchange`, null), LABELS_READ],
  [
    stands(`${RESULT}.exchange`, null),
    stands(`${RESULT}.unasked.exchange_table`, 'does_not_apply'),
  ],
];
const NO_LAUNCH: PolicyField['nothing'] = [
  [stands(`${RESULT}.launches`, null), CORPUS_READ],
  [stands(`${RESULT}.launches`, null), stands(`${RESULT}.unasked.launch_corpus`, 'does_not_apply')],
];

const SCREEN = { answer: 'screen' } as const;
const OFAC = { answer: 'ofac' } as const;
const EVIDENCE = { answer: 'evidence' } as const;
const EXCHANGES = { answer: 'exchanges' } as const;
const BRIDGES = { answer: 'bridges' } as const;
const DEPLOYER = { answer: 'deployer' } as const;
const ACTIVITY_READ = stands('data.activity.checked', true);
const TRACE_READ = stands('data.coverage.checked', true);
const WALKED = stands('data.proximity.checked', true);
const CLUSTER_READ = stands('data.entity_checked', true);
const NO_CLUSTER: PolicyField['nothing'] = [[stands('data.entity', null), CLUSTER_READ]];
const LABEL_READ = stands('data.label_checked', true);
const LABEL_MISSED: PolicyField['nothing'] = [[stands('data.label', null), LABEL_READ]];

export const POLICY_FORMS = ['evm', 'solana', 'bitcoin', 'tron', 'other'] as const;
export const POLICY_ROLES = ['hot', 'cold', 'deposit', 'deployer', 'treasury', 'other'] as const;
export const POLICY_LAUNCH_ANSWERS = ['flagged', 'record'] as const;
/** `unchecked` is a state too; it is none that was read. */
export const POLICY_RECORDS = ['all_died', 'mixed', 'no_listed_launch'] as const;
export const POLICY_ACCOUNTS = ['eoa', 'contract', 'token'] as const;
export const POLICY_FINDINGS = [
  'listed_itself',
  'listed_counterparty',
  'way_to_listed',
  'funded_by_listed',
  'dust_from_listed',
  'listed_in_facts',
  'flagged_itself',
  'flagged_counterparty',
  'funded_by_flagged',
  'created_flagged_contract',
  'flagged_in_facts',
  'poisoning_received',
  'mixer_contact',
  'coinjoin',
  'bridge_contact',
  'exchange_deposit',
  'exchange_withdrawal',
  'labelled_in_facts',
  'proxy_authority',
  'delegated_account',
  'issuer_freeze',
  'open_approval_to_listed',
  'open_approval_to_flagged',
] as const;

/** The fields by their names. */
export const POLICY_FIELDS: ReadonlyMap<string, PolicyField> = new Map<string, PolicyField>([
  [
    'screen.form',
    {
      ...SCREEN,
      type: 'word',
      words: POLICY_FORMS,
      at: `${RESULT}.kind`,
      read: ALWAYS,
      nothing: NEVER,
      means: 'The form of the address.',
    },
  ],
  [
    'screen.sanctioned',
    {
      ...SCREEN,
      ...FLAG,
      at: `${RESULT}.sanctions.listed`,
      read: [LIST_READ],
      nothing: NEVER,
      means: 'Whether it stands on the published sanctions list.',
    },
  ],
  [
    'screen.form_sanctioned',
    {
      ...SCREEN,
      ...FLAG,
      at: `${RESULT}.equivalent_forms.*.listed`,
      read: [LIST_READ],
      nothing: NEVER,
      means: 'Whether another form of the same key or account stands on that list.',
    },
  ],
  [
    'screen.program',
    {
      ...SCREEN,
      ...TEXT,
      at: `${RESULT}.sanctions.programs.*`,
      read: [LIST_READ],
      nothing: NEVER,
      means: 'The programmes of its entries on that list.',
    },
  ],
  [
    'screen.elsewhere_listed',
    {
      ...SCREEN,
      ...FLAG,
      at: `${RESULT}.other_lists.*.listed`,
      read: [OTHERS_READ],
      nothing: NEVER,
      means: 'Whether it stands on a list of another authority.',
    },
  ],
  [
    'screen.exchange',
    {
      ...SCREEN,
      ...TEXT,
      at: `${RESULT}.exchange.entity`,
      read: [LABELS_READ],
      nothing: NO_LABEL,
      means: 'The exchange whose label it has.',
    },
  ],
  [
    'screen.exchange_role',
    {
      ...SCREEN,
      type: 'word',
      words: POLICY_ROLES,
      at: `${RESULT}.exchange.role`,
      read: [LABELS_READ],
      nothing: NO_LABEL,
      means: 'How that exchange uses it.',
    },
  ],
  [
    'screen.launches',
    {
      ...SCREEN,
      type: 'word',
      words: POLICY_LAUNCH_ANSWERS,
      at: `${RESULT}.launches.answer`,
      read: [CORPUS_READ],
      nothing: NO_LAUNCH,
      means: 'What the Solana launch corpus says of its settled launches.',
    },
  ],
  [
    'screen.launches_died',
    {
      ...SCREEN,
      ...NUMBER,
      at: `${RESULT}.launches.died`,
      read: [CORPUS_READ],
      nothing: NO_LAUNCH,
      means: 'How many of its settled launches died.',
    },
  ],
  [
    'screen.simulated',
    {
      ...SCREEN,
      ...FLAG,
      at: 'simulated',
      read: ALWAYS,
      nothing: NEVER,
      means: 'Whether the screen rests on simulated data.',
    },
  ],
  [
    'ofac.sanctioned',
    {
      ...OFAC,
      ...FLAG,
      at: 'data.sanctioned',
      read: ALWAYS,
      nothing: NEVER,
      means: 'Whether it stands on the published sanctions list.',
    },
  ],
  [
    'ofac.form_sanctioned',
    {
      ...OFAC,
      ...FLAG,
      at: 'data.equivalent_forms.*.listed',
      read: ALWAYS,
      nothing: NEVER,
      means: 'Whether another form of the same key or account stands on that list.',
    },
  ],
  [
    'ofac.program',
    {
      ...OFAC,
      ...TEXT,
      at: 'data.matches.*.programs.*',
      read: ALWAYS,
      nothing: NEVER,
      means: 'The programmes of its entries on that list.',
    },
  ],
  [
    'ofac.elsewhere_listed',
    {
      ...OFAC,
      ...FLAG,
      at: 'data.other_lists.*.listed',
      read: [stands('data.other_lists.*.checked', true)],
      nothing: NEVER,
      means: 'Whether it stands on a list of another authority.',
    },
  ],
  [
    'ofac.reaches_listed',
    {
      ...OFAC,
      ...FLAG,
      at: 'data.proximity.found',
      read: [WALKED],
      nothing: NEVER,
      means: 'Whether its transfers lead to a listed address within two hops.',
    },
  ],
  [
    'ofac.hops',
    {
      ...OFAC,
      ...NUMBER,
      at: 'data.proximity.hops',
      read: [WALKED],
      nothing: [
        [stands('data.proximity.hops', null), stands('data.proximity.found', false), WALKED],
      ],
      means: 'The hops to the nearest listed address.',
    },
  ],
  [
    'ofac.hub_contacts',
    {
      ...OFAC,
      ...NUMBER,
      at: 'data.proximity.hub_contacts_count',
      read: [WALKED],
      nothing: NEVER,
      means: 'Addresses with too many counterparties, next to it, that dealt with listed ones.',
    },
  ],
  [
    'ofac.chains_left_out',
    {
      ...OFAC,
      ...NUMBER,
      at: 'data.proximity.chains_not_examined',
      count: true,
      read: [WALKED],
      nothing: NEVER,
      means: 'How many chains the walk left out.',
    },
  ],
  [
    'ofac.simulated',
    {
      ...OFAC,
      ...FLAG,
      at: 'simulated',
      read: ALWAYS,
      nothing: NEVER,
      means: 'Whether the answer rests on simulated data.',
    },
  ],
  [
    'evidence.finding',
    {
      ...EVIDENCE,
      type: 'word',
      words: POLICY_FINDINGS,
      at: 'data.findings.*.kind',
      read: [stands('data.findings_checked', true)],
      nothing: NEVER,
      means: 'The kinds of finding that were made.',
    },
  ],
  [
    'evidence.label',
    {
      ...EVIDENCE,
      ...TEXT,
      at: 'data.label.entity',
      read: [LABEL_READ],
      nothing: LABEL_MISSED,
      means: 'Whom its published label names.',
    },
  ],
  [
    'evidence.label_role',
    {
      ...EVIDENCE,
      type: 'word',
      words: POLICY_ROLES,
      at: 'data.label.role',
      read: [LABEL_READ],
      nothing: LABEL_MISSED,
      means: 'How the one whom the label names uses it.',
    },
  ],
  [
    'evidence.account',
    {
      ...EVIDENCE,
      type: 'word',
      words: POLICY_ACCOUNTS,
      at: 'data.facts.kind',
      read: [stands('data.facts_provenance.kind.measured', true)],
      nothing: NEVER,
      means: 'Whether it is an account of a key, a contract or a token.',
    },
  ],
  [
    'evidence.contracts_died',
    {
      ...EVIDENCE,
      ...NUMBER,
      at: 'data.created.died',
      read: [stands('data.created.checked', true), stands('data.created.truncated', false)],
      nothing: NEVER,
      means: 'How many of the tokens that it deployed died.',
    },
  ],
  [
    'evidence.counterparties',
    {
      ...EVIDENCE,
      ...NUMBER,
      at: 'data.flows.counterparties_count',
      read: [stands('data.flows.checked', true)],
      nothing: NEVER,
      means: 'With how many addresses it exchanged transfers.',
    },
  ],
  [
    'evidence.cluster_size',
    {
      ...EVIDENCE,
      ...NUMBER,
      at: 'data.entity.members',
      count: true,
      read: [CLUSTER_READ],
      nothing: NO_CLUSTER,
      means: 'How many addresses its entity has, itself among them.',
    },
  ],
  [
    'evidence.cluster_label',
    {
      ...EVIDENCE,
      ...TEXT,
      at: 'data.entity.labels.*',
      read: [CLUSTER_READ],
      nothing: NO_CLUSTER,
      means: 'The labels of the addresses of its entity.',
    },
  ],
  [
    'evidence.cluster_confidence',
    {
      ...EVIDENCE,
      ...NUMBER,
      at: 'data.entity.confidence',
      read: [CLUSTER_READ],
      nothing: NO_CLUSTER,
      means: 'How sure it is, from 0 to 1, that the address belongs to its entity.',
    },
  ],
  [
    'evidence.simulated',
    {
      ...EVIDENCE,
      ...FLAG,
      at: 'simulated',
      read: ALWAYS,
      nothing: NEVER,
      means: 'Whether the evidence rests on simulated data.',
    },
  ],
  [
    'exchanges.dealt_with',
    {
      ...EXCHANGES,
      ...TEXT,
      at: 'data.activity.exchanges.*.entity',
      read: [ACTIVITY_READ],
      nothing: NEVER,
      means: 'The exchanges with whose wallets it exchanged transfers.',
    },
  ],
  [
    'exchanges.dealt_with_count',
    {
      ...EXCHANGES,
      ...NUMBER,
      at: 'data.activity.exchanges',
      count: true,
      read: [ACTIVITY_READ],
      nothing: NEVER,
      means: 'How many they are.',
    },
  ],
  [
    'exchanges.deposit_addresses',
    {
      ...EXCHANGES,
      ...NUMBER,
      at: 'data.activity.inferred_deposit_addresses',
      count: true,
      read: [ACTIVITY_READ],
      nothing: NEVER,
      means: 'How many deposit addresses of exchanges were inferred from what it paid.',
    },
  ],
  [
    'exchanges.cluster_label',
    {
      ...EXCHANGES,
      ...TEXT,
      at: 'data.linked.*.entity',
      read: [stands('data.linked_reason', null)],
      nothing: NEVER,
      means: 'The exchanges that the table names for addresses of its cluster.',
    },
  ],
  [
    'exchanges.simulated',
    {
      ...EXCHANGES,
      ...FLAG,
      at: 'simulated',
      read: ALWAYS,
      nothing: NEVER,
      means: 'Whether that answer rests on simulated data.',
    },
  ],
  [
    'bridges.protocol',
    {
      ...BRIDGES,
      ...TEXT,
      at: 'data.protocols_seen.*',
      read: [TRACE_READ],
      nothing: NEVER,
      means: 'The bridge protocols with which it dealt, on the chain that was asked about.',
    },
  ],
  [
    'bridges.transfers',
    {
      ...BRIDGES,
      ...NUMBER,
      at: 'data.totals.transfers',
      read: [TRACE_READ],
      nothing: NEVER,
      means: 'How many transfers it exchanged with bridges there.',
    },
  ],
  [
    'bridges.chain',
    {
      ...BRIDGES,
      ...TEXT,
      at: 'data.chain',
      read: ALWAYS,
      nothing: NEVER,
      means: 'The chain that was asked about.',
    },
  ],
  [
    'bridges.simulated',
    {
      ...BRIDGES,
      ...FLAG,
      at: 'simulated',
      read: ALWAYS,
      nothing: NEVER,
      means: 'Whether that answer rests on simulated data.',
    },
  ],
  [
    'deployer.record',
    {
      ...DEPLOYER,
      type: 'word',
      words: POLICY_RECORDS,
      at: 'data.state',
      read: ALWAYS,
      nothing: NEVER,
      means: 'What became of the tokens that it launched, where each that counts was read.',
    },
  ],
  [
    'deployer.simulated',
    {
      ...DEPLOYER,
      ...FLAG,
      at: 'simulated',
      read: ALWAYS,
      nothing: NEVER,
      means: 'Whether the record rests on simulated data.',
    },
  ],
]);
