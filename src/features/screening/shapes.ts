// The shapes of a bulk screen: its states and the fields of one address.

import { z } from 'zod';
import { FORM_RELATIONS } from '../../chain/address.ts';
import {
  checkedFlagOrNull,
  claimedWordsOfAsked,
  harmless,
  isoDay,
  negative,
  oneOf,
  prose,
  rowFact,
  unixSeconds,
  words,
} from '../../contract/wire.ts';
import { DATED_BY } from '../../evidence/source.ts';
import { LAUNCH_ANSWERS } from '../../ports/launches.ts';

/** The tables that a screen reads. */
export const SCREENED_TABLES = [
  'sanctions_list',
  'exchange_table',
  'launch_corpus',
  'other_lists',
] as const;
export type TableName = (typeof SCREENED_TABLES)[number];

/** The states of a screen of one address. */
export const SCREEN_STATES = ['ok', 'insufficient_evidence', 'not_deployed'] as const;

const EXCHANGE = { restsOn: ['exchange_labels'] } as const;
const CORPUS = { restsOn: ['launch_corpus'] } as const;
const OTHERS = { restsOn: ['other_lists'] } as const;
const LIST = { restsOn: ['sanctions_list'] } as const;
// The engine sees to it that each of the tables that were asked about was read.
const NOTHING_HELD = {
  restsOn: ['sanctions_list', 'exchange_labels'],
  limitedTo: ['sanctions_list', 'exchange_labels', 'launch_corpus', 'other_lists'],
} as const;

const exchange = z.strictObject({
  label: words(),
  entity: words(),
  role: words(),
  confidence: words(),
  clusterable: rowFact(z.boolean(), EXCHANGE),
});

const launches = z.strictObject({
  answer: oneOf(LAUNCH_ANSWERS),
  launches_settled: z.int().positive(),
  died: rowFact(z.int().nonnegative(), CORPUS),
});

const sanctions = z.strictObject({
  listed: negative(z.boolean(), LIST),
  programs: negative(z.array(words()).nullable(), LIST),
  list_published: isoDay,
});

/** Another form of the same key or account, where that stands on a list. */
const listedForm = z.strictObject({
  form: words(),
  address: words(),
  relation: oneOf(FORM_RELATIONS),
  listed: z.literal(true),
});
export type ListedForm = z.output<typeof listedForm>;

/** The answer of one list of another authority about an address. */
const otherList = z.strictObject({
  list: words(),
  listed: negative(z.boolean().nullable(), OTHERS),
  entity: words().nullable().describe('Whom its entries name, of other forms and ended ones too.'),
  equivalent_forms: negative(z.array(listedForm).nullable(), OTHERS),
  as_of: unixSeconds,
  dated_by: oneOf(DATED_BY),
  reason: prose()
    .nullable()
    .describe('Why a miss is no answer: `listed` and `equivalent_forms` are null then.'),
});

export type ListingElsewhere = z.input<typeof otherList>;

/** One screen result: what the tables that were read hold of one address. */
export const screenResult = z.strictObject({
  address: words(),
  kind: oneOf(['evm', 'solana', 'bitcoin', 'tron', 'other']),
  state: claimedWordsOfAsked(SCREEN_STATES, ['insufficient_evidence'], NOTHING_HELD),
  exchange: exchange.nullable(),
  launches: launches.nullable(),
  sanctions: sanctions.nullable(),
  equivalent_forms: negative(z.array(listedForm), LIST).nullable(),
  other_lists: z
    .array(otherList)
    .min(1)
    .nullable()
    .describe('Lists of other authorities, apart from `sanctions`.'),
  checked: z.strictObject({
    exchange_table: checkedFlagOrNull(EXCHANGE),
    launch_corpus: checkedFlagOrNull(CORPUS),
    other_lists: checkedFlagOrNull(OTHERS),
    sanctions_list: checkedFlagOrNull(LIST),
  }),
  reason: prose().optional(),
});

export type ScreenResult = z.input<typeof screenResult>;

const count = harmless(z.int().nonnegative(), 'it counts the states of the results beside it');

/** How many results have each state. */
export const stateCounts = z.strictObject({
  ok: count,
  insufficient_evidence: count,
  not_deployed: count,
});
export type StateCounts = z.output<typeof stateCounts>;
