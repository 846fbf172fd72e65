// Traces go to a collector in the form of OTLP, name nothing that was asked for, and cost nothing
// that grows where nobody takes them.

import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type OtlpCollector, startCollector } from '../testing/otlp-collector.ts';
import { meterPort } from './parts.ts';
import { exportSpans, SPANS_WAITING_MAX, type SpanExport } from './span-export.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const ABOVE = '00f067aa0ba902b7';
const TRACEPARENT = `00-${TRACE}-${ABOVE}-01`;
const ROUTE = '/api/v1/wallet/{address}/ofac';
const ASKED = { method: 'GET', route: ROUTE, traceparent: undefined };
const OK = async () => ({ status: 200 });

let collector: OtlpCollector;
let spans: SpanExport;
const warned: object[] = [];
const begin = (share = 1, url = collector.url, deadlineMs = 200) => {
  const log = { warn: (facts: object) => void warned.push(facts) };
  spans = exportSpans({ url, share, sentEachMs: 10, deadlineMs }, log);
  return spans.tracing;
};
beforeEach(async () => {
  warned.length = 0;
  collector = await startCollector();
});
afterEach(async () => {
  await spans.close();
  await collector.close();
});

const gaugeOf = async (name: string) => spans.gauges.find((one) => one.name === name)?.value();
const taken = () => gaugeOf('exhibit_spans_sent');
const dropped = () => gaugeOf('exhibit_spans_dropped');

describe('a request with a reading and a call to a provider', () => {
  const SECRET = 'a-key-of-the-provider';
  const ADDRESS = '0x00000000000000000000000000000000000000ad';

  test('is three spans under the one that its caller told of, without a path, key or address', async () => {
    const { request } = begin();
    const provider = createServer((_, response) => response.end('{}'));
    provider.listen(0, '127.0.0.1');
    await once(provider, 'listening');
    const { port } = provider.address() as AddressInfo;
    const history = {
      transfersOf: async (address: string) => {
        const path = `http://127.0.0.1:${port}/v2/${SECRET}/${address}?apikey=${SECRET}`;
        await new Promise<void>((done) => {
          get(path, (answer) => answer.resume().once('end', done));
        });
        return { checked: true };
      },
    };
    const watch = { count: () => {}, took: () => {}, within: spans.tracing.reading };
    const metered = meterPort('transfer_history', history, watch);
    await request({ ...ASKED, traceparent: TRACEPARENT }, async () => {
      await metered.transfersOf(ADDRESS);
      return { status: 200 };
    });
    await vi.waitFor(() => expect(collector.spans()).toHaveLength(3));
    const [call, reading, root] = collector.spans();
    expect(collector.problems()).toEqual([]);
    expect(root).toMatchObject({
      traceId: TRACE,
      parentSpanId: ABOVE,
      name: `GET ${ROUTE}`,
      kind: 2,
      attributes: [
        { key: 'http.request.method', value: { stringValue: 'GET' } },
        { key: 'http.route', value: { stringValue: ROUTE } },
        { key: 'http.response.status_code', value: { intValue: '200' } },
      ],
      status: { code: 0 },
    });
    expect(reading).toMatchObject({
      traceId: TRACE,
      parentSpanId: root?.spanId,
      name: 'transfer_history.transfersOf',
      kind: 1,
    });
    expect(call).toMatchObject({
      traceId: TRACE,
      parentSpanId: reading?.spanId,
      name: 'GET',
      kind: 3,
      attributes: [
        { key: 'http.request.method', value: { stringValue: 'GET' } },
        { key: 'url.scheme', value: { stringValue: 'http' } },
        { key: 'server.address', value: { stringValue: '127.0.0.1' } },
        { key: 'http.response.status_code', value: { intValue: '200' } },
      ],
    });
    expect(collector.bodies()).not.toMatch(new RegExp(`${SECRET}|${ADDRESS.slice(2)}|apikey`));
    // The call to the collector is no span of anybody.
    await wait(50);
    expect(collector.spans()).toHaveLength(3);
    provider.close();
  });

  test('of a provider that does not answer, and of a fault of ours, says error', async () => {
    const { request } = begin();
    await request(ASKED, async () => {
      await new Promise((done) => get('http://127.0.0.1:1/').once('error', done));
      return { status: 500 };
    });
    await vi.waitFor(() => expect(collector.spans()).toHaveLength(2));
    expect(collector.spans().map(({ status }) => status.code)).toEqual([2, 2]);
  });

  test('outside of a request nothing is traced', async () => {
    const { reading } = begin();
    await reading('transfer_history', 'transfersOf', OK);
    await spans.close();
    expect(collector.bodies()).toBe('');
  });
});

