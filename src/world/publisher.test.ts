import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { parseAddress } from '../chain/address.ts';
import { DAY_S, startOfDay } from '../chain/time.ts';
import { SANDBOX_PARTY, WORLD_SEED, worldPublicationAt } from './listed-parties.ts';
import { inventAddress, MADE_UP_FORMS } from './made-up-address.ts';
import {
  EXPORTS_PATH,
  PUBLISHER_FAULTS,
  type StartedPublisher,
  startPublisher,
} from './publisher.ts';
import { isFault } from './stand-in.ts';

const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;

describe('made-up addresses', () => {
  test('are well-formed for their network and the same every time', () => {
    const kinds = MADE_UP_FORMS.map((form) => {
      const address = inventAddress('seed', form, 'a');
      expect(inventAddress('seed', form, 'a')).toBe(address);
      expect(inventAddress('seed', form, 'b')).not.toBe(address);
      return parseAddress(address)?.kind;
    });
    const other = [undefined, undefined, undefined, undefined];
    const known = ['evm', 'evm', 'solana', 'tron', 'bitcoin', 'bitcoin'];
    expect(kinds).toEqual([...known, ...other]);
  });

  test('every made-up account of a thousand parses, leading zeros and all', () => {
    for (let i = 0; i < 1_000; i += 1) {
      for (const form of ['solana', 'tron', 'bitcoin', 'bitcoin_bech32'] as const) {
        expect(parseAddress(inventAddress('seed', form, String(i)))).not.toBeNull();
      }
    }
  });
});

describe('the simulated list', () => {
  const addressesAt = (time: number) =>
    worldPublicationAt(time, WORLD_SEED).parties.flatMap((party) =>
      party.addresses.map(({ address }) => address),
    );

  test('is of the last days, holds about 1,100 distinct addresses, moves with the clock', () => {
    for (const at of [NOW, NOW + DAY_S, NOW + 400 * DAY_S]) {
      const { published } = worldPublicationAt(at, WORLD_SEED);
      const age = at - startOfDay(published);
      expect(age).toBeGreaterThanOrEqual(0);
      expect(age).toBeLessThan(4 * DAY_S);
      const distinct = new Set(addressesAt(at));
      expect(distinct.size).toBe(addressesAt(at).length);
      expect(distinct.size).toBeGreaterThan(1_090);
      expect(distinct.size).toBeLessThan(1_120);
    }
  });

  test('is the same for the same issue, and the next issue adds a few and drops a few', () => {
    expect(worldPublicationAt(NOW, WORLD_SEED)).toEqual(worldPublicationAt(NOW, WORLD_SEED));
    const before = new Set(addressesAt(NOW));
    const after = new Set(addressesAt(NOW + 3 * DAY_S));
    expect([...after].filter((address) => !before.has(address))).toHaveLength(3);
    expect([...before].filter((address) => !after.has(address))).toHaveLength(3);
  });

  test('always holds the documented addresses, one of each form', () => {
    const listed = new Set(addressesAt(NOW + 1_000 * DAY_S));
    for (const { address } of SANDBOX_PARTY.addresses) expect(listed.has(address)).toBe(true);
    const kinds = SANDBOX_PARTY.addresses.map(({ address }) => parseAddress(address)?.kind);
    expect(kinds).toEqual(['evm', 'solana', 'bitcoin', 'bitcoin', 'tron', undefined]);
  });
});

/** The shortest User-Agent that the publisher's firewall accepts: forty characters. */
const BROWSER = `Mozilla/5.0 ${'x'.repeat(28)}`;

describe('the stand-in on the wire', () => {
  let time = NOW;
  let publisher: StartedPublisher;
  beforeAll(async () => {
    publisher = await startPublisher({ now: () => time });
  });
  afterAll(() => publisher.close());
  afterEach(() => {
    publisher.fault(null);
    time = NOW;
  });
  const ask = (path: string, headers: Record<string, string> = {}) =>
    fetch(new URL(path, publisher.origin), {
      redirect: 'manual',
      headers: { 'user-agent': BROWSER, ...headers },
    });

  test('redirects each file to a link, which serves it until it expires', async () => {
    const first = await ask(`${EXPORTS_PATH}SDN_ADVANCED.XML`);
    expect(first.status).toBe(302);
    const link = String(first.headers.get('location'));
    const served = await ask(link);
    expect(served.status).toBe(200);
    expect(await served.text()).toMatch(/<\/Sanctions>\s*$/);
    time = NOW + 3_601;
    expect((await ask(link)).status).toBe(403);
  });

  test.each([
    'curl/8.5.0',
    'exhibit/0.1.0',
    'Mozilla/5.0',
    'Mozilla/five (compatible; exhibit; sanctions list refresh)',
    'exhibit/0.1.0 Mozilla/5.0 (compatible; sanctions list refresh)',
    BROWSER.slice(1),
    BROWSER.slice(0, -1),
  ])('its firewall answers 403 to %s', async (agent) => {
    const asked = await ask(`${EXPORTS_PATH}SDN.XML`, { 'user-agent': agent });
    expect(asked.status).toBe(403);
    expect((await ask(`${EXPORTS_PATH}SDN.XML`)).status).toBe(302);
  });

  test('refuses a link that it did not sign', async () => {
    expect((await ask('/s3/SDN.XML?X-Amz-Date=1&X-Amz-Signature=00')).status).toBe(403);
  });

  test('knows what the asker has, by tag and by date', async () => {
    const link = String((await ask(`${EXPORTS_PATH}SDN.XML`)).headers.get('location'));
    const { headers } = await ask(link);
    const etag = String(headers.get('etag'));
    const modified = String(headers.get('last-modified'));
    expect((await ask(link, { 'if-none-match': etag })).status).toBe(304);
    expect((await ask(link, { 'if-modified-since': modified })).status).toBe(304);
    expect((await ask(link, { 'if-none-match': '"x"' })).status).toBe(200);
  });

  test('leaves other paths to others', async () => {
    for (const path of ['/', `${EXPORTS_PATH}CONSOLIDATED.XML`, '/s3/../SDN.XML']) {
      expect((await ask(path)).status).toBe(404);
    }
  });

  test('knows its faults by name', () => {
    expect(isFault(PUBLISHER_FAULTS, 'truncated')).toBe(true);
    expect(isFault(PUBLISHER_FAULTS, 'tired')).toBe(false);
  });
});
