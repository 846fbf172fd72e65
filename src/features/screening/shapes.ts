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
import { launchesOfWallet } from '../tables/shapes.ts';

export const SCREENED_TABLES = [
  'sanctions_list',
  'exchange_table',
  'launch_corpus',
  'other_lists',
] as const;
export type TableName = (typeof SCREENED_TABLES)[number];

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

const launches = launchesOfWallet(CORPUS);

const sanctions = z.strictObject({
  listed: negative(z.boolean(), LIST),
  programs: negative(z.array(words()).nullable(), LIST),
  entity: words().nullable().describe('Whom its entries name; null where none names anybody.'),
  uids: harmless(z.array(words()), 'that no entry holds it is denied by `listed`'),
  list_published: isoDay,
  list_sha256: words(z.string().regex(/^[0-9a-f]{64}$/)),
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

/** A table that was asked and not read to its end: what it lacks is not checked. */
export const unreadTable = z.strictObject({
  table: oneOf(SCREENED_TABLES),
  code: words(),
  reason: prose(),
});
export type UnreadTable = z.output<typeof unreadTable>;

/** The words for what one table says of one address, wherever a screen is shown. */
export const LOOK_WORDS = {
  listed: 'LISTED',
  form_listed: 'FORM LISTED',
  ended: 'ended',
  record: 'record',
  no_record: 'no record',
  not_checked: 'not checked',
  not_asked: 'not asked',
  does_not_apply: 'does not apply',
} as const;
export type Look = keyof typeof LOOK_WORDS;

type Listing = {
  readonly listed: boolean | null;
  readonly entity: string | null;
  readonly equivalent_forms: readonly unknown[] | null;
};

/** The fields of a result by which a look-up is told. */
type Looked = {
  readonly kind: string;
  readonly exchange: object | null;
  readonly launches: object | null;
  readonly sanctions: { readonly listed: boolean } | null;
  readonly equivalent_forms?: readonly unknown[] | null | undefined;
  readonly other_lists?: readonly Listing[] | null | undefined;
  readonly checked: {
    readonly exchange_table: boolean | null;
    readonly launch_corpus: boolean | null;
    readonly other_lists?: boolean | null | undefined;
    readonly sanctions_list: boolean | null;
  };
};

/** The word of each table about an address. Only `no_record` is an absence. */
export type Looks = {
  readonly sanctions_list: Look;
  readonly equivalent_forms: Look;
  readonly other_lists: Look;
  readonly exchange_table: Look;
  readonly launch_corpus: Look;
};

/** Reads the words off the fields of a result. */
export function looksOf(result: Looked): Looks {
  const { sanctions, equivalent_forms: forms, checked, kind } = result;
  const list = checked.sanctions_list;
  const hasForm = forms !== null && forms !== undefined && forms.length > 0;
  const ofLaunches = result.launches === null ? missOf(checked.launch_corpus) : 'record';
  return {
    sanctions_list: sanctions?.listed === true ? 'listed' : missOf(list, sanctions !== null),
    equivalent_forms: hasForm ? 'listed' : missOf(list, forms !== null && forms !== undefined),
    other_lists: othersLook(result),
    exchange_table: result.exchange === null ? missOf(checked.exchange_table) : 'record',
    // Only wallets of Solana can stand in the corpus of its launches.
    launch_corpus: kind === 'solana' ? ofLaunches : 'does_not_apply',
  };
}

/** The word of a table that holds nothing: `null` is a table that nobody asked. */
function missOf(checked: boolean | null | undefined, isTold = true): Look {
  if (checked === null || checked === undefined) return 'not_asked';
  return checked && isTold ? 'no_record' : 'not_checked';
}

/** The word of one list of another authority. */
export function lookOfListing({ listed, entity, equivalent_forms: forms }: Listing): Look {
  if (listed === true) return 'listed';
  if (forms !== null && forms.length > 0) return 'form_listed';
  if (listed === null || forms === null) return 'not_checked';
  return entity === null ? 'no_record' : 'ended';
}

/** The order in which the word of one list stands for all of them. */
const STRONGEST = ['listed', 'form_listed', 'not_checked', 'ended', 'no_record'] as const;

function othersLook({ other_lists: lists, checked }: Looked): Look {
  const looks = lists?.map(lookOfListing);
  const word = STRONGEST.find((one) => looks?.includes(one) === true);
  return word === undefined ? missOf(checked.other_lists, false) : word;
}

const count = harmless(z.int().nonnegative(), 'it counts the states of the results beside it');

/** How many results have each state. */
export const stateCounts = z.strictObject({
  ok: count,
  insufficient_evidence: count,
  not_deployed: count,
});
export type StateCounts = z.output<typeof stateCounts>;
