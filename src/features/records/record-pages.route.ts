// Answers /screens: which records the membership of a browser has, and what each of them says.

import { formatIsoTime } from '../../chain/time.ts';
import type { Caller } from '../../contract/caller.ts';
import type { PlainHandler } from '../../contract/route.ts';
import { map, seen, Unread } from '../../evidence/reading.ts';
import type {
  RecordedInput,
  RecordLine,
  ScreeningRecord,
  ScreeningRecords,
} from '../../ports/screening/screening-records.ts';
import {
  type DrawRecords,
  type RecordListed,
  type RecordShown,
  screenPage,
  screensPage,
} from './record-pages.contract.ts';
import { RECORDED } from './records.contract.ts';
import { recordShown } from './shown.ts';

/** What the pages rest on. */
export type RecordPagesDesk = {
  readonly records: Pick<ScreeningRecords, 'find' | 'newest'>;
  readonly base: () => string;
};

function membershipOf(caller: Caller): string {
  if (caller.kind !== 'session') throw new Error('the guard let in a browser without a session');
  return caller.membership_id;
}

export function screensPageHandler(
  { records }: RecordPagesDesk,
  draw: DrawRecords,
): PlainHandler<typeof screensPage> {
  return async (_input, _asked, caller) => {
    const newest = await records.newest(membershipOf(caller));
    if (newest instanceof Unread) return screensPage.reply(503, draw.unread(newest.why.reason));
    const listed = seen(map(newest, (lines) => lines.map(lineOf)));
    return screensPage.reply(200, draw.list({ records: listed, whole: newest.checked }));
  };
}

export function screenPageHandler(
  { records, base }: RecordPagesDesk,
  draw: DrawRecords,
): PlainHandler<typeof screenPage> {
  return async ({ params: { id } }, _asked, caller) => {
    const found = await records.find(membershipOf(caller), id);
    if (found instanceof Unread) return screenPage.reply(503, draw.unread(found.why.reason));
    if (found.value === null) return screenPage.reply(404, draw.unknown());
    return screenPage.reply(200, draw.one(shownOf(found.value, base())));
  };
}

function lineOf({ id, made_at, input, state, answer_sha256 }: RecordLine): RecordListed {
  return { id, made_at: formatIsoTime(made_at), about: aboutOf(input), state, answer_sha256 };
}

function aboutOf(input: RecordedInput): string {
  if (input.route === 'bulk_wallet_screen') return `${input.addresses.length} addresses`;
  return input.on === null ? input.address : `${input.address} on ${input.on}`;
}

function shownOf(record: ScreeningRecord, base: string): RecordShown {
  return {
    record: recordShown(record),
    subject: aboutOf(record.input),
    answered: answeredIn(record),
    base,
  };
}

/** The answer by the declaration of its route; one of another version may not fit it any more. */
function answeredIn({ input: { route }, answer }: ScreeningRecord): RecordShown['answered'] {
  const quoted: unknown = JSON.parse(answer);
  const data: unknown = Reflect.get(Object(quoted), 'data');
  if (route === 'wallet_ofac') {
    const parsed = RECORDED[route].data.safeParse(data);
    return parsed.success ? { route, data: parsed.data } : null;
  }
  const parsed = RECORDED[route].data.safeParse(data);
  return parsed.success ? { route, data: parsed.data } : null;
}
