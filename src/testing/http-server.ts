import { createHttp, type HttpOptions } from '../transport/http.ts';
import { createMeters } from '../transport/metrics.ts';

type TestOptions = Pick<HttpOptions, 'mounted' | 'now'> & Partial<HttpOptions>;
const quiet = () => undefined;

/** A server over these routes. By itself it charges nobody and logs nothing. */
export function createTestHttp(options: TestOptions): ReturnType<typeof createHttp> {
  return createHttp({
    gate: null,
    meters: createMeters([]),
    log: { info: quiet, warn: quiet, error: quiet },
    budgetMs: 30_000,
    trustProxy: false,
    ...options,
  });
}