describe('a run of a job', () => {
  test('says how it ended; one that found nothing to do leaves no span', async () => {
    const watch = begin().job('deployers');
    expect(
      await watch(
        async () => 7,
        () => 'idle',
      ),
    ).toBe(7);
    await watch(OK, () => 'done');
    await watch(OK, () => 'failed');
    const fault = new Error('a bug');
    const broken = watch(
      () => Promise.reject(fault),
      () => 'done',
    );
    await expect(broken).rejects.toBe(fault);
    await spans.close();
    const said = collector.spans().map(({ name, attributes, status }) => {
      return [name, attributes.at(-1)?.value, status.code];
    });
    expect(said).toEqual([
      ['job deployers', { stringValue: 'done' }, 0],
      ['job deployers', { stringValue: 'failed' }, 2],
      ['job deployers', { stringValue: 'fault' }, 2],
    ]);
    expect(new Set(collector.spans().map(({ traceId }) => traceId)).size).toBe(3);
  });

  test('that is not in the share leaves none, nor do its calls', async () => {
    const watch = begin(0).job('deployers');
    await watch(
      () => new Promise((done) => get('http://127.0.0.1:1/').once('error', done)),
      () => 'done',
    );
    await spans.close();
    expect(collector.bodies()).toBe('');
  });
});

describe('which requests are traced', () => {
  test.each([
    ['of a caller who leaves it out', `00-${TRACE}-${ABOVE}-00`, 0],
    ['of a caller who takes part', TRACEPARENT, 1],
    ['with no trace', `00-${'0'.repeat(32)}-${ABOVE}-01`, 1],
    ['with letters of the wrong case', TRACEPARENT.toUpperCase(), 1],
    ['with a text of another form', `${TRACEPARENT}-${'x'.repeat(10_000)}`, 1],
  ])('a request %s', async (_, traceparent, count) => {
    const { request } = begin();
    await request({ ...ASKED, traceparent }, OK);
    await spans.close();
    expect(collector.spans()).toHaveLength(count);
    const isTold = traceparent === TRACEPARENT;
    if (count > 0) expect(collector.spans()[0]?.parentSpanId).toBe(isTold ? ABOVE : undefined);
  });

  test('a share of them by their ids, the same in every process', async () => {
    const { request } = begin(0.25);
    const ids = Array.from({ length: 400 }, (_, n) => {
      return `${TRACE.slice(8)}${(n * 10_737_418).toString(16).padStart(8, '0')}`;
    });
    for (const id of ids) {
      await request({ ...ASKED, traceparent: `00-${id}-${ABOVE}-01` }, OK);
    }
    await spans.close();
    expect(collector.spans().map(({ traceId }) => traceId)).toEqual(ids.slice(0, 101));
  });

  test('user info of the address goes as a header', async () => {
    const url = new URL(collector.url);
    url.username = 'tenant';
    url.password = 'secret';
    const { request } = begin(1, url);
    await request(ASKED, OK);
    await spans.close();
    expect(collector.authorizations()).toEqual([
      `Basic ${Buffer.from('tenant:secret').toString('base64')}`,
    ]);
  });
});

describe('a collector that fails', () => {
  test.each(['hang', 'refuse', 'unavailable'] as const)(
    '%s: what it does not take is dropped and counted, and later spans arrive',
    async (fault) => {
      const { request } = begin();
      collector.fault(fault);
      await request(ASKED, OK);
      await vi.waitFor(async () => expect(await dropped()).toBe(1), 3_000);
      expect(warned).toEqual([{ fault: expect.any(String) }]);
      expect(JSON.stringify(warned)).not.toContain('127.0.0.1');
      collector.fault(null);
      await request(ASKED, OK);
      await vi.waitFor(async () => expect(await taken()).toBe(1), 3_000);
    },
  );

  test('a collector that refuses some of them is believed', async () => {
    const { request } = begin();
    collector.fault({ rejected: 1 });
    await Promise.all([request(ASKED, OK), request(ASKED, OK), request(ASKED, OK)]);
    await spans.close();
    expect([await taken(), await dropped()]).toEqual([2, 1]);
  });

  test('no more wait than find room, and no request waits for it', async () => {
    const { request } = begin(1, collector.url, 60_000);
    collector.fault('hang');
    const asked = SPANS_WAITING_MAX * 2;
    for (let n = 0; n < asked; n += 1) await request(ASKED, OK);
    // One batch is under way; what waits beside it is bounded.
    expect(await dropped()).toBeGreaterThanOrEqual(asked - SPANS_WAITING_MAX - 512);
    const began = performance.now();
    await spans.close();
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  test('a request that throws is thrown on', async () => {
    const { request } = begin();
    const fault = new Error('a fault');
    await expect(request(ASKED, () => Promise.reject(fault))).rejects.toBe(fault);
    await spans.close();
    expect(collector.spans()).toMatchObject([{ status: { code: 2 } }]);
  });
});
