// What every change log of exchange labels promises, whatever holds it.

import { describe, expect, test } from 'vitest';
import { Part, Unread } from '../../evidence/reading.ts';
import { factsOf, imported, numbered, valueIn } from '../tables/imported-table.suite.ts';
import type { TableStore } from '../tables/imported-table.ts';
import { labelOf } from './exchange-labels.suite.ts';
import type { ExchangeLabel } from './exchange-labels.ts';
import type { ChangesAsked, LabelChange, LabelChanges } from './label-changes.ts';

/** A log under test, with the table whose imports it tells of. */
type MadeLog = {
  readonly table: TableStore<ExchangeLabel>;
  readonly changes: LabelChanges;
};

const A = '0x1111111111111111111111111111111111111111';
const B = '0x2222222222222222222222222222222222222222';
const ALL: ChangesAsked = { beforeId: null, matchKey: null, limit: 100 };

function row(address: string, over: Partial<ExchangeLabel> = {}): ExchangeLabel {
  return { ...labelOf(address, 'one'), ...over };
}

function shown({ change, address, label, before }: LabelChange): string {
  const was = before === null ? '' : ` (was ${before.label})`;
  return `${change} ${address.slice(0, 4)} ${label}${was}`;
}

/** Holds a change log to its promises. */
export function labelChangesKeep(name: string, make: () => Promise<MadeLog>): void {
  describe(`${name} keeps the promises of a change log`, () => {
    const told = async ({ changes }: MadeLog, over: Partial<ChangesAsked> = {}) =>
      valueIn(await changes.newest({ ...ALL, ...over })).map(shown);

    test('is unread until an import has completed, whatever is staged', async () => {
      const log = await make();
      const { id } = valueIn(await log.table.begin(factsOf('one')));
      valueIn(await log.table.stage(id, numbered(row(A))));
      const reading = await log.changes.newest(ALL);
      expect(reading instanceof Unread && reading.why.code).toBe('table_never_imported');
    });

    test('tells what an import added, changed and removed, the newest first', async () => {
      const log = await make();
      await imported(log.table, 'one', [row(A, { label: 'a' }), row(B, { label: 'b' })]);
      expect(await told(log)).toEqual(['added 0x22 b', 'added 0x11 a']);
      await imported(log.table, 'one', [row(A, { label: 'other' })]);
      expect(await told(log)).toEqual([
        ...['removed 0x22 b', 'changed 0x11 other (was a)'],
        ...['added 0x22 b', 'added 0x11 a'],
      ]);
    });

    test('tells nothing of an import that changed nothing, nor of another source', async () => {
      const log = await make();
      await imported(log.table, 'one', [row(A, { label: 'a' })]);
      await imported(log.table, 'one', [row(A, { label: 'a' })]);
      await imported(log.table, 'two', [row(A, { label: 'b', source: 'two' })]);
      expect(await told(log)).toEqual(['added 0x11 b', 'added 0x11 a']);
    });

    test('carries the import, its file and its source of each change', async () => {
      const log = await make();
      const record = await imported(log.table, 'one', [row(A)]);
      const [change] = valueIn(await log.changes.newest(ALL));
      const { id: import_id, completed_at: at, sha256, origin, source } = record;
      expect(change).toMatchObject({ import_id, at, sha256, origin, source });
    });

    test('answers a page as a part that says so, and goes on from its last', async () => {
      const log = await make();
      await imported(log.table, 'one', [row(A, { label: 'a' }), row(B, { label: 'b' })]);
      expect(await log.changes.newest({ ...ALL, limit: 1 })).toBeInstanceOf(Part);
      const [newest] = valueIn(await log.changes.newest(ALL));
      expect(await told(log, { beforeId: Number(newest?.id) })).toEqual(['added 0x11 a']);
      expect(await told(log, { matchKey: B })).toEqual(['added 0x22 b']);
    });

    test('a label that is imported again keeps the day on which it was first seen', async () => {
      const log = await make();
      await imported(log.table, 'one', [row(A, { first_seen: '2026-01-02' })]);
      await imported(log.table, 'one', [row(A, { first_seen: '2026-03-04' })]);
      const [held] = valueIn(await log.table.under([A]));
      expect(held?.first_seen).toBe('2026-01-02');
      expect(await told(log)).toHaveLength(1);
    });
  });
}
