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
  ended: negative(z.boolean().nullable(), OTHERS).describe(
    'Whether an entry of it, or of another form of it, has ended.',
  ),
  as_of: unixSeconds,
  dated_by: oneOf(DATED_BY),
  reason: prose()
    .nullable()
    .describe('Why a miss is no answer: `listed` and `equivalent_forms` are null then.'),
});

export type ListingElsewhere = z.input<typeof otherList>;

/** Why a table was not asked about an address. */
export const UNASKED = ['does_not_apply', 'not_asked'] as const;
const unasked = oneOf(UNASKED).nullable();

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
  unasked: z
    .strictObject({
      exchange_table: unasked,
      launch_corpus: unasked,
      other_lists: unasked,
      sanctions_list: unasked,
    })
    .describe(
      'Why a flag of `checked` is null: the table can hold no address of this form, or `tables` ' +
        'left it out. Null where the table was asked.',
    ),
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

/** What one list of another authority holds of an address; `null` where a miss is no answer. */
type HeldOnList = {
  readonly listed: boolean | null;
  /** Whether another form of it is listed. */
  readonly form_listed: boolean | null;
  /** Whether an entry of it, or of another form of it, has ended. */
  readonly ended: boolean | null;
};

/** The word of one list of another authority. */
export function lookOfList({ listed, form_listed, ended }: HeldOnList): Look {
  if (listed === true) return 'listed';
  if (form_listed === true) return 'form_listed';
  if (listed === null || form_listed === null || ended === null) return 'not_checked';
  return ended ? 'ended' : 'no_record';
}

/** What a list of another authority says in the screen of one address. */
type OtherListFields = {
  readonly listed: boolean | null;
  readonly matches: readonly object[] | null;
  readonly equivalent_matches: readonly object[] | null;
  readonly equivalent_listed: boolean | null;
};

/** The same word, of the screen of one address. */
export function lookOfOther(list: OtherListFields): Look {
  const { listed, matches, equivalent_matches: forms, equivalent_listed: form_listed } = list;
  const ended = matches === null || forms === null ? null : matches.length + forms.length > 0;
  return lookOfList({ listed, form_listed, ended });
}

/** The order in which the word of one list stands for all of them. */
const STRONGEST = ['listed', 'form_listed', 'not_checked', 'ended', 'no_record'] as const;

/** The word of some lists together; `null`: of none. */
export function lookOfLists(looks: readonly Look[]): Look | null {
  const word = STRONGEST.find((one) => looks.includes(one));
  return word === undefined ? null : word;
}

type Listing = {
  readonly listed: boolean | null;
  readonly entity: string | null;
  readonly equivalent_forms: readonly unknown[] | null;
  /** An earlier service does not tell it. */
  readonly ended?: boolean | null | undefined;
};

type Unasked = (typeof UNASKED)[number] | null;

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
  /** An earlier service does not tell it. */
  readonly unasked?: { readonly [T in TableName]: Unasked } | undefined;
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
  const { sanctions, equivalent_forms: forms, exchange, launches } = result;
  const isTold = forms !== null && forms !== undefined;
  const hasForm = isTold && forms.length > 0;
  return {
    sanctions_list:
      sanctions?.listed === true ? 'listed' : missOf(result, 'sanctions_list', sanctions !== null),
    equivalent_forms: hasForm ? 'listed' : missOf(result, 'sanctions_list', isTold),
    other_lists: othersLook(result),
    exchange_table: exchange === null ? missOf(result, 'exchange_table') : 'record',
    launch_corpus: launches === null ? missOf(result, 'launch_corpus') : 'record',
  };
}

/** The word of a table that holds nothing of an address. */
function missOf({ checked, unasked, kind }: Looked, table: TableName, isTold = true): Look {
  const flag = checked[table];
  if (flag === true && isTold) return 'no_record';
  if (flag === true || flag === false) return 'not_checked';
  const why = unasked?.[table];
  if (why !== undefined && why !== null) return why;
  // An earlier service does not tell it: only wallets of Solana can stand in that corpus.
  return table === 'launch_corpus' && kind !== 'solana' ? 'does_not_apply' : 'not_asked';
}

/** The word of one list of another authority. */
export function lookOfListing({ listed, entity, equivalent_forms: forms, ended }: Listing): Look {
  const form_listed = forms === null ? null : forms.length > 0;
  return lookOfList({ listed, form_listed, ended: ended === undefined ? entity !== null : ended });
}

function othersLook(result: Looked): Look {
  const { other_lists: lists } = result;
  const word = lists === null || lists === undefined ? null : lookOfLists(lists.map(lookOfListing));
  return word === null ? missOf(result, 'other_lists', false) : word;
}

const count = harmless(z.int().nonnegative(), 'it counts the states of the results beside it');

/** How many results have each state. */
export const stateCounts = z.strictObject({
  ok: count,
  insufficient_evidence: count,
  not_deployed: count,
});
export type StateCounts = z.output<typeof stateCounts>;
