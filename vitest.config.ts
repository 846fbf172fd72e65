// Answers one question: which tests run, where and in what time.

import { configDefaults, defineConfig } from 'vitest/config';
import { LongestFirst } from './src/testing/longest-first.ts';
import { SummaryReporter } from './src/testing/summary-reporter.ts';

/** Folders whose tests start no server, no store and no process, and read no bulk data. */
const UNIT = [
  'src/{config,decisions,tidy}.test.ts',
  'src/{access,chain,command,contract,evidence,features,operator,pages,transport}/**/*.test.{ts,tsx}',
  'src/testing/summary-reporter.test.ts',
];
/** Those in these folders that do start a process, open a store or read bulk data. */
const NOT_UNIT = [
  'src/operator/owner.test.ts',
  'src/features/access/members.command.test.ts',
  'src/features/entities/{import,wallet-entity,weights}.test.ts',
  'src/features/indexing/follow-chain.job.test.ts',
  'src/features/sanctions/{refresh.job,sanctions.command}.test.ts',
  'src/features/tables/{stored-tables,launches,import-rows,label-changes}.test.ts',
  'src/transport/{answer,guard,http,socket,stream}.test.ts',
];
const TEST_TIMEOUT_MS = 120_000;
/** The young objects of a test process; with the usual 16 an eighth of its time is collecting. */
const YOUNG_MIB = 64;
const unitOnly = process.env['EXHIBIT_TEST_ONLY'] === 'unit';

export default defineConfig({
  test: {
    include: unitOnly ? UNIT : ['src/**/*.test.{ts,tsx}'],
    exclude: [...configDefaults.exclude, ...(unitOnly ? NOT_UNIT : [])],
    // Tests mock no module and leave nothing behind: a process reads each module once for all.
    isolate: false,
    globalSetup: ['./src/testing/suite-setup.ts'],
    sequence: { sequencer: LongestFirst },
    env: { TZ: 'UTC' },
    pool: 'forks',
    execArgv: [`--max-semi-space-size=${YOUNG_MIB}`],
    // One more than the processors of the smallest machine: tests wait for their engines.
    maxWorkers: 3,
    testTimeout: TEST_TIMEOUT_MS,
    hookTimeout: TEST_TIMEOUT_MS,
    reporters: [new SummaryReporter()],
    passWithNoTests: false,
  },
});
