import { describe, expect, test } from 'vitest';
import { listOf, row } from '../../ports/publication-store.suite.ts';
import { embeddedControl } from '../../testing/control-store.ts';
import {
  BITCOIN,
  LIST,
  REFUSED,
  run,
  servicesWith as servicesOn,
} from '../../testing/list-services.ts';
import { sanctionsDiff, sanctionsExport } from './sanctions.command.ts';

const fresh = embeddedControl();
const servicesWith = (given: Parameters<typeof servicesOn>[1]) => servicesOn(fresh, given);

describe('sanctions export', () => {
  test('for pipes: one line for each address and entry, as scripts use it', async () => {
    const { services } = await servicesWith({ held: [LIST] });
    const { out, status } = await run(sanctionsExport, [], services, true);
    expect(status).toBe(0);
    expect(out.map((line) => JSON.parse(line) as unknown)[0]).toEqual({
      address: BITCOIN,
      currency: 'XBT',
      entity: 'LAST, "First"',
      type: 'Entity',
      programs: ['CYBER2', 'SDGT'],
      uid: '8',
      published: '2026-11-18',
    });
    expect(out).toHaveLength(2);
  });

  test('for people: comma-separated, a name with commas and quotes in quotes', async () => {
    const { services } = await servicesWith({ held: [LIST] });
    const { out } = await run(sanctionsExport, ['--csv'], services);
    expect(out.slice(0, 2)).toEqual([
      'address,currency,entity,type,programs,uid,published',
      `${BITCOIN},XBT,"LAST, ""First""",Entity,CYBER2; SDGT,8,2026-11-18`,
    ]);
  });

  test('a file in the caller’s folder goes through reader and gate', async () => {
    const files = {
      '/lists/a.xml': LIST,
      '/lists/cut.xml': REFUSED,
      '/lists/e.xml': listOf('2026-11-18', '7', []),
    };
    const { services, read } = await servicesWith({ files });
    expect((await run(sanctionsExport, ['--source', 'a.xml'], services, true)).out).toHaveLength(2);
    expect(read).toEqual(['/lists/a.xml']);
    const cut = await run(sanctionsExport, ['--source', 'cut.xml'], services, true);
    expect(cut).toMatchObject({ status: 1, out: [] });
    expect(cut.err.join()).toContain('refused (truncated)');
    expect((await run(sanctionsExport, ['--source', 'e.xml'], services)).status).toBe(1);
    expect((await run(sanctionsExport, ['--source', 'gone.xml'], services)).status).toBe(3);
  });

  test('with no list in force there is nothing to export, and that is no empty list', async () => {
    const { services } = await servicesWith({});
    expect(await run(sanctionsExport, [], services)).toMatchObject({ status: 3, out: [] });
  });
});

describe('sanctions diff', () => {
  const before = listOf('2026-11-15', '1', [row(BITCOIN, '8')]);

  test('takes dates of held publications and files, mixed', async () => {
    const files = { '/lists/new.xml': LIST };
    const { services } = await servicesWith({ held: [before, LIST], files });
    for (const argv of [
      ['2026-11-15', '2026-11-18'],
      ['2026-11-15', 'new.xml'],
    ]) {
      const { out, status } = await run(sanctionsDiff, argv, services, true);
      expect(status).toBe(0);
      expect(JSON.parse(String(out[0]))).toMatchObject({
        from: { published: '2026-11-15', addresses: 1 },
        to: { published: '2026-11-18', addresses: 1 },
        added: [{ address: BITCOIN, uid: '9', currencies: ['USDT'] }],
        removed: [],
      });
    }
    const people = await run(sanctionsDiff, ['2026-11-15', '2026-11-18'], services);
    expect(people.out[0]).toBe(
      'From 2026-11-15 (1 addresses) to 2026-11-18 (1): 1 added, 0 removed, 0 moved, ' +
        '0 with other programmes, 0 renamed.',
    );
    expect(people.out[2]).toMatch(/^added\s+12QtD/);
  });

  test('a date that is not held could not be checked, and the held ones are named', async () => {
    const { services } = await servicesWith({ held: [before] });
    const { err, status } = await run(sanctionsDiff, ['2026-11-15', '2026-11-16'], services);
    expect(status).toBe(3);
    expect(err).toEqual([
      'Could not check: No publication of 2026-11-16 is held; held: 2026-11-15.',
    ]);
  });

  test('a refused file is failed, two words are needed', async () => {
    const { services } = await servicesWith({
      held: [before],
      files: { '/lists/cut.xml': REFUSED },
    });
    expect((await run(sanctionsDiff, ['2026-11-15', 'cut.xml'], services)).status).toBe(1);
    await expect(run(sanctionsDiff, ['2026-11-15'], services)).rejects.toThrow('B is missing');
  });
});
