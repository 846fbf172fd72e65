import { formatIsoTime } from '../../chain/time.ts';
import type { RecordedInput } from '../../ports/screening/screening-records.ts';
import type { ListVersion, TableVersion, Versions } from '../../ports/screening/served-versions.ts';

/** An input of an answer, then and now. */
export type InputThenAndNow = {
  readonly input: string;
  readonly state: 'same' | 'former_held' | 'moved' | 'read_anew' | 'not_read_then';
  readonly recorded: string | null;
  readonly current: string | null;
};

/** What is compared: the versions of then and of now, and whether the former list is held. */
type Compared = {
  readonly input: RecordedInput;
  readonly recorded: Versions;
  readonly current: Versions;
  readonly listHeld: boolean;
  readonly codeRecorded: string;
  readonly codeNow: string;
};

/** The tables that each route asks, by their names in the store. */
const TABLES_OF: { readonly [R in RecordedInput['route']]: readonly string[] } = {
  wallet_ofac: ['exchange_labels', 'other_lists'],
  bulk_wallet_screen: ['exchange_labels', 'other_lists', 'launches'],
};

/** The versions that the answer of a route rests on: what it does not ask moves nothing. */
export function versionsOf(route: RecordedInput['route'], { list, tables }: Versions): Versions {
  return { list, tables: tables.filter(({ table }) => TABLES_OF[route].includes(table)) };
}

/** Every input of an answer: the list, each import of a table, the history, and the code. */
export function inputsOf(compared: Compared): readonly [InputThenAndNow, ...InputThenAndNow[]] {
  const { input, recorded, current, listHeld, codeRecorded, codeNow } = compared;
  const code: InputThenAndNow = {
    input: 'code',
    state: codeRecorded === codeNow ? 'same' : 'moved',
    recorded: codeRecorded,
    current: codeNow,
  };
  const tables = tablesOf(recorded.tables, current.tables);
  const isWalked = input.route === 'wallet_ofac' && input.on === null;
  return [
    listOf(recorded.list, current.list, listHeld),
    ...tables,
    ...(isWalked ? [HISTORY] : []),
    code,
  ];
}

const HISTORY: InputThenAndNow = {
  input: 'transfer_history',
  state: 'read_anew',
  recorded: null,
  current: null,
};

function listOf(was: ListVersion, is: ListVersion, held: boolean): InputThenAndNow {
  const said = { input: 'sanctions_list', recorded: listText(was), current: listText(is) };
  if (!was.read) return { ...said, state: 'not_read_then' };
  if (is.read && is.facts.sha256 === was.facts.sha256) return { ...said, state: 'same' };
  return { ...said, state: held ? 'former_held' : 'moved' };
}

function listText(version: ListVersion): string | null {
  return version.read ? `${version.facts.published} ${version.facts.sha256}` : null;
}

function tablesOf(
  recorded: readonly TableVersion[],
  current: readonly TableVersion[],
): InputThenAndNow[] {
  const nameOf = ({ table, source }: TableVersion) => `${table}: ${source}`;
  const of = (versions: readonly TableVersion[]) =>
    new Map(versions.map((one) => [nameOf(one), one]));
  const [before, after] = [of(recorded), of(current)];
  return [...new Set([...before.keys(), ...after.keys()])].sort().map((name) => {
    const [was, is] = [tableText(before.get(name)), tableText(after.get(name))];
    return { input: name, state: was === is ? 'same' : 'moved', recorded: was, current: is };
  });
}

function tableText(version: TableVersion | undefined): string | null {
  if (version === undefined) return null;
  return `${formatIsoTime(version.imported_at)} ${version.sha256}`;
}

/** Two values that JSON can say, taken apart side by side. */
type Side = unknown;

/** More places than this are not named. */
const PLACES_MAX = 50;

/** The places at which two texts of JSON differ, as paths: `data.proximity.found`. */
export function differingPlaces(one: string, other: string): string[] {
  const places: string[] = [];
  compare(parsed(one), parsed(other), '', places);
  return places.slice(0, PLACES_MAX);
}

function parsed(text: string): Side {
  const value: unknown = JSON.parse(text);
  return value;
}

function compare(one: Side, other: Side, at: string, places: string[]): void {
  if (Object.is(one, other)) return;
  if (!isHolder(one) || !isHolder(other) || Array.isArray(one) !== Array.isArray(other)) {
    places.push(at);
    return;
  }
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const place = Array.isArray(one) ? `${at}[${key}]` : at === '' ? key : `${at}.${key}`;
    compare(Reflect.get(one, key), Reflect.get(other, key), place, places);
  }
}

function isHolder(value: Side): value is object {
  return typeof value === 'object' && value !== null;
}
