import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { otherForms } from '../../chain/address.ts';
import { DAY_S } from '../../chain/time.ts';
import { unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { SIMULATED_CAVEAT } from '../../evidence/source.ts';
import { listOf, row } from '../../ports/publication-store.suite.ts';
import type { OtherListEntry } from '../../ports/tables.ts';
import { addressRecords } from '../../testing/address-records.ts';
import { evm } from '../../testing/addresses.ts';
import { embeddedControl } from '../../testing/control-store.ts';
import {
  BITCOIN,
  LIST,
  NOW,
  otherListsOf,
  REFUSED,
  run,
  servicesWith,
} from '../../testing/list-services.ts';
import { ran } from '../../testing/recording-io.ts';
import { memorySanctionsList } from '../../testing/twins/sanctions.ts';
import { type MemoryOtherLists, otherEntryOf } from '../../testing/twins/tables.ts';
import { type CheckServices, sanctionsCheck } from './check.command.ts';

describe('check', () => {
  const ABSENT = '0x00000000219ab540356cbb839cbe05303d7705fa';
  const ENTRIES = [
    row(BITCOIN, '8', { entity: 'LAST, "First"', programs: ['CYBER2', 'SDGT'] }),
    row(BITCOIN, '9', { currency: 'USDT', listed_on: null }),
  ];

  const NONE = 'not checked';

  type Given = { checked_at?: number; held?: boolean; others?: MemoryOtherLists };

  function servicesWith({ checked_at = NOW - 60, held = true, others }: Given = {}): CheckServices {
    const publications = held ? [{ published: '2026-11-18', checked_at, entries: ENTRIES }] : [];
    const rules = { maxAgeS: 7 * DAY_S, simulated: false, now: () => NOW };
    const list = memorySanctionsList({ publications, ...rules });
    const unasked = () => {
      throw new Error('test: no file is read');
    };
    const files = { reader: unasked, gate: { absolute: unasked }, lookUpIn: unasked };
    const given = { poll: async () => undefined, simulated: false, readRecords: addressRecords };
    const silent = async () =>
      unread(
        'publication_store',
        why('store_unreadable', { what: 'The store', fault: 'it is down' }),
      );
    const store = { inForce: silent, entries: silent };
    return { sanctions: { list, store, ...files, ...given }, otherLists: otherListsOf(others) };
  }

  describe('sanctions check', () => {
    test('a listed address prints its entries, another that it is not on this list', async () => {
      const services = servicesWith();
      const { out, status } = await run(sanctionsCheck, [BITCOIN, ABSENT], services);
      expect(status).toBe(0);
      expect(out.slice(1, 4).map((line) => line.split(/\s{2,}/))).toEqual([
        [BITCOIN, 'yes', 'LAST, "First"', 'Entity', 'CYBER2, SDGT', '8', 'XBT', NONE],
        [BITCOIN, 'yes', 'PARTY 9', 'Entity', 'CYBER2, SDGT', '9', 'USDT', NONE],
        [ABSENT, 'no', '–', '–', '–', '–', '–', NONE],
      ]);
      expect(out.at(-1)).toContain('Not listed is a statement about this list alone.');
      // The caveat stands once for all the answers to which it applies.
      expect(out.filter((line) => line.includes('a false is not a clearance'))).toHaveLength(1);
    });

    test('--fail-on-listed is 1 where an address or another form of it is listed', async () => {
      const services = servicesWith();
      const form = otherForms({ kind: 'other', address: BITCOIN }).at(-3)?.address;
      for (const [address, status] of [
        [BITCOIN, 1],
        [String(form), 1],
        [ABSENT, 0],
      ] as const) {
        const done = await run(sanctionsCheck, [address, '--fail-on-listed'], services);
        expect([address, done.status]).toEqual([address, status]);
      }
    });

    test('for pipes: one line an address, with the entries or why there is no answer', async () => {
      const services = servicesWith();
      const { out } = await run(sanctionsCheck, [BITCOIN, 'nonsense'], services, true);
      const [hit, miss] = out.map((line) => JSON.parse(line) as unknown);
      expect(hit).toMatchObject({ address: BITCOIN, listed: true, reason: null });
      expect(hit).toMatchObject({ matches: [{ uid: '8' }, { uid: '9' }] });
      expect(miss).toMatchObject({ address: 'nonsense', listed: null, matches: null });
    });

    test('a listed other form of the same key is told apart, with the caveat on each line', async () => {
      const services = servicesWith();
      // The same key hash under a witness program.
      const asked = otherForms({ kind: 'other', address: BITCOIN }).at(-3)?.address;
      if (asked === undefined) throw new Error('test: no form');
      const { out, status } = await run(sanctionsCheck, [asked], services, true);
      expect(status).toBe(0);
      const told: unknown = JSON.parse(String(out[0]));
      const form = { form: 'bitcoin_p2pkh', address: BITCOIN, relation: 'same_key', listed: true };
      const said = `Another form of the same key or account stands on the list: ${BITCOIN}.`;
      expect(told).toMatchObject({
        address: asked,
        listed: false,
        matches: [],
        equivalent_forms: expect.arrayContaining([form]),
        caveat: expect.stringContaining(said),
      });
      const people = await run(sanctionsCheck, [asked], services);
      expect(people.out).toContain(
        `${asked}: another form of the same key or account is listed: ${BITCOIN}`,
      );
    });

    test('of a simulated list every line says so', async () => {
      const services = servicesWith();
      const simulated = { ...services, sanctions: { ...services.sanctions, simulated: true } };
      const { out } = await run(sanctionsCheck, [BITCOIN, 'nonsense'], simulated, true);
      for (const line of out) expect(JSON.parse(line)).toMatchObject({ simulated: true });
      expect(out[0]).toContain(SIMULATED_CAVEAT);
      const people = await run(sanctionsCheck, [BITCOIN], simulated);
      expect(people.out[1]).toContain('yes (simulated)');
      expect(people.out.join('\n')).toContain(`${SIMULATED_CAVEAT}A direct match`);
    });

    test('a form that is not known and not listed was not checked', async () => {
      const services = servicesWith();
      const { err, out, status } = await run(sanctionsCheck, [BITCOIN.toLowerCase()], services);
      expect(status).toBe(3);
      expect(out[1]).toContain('not checked');
      expect(err).toEqual([`${BITCOIN.toLowerCase()}: Form not recognised; nothing was checked.`]);
    });

    test('past its age the list shows a listing, and a miss could not be checked', async () => {
      const services = servicesWith({ checked_at: NOW - 8 * DAY_S });
      expect((await run(sanctionsCheck, [BITCOIN], services)).status).toBe(0);
      const miss = await run(sanctionsCheck, [BITCOIN, ABSENT], services);
      expect(miss.status).toBe(3);
      expect(miss.err.join()).toContain('last checked 8 days ago; past 7 days');
    });

    test('with no list nothing was checked; with no address it is bad usage', async () => {
      const services = servicesWith({ held: false });
      const { status, err } = await run(sanctionsCheck, [ABSENT], services);
      expect(status).toBe(3);
      expect(err.join()).toContain('No sanctions list has been loaded');
      await expect(run(sanctionsCheck, [], services)).rejects.toThrow('ADDRESS is missing');
    });
  });

  describe('sanctions check beside lists of other authorities', () => {
    const DAY = Date.UTC(2026, 10, 19) / 1_000;
    const entry = (address: string, source: string, ended_at: string | null = null) => ({
      ...otherEntryOf(address),
      source,
      ended_at,
    });
    const others = (...entries: readonly OtherListEntry[]): MemoryOtherLists => ({
      names: ['eu', 'uk'],
      entries: [entry(evm('x'), 'eu'), entry(evm('y'), 'uk'), ...entries],
      as_of: DAY,
      simulated: false,
    });

    test('each list is named with its date, and a listing there is none on the sanctions list', async () => {
      const services = servicesWith({ others: others(entry(ABSENT, 'eu')) });
      const { out, status } = await run(sanctionsCheck, [ABSENT, BITCOIN], services);
      expect(status).toBe(0);
      expect(out[1]).toContain('no ');
      expect(out[1]).toMatch(/LISTED on eu of 2026-11-19: Doe, Jane; not on uk of 2026-11-19$/);
      expect(out[2]).toMatch(/yes .*not on eu of 2026-11-19; not on uk of 2026-11-19$/);
      expect(out.join('\n')).toContain('It stands on another list: eu.');
      const pipe = await run(sanctionsCheck, [ABSENT], services, true);
      expect(JSON.parse(String(pipe.out[0]))).toMatchObject({
        listed: false,
        other_lists: [
          {
            list: 'eu',
            as_of: DAY,
            dated_by: 'import',
            listed: true,
            matches: [{ entry_id: 'eu-1' }],
          },
          { list: 'uk', checked: true, listed: false, matches: [], equivalent_matches: [] },
        ],
        other_lists_reason: null,
      });
      expect((await run(sanctionsCheck, [ABSENT, '--fail-on-listed'], services)).status).toBe(1);
    });

    test('an entry that ended is told as ended, another form of the same key as that', async () => {
      const form = String(otherForms({ kind: 'other', address: BITCOIN }).at(-3)?.address);
      const held = others(entry(ABSENT, 'uk', '2026-01-02'), entry(BITCOIN, 'uk'));
      const { out } = await run(sanctionsCheck, [ABSENT, form], servicesWith({ others: held }));
      expect(out[1]).toContain('ended on uk of 2026-11-19: Doe, Jane');
      expect(out[2]).toContain(`FORM LISTED on uk of 2026-11-19: ${BITCOIN}`);
    });

    test('a list that lost rows exits 3 for a miss, and says why; a hit on it stays one', async () => {
      const lost = new Map([['eu', 2]]);
      const services = servicesWith({ others: { ...others(entry(ABSENT, 'eu')), lost } });
      const hit = await run(sanctionsCheck, [ABSENT], services);
      expect([hit.status, hit.err]).toEqual([0, []]);
      const miss = await run(sanctionsCheck, [BITCOIN], services);
      expect(miss.status).toBe(3);
      expect(miss.out[1]).toContain('not checked: eu of 2026-11-19; not on uk');
      expect(miss.err.join()).toContain('Refused at import: 2 rows of eu');
      const pipe = await run(sanctionsCheck, [BITCOIN], services, true);
      expect(JSON.parse(String(pipe.out[0]))).toMatchObject({
        listed: true,
        other_lists: [{ listed: null, matches: null, rows_lost: 2 }, { listed: false }],
      });
    });

    test('a text of no known form is checked where one of them holds it', async () => {
      const literal = '4AGNMzP9MWPJLVZvZbNSW8L9Uq4ZjRq2DAZb';
      const services = servicesWith({ others: others(entry(literal, 'eu')) });
      const { out, status } = await run(sanctionsCheck, [literal], services);
      expect(status).toBe(0);
      expect(out[1]).toContain('LISTED on eu of 2026-11-19');
      expect((await run(sanctionsCheck, [literal], servicesWith())).status).toBe(3);
    });
  });
});

describe('a file', () => {
  const fresh = embeddedControl();
  const LISTED = evm('listed');
  const HELD = listOf('2026-11-18', '2', [
    row(BITCOIN, '8'),
    row(LISTED, '9', { entity: 'X, "Y"' }),
  ]);
  const CAVEAT =
    'A direct match against the published SDN list only; no other list was searched. It is a ' +
    'screen: a false is not a clearance.';
  // The listed key hash under a witness program.
  const OTHER_FORM = String(otherForms({ kind: 'other', address: BITCOIN }).at(-3)?.address);

  let cwd: string;
  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), 'exhibit-check-'));
  });
  afterEach(() => rmSync(cwd, { recursive: true, force: true }));

  type Given = Parameters<typeof servicesWith>[1] & { readonly simulated?: boolean };

  /** Checks a file of this content, without a service and without a key. */
  async function check(content: string, more = '', given: Given = {}) {
    writeFileSync(join(cwd, 'f.csv'), content);
    const { services } = await servicesWith(fresh, { held: [HELD], ...given });
    const sanctions = { ...services.sanctions, simulated: given.simulated === true };
    const all = { ...services, sanctions };
    return ran(`sanctions check --file f.csv ${more}`, [sanctionsCheck], all, { cwd });
  }

  const parsed = (lines: readonly string[]) => lines.map((line): unknown => JSON.parse(line));

  // A row: a note with line ends and commas in quotes, two addresses, and text behind them.
  const rowOf = (i: number, to = evm(`to ${i}`)) =>
    `"note ${i},\r\nwith ""lines""",${evm(`from ${i}`)},${to},x`;
  const HEAD = '\ufeffnote,from,to,memo';
  const fileOf = (rows: readonly string[]) => `${[HEAD, ...rows].join('\r\n')}\r\n`;
  const some = (n: number) => Array.from({ length: n }, (_, i) => rowOf(i));

  describe('sanctions check --file', () => {
    test('answers every address of every column on a line of its own, and sums up', async () => {
      const { lines, errors, status } = await check(fileOf([...some(700), rowOf(700, LISTED)]));
      expect(status).toBe(0);
      expect(errors).toEqual(['1402 addresses (from, to), 1 on the sanctions list of 2026-11-18.']);
      expect(lines).toHaveLength(1 + 1402);
      expect(lines[1]?.trim().split(/\s{2,}/)).toEqual([
        ...['2', 'from', evm('from 0'), 'not on the list', '–', '–', '–', 'not checked', CAVEAT],
      ]);
      expect(lines.at(-1)?.split(/\s{2,}/)).toEqual([
        ...['1402', 'to', LISTED, 'LISTED', 'X, "Y"', 'CYBER2; SDGT', '9'],
        ...['not checked', CAVEAT],
      ]);
    });

    test('for pipes each line has its place, the answer, the caveat and the label', async () => {
      const file = `address\n${LISTED}\n${evm('a')}\nno-address-at-all-but-long\n`;
      const { lines, status } = await check(file, '--json', { simulated: true });
      expect(status).toBe(3);
      const list = { name: 'OFAC SDN List', published: '2026-11-18' };
      const said = { column: 'address', list, caveat: SIMULATED_CAVEAT + CAVEAT, simulated: true };
      const reason = 'Form not recognised; nothing was checked.';
      expect(parsed(lines)).toMatchObject([
        { line: 2, address: LISTED, listed: true, matches: [{ uid: '9' }], ...said },
        { line: 3, address: evm('a'), listed: false, matches: [], ...said },
        { line: 4, listed: null, matches: null, list: null, caveat: null, reason, simulated: true },
      ]);
      const people = await check(file, '', { simulated: true });
      expect(people.lines).toHaveLength(4);
      for (const line of people.lines.slice(1)) expect(line).toContain('(simulated)');
      expect(people.errors.at(-1)).toContain('1 on the sanctions list of 2026-11-18 (simulated)');
    });

    test('a text that differs from a listed address in letter case alone is told as that', async () => {
      const typo = BITCOIN.toLowerCase();
      const { lines, status } = await check(
        `address\n${typo}\nno-address-at-all-but-long\n`,
        '--json',
      );
      expect(status).toBe(3);
      const hint = `nothing was checked. The list holds ${BITCOIN}: check the letter case.`;
      expect(parsed(lines)).toMatchObject([
        { listed: null, reason: expect.stringContaining(hint) },
        { listed: null, reason: 'Form not recognised; nothing was checked.' },
      ]);
      const files = { [join(cwd, 'new.xml')]: LIST };
      const source = await check(`address\n${typo}\n`, '--source new.xml', { files });
      expect(source.lines[1]).toContain(hint);
    });

    test('a row that could not be taken has its line, is no miss, and exits 3', async () => {
      const broken = `unquoted, comma,${evm('a')},${LISTED},x`;
      const file = fileOf([...some(2), broken, 'n,,,x']);
      const { lines, errors, status } = await check(file, '--json');
      expect(status).toBe(3);
      expect(errors).toEqual([
        '7 addresses (from, to), 1 on the sanctions list of 2026-11-18, 1 of no known form, not ' +
          'checked, 2 rows not read in full.',
      ]);
      expect(parsed(lines)).toContainEqual({
        line: 6,
        column: null,
        address: null,
        listed: null,
        reason: '5 values under 4 columns',
        matches: null,
        equivalent_forms: null,
        list: null,
        other_lists: null,
        other_lists_reason: null,
        caveat: null,
      });
      expect(parsed(lines).at(-1)).toMatchObject({ line: 7, reason: 'no address in this row' });
      const people = await check(file);
      expect(people.lines.at(-1)).toMatch(/^ *7 .*not checked .*no address in this row\.$/);
    });

    test('--column reads that one alone; --fail-on-listed is 1 for a hit', async () => {
      const file = fileOf([rowOf(0, LISTED)]);
      const from = await check(file, '--column FROM --fail-on-listed');
      const miss = '1 addresses (from), 0 on the sanctions list of 2026-11-18.';
      expect([from.status, from.errors]).toEqual([0, [miss]]);
      expect((await check(file, '--fail-on-listed')).status).toBe(1);
    });

    test('--fail-on-listed is 1 for another form too, whether or not the list is of age', async () => {
      const form = await check(`address\n${OTHER_FORM}\n`, '--fail-on-listed');
      expect(form.status).toBe(1);
      expect(form.errors.at(-1)).toContain('0 on the sanctions list of 2026-11-18, 1 with another');
      const old = { checked_at: NOW - 8 * DAY_S };
      const cut = await check(`address\n${OTHER_FORM}\n`, '--fail-on-listed', old);
      expect(cut.status).toBe(1);
      expect(cut.lines.join()).toContain(`stands on it: ${BITCOIN}`);
    });

    test('asks the lists of other authorities too, each named with its date', async () => {
      const entries = [{ ...otherEntryOf(evm('a')), source: 'eu' }];
      const otherLists = { names: ['eu'], entries, as_of: NOW - DAY_S, simulated: false };
      const file = `address\n${evm('a')}\n${evm('b')}\n`;
      const { lines, errors, status } = await check(file, '--fail-on-listed', { otherLists });
      expect(status).toBe(1);
      expect(lines[1]).toContain('LISTED on eu of 2026-11-20: Doe, Jane');
      expect(lines[2]).toContain('not on eu of 2026-11-20');
      expect(errors.at(-1)).toContain('1 on lists of other authorities.');
      const lost = new Map([['eu', 1]]);
      const cut = await check(file, '', { otherLists: { ...otherLists, lost } });
      expect(cut.status).toBe(3);
      expect(cut.lines[2]).toMatch(/not checked: eu of .* Refused at import: 1 row of eu/);
      expect(cut.errors.at(-1)).toContain('1 not checked on every list.');
    });

    const shortLists: readonly [name: string, given: Given, reason: string][] = [
      ['past its age', { checked_at: NOW - 8 * DAY_S }, 'last checked 8 days ago'],
      ['never loaded', { held: [] }, 'No sanctions list has been loaded'],
    ];
    test.each(shortLists)('of a list %s a miss is no answer', async (_name, given, reason) => {
      const { lines, errors, status } = await check(fileOf([rowOf(0, LISTED)]), '--json', given);
      expect(status).toBe(3);
      const isHeld = given.held === undefined;
      expect(parsed(lines)).toMatchObject([
        { address: evm('from 0'), listed: null, reason: expect.stringContaining(reason) },
        { address: LISTED, listed: isHeld ? true : null },
      ]);
      expect(errors.at(-1)).not.toContain('0 on the sanctions list');
      expect(errors.at(-1)).toContain(isHeld ? ', 1 not checked.' : ', 2 not checked.');
    });

    test('a file that cannot be read, is empty or lacks the column was not checked', async () => {
      const broken = await check(`address\n${evm('a')}\n"${evm('b')}\n`);
      expect([broken.status, broken.lines]).toEqual([3, []]);
      expect(broken.errors.at(-1)).toContain('a quote does not close');
      for (const file of ['', 'address\n']) {
        const { status, errors } = await check(file);
        expect([status, errors.at(-1)]).toEqual([
          3,
          expect.stringContaining('nothing was checked'),
        ]);
      }
      const missing = await check(fileOf(some(1)), '--column wallet');
      expect(missing.status).toBe(3);
      expect(missing.errors.at(-1)).toContain('it has no column "wallet"');
    });

    test('a cell is no instruction to the terminal that shows it', async () => {
      const { lines } = await check('address\nx\u001b[1A\u001b[2Kno-address-but-long-enough\n');
      expect(lines).toHaveLength(2);
      expect(lines.join('\n')).not.toContain('\u001b');
    });

    test('says how far it is, and lets its reader keep up', async () => {
      writeFileSync(join(cwd, 'f.csv'), fileOf(some(10_500)));
      const { services } = await servicesWith(fresh, { held: [HELD] });
      let waiting = 0;
      let most = 0;
      const room = async () => {
        most = Math.max(most, waiting);
        waiting = 0;
      };
      const out = () => {
        waiting += 1;
      };
      const words = 'sanctions check --file f.csv --json';
      const { errors, status } = await ran(words, [sanctionsCheck], services, { cwd, out, room });
      expect(status).toBe(0);
      expect(errors[0]).toMatch(/^Checking 9\d%, 10,000 rows/);
      expect(errors.at(-1)).toMatch(/^21000 addresses \(from, to\), 0 on the sanctions list/);
      expect([most, waiting]).toEqual([500, 0]);
    });

    test('stops where it is told to, and says that the rest was not checked', async () => {
      writeFileSync(join(cwd, 'f.csv'), fileOf(some(3)));
      const { services } = await servicesWith(fresh, { held: [HELD] });
      const given = { cwd, signal: AbortSignal.abort() };
      const done = await ran('sanctions check --file f.csv', [sanctionsCheck], services, given);
      expect([done.status, done.lines]).toEqual([3, []]);
      expect(done.errors.at(-1)).toContain('The rest was not checked.');
    });

    test('addresses or a file, and --column of a file alone', async () => {
      expect((await check('address\n', BITCOIN)).status).toBe(2);
      const { services } = await servicesWith(fresh, { held: [HELD] });
      const words = `sanctions check ${BITCOIN} --column a`;
      expect((await ran(words, [sanctionsCheck], services, { cwd })).status).toBe(2);
    });
  });

  describe('sanctions check --source', () => {
    const asked = `address\n${BITCOIN}\n${LISTED}\n`;

    test('asks that file, not the list in force', async () => {
      const files = { [join(cwd, 'new.xml')]: LIST };
      const { lines, status } = await check(asked, '--source new.xml --json', { files });
      expect(status).toBe(0);
      const own = 'counts as checked on its own publication date';
      expect(parsed(lines)).toMatchObject([
        { listed: true, matches: [{ uid: '8' }, { uid: '9' }], list: { published: '2026-11-18' } },
        { listed: false, caveat: expect.stringContaining(own) },
      ]);
    });

    test('of an old file shows a listing and no absence, unless the limit is lifted', async () => {
      const files = { [join(cwd, 'old.xml')]: listOf('2026-06-01', '3', [row(BITCOIN, '8')]) };
      const old = await check(asked, '--source old.xml --json', { files });
      expect(old.status).toBe(3);
      expect(parsed(old.lines)).toMatchObject([{ listed: true }, { listed: null, matches: null }]);
      const lifted = await check(asked, '--source old.xml --json', { files, maxAgeS: null });
      expect(lifted.status).toBe(0);
      const dated = expect.stringContaining('The publication is of 2026-06-01');
      expect(parsed(lifted.lines)).toMatchObject([{}, { listed: false, caveat: dated }]);
    });

    test('of a refused file is 1, of one that is not there 3, and answers nothing', async () => {
      const files = { [join(cwd, 'cut.xml')]: REFUSED };
      const cut = await check(asked, '--source cut.xml', { files });
      expect([cut.status, cut.lines]).toEqual([1, []]);
      const none = await check(asked, '--source none.xml', { files });
      expect([none.status, none.lines]).toEqual([3, []]);
    });
  });
});
