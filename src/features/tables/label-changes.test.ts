import { describe, expect, test } from 'vitest';
import { formatIsoTime } from '../../chain/time.ts';
import { Refusal } from '../../contract/refusals.ts';
import { basis, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { labelOf } from '../../ports/exchange-labels.suite.ts';
import { imported } from '../../ports/imported-table.suite.ts';
import type { ExchangeLabel, LabelChanges } from '../../ports/tables.ts';
import { evm } from '../../testing/addresses.ts';
import { IMPORTED_AT, keptTables } from '../../testing/imported-tables.ts';
import { CHANGES_CAVEAT, labelChangesHandler } from './label-changes.route.ts';
import { exchangeLabels } from './labels.ts';

const A = evm('a');
const B = evm('b');
const row = (address: string, over: Partial<ExchangeLabel> = {}): ExchangeLabel => {
  return { ...labelOf(address, 'one'), ...over };
};

const { empty, changes: log } = keptTables();
const logged = async () => ({ table: await empty(exchangeLabels), changes: log() });

type Handler = ReturnType<typeof labelChangesHandler>;
type Call = (
  input: { params: object; query: object; body: undefined },
  asked: Parameters<Handler>[1],
) => ReturnType<Handler>;

async function asked(changes: LabelChanges, query: { address?: string; limit?: number } = {}) {
  const { signal } = new AbortController();
  const handler = labelChangesHandler(changes) as Call;
  return handler({ params: {}, query, body: undefined }, { now: () => 0, signal });
}

async function bodyOf(changes: LabelChanges, query = {}) {
  const reply = await asked(changes, query);
  if (reply instanceof Refusal) throw new Error('refused');
  return { status: reply.status, body: reply.body };
}

describe('says', () => {
  test('what changed, with what it said before and the file it came from', async () => {
    const { table, changes } = await logged();
    await imported(table, 'one', [row(A)]);
    await imported(table, 'one', [row(A, { confidence: 'ownership' })]);
    const { status, body } = await bodyOf(changes, { limit: 1 });
    expect(status).toBe(200);
    expect(body).toMatchObject({ next_before: 2, caveat: CHANGES_CAVEAT });
    expect(body).toMatchObject({
      changes: [
        {
          change: 'changed',
          address: A,
          confidence: 'ownership',
          confidence_level: 100,
          before: { confidence: row(A).confidence },
          sha256: 'a'.repeat(64),
          simulated: false,
        },
      ],
    });
  });

  test('of each change when its import completed, and reads the log by the clock of the store', async () => {
    const { table, changes } = await logged();
    const { completed_at } = await imported(table, 'one', [row(A)]);
    const { body } = await bodyOf(changes);
    expect(body).toMatchObject({ changes: [{ at: formatIsoTime(completed_at) }] });
    const reading = await changes.newest({ beforeId: null, matchKey: null, limit: 1 });
    expect(basis(reading).sources).toMatchObject([{ as_of: IMPORTED_AT }]);
  });

  test('that an address was never changed, once the log was read', async () => {
    const { table, changes } = await logged();
    await imported(table, 'one', [row(A)]);
    const { body } = await bodyOf(changes, { address: B });
    expect(body).toMatchObject({ changes: [], next_before: null });
  });
});

describe('is silent', () => {
  test('while no import has completed', async () => {
    const { status, body } = await bodyOf((await logged()).changes);
    expect(status).toBe(404);
    expect(body).toMatchObject({ error: 'not_set_up' });
    expect(body).not.toHaveProperty('changes');
  });

  test('while the store is', async () => {
    const fault = why('store_unreadable', { what: 'The log', fault: 'it is down' });
    const silent = { newest: async () => unread('label_changes', fault) };
    expect(await bodyOf(silent)).toMatchObject({ status: 503, body: { reason: fault.reason } });
  });
});

describe('refuses', () => {
  test('a text that is no address', async () => {
    const reply = await asked((await logged()).changes, { address: 'nobody' });
    expect(reply instanceof Refusal && reply.status).toBe(400);
  });
});
