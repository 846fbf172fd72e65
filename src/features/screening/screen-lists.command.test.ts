// What a screen of a file says of the lists of other authorities.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { parseConfig } from '../../config.ts';
import { addressReader } from '../../testing/address-records.ts';
import { evm } from '../../testing/addresses.ts';
import { ran } from '../../testing/recording-io.ts';
import { screenCommand } from './screen.command.ts';

describe('other lists', () => {
  // A service that speaks the bulk screen's wire, with two lists of other authorities.
  const [LISTED, FORM, ENDED, NOBODY] = [evm('listed'), evm('form'), evm('ended'), evm('nobody')];
  const AS_OF = Date.UTC(2026, 10, 20) / 1_000;
  const NOTHING = { listed: false, entity: null, equivalent_forms: [], as_of: AS_OF, reason: null };
  const bodySent = z.object({
    addresses: z.array(z.string()),
    tables: z.array(z.string()).optional(),
  });

  let cwd: string;
  let server: Server;
  let asked: z.output<typeof bodySent>[];
  let lost: boolean;
  let quota: number;

  function eu(address: string): object {
    const whom = { ...NOTHING, list: 'eu', entity: 'Doe, Jane; LISTED B.V.' };
    if (address === LISTED) return { ...whom, listed: true };
    if (address === FORM) return { ...whom, equivalent_forms: [{ address: evm('other') }] };
    if (address === ENDED) return whom;
    const reason = 'Refused at import: 1 row of eu.';
    const nothing = { ...NOTHING, list: 'eu' };
    return lost ? { ...nothing, listed: null, equivalent_forms: null, reason } : nothing;
  }

  function resultOf(address: string): object {
    const isHit = address !== NOBODY;
    const checked = { exchange_table: null, launch_corpus: null, sanctions_list: null };
    return {
      address,
      kind: 'evm',
      state: isHit ? 'ok' : 'insufficient_evidence',
      exchange: null,
      launches: null,
      sanctions: null,
      equivalent_forms: null,
      other_lists: [eu(address), { ...NOTHING, list: 'uk' }],
      checked: { ...checked, other_lists: !lost },
    };
  }

  beforeEach(async () => {
    cwd = mkdtempSync(join(tmpdir(), 'exhibit-others-'));
    asked = [];
    lost = false;
    quota = 100;
    server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => {
        text += String(chunk);
      });
      request.on('end', () => {
        quota -= 1;
        if (quota < 0) {
          response.writeHead(429).end(JSON.stringify({ error: 'spent' }));
          return;
        }
        const body = bodySent.parse(JSON.parse(text));
        asked.push(body);
        const data = { results: body.addresses.map(resultOf), caveat: 'A screen.' };
        response.writeHead(200).end(JSON.stringify({ state: 'ok', simulated: false, data }));
      });
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
    rmSync(cwd, { recursive: true, force: true });
  });

  async function screen(addresses: readonly string[] | null, more: string) {
    if (addresses !== null) writeFileSync(join(cwd, 'f.csv'), `address\n${addresses.join('\n')}\n`);
    const services = { started: parseConfig({}, { cwd }), ...addressReader };
    const to = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const line = `screen f.csv --base-url ${to} --key k --require other_lists ${more}`;
    return ran(line, [screenCommand], services, { cwd });
  }

  const cells = () =>
    z
      .array(z.record(z.string(), z.string()))
      .parse(
        parse(readFileSync(join(cwd, 'o.csv'), 'utf8'), { bom: true, columns: true, cast: false }),
      )
      .map((row) => [row['exhibit_other_lists'], row['exhibit_lists']]);

  test('names each list with its date in a column of its own, what is listed first', async () => {
    const done = await screen([LISTED, FORM, ENDED, NOBODY], '--out o.csv');
    expect(done.status).toBe(0);
    expect(asked).toMatchObject([{ tables: ['other_lists'] }]);
    expect(cells()).toEqual([
      ['LISTED', 'LISTED on eu of 2026-11-20: Doe, Jane; LISTED B.V.; not on uk of 2026-11-20'],
      ['FORM LISTED', `FORM LISTED on eu of 2026-11-20: ${evm('other')}; not on uk of 2026-11-20`],
      ['ended', 'ended on eu of 2026-11-20: Doe, Jane; LISTED B.V.; not on uk of 2026-11-20'],
      ['no record', 'not on eu of 2026-11-20; not on uk of 2026-11-20'],
    ]);
    expect(done.errors).toEqual(['4 addresses (address), 2 on lists of other authorities.']);
    const people = await screen([LISTED], '');
    expect(people.lines[1]).toContain('LISTED on eu of 2026-11-20: Doe, Jane');
  });

  test('--fail-on-listed counts them, another form too, and none that ended', async () => {
    for (const [address, status] of [
      [LISTED, 1],
      [FORM, 1],
      [ENDED, 0],
      [NOBODY, 0],
    ] as const) {
      const done = await screen([address], '--fail-on-listed');
      expect([address, done.status]).toEqual([address, status]);
    }
  });

  test('that none is listed is said where every list was read whole, and JSON has each list', async () => {
    const none = await screen([NOBODY], '--json');
    expect(none.errors).toEqual(['1 addresses (address), 0 on lists of other authorities.']);
    expect(JSON.parse(String(none.lines[0]))).toMatchObject({
      other_lists: [{ list: 'eu', listed: false }, { list: 'uk' }],
    });
    lost = true;
    const short = await screen([NOBODY, LISTED], '--out o.csv');
    expect(short.status).toBe(3);
    expect(cells()[0]).toEqual([
      'not checked',
      'not checked: eu of 2026-11-20; not on uk of 2026-11-20',
    ]);
    expect(short.errors.at(-1)).toContain(
      '1 on lists of other authorities, 2 not checked in full.',
    );
    const miss = await screen([NOBODY], '');
    expect(miss.errors).toEqual(['1 addresses (address), 1 not checked in full.']);
  });

  test('a run that goes on counts what the first part of it wrote', async () => {
    const nobody = (n: number) => Array.from({ length: n }, () => NOBODY);
    quota = 1;
    await screen([LISTED, FORM, ENDED, ...nobody(500)], '--out o.csv');
    quota = 1;
    const rest = await screen(null, '--out o.csv --resume --fail-on-listed');
    expect(rest.status).toBe(1);
    expect(rest.errors.at(-1)).toBe('503 addresses (address), 2 on lists of other authorities.');
  });
});
