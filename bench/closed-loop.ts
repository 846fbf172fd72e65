// Asks as a child process, on plain sockets, so that what is measured is the server and not it.
// Each connection waits for its answer before it asks again; load.ts asks at times of its own.

import { connect } from 'node:net';

/** The requests to send. Each connection walks them from a start of its own, round and round. */
export type Load = {
  readonly port: number;
  readonly connections: number;
  readonly durationMs: number;
  readonly requests: readonly string[];
};

/** The answers. Latencies are in milliseconds, of whole answers. */
export type LoadResult = {
  readonly answers: number;
  readonly byStatus: { readonly [status: string]: number };
  readonly seconds: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly broken: number;
};

type Tally = { byStatus: Map<string, number>; latencies: number[]; broken: number };

process.once('message', (load: Load) => {
  run(load).then(
    (result) => process.send?.(result, () => process.exit(0)),
    (fault: unknown) => {
      process.stderr.write(`${String(fault)}\n`);
      process.exit(1);
    },
  );
});

async function run(load: Load): Promise<LoadResult> {
  const tally: Tally = { byStatus: new Map(), latencies: [], broken: 0 };
  const requests = load.requests.map((text) => Buffer.from(text));
  const started = performance.now();
  const until = started + load.durationMs;
  const step = Math.max(1, Math.floor(requests.length / load.connections));
  await Promise.all(
    Array.from({ length: load.connections }, (_, i) =>
      oneConnection(load.port, requests, i * step, until, tally),
    ),
  );
  const seconds = (performance.now() - started) / 1000;
  const sorted = Float64Array.from(tally.latencies).sort();
  const at = (share: number) => {
    const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
    return value === undefined ? Number.NaN : value;
  };
  return {
    answers: sorted.length,
    byStatus: Object.fromEntries(tally.byStatus),
    seconds,
    p50_ms: at(0.5),
    p99_ms: at(0.99),
    broken: tally.broken,
  };
}

function oneConnection(
  port: number,
  requests: readonly Buffer[],
  start: number,
  until: number,
  tally: Tally,
): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.setNoDelay(true);
    let next = start;
    let sentAt = 0;
    let held: Buffer | null = null;
    const send = () => {
      if (performance.now() >= until) {
        socket.end();
        return;
      }
      const request = requests[next % requests.length];
      next += 1;
      if (request === undefined) return;
      sentAt = performance.now();
      socket.write(request);
    };
    socket.on('connect', send);
    socket.on('data', (chunk: Buffer) => {
      held = held === null ? chunk : Buffer.concat([held, chunk]);
      const whole = answerIn(held);
      if (whole === null) return;
      tally.latencies.push(performance.now() - sentAt);
      const before = tally.byStatus.get(whole.status);
      tally.byStatus.set(whole.status, before === undefined ? 1 : before + 1);
      held = held.length > whole.length ? held.subarray(whole.length) : null;
      send();
    });
    socket.on('error', () => {
      tally.broken += 1;
    });
    socket.on('close', () => resolve());
  });
}

// A whole answer has its head and as many bytes of body as the head says.
function answerIn(bytes: Buffer): { status: string; length: number } | null {
  const head = bytes.indexOf('\r\n\r\n');
  if (head === -1) return null;
  const text = bytes.toString('latin1', 0, head);
  const found = /\r\ncontent-length: (\d+)/i.exec(text);
  const length = head + 4 + Number(found?.[1]);
  if (found === null || bytes.length < length) return null;
  return { status: text.slice(9, 12), length };
}
