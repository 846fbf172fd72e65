// Answers one question: how is a kept record shown, to a program and on its page?

import { formatIsoTime } from '../../chain/time.ts';
import type { RecordedInput, ScreeningRecord } from '../../ports/screening/screening-records.ts';
import type { Versions } from '../../ports/screening/served-versions.ts';
import { spokenIn } from './spoken.ts';

/** A record as its route and its page show it. */
export function recordShown(record: ScreeningRecord) {
  const { id, input, versions, state, answer, answer_sha256, code_version, key_id } = record;
  return {
    id,
    made_at: formatIsoTime(record.made_at),
    kept_until: formatIsoTime(record.kept_until),
    key_id,
    asked: askedShown(input),
    list: listShown(versions),
    list_reason: versions.list.read ? null : versions.list.why.reason,
    tables: versions.tables.map(({ imported_at, ...table }) => {
      return { ...table, imported_at: formatIsoTime(imported_at) };
    }),
    code_version,
    sources: [...record.sources],
    state,
    answer,
    answer_sha256,
    ...spokenShown(answer),
  };
}

/** The sentences of an answer, beside it. */
export function spokenShown(answer: string) {
  const { caveats, not_read } = spokenIn(answer);
  return { caveats: [...caveats], not_read: [...not_read] };
}

function askedShown(input: RecordedInput) {
  const { route } = input;
  if (input.route === 'wallet_ofac') {
    return { route, addresses: [input.address], on: input.on, tables: null };
  }
  const tables = input.tables === null ? null : [...input.tables];
  return { route, addresses: [...input.addresses], on: null, tables };
}

function listShown({ list }: Versions) {
  if (!list.read) return null;
  const { name, published, sha256, as_of } = list.facts;
  const reason = list.cut === null ? null : list.cut.reason;
  return { name, published, sha256, as_of: formatIsoTime(as_of), reason };
}
