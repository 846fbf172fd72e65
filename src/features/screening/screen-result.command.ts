// Answers one question: what does one result of a bulk screen say, in a few words.
// Unread and not held are different words everywhere.

import { z } from 'zod';
import { otherListsText, type SaidByList } from '../../command/other-lists-text.ts';
import { given } from '../../evidence/measure.ts';
import { SIMULATED_CAVEAT } from '../../evidence/source.ts';

const otherList = z.looseObject({
  list: z.string(),
  as_of: z.number(),
  listed: z.boolean().nullable(),
  entity: z.string().nullable(),
  equivalent_forms: z.array(z.looseObject({ address: z.string() })).nullable(),
});

/** What the commands read of one result; fields that they do not know are left alone. */
const screenResult = z.looseObject({
  address: z.string(),
  kind: z.string(),
  state: z.enum(['ok', 'insufficient_evidence', 'not_deployed']),
  exchange: z.looseObject({ label: z.string(), entity: z.string(), role: z.string() }).nullable(),
  launches: z
    .looseObject({ answer: z.string(), launches_settled: z.number(), died: z.number() })
    .nullable(),
  sanctions: z
    .looseObject({ listed: z.boolean(), programs: z.array(z.string()).nullable() })
    .nullable(),
  equivalent_forms: z.array(z.looseObject({ address: z.string() })).nullish(),
  other_lists: z.array(otherList).nullish(),
  checked: z.looseObject({
    exchange_table: z.boolean().nullable(),
    launch_corpus: z.boolean().nullable(),
    other_lists: z.boolean().nullish(),
    sanctions_list: z.boolean().nullable(),
  }),
  reason: z.string().optional(),
});
export type ScreenResult = z.output<typeof screenResult>;

/** The envelope of a bulk screen. */
export const screenedBody = z.union([
  z.object({
    state: z.literal('ok'),
    data: z.object({ results: z.array(screenResult), caveat: z.string() }),
  }),
  z.object({ state: z.literal('not_deployed'), reason: z.string() }),
]);

const NOT_READ = 'not checked';
const NOT_HELD = 'no record';
const DOES_NOT_APPLY = 'does not apply';

function missing(read: boolean | null | undefined): string {
  if (read === null || read === undefined) return DOES_NOT_APPLY;
  return read ? NOT_HELD : NOT_READ;
}

/** Each part of a result in words. */
export const screenText = {
  exchange: ({ exchange, checked }: ScreenResult): string =>
    exchange === null
      ? missing(checked.exchange_table)
      : `${exchange.entity} (${exchange.role}): ${exchange.label}`,
  launches: ({ launches, checked }: ScreenResult): string => {
    if (launches === null) return missing(checked.launch_corpus);
    const { answer, died, launches_settled: settled } = launches;
    return `${answer}: ${died} of ${settled} settled launches died`;
  },
  sanctions: ({ sanctions, checked }: ScreenResult): string => {
    if (sanctions === null) return missing(checked.sanctions_list);
    const { listed, programs } = sanctions;
    if (!listed) return 'not on the list';
    return programs === null ? 'LISTED' : `LISTED ${programs.join(', ')}`;
  },
  otherLists: (result: ScreenResult): string => {
    const said = saidElsewhere(result);
    return said === null ? missing(result.checked.other_lists) : otherListsText(said);
  },
};

/** What the lists of other authorities say; `null` where none was read. */
export function saidElsewhere({ other_lists: lists }: ScreenResult): readonly SaidByList[] | null {
  if (lists === null || lists === undefined) return null;
  return lists.map(({ equivalent_forms: forms, ...one }) => {
    return { ...one, forms: given(forms).map(({ address }) => address) };
  });
}

/** Whether a list of another authority names it, or another form of it. */
export function isListedElsewhere(result: ScreenResult): boolean {
  return given(saidElsewhere(result)).some(
    ({ listed, forms }) => listed === true || forms.length > 0,
  );
}

/** Other forms of the same key or account that stand on the list. */
export function listedForms({ equivalent_forms: forms }: ScreenResult): readonly string[] {
  return forms === null || forms === undefined ? NO_FORMS : forms.map(({ address }) => address);
}

const NO_FORMS: readonly string[] = Object.freeze([]);

/** Whether a caveat says that its answer rests on made-up data. */
export function isSimulated(caveat: string): boolean {
  return caveat.startsWith(SIMULATED_CAVEAT);
}

/** Whether any table that applies to the address was left unread. */
export function leftUnread({ checked }: ScreenResult): boolean {
  return Object.values(checked).includes(false);
}
