import { describe, expect, test } from 'vitest';
import { otherForms } from '../../chain/address.ts';
import { DAY_S } from '../../chain/time.ts';
import type { Io } from '../../command/command.ts';
import { unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { SIMULATED_CAVEAT } from '../../evidence/source.ts';
import { row } from '../../ports/publication-store.suite.ts';
import type { OtherListEntry } from '../../ports/tables.ts';
import { addressRecords } from '../../testing/address-records.ts';
import { evm } from '../../testing/addresses.ts';
import { otherListsOf } from '../../testing/list-services.ts';
import { memorySanctionsList } from '../../testing/twins/sanctions.ts';
import { type MemoryOtherLists, otherEntryOf } from '../../testing/twins/tables.ts';
import { type CheckServices, sanctionsCheck } from './check.command.ts';

const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const BITCOIN = '12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h';
const ABSENT = '0x00000000219ab540356cbb839cbe05303d7705fa';
const ENTRIES = [
  row(BITCOIN, '8', { entity: 'LAST, "First"', programs: ['CYBER2', 'SDGT'] }),
  row(BITCOIN, '9', { currency: 'USDT', listed_on: null }),
];

const NONE = 'none imported';

type Command = typeof sanctionsCheck;

async function run(
  command: Command,
  argv: readonly string[],
  services: CheckServices,
  json = false,
) {
  const out: string[] = [];
  const err: string[] = [];
  const io: Io = {
    out: (line) => void out.push(line),
    err: (line) => void err.push(line),
    json,
    colour: false,
    cwd: '/lists',
    signal: new AbortController().signal,
  };
  return { status: await command.run(argv, io, services), out, err };
}

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
