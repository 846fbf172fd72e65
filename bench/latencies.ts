/** The latencies of some calls, in milliseconds, and how many a second there were. */
type Latencies = {
  readonly calls: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
  readonly mean: number;
  readonly perSecond: number;
};

/** Calls each item once, some at a time. */
export async function timeEach<T>(
  items: readonly T[],
  callers: number,
  call: (item: T) => Promise<unknown>,
): Promise<Latencies> {
  const taken: number[] = [];
  let next = 0;
  const started = performance.now();
  const caller = async () => {
    while (next < items.length) {
      const item = items[next];
      next += 1;
      if (item === undefined) return;
      const begun = performance.now();
      await call(item);
      taken.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return latenciesOf(taken, performance.now() - started);
}

/** The same of calls that were timed elsewhere. */
export function latenciesOf(taken: readonly number[], totalMs: number): Latencies {
  const sorted = Float64Array.from(taken).sort();
  const at = (share: number) => {
    const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
    return value === undefined ? Number.NaN : value;
  };
  const sum = sorted.reduce((all, one) => all + one, 0);
  return {
    calls: sorted.length,
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    max: at(1),
    mean: sum / sorted.length,
    perSecond: (sorted.length / totalMs) * 1_000,
  };
}

/** One line of a table. */
export function line(name: string, taken: Latencies): string {
  const ms = (value: number) => value.toFixed(value < 10 ? 2 : 1).padStart(9);
  const numbers = [taken.p50, taken.p95, taken.p99, taken.max, taken.mean].map(ms).join('');
  const rate = taken.perSecond.toFixed(1).padStart(10);
  return `${name.padEnd(46)}${numbers}${rate}${String(taken.calls).padStart(7)}`;
}

/** The head of the table. */
export const HEAD = `${''.padEnd(46)}${['p50', 'p95', 'p99', 'max', 'mean']
  .map((name) => name.padStart(9))
  .join('')}${'a second'.padStart(10)}${'calls'.padStart(7)}`;
