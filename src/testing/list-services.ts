// On what do the tests of the list's commands run? A store, a list in memory, and what was asked.

import { DAY_S } from '../chain/time.ts';
import type { Command } from '../command/command.ts';
import type { CheckServices } from '../features/sanctions/check.command.ts';
import type { SanctionsServices } from '../features/sanctions/sanctions.command.ts';
import { listOf, row, said } from '../ports/publication-store.suite.ts';
import type { Acceptance, FileRefusal, PublishedList, RefreshOutcome } from '../ports/sanctions.ts';
import { listOfFile } from '../stores/snapshots/sanctions.ts';
import { addressRecords } from './address-records.ts';
import { type FreshStore, publicationsIn } from './control-store.ts';
import { recordingIo } from './recording-io.ts';
import { memorySanctionsList } from './twins/sanctions.ts';
import { type MemoryOtherLists, memoryOtherLists } from './twins/tables.ts';

/** The time of the services. */
export const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
/** A listed address. */
export const BITCOIN = '12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h';
/** A list of one address under two entries. */
export const LIST = listOf('2026-11-18', '2', [
  row(BITCOIN, '8', { entity: 'LAST, "First"', programs: ['CYBER2', 'SDGT'] }),
  row(BITCOIN, '9', { currency: 'USDT', listed_on: null }),
]);
const REASON = 'it ends before its root closes';
const REFUSAL = { refused: true, size: false, published: null } as const;
/** A refusal of a file by its reader. */
export const REFUSED: FileRefusal = { ...REFUSAL, code: 'truncated', reason: REASON };
const ABSENCE = 'the file could not be read: ENOENT';
const NO_FILE: FileRefusal = { ...REFUSAL, code: 'unreadable', reason: ABSENCE };

type ListAnswer = { readonly out: string[]; readonly err: string[]; readonly status: number };

/** Runs a command as a terminal or a pipe does. */
export async function run<S>(
  command: Command<S>,
  argv: readonly string[],
  services: S,
  json = false,
): Promise<ListAnswer> {
  const io = recordingIo({ json, cwd: '/lists' });
  const status = await command.run(argv, io, services);
  return { status, out: io.lines, err: io.errors };
}

type ListOptions = {
  readonly held?: readonly PublishedList[];
  readonly checked_at?: number;
  readonly maxAgeS?: number | null;
  readonly outcome?: RefreshOutcome;
  readonly files?: Readonly<Record<string, PublishedList | FileRefusal>>;
  readonly fault?: string;
  /** The lists of other authorities; left out, none was imported. */
  readonly otherLists?: MemoryOtherLists;
};

function outcomeOf({ outcome }: ListOptions): RefreshOutcome {
  if (outcome === undefined) throw new Error('no outcome');
  return outcome;
}

const NEVER: MemoryOtherLists = { names: [], entries: null, as_of: NOW, simulated: false };

/** The lists of other authorities of a check; left out, none was imported. */
export function otherListsOf(held: MemoryOtherLists = NEVER): CheckServices['otherLists'] {
  return { ...memoryOtherLists(held), poll: async () => undefined, now: () => NOW };
}

/** Services over a store and a list: the lists given are held, the last of them in force. */
export async function servicesWith(fresh: FreshStore, given: ListOptions) {
  const database = fresh();
  await database.setClock(NOW);
  const store = publicationsIn(database);
  const { held = [], checked_at = NOW - 60, maxAgeS = 7 * DAY_S } = given;
  for (const list of held) {
    const { publication } = said(await store.inForce());
    await store.accept({
      list,
      source: { key: 'a', url: 'https://publisher.example' },
      reader_version: 1,
      accepted_at: NOW - 3_600,
      check: { at: checked_at, by: 'asked' },
      accepted_why: null,
      instead_of: publication === null ? null : publication.id,
    });
  }
  if (given.fault !== undefined) database.silence(given.fault);
  const accepted: (Acceptance | null)[] = [];
  const read: string[] = [];
  const imported: [path: string, obtained_at: number | null][] = [];
  const publications = held.map(({ published, addresses: entries }) => {
    return { published, checked_at, entries };
  });
  const services: SanctionsServices & Pick<CheckServices, 'otherLists'> = {
    otherLists: otherListsOf(given.otherLists),
    sanctions: {
      store,
      list: memorySanctionsList({ publications, maxAgeS, simulated: false, now: () => NOW }),
      poll: async () => undefined,
      refresh: async (acceptance) => {
        accepted.push(acceptance);
        return outcomeOf(given);
      },
      importFile: async (path, obtained_at, acceptance) => {
        imported.push([path, obtained_at]);
        accepted.push(acceptance);
        return outcomeOf(given);
      },
      reader: async (path) => {
        read.push(path);
        const file = given.files?.[path];
        return file === undefined ? NO_FILE : file;
      },
      gate: {
        absolute: (list) =>
          list.distinct_addresses < 1
            ? { refused: true, code: 'below_floor', reason: 'it holds 0', size: false }
            : null,
        rules: 'those of the test',
        relative: () => null,
        sameDay: () => null,
      },
      lookUpIn: (list) => listOfFile(list, { maxAgeS, simulated: false }, () => NOW),
      readRecords: addressRecords,
      diff: (before, after) => ({
        added: after.addresses
          .filter(({ uid }) => !before.addresses.some((other) => other.uid === uid))
          .map(({ currency, ...listing }) => ({ ...listing, currencies: [currency] })),
        removed: [],
        moved: [],
        programmes_changed: [],
        renamed: [],
      }),
      simulated: false,
      maxAgeS,
    },
  };
  return { services, accepted, read, imported };
}
