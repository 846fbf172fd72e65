// Reads observations of Solana launches, and counts those of a wallet. A launch is settled once its
// window had passed at its last check and the outcome is known. Unsettled launches count on neither
// side.

import { isSystemAddress, parseAddress } from '../../chain/address.ts';
import { DAY_S, MS_PER_S } from '../../chain/time.ts';
import type {
  CorpusLookUp,
  Launch,
  LaunchAnswer,
  LaunchCorpusPort,
  LaunchCount,
} from '../../ports/launches.ts';
import type { RawRow, TableIndex } from '../../ports/tables.ts';
import {
  type Accepted,
  flagIn,
  type ImportedTable,
  type RowRefused,
  valueIn,
} from './import-rows.ts';

/** How long after its launch a token is asked whether it is still listed, in seconds. */
export const LAUNCH_WINDOW_S = DAY_S;
/** A venue is asked up to so long after the launch; a later word says nothing of its window. */
export const LAUNCH_LATE_S = 3 * DAY_S;

/** The counts of a wallet's settled launches. */
export function launchAnswer(count: LaunchCount): LaunchAnswer {
  return count.died === count.launches_settled ? 'flagged' : 'record';
}

const UNNAMED_SOURCE = 'launches';

/**
 * The Solana launch corpus. A launch is known by its mint: a later check of the same mint takes the
 * place of the earlier one, except that what has settled stays settled.
 */
export const launchCorpus: ImportedTable<Launch, LaunchCorpusPort, CorpusLookUp> = {
  name: 'launches',
  port: 'launch_corpus',
  title: 'Solana launch corpus',
  ages: 'table',
  what: 'the Solana launch corpus',
  columns: {
    mint: 'text',
    deployer: 'text',
    launched_at: 'time',
    listed_after_window: 'flag',
    last_checked_at: 'time',
    settled: 'flag',
  },
  keys: { deployer: 'deployer', mint: 'mint' },
  counting: {
    which: 'best row',
    of: 'mint',
    by: ['settled', 'last_checked_at'],
    where: 'settled',
    words: 'a settled launch',
  },
  // At about 200 bytes each.
  held: { max: 500_000, of: 'keys', beyond: 'ask' },
  index: launchCounts,
  judge:
    ({ imported_at }) =>
    (raw, layout) =>
      layout === 'rows'
        ? launchRow(raw, imported_at)
        : { code: 'unreadable_row', about: 'a TagPack' },
  words: {
    command: 'corpus import',
    summary: 'Add observed launches to the Solana launch corpus.',
    nouns: ['launch', 'launches'],
    example: 'launches.jsonl --source pump-watch',
    file: [
      'JSON lines (.jsonl) or CSV (.csv) with mint, deployer, launched_at,',
      'listed_after_window (true, false or nothing) and last_checked_at; times in',
      'ISO 8601 or Unix seconds',
    ],
    sourceOption: 'source',
    source: `whose observations these are; ${UNNAMED_SOURCE} where it is not said`,
    unnamed: UNNAMED_SOURCE,
    linked: false,
    datable: false,
    otherwise: null,
    notes: [
      'A launch settles 24 hours after it was launched. A later check of the same mint takes the',
      'place of an earlier one; a settled launch stays settled.',
    ],
  },
};

function launchCounts(): TableIndex<Launch, CorpusLookUp> {
  const byWallet = new Map<string, LaunchCount>();
  const byMint = new Map<string, string>();
  return {
    add: ({ mint, deployer, listed_after_window }) => {
      byMint.set(mint, deployer);
      const known = byWallet.get(deployer);
      const died = listed_after_window === false ? 1 : 0;
      byWallet.set(deployer, {
        deployer,
        launches_settled: known === undefined ? 1 : known.launches_settled + 1,
        died: known === undefined ? died : known.died + died,
      });
    },
    size: () => byWallet.size,
    answer: (settled_launches, addresses) => {
      const found = new Map<string, LaunchCount>();
      const launchers = new Map<string, string>();
      for (const address of addresses) {
        const count = byWallet.get(address);
        if (count !== undefined) found.set(address, count);
        const launcher = byMint.get(address);
        if (launcher !== undefined) launchers.set(address, launcher);
      }
      return { settled_launches, found, launchers };
    },
  };
}

function launchRow(raw: RawRow, now: number): Accepted<Launch> | RowRefused {
  const mint = keyIn(raw, 'mint');
  if (typeof mint !== 'string') return mint;
  const deployer = keyIn(raw, 'deployer');
  if (typeof deployer !== 'string') return deployer;
  const launched_at = timeIn(raw, 'launched_at', now);
  if (typeof launched_at !== 'number') return launched_at;
  const last_checked_at = timeIn(raw, 'last_checked_at', now);
  if (typeof last_checked_at !== 'number') return last_checked_at;
  if (last_checked_at < launched_at) return { code: 'bad_time', about: 'last_checked_at' };
  const text = valueIn(raw, 'listed_after_window');
  const listed = flagIn(text?.toLowerCase() === 'null' ? null : text);
  if (listed === undefined) return { code: 'bad_flag', about: 'listed_after_window' };
  const passed = last_checked_at >= launched_at + LAUNCH_WINDOW_S;
  const settled = passed && listed !== null;
  const row = {
    mint,
    deployer,
    launched_at,
    listed_after_window: listed,
    last_checked_at,
    settled,
  };
  return { row, dated_at: last_checked_at };
}

/** A Solana key that is somebody's: 32 bytes, and none of the chain's own. */
function keyIn(raw: RawRow, field: string): string | RowRefused {
  const text = valueIn(raw, field);
  if (text === null) return { code: 'missing_field', about: field };
  const parsed = parseAddress(text);
  if (parsed === null) return { code: 'bad_address', about: field };
  if (parsed.kind !== 'solana') return { code: 'wrong_form_for_chain', about: field };
  if (isSystemAddress(parsed.address)) return { code: 'system_address', about: field };
  return parsed.address;
}

const WHOLE_SECONDS = /^\d{1,11}$/;
const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;
/** Solana's first block: nothing was launched before, in Unix seconds. */
const FIRST_LAUNCH_S = Date.UTC(2020, 2, 16) / MS_PER_S;

/** Unix seconds, or ISO 8601 with its offset, between the chain's first block and now. */
function timeIn(raw: RawRow, field: string, now: number): number | RowRefused {
  const text = valueIn(raw, field);
  if (text === null) return { code: 'missing_field', about: field };
  const at = secondsIn(text);
  if (at === null || at < FIRST_LAUNCH_S || at > now) return { code: 'bad_time', about: field };
  return at;
}

function secondsIn(text: string): number | null {
  if (WHOLE_SECONDS.test(text)) return Number(text);
  if (!ISO_TIME.test(text)) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.floor(at / MS_PER_S);
}
