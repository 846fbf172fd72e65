// Sends spans to a collector in OTLP's JSON over HTTP. What does not fit its bounds is dropped and
// counted: a collector that is slow or gone holds nothing up, and nothing grows.

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { inTime } from '../evidence/waiting.ts';
import {
  callWithin,
  credentialOf,
  FetchFault,
  sendRequest,
  wholeBody,
} from '../sources/http/outbound-call.ts';
import type { GaugeReading } from '../transport/metrics.ts';
import { type TraceSpan, type Tracing, tracing } from '../transport/tracing.ts';
import type { Logger } from './logger.ts';
import { VERSION } from './version.ts';

/** Spans that wait; one more is dropped. */
export const SPANS_WAITING_MAX = 4_096;
const BATCH_MAX = 512;
const SENT_EACH_MS = 2_000;
/** How long a collector may take for one batch. */
const DEADLINE_MS = 5_000;
/** How long the last batch may hold up the end of the process. */
const LAST_MS = 1_000;
const ANSWER_BYTES_MAX = 64 * 1_024;
const FAULT_LOGGED_EACH_MS = 60_000;
const PATH = 'v1/traces';

export type SpanExport = {
  readonly tracing: Tracing;
  readonly gauges: readonly GaugeReading[];
  /** Sends what waits, for a second at most, and stops. */
  readonly close: () => Promise<void>;
};

type Collector = {
  /** Its root, under which `/v1/traces` is. */
  readonly url: URL;
  /** Which share of the requests is traced, from 0 to 1. */
  readonly share: number;
  readonly sentEachMs?: number;
  readonly deadlineMs?: number;
};

/** Makes spans and sends them from then on. */
export function exportSpans(
  { url, share, sentEachMs = SENT_EACH_MS, deadlineMs = DEADLINE_MS }: Collector,
  log: Pick<Logger, 'warn'>,
): SpanExport {
  const target = new URL(PATH, url.href.endsWith('/') ? url.href : `${url.href}/`);
  const resource = resourceOf();
  const stopped = new AbortController();
  let waiting: TraceSpan[] = [];
  let sent = 0;
  let dropped = 0;
  let sending: Promise<void> | null = null;
  let loggedMs = Number.NEGATIVE_INFINITY;
  const made = tracing(share, (span) => {
    if (waiting.length < SPANS_WAITING_MAX) waiting.push(span);
    else dropped += 1;
  });
  const post = async (batch: readonly TraceSpan[]): Promise<number> => {
    const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [scopeOf(batch)] }] });
    const words = { call: 'export', late: 'was not taken' };
    return callWithin({ deadlineMs, signal: stopped.signal, words }, async ({ signal }) => {
      const headers = { 'content-type': 'application/json', ...credentialOf(target) };
      const asked = { url: target, method: 'POST', headers, body, signal } as const;
      const answer = await sendRequest({ ...asked, agent: undefined });
      const said = await wholeBody(answer, ANSWER_BYTES_MAX);
      if (answer.statusCode !== OK) throw new FetchFault(`answered ${answer.statusCode}`);
      return batch.length - countRefused(said.toString());
    });
  };
  const noteFault = (fault: unknown) => {
    if (performance.now() - loggedMs < FAULT_LOGGED_EACH_MS) return;
    loggedMs = performance.now();
    const says = fault instanceof FetchFault ? fault.fault : String(fault);
    log.warn({ fault: says }, 'traces: not taken by the collector');
  };
  // A batch that was not taken is not sent again: the next look sends what came meanwhile.
  const sendAll = async (): Promise<void> => {
    let isTaking = true;
    while (isTaking && waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_MAX);
      waiting = waiting.slice(BATCH_MAX);
      await made
        .untraced(() => post(batch))
        .then(
          (taken) => {
            sent += taken;
            dropped += batch.length - taken;
          },
          (fault: unknown) => {
            isTaking = false;
            dropped += batch.length;
            noteFault(fault);
          },
        );
    }
  };
  const sendNow = (): Promise<void> => {
    if (sending === null) {
      sending = sendAll().finally(() => {
        sending = null;
      });
    }
    return sending;
  };
  const timer = setInterval(() => void sendNow(), sentEachMs).unref();
  return {
    tracing: made,
    gauges: [
      { name: 'exhibit_spans_sent', help: 'Spans that the collector took.', value: () => sent },
      {
        name: 'exhibit_spans_dropped',
        help: 'Spans that found no room or were not taken.',
        value: () => dropped,
      },
    ],
    close: async () => {
      clearInterval(timer);
      made.end();
      await inTime(sendNow, AbortSignal.timeout(LAST_MS));
      stopped.abort();
    },
  };
}

const OK = 200;
/** An answer that names no refused spans refused none. */
const answerSchema = z.looseObject({
  partialSuccess: z
    .looseObject({ rejectedSpans: z.coerce.number().int().nonnegative().default(0) })
    .prefault({}),
});

/** How many spans an answer says were refused. Throws on an answer of another form. */
function countRefused(text: string): number {
  const said: unknown = JSON.parse(text === '' ? '{}' : text);
  return answerSchema.parse(said).partialSuccess.rejectedSpans;
}

type Fact = readonly [name: string, value: string | number];

function attributesOf(facts: readonly Fact[]) {
  return facts.map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? { stringValue: value } : { intValue: String(value) },
  }));
}

function resourceOf() {
  return {
    attributes: attributesOf([
      ['service.name', 'exhibit'],
      ['service.version', VERSION],
      ['service.instance.id', randomUUID()],
    ]),
  };
}

const STATUS = { unset: 0, error: 2 } as const;

function scopeOf(spans: readonly TraceSpan[]) {
  return {
    scope: { name: 'exhibit', version: VERSION },
    spans: spans.map(({ traceId, spanId, parentId, name, kind, startNs, endNs, ...one }) => ({
      traceId,
      spanId,
      ...(parentId === null ? {} : { parentSpanId: parentId }),
      name,
      kind,
      startTimeUnixNano: String(startNs),
      endTimeUnixNano: String(endNs),
      attributes: attributesOf(Object.entries(one.facts)),
      status: { code: one.isError ? STATUS.error : STATUS.unset },
    })),
  };
}
