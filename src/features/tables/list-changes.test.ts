import { describe, expect, test } from 'vitest';
import { Refusal } from '../../contract/refusals.ts';
import { endOf, factsOf, imported, numbered, valueIn } from '../../ports/imported-table.suite.ts';
import type { OtherListChanges, OtherListEntry } from '../../ports/tables.ts';
import { evm } from '../../testing/addresses.ts';
import { onEachEngine } from '../../testing/imported-tables.ts';
import { otherEntryOf } from '../../testing/twins/tables.ts';
import {
  OTHER_LIST_CHANGES_CAVEAT,
  otherListChanges,
  otherListChangesHandler,
} from './list-changes.route.ts';
import { otherLists } from './other-lists.ts';

const [A, B, C] = [evm('a'), evm('b'), evm('c')];
const on = (list: string, address: string, more: Partial<OtherListEntry> = {}): OtherListEntry => ({
  ...otherEntryOf(address),
  source: list,
  ...more,
});
const shown = ({ source: _, ...entry }: OtherListEntry) => entry;

type Handler = ReturnType<typeof otherListChangesHandler>;
type Call = (
  input: { params: object; query: object; body: undefined },
  asked: Parameters<Handler>[1],
) => ReturnType<Handler>;

async function asked(log: OtherListChanges, query: object = {}) {
  const { signal } = new AbortController();
  const handler = otherListChangesHandler(log) as Call;
  return handler({ params: {}, query, body: undefined }, { now: () => 0, signal });
}

async function bodyOf(log: OtherListChanges, query: object = {}) {
  const reply = await asked(log, query);
  if (reply instanceof Refusal) throw new Error('refused');
  return { status: reply.status, body: reply.body };
}

onEachEngine(({ empty, listChanges, fallSilent }) => {
  describe('says', () => {
    test('what each import changed, address by address, with all entries before and after', async () => {
      const table = await empty(otherLists);
      const two = on('eu', A, { entry_id: 'eu-2' });
      const ended = on('eu', A, { ended_at: '2026-01-02' });
      await imported(table, 'eu', [on('eu', A), on('eu', B)]);
      await imported(table, 'uk', [on('uk', A)]);
      await imported(table, 'eu', [two, ended, on('eu', C)]);
      const { status, body } = await bodyOf(listChanges(), { list: 'eu' });
      expect(status).toBe(200);
      expect(body).toMatchObject({
        changes: [
          {
            change: 'removed',
            list: 'eu',
            address: B,
            entries: [shown(on('eu', B))],
            before: null,
          },
          { change: 'added', address: C, simulated: false, sha256: 'a'.repeat(64) },
          { change: 'changed', address: A, before: [shown(on('eu', A))] },
          { change: 'added', address: B },
          { change: 'added', address: A },
        ],
        next_before: null,
        imports: [
          {
            list: 'eu',
            dated_by: 'file',
            rows: 3,
            rows_lost: 1,
            counts: { added: 1, changed: 1, removed: 1 },
          },
          { list: 'eu', counts: { added: 2, changed: 0, removed: 0 } },
        ],
        imports_whole: true,
        caveat: OTHER_LIST_CHANGES_CAVEAT,
      });
      const changed = (body as { changes: { entries: object[] }[] }).changes[2];
      expect(changed?.entries).toHaveLength(2);
      expect(changed?.entries).toEqual(expect.arrayContaining([shown(two), shown(ended)]));
    });

    test('nothing of an import that repeats the one before, and that it did', async () => {
      const table = await empty(otherLists);
      const rows = [on('eu', A), on('eu', A, { entry_id: 'eu-2' }), on('eu', B)];
      await imported(table, 'eu', rows);
      await imported(table, 'eu', rows.toReversed());
      const { body } = await bodyOf(listChanges());
      expect(body).toMatchObject({
        changes: [{ address: B }, { address: A }],
        imports: [{ counts: { added: 0, changed: 0, removed: 0 } }, {}],
      });
    });

    test('page after page, of one address, and of some days', async () => {
      const table = await empty(otherLists);
      await imported(table, 'eu', [on('eu', A), on('eu', B), on('eu', C)]);
      const first = await bodyOf(listChanges(), { limit: 2 });
      expect(first.body).toMatchObject({ changes: [{ address: C }, { address: B }] });
      const before = (first.body as { next_before: number }).next_before;
      const rest = await bodyOf(listChanges(), { before });
      expect(rest.body).toMatchObject({ changes: [{ address: A }], next_before: null });
      const one = await bodyOf(listChanges(), { address: B.toUpperCase().replace('0X', '0x') });
      expect(one.body).toMatchObject({ changes: [{ address: B }] });
      const day = { from: '2026-11-21', to: '2026-11-21' };
      expect((await bodyOf(listChanges(), day)).body).toMatchObject({ changes: [{}, {}, {}] });
      const past = await bodyOf(listChanges(), { to: '2026-11-20' });
      expect(past.body).toMatchObject({ changes: [], imports: [], imports_whole: true });
      const ever = await bodyOf(listChanges(), { to: '9999-12-31' });
      expect(ever.body).toMatchObject({ changes: [{}, {}, {}] });
    });
  });

  describe('is written in the transaction of the import', () => {
    test('nothing of an import that did not complete, and against what is in force then', async () => {
      const table = await empty(otherLists);
      await imported(table, 'eu', [on('eu', A)]);
      const { id } = valueIn(await table.begin(factsOf('eu')));
      valueIn(await table.stage(id, numbered(on('eu', A), on('eu', B))));
      // Another import of the list completes in between.
      await imported(table, 'eu', [on('eu', B)]);
      expect((await bodyOf(listChanges())).body).toMatchObject({
        changes: [{ change: 'removed', address: A }, { change: 'added', address: B }, {}],
      });
      await expect(table.complete(id, endOf(1))).rejects.toThrow('rows');
      expect((await bodyOf(listChanges())).body).toMatchObject({ imports: [{}, {}] });
      valueIn(await table.complete(id, endOf(2)));
      expect((await bodyOf(listChanges(), { limit: 1 })).body).toMatchObject({
        changes: [{ change: 'added', address: A }],
        imports: expect.arrayContaining([
          expect.objectContaining({ import_id: id, counts: { added: 1, changed: 0, removed: 0 } }),
        ]),
      });
    });
  });

  describe('is silent', () => {
    test('while no list was imported, and while the store is', async () => {
      await empty(otherLists);
      const never = await bodyOf(listChanges());
      expect(never).toMatchObject({ status: 404, body: { error: 'not_set_up' } });
      expect(never.body).not.toHaveProperty('changes');
      fallSilent(true);
      expect((await bodyOf(listChanges())).status).toBe(503);
      fallSilent(false);
    });
  });

  test('refuses a day that no calendar has, and days in the wrong order', async () => {
    await empty(otherLists);
    expect(otherListChanges.query.safeParse({ from: '2026-02-30' }).success).toBe(false);
    const reversed = { from: '2026-11-21', to: '2026-11-20' };
    expect(await asked(listChanges(), reversed)).toBeInstanceOf(Refusal);
  });
});
