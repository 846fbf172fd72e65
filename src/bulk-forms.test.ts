// The bulk screen makes only those other forms of an address that a list may hold, and says the
// same to the byte as where it makes them all: over addresses of every form, listed or not.

import { expect, test } from 'vitest';
import { Refusal } from './contract/refusals.ts';
import { NOBODY } from './contract/route.ts';
import { read, unread } from './evidence/reading.ts';
import { why } from './evidence/reasons.ts';
import type { ScreenPorts } from './features/screening/bulk-screen.ts';
import { bulkWalletScreenHandler } from './features/screening/bulk-wallet-screen.route.ts';
import { otherLists } from './features/tables/other-lists.ts';
import type { ListEntry } from './ports/sanctions.ts';
import type { FormsAmong } from './ports/tables.ts';
import { answerNow, standingOf, tableOf } from './stores/snapshots/sanctions.ts';
import { countKinds, formsLottery } from './testing/forms-lottery.ts';
import { lotteryOf } from './testing/lottery.ts';
import { otherEntryOf } from './testing/twins/tables.ts';

const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const ADDRESSES = 20_000;
const BATCH = 500;
const LISTED = 300;
const SHA = '1'.repeat(64);

const { listed, draw } = formsLottery(lotteryOf(7), LISTED);
const half = Math.floor(listed.length / 2);

function entryOf(address: string): ListEntry {
  const party = { entity: `PARTY OF ${address}`, type: 'Entity', programs: ['CYBER2'] };
  const open = { remarks: null, listed_on: null, note: null };
  return { address, currency: 'XBT', uid: address.slice(0, 8), ...party, ...open };
}

const NAMED = { id: 1, table_name: 'other_lists', source: 'eu', origin: 'observed' } as const;
const DATES = { as_of: NOW, dated_by: 'file', started_at: NOW, completed_at: NOW } as const;
const SOURCE = { name: 'x', url: 'x:', as_of: NOW, kind: 'table', simulated: false } as const;
const NEVER = unread('other_lists', why('table_never_imported', { what: 'the other lists' }));

/** The lists in memory; where they tell no holders every form is made. */
function portsOf(tellsHolders: boolean, hasOthers: boolean): ScreenPorts {
  const entries = (hasOthers ? listed.slice(0, half) : listed).map(entryOf);
  const dated = { published: '2026-11-20', sha256: SHA, distinct_addresses: entries.length };
  const checked = { source_url: 'x:', checked_at: NOW - 60, checked_by: 'asked' } as const;
  const rules = { maxAgeS: null, simulated: false };
  const standing = standingOf({ ...dated, ...checked }, null, rules, NOW);
  const table = tableOf(entries);
  const rows = listed.slice(half);
  const counts = { rows_accepted: rows.length, rows_lost: 0, sha256: SHA, source_url: null };
  const index = otherLists.index([{ ...NAMED, ...DATES, ...counts, rows_refused: 0 }]);
  for (const address of rows) index.add({ ...otherEntryOf(address), source: 'eu' });
  const origin = { port: 'other_lists', source: SOURCE } as const;
  return {
    sanctionsList: {
      listed: async () => unread('sanctions_list', NEVER.why),
      lookUpOn: async () => unread('sanctions_list', NEVER.why),
      lookUp: async (asked: readonly string[], formsAmong?: FormsAmong) =>
        answerNow(table, standing, asked, tellsHolders ? formsAmong : undefined),
    },
    otherLists: {
      lookUp: async (asked: readonly string[], formsAmong?: FormsAmong) => {
        if (!hasOthers) return NEVER;
        const holders = index.holders === undefined ? null : index.holders;
        const forms = tellsHolders ? formsAmong?.(holders) : [];
        return read(index.answer(rows.length, [...asked, ...Array.from(forms ?? [])]), origin);
      },
    },
    exchangeLabels: { lookUp: async () => unread('exchange_labels', NEVER.why) },
    launchCorpus: { lookUp: async () => unread('launch_corpus', NEVER.why) },
  };
}

async function screen(addresses: string[], ports: ScreenPorts): Promise<string> {
  const answer = await bulkWalletScreenHandler(ports)(
    { params: {}, query: {}, body: { addresses } },
    { now: () => NOW, signal: new AbortController().signal },
    NOBODY,
  );
  return JSON.stringify(answer instanceof Refusal ? answer : answer.envelope(NOW));
}

test.each([
  ['alone', false],
  ['beside a list of another authority', true],
])('the list %s: the same answers as with every form', async (_, hasOthers) => {
  const drawn = Array.from({ length: ADDRESSES / 2 }, draw);
  const [own, whole] = [portsOf(true, hasOthers), portsOf(false, hasOthers)];
  let held = 0;
  for (let from = 0; from < drawn.length; from += BATCH) {
    const addresses = drawn.slice(from, from + BATCH);
    const told = await screen(addresses, own);
    expect(told === (await screen(addresses, whole)), `from ${from}`).toBe(true);
    held += told.split('"relation"').length - 1;
  }
  expect([...countKinds(drawn).keys()].sort()).toEqual(KINDS);
  expect(held).toBeGreaterThan(100);
});
const KINDS = ['bitcoin', 'evm', 'other', 'solana', 'tron'];

test('each listed text is found by every address that has it as another form', async () => {
  const [own, whole] = [portsOf(true, false), portsOf(false, false)];
  const asked = listed.filter((text) => [...countKinds([text]).keys()].length > 0);
  expect(await screen(asked, own)).toBe(await screen(asked, whole));
});
