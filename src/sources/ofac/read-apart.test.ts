// The reader in its own process: the same answers, and no fault of it reaches this process.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { sdnAdvancedXml, type WorldParty, zipFile } from '../../world/sdn-publication.ts';
import { type ReadApartOptions, ROWS_PER_MESSAGE, readPublicationApart } from './read-apart.ts';
import { CONTAINER_LIMITS, readPublication } from './read-publication.ts';

const folder = mkdtempSync(join(tmpdir(), 'exhibit-sdn-apart-'));
afterAll(() => rmSync(folder, { recursive: true }));

const options: ReadApartOptions = {
  isKnownForm: (address) => address.startsWith('0x'),
  limits: CONTAINER_LIMITS,
};

const parties: WorldParty[] = Array.from({ length: ROWS_PER_MESSAGE + 20 }, (_, at) => ({
  uid: String(1000 + at),
  type: 'Entity',
  name: { last: `MADE UP ${at}` },
  programs: ['CYBER2', 'DPRK3'],
  addresses: [{ currency: 'ETH', address: at % 2 === 0 ? `0x${at}` : `literal-${at}` }],
}));
const list = join(folder, 'list.zip');
const text = sdnAdvancedXml({ published: '2026-10-07', parties });
writeFileSync(list, zipFile('SDN_ADVANCED.XML', Buffer.from(text)));

let programs = 0;
function programOf(code: string): string {
  programs += 1;
  const path = join(folder, `${programs}.mjs`);
  writeFileSync(path, code);
  return path;
}
const sends = (message: string) => `process.once('message', () => process.send(${message}));`;
const FACTS = {
  format: 'sdn_xml',
  published: '2026-10-07',
  record_count: 2,
  parties: 2,
  sha256: 'a'.repeat(64),
  sha256_xml: 'b'.repeat(64),
  bytes: 1,
};
const UNREADABLE = { refused: true, code: 'unreadable', published: null };

describe('says', () => {
  test('what the reader in this process says, over as many messages as it takes', async () => {
    const apart = await readPublicationApart(list, options);
    expect(apart).toEqual(await readPublication(list, options));
    expect(apart).toMatchObject({ distinct_addresses: 270, unparsed: 135 });
  });

  test('the same refusal', async () => {
    const page = join(folder, 'page.xml');
    writeFileSync(page, '<!DOCTYPE html><html></html>');
    expect(await readPublicationApart(page, options)).toEqual(await readPublication(page, options));
    const missing = join(folder, 'missing.xml');
    expect(await readPublicationApart(missing, options)).toMatchObject(UNREADABLE);
  });
});

describe('is unreadable, and this process lives on', () => {
  test.each([
    ['crashes', `process.once('message', () => { throw new Error('a bug'); });`, /status 1.*a bug/],
    ['leaves', `process.once('message', () => process.exit(0));`, /status 0/],
    ['is killed', `process.kill(process.pid, 'SIGKILL');`, /SIGKILL/],
    [
      'fills its heap',
      `const held = []; for (;;) held.push(Array.from({length: 1000}, () => ({})));`,
      /ended before its answer/,
    ],
    ['babbles', sends(`{kind: 'read', rows: 0}`), /what no reader says/],
    ['sends an empty address', sends(`{kind: 'rows', rows: [{address: ''}]}`), /no reader says/],
    [
      'sends fewer rows than it counts',
      sends(`{kind: 'read', rows: 2, facts: ${JSON.stringify(FACTS)}}`),
      /sent 0 of 2 rows/,
    ],
  ])('where the reader %s', async (_what, code, reason) => {
    const outcome = await readPublicationApart(list, { ...options, program: programOf(code) });
    expect(outcome).toEqual({ ...UNREADABLE, reason: expect.stringMatching(reason) });
  });

  test('where the reader stalls past its time', async () => {
    const stalls = programOf('setInterval(() => undefined, 1000);');
    const outcome = await readPublicationApart(list, {
      ...options,
      program: stalls,
      timeoutMs: 200,
    });
    expect(outcome).toEqual({ ...UNREADABLE, reason: 'the reader took over 200 ms' });
  });

  test('where it is told to stop, and then no process is left', async () => {
    const tells = programOf(
      `process.once('message', () => process.send({kind: 'progress', bytes: process.pid}));`,
    );
    const stop = new AbortController();
    let pid = 0;
    const onProgress = (bytes: number) => {
      pid = bytes;
      stop.abort();
    };
    const stoppable = { ...options, signal: stop.signal };
    const STOPPED = { ...UNREADABLE, reason: 'the reading was stopped' };
    const told = { ...stoppable, program: tells, onProgress };
    expect(await readPublicationApart(list, told)).toEqual(STOPPED);
    expect(pid).toBeGreaterThan(0);
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'));
    expect(await readPublicationApart(list, stoppable)).toEqual(STOPPED);
  });

  test('where the reader was never built', async () => {
    const outcome = await readPublicationApart(list, {
      ...options,
      program: join(folder, 'none.js'),
    });
    expect(outcome).toEqual({
      ...UNREADABLE,
      reason: 'the reader is not built: run the build first',
    });
  });
});

test('the reader gets no setting of this process: its environment is empty', async () => {
  const tells = programOf(
    `const names = Object.keys(process.env).filter((name) => !name.startsWith('NODE_CHANNEL'));
     const refusal = {refused: true, code: 'unreadable', reason: names.join(), published: null};
     process.once('message', () => process.send({kind: 'refused', refusal}));`,
  );
  const outcome = await readPublicationApart(list, { ...options, program: tells });
  expect(outcome).toEqual({ ...UNREADABLE, reason: '' });
});
