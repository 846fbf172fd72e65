// Answers one question: which tests run, where and in what time.

import { defineConfig } from 'vitest/config';
import { SummaryReporter } from './src/testing/summary-reporter.ts';

/** Folders whose tests start no server, no store and no process, and read no bulk data. */
const UNIT = [
  'src/{config,decisions,silence,tidy}.test.ts',
  'src/{access,chain,command,contract,evidence,features,operator,pages,transport}/**/*.test.{ts,tsx}',
  'src/testing/summary-reporter.test.ts',
];
const TEST_TIMEOUT_MS = 30_000;

export default defineConfig({
  test: {
    include: process.env['EXHIBIT_TEST_ONLY'] === 'unit' ? UNIT : ['src/**/*.test.{ts,tsx}'],
    globalSetup: ['./src/testing/suite-setup.ts'],
    env: { TZ: 'UTC' },
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: TEST_TIMEOUT_MS,
    hookTimeout: TEST_TIMEOUT_MS,
    reporters: [new SummaryReporter()],
    passWithNoTests: false,
  },
});
