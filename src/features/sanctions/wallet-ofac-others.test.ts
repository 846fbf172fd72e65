import { describe, expect, test } from 'vitest';
import type { OtherListEntry } from '../../ports/tables.ts';
import { evm } from '../../testing/addresses.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { screen, screenData, screenRefusal } from '../../testing/ofac-screen.ts';
import { otherEntryOf } from '../../testing/twins/tables.ts';

const SUBJECT = '0x8589427373d6d84e98730d7795d8f6f8731fda16';
const SUBJECT_TRON = 'TN9HJXyVnHKK2EfX48gzLKrBK5mXqZHkHH';

describe('says of other lists', () => {
  const now = { as_of: STILL_NOW - 5, simulated: false };
  const on = (entries: readonly OtherListEntry[]) => ({
    otherLists: { names: ['eu', 'uk'], entries: [...entries, ...ELSEWHERE], ...now },
  });
  const entry = { ...otherEntryOf(SUBJECT), source: 'eu' };
  const ELSEWHERE = ['eu', 'uk'].map((source) => ({ ...otherEntryOf(evm('elsewhere')), source }));

  test('each with its own date and source; a listing on one never makes it sanctioned', async () => {
    const { sanctioned, other_lists, caveat } = await screenData(on([entry]), SUBJECT);
    expect(sanctioned).toBe(false);
    expect(other_lists).toMatchObject([
      { list: 'eu', as_of: STILL_NOW - 5, rows: 2, checked: true, listed: true },
      { list: 'uk', checked: true, listed: false, matches: [] },
    ]);
    expect(other_lists?.[0]?.matches).toEqual([
      {
        listed_address: SUBJECT,
        currency: 'ETH',
        entity: 'Doe, Jane',
        entity_type: 'Person',
        programs: 'EU-CYB',
        entry_id: 'eu-1',
        source_url: null,
        listed_at: '2025-01-02',
        ended_at: null,
        note: null,
      },
    ]);
    expect(caveat).toContain('It stands on another list: eu.');
    expect(caveat).toContain('is no part of `sanctioned`');
  });

  test('another form of the same key in a field of its own, and an entry that has ended as ended', async () => {
    const tron = { ...otherEntryOf(SUBJECT_TRON), source: 'uk' };
    const ended = { ...entry, ended_at: '2026-01-02' };
    const { other_lists } = await screenData(on([tron, ended]), SUBJECT);
    expect(other_lists).toMatchObject([
      { listed: false, matches: [{ ended_at: '2026-01-02' }], equivalent_matches: [] },
      { listed: false, matches: [], equivalent_matches: [{ listed_address: SUBJECT_TRON }] },
    ]);
  });

  test('no absence of a list of which rows were refused, and what it lists all the same', async () => {
    const lost = new Map([['eu', 3]]);
    const world = { otherLists: { ...on([entry]).otherLists, lost } };
    const elsewhere = await screenData(world, evm('a stranger'));
    const reason = 'Refused at import: 3 rows of eu; that list can show a listing, not an absence.';
    expect(elsewhere.other_lists).toMatchObject([
      {
        list: 'eu',
        rows_lost: 3,
        checked: false,
        listed: null,
        matches: null,
        equivalent_matches: null,
        reason,
      },
      { list: 'uk', rows_lost: 0, checked: true, listed: false, matches: [], reason: null },
    ]);
    const { other_lists } = await screenData(world, SUBJECT);
    expect(other_lists?.[0]).toMatchObject({
      checked: false,
      listed: true,
      matches: [{ listed_address: SUBJECT }],
      equivalent_matches: null,
      reason,
    });
    // An entry that ended shows that it was listed, not that it is not.
    const ended = { ...on([{ ...entry, ended_at: '2026-01-02' }]).otherLists, lost };
    const past = await screenData({ otherLists: ended }, SUBJECT);
    expect(past.other_lists?.[0]).toMatchObject({
      listed: null,
      matches: [{ ended_at: '2026-01-02' }],
    });
  });

  test('a text of no known form that one of them holds; another is no address', async () => {
    const literal = '4AGNMzP9MWPJLVZvZbNSW8L9Uq4ZjRq2DAZb';
    const { sanctioned, other_lists, caveat } = await screenData(
      on([{ ...entry, address: literal }]),
      literal,
    );
    expect(sanctioned).toBe(false);
    expect(other_lists).toMatchObject([{ listed: true }, { listed: false }]);
    expect(caveat).toContain('compared as it is printed');
    expect(await screenRefusal(on([]), literal)).toMatchObject({ status: 400 });
  });

  test('why none was asked: none was imported, or the question is of a past day', async () => {
    const never = await screenData({}, SUBJECT);
    expect(never.other_lists).toBeNull();
    expect(never.other_lists_reason).toMatch(/other lists/);
    expect(never.caveat).toContain('no other list was searched');
    const past = await screenData(on([entry]), SUBJECT, '2026-09-10');
    expect(past.other_lists_reason).toMatch(/not asked for a past day/);
  });

  test('that another list names an address about which the SDN list cannot answer', async () => {
    const silent = await screen({ ...on([entry]), noList: true }, SUBJECT);
    expect(silent).toMatchObject({ state: 'not_deployed' });
    expect('reason' in silent && silent.reason).toContain('Another list names it: eu.');
  });
});
