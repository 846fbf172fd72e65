// The page of a bulk record never says of an address that a list lacks it where another form of it
// is listed, and names as not looked at only what was not.

import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { Answer } from '../contract/answer.ts';
import { NOBODY } from '../contract/route.ts';
import { why } from '../evidence/reasons.ts';
import { recordPage } from '../features/records/record-pages.route.tsx';
import { viewRecord } from '../features/records/records.route.ts';
import { bulkWalletScreen } from '../features/screening/bulk-wallet-screen.route.ts';
import { linesOf } from '../testing/silence-pages.ts';
import type { SilencePorts } from '../testing/silence-ports.ts';
import { silentPorts } from '../testing/twins/ports.ts';
import { WORLDS } from '../testing/worlds.ts';
import { handlerOf } from './list.ts';

const FACTS = { simulated: false, version: '0', links: [], explorers: new Map() };
const SILENT = silentPorts(why('store_unreadable', { what: 'The store', fault: 'no answer' }));
const NEVER = silentPorts(why('table_never_imported', { what: 'the table of other lists' }));

/** The lines of the record's page of a bulk screen of those whom a world is about. */
async function shown(name: string, over: Partial<SilencePorts> = {}): Promise<readonly string[]> {
  const world = WORLDS.find((one) => one.name === name);
  if (world === undefined) throw new Error(`test: no world ${name}`);
  const [subject] = world.facts.length === 0 ? world.subjects : world.facts.map((one) => one.about);
  const handle = handlerOf('bulk_wallet_screen', { ...world.ports, ...over });
  const body = { addresses: [String(subject)] };
  const asked = { now: () => world.now, signal: new AbortController().signal };
  const answer: unknown = await handle({ params: {}, query: {}, body }, asked, NOBODY);
  if (!(answer instanceof Answer)) throw new Error('test: no answer');
  const { state, subject: about, data, reason, sources } = answer.envelope(world.now);
  const text = JSON.stringify({ state, subject: about, data, reason });
  const record = viewRecord({
    id: 'scr_1',
    membership_id: 'mem_1',
    key_id: 'key_1',
    input: { route: 'bulk_wallet_screen', addresses: body.addresses, tables: null },
    versions: { list: { read: false, why: why('list_never_loaded', { detail: '' }) }, tables: [] },
    sources,
    code_version: '0',
    state: 'ok',
    answer: text,
    answer_sha256: hash('sha256', text),
    made_at: world.now,
    kept_until: world.now + 1,
  });
  const answered = {
    route: 'bulk_wallet_screen',
    data: bulkWalletScreen.data.parse(data),
  } as const;
  return linesOf(recordPage(FACTS, { record, subject: '1 address', answered, base: '' }));
}

const rowIn = (lines: readonly string[]) =>
  lines.filter((line) => / · (ok|insufficient_evidence|not_deployed) · /.test(line)).join('\n');

test('another form that is listed stands in a column of its own', async () => {
  const row = rowIn(await shown('one of several, listed under another form of the same key'));
  expect(row).toMatch(/ · ok · no record of [\d-]+ · LISTED: \S+ · /);
});

test('lists that were never imported are not checked, and Solana’s corpus does not apply', async () => {
  const lines = await shown('empty', { otherLists: NEVER.otherLists });
  expect(rowIn(lines)).toMatch(/ · no record · not checked · no record · does not apply/);
  expect(lines.join('\n')).toContain('Not checked for each address: other_lists.');
});

test('what was looked at in vain is not told as not looked at', async () => {
  expect(notRead(await shown('empty'))).toEqual([]);
  const cut = notRead(await shown('empty', { exchangeLabels: SILENT.exchangeLabels }));
  expect(cut).toContain('Not checked for each address: exchange_table.');
});

function notRead(lines: readonly string[]): readonly string[] {
  const from = lines.indexOf('What was not looked at') + 1;
  return lines.slice(
    from,
    lines.findIndex((line) => line.startsWith('Whatever no list')),
  );
}
