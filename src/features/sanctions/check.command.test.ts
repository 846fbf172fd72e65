import { describe, expect, test } from 'vitest';
import { otherForms } from '../../chain/equivalent-form.ts';
import { DAY_S } from '../../chain/time.ts';
import type { Io } from '../../command/command.ts';
import { SIMULATED_CAVEAT } from '../../evidence/source.ts';
import { row } from '../../ports/sanctions/publication-store.suite.ts';
import { addressRecords } from '../../testing/address-records.ts';
import { memorySanctionsList } from '../../testing/memory/sanctions-list.ts';
import { type CheckServices, sanctionsCheck } from './check.command.ts';

const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const BITCOIN = '12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h';
const ABSENT = '0x00000000219ab540356cbb839cbe05303d7705fa';
const ENTRIES = [
  row(BITCOIN, '8', { entity: 'LAST, "First"', programs: ['CYBER2', 'SDGT'] }),
  row(BITCOIN, '9', { currency: 'USDT', listed_on: null }),
];

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

function servicesWith({ checked_at = NOW - 60, held = true } = {}): CheckServices {
  const publications = held ? [{ published: '2026-11-18', checked_at, entries: ENTRIES }] : [];
  const rules = { maxAgeS: 7 * DAY_S, simulated: false, now: () => NOW };
  const list = memorySanctionsList({ publications, ...rules });
  const unasked = () => {
    throw new Error('test: no file is read');
  };
  const files = { reader: unasked, gate: { absolute: unasked }, lookUpIn: unasked };
  const given = { poll: async () => undefined, simulated: false, readRecords: addressRecords };
  return { sanctions: { list, ...files, ...given } };
}

describe('sanctions check', () => {
  test('a listed address prints its entries, another that it is not on this list', async () => {
    const services = servicesWith();
    const { out, status } = await run(sanctionsCheck, [BITCOIN, ABSENT], services);
    expect(status).toBe(0);
    expect(out.slice(1, 4).map((line) => line.split(/\s{2,}/))).toEqual([
      [BITCOIN, 'yes', 'LAST, "First"', 'Entity', 'CYBER2, SDGT', '8', 'XBT'],
      [BITCOIN, 'yes', 'PARTY 9', 'Entity', 'CYBER2, SDGT', '9', 'USDT'],
      [ABSENT, 'no', '–', '–', '–', '–', '–'],
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
    const simulated = { sanctions: { ...services.sanctions, simulated: true } };
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
