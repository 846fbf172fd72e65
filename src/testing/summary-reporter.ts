// Nothing is skipped silently: every skipped test is counted under its reason before the last line.

import { existsSync } from 'node:fs';
import { DefaultReporter, type TestCase, type TestModule } from 'vitest/node';
import { collect, tally } from '../evidence/measure.ts';
import { NO_SHARED_DATA, SHARED_DATA } from './shared-data.ts';

/** The facts of a finished run for the closing lines. */
type Outcome = {
  readonly passed: number;
  readonly failed: number;
  /** The reason of each skipped test; `null` where neither it nor a title around it gives one. */
  readonly skipped: readonly Skipped[];
};

type Skipped = { readonly reason: string | null; readonly title: string };

const TITLES_SHOWN_MAX = 5;

/** The only reasons for which CI may leave a test out, each with the ground that has to hold. */
const LEFT_OUT_IN_CI: { readonly [reason: string]: () => boolean } = {
  [NO_SHARED_DATA]: () => !existsSync(SHARED_DATA),
};

/** The skipped tests that fail a run in CI: those for whose reason there is no ground. */
export function refuseInCi(
  skipped: readonly Skipped[],
  grounds: typeof LEFT_OUT_IN_CI = LEFT_OUT_IN_CI,
): readonly Skipped[] {
  return skipped.filter(({ reason }) => reason === null || grounds[reason]?.() !== true);
}

/** The lines about them: each by its name. */
export function refusalLines(refused: readonly Skipped[]): string[] {
  if (refused.length === 0) return [];
  return [
    `a test that is skipped in CI is a failure; ${refused.length} of them:`,
    ...refused.map(({ title }) => `    ${title}`),
  ];
}

/** The closing lines. The last one stands alone: `N passed, N failed, N skipped`. */
export function closingLines(outcome: Outcome): string[] {
  const byReason = new Map<string, string[]>();
  const counts = new Map<string, number>();
  for (const { reason, title } of outcome.skipped) {
    const group = reason === null ? 'no reason given' : reason;
    tally(counts, group);
    collect(byReason, group, title);
  }
  const lines = [...byReason].flatMap(([reason, titles]) => [
    `skipped ${counts.get(reason)}: ${reason}`,
    ...titles.slice(0, TITLES_SHOWN_MAX).map((title) => `    ${title}`),
    ...(titles.length > TITLES_SHOWN_MAX
      ? [`    and ${titles.length - TITLES_SHOWN_MAX} more`]
      : []),
  ]);
  const { passed, failed, skipped } = outcome;
  return ['', ...lines, `${passed} passed, ${failed} failed, ${skipped.length} skipped`];
}

/** The reason in a title such as `a server (skipped: no PostgreSQL)`, or `null`. */
export function reasonInTitle(title: string): string | null {
  const [, reason] = /\bskipped:?\s+(.+?)(?: > |$)/.exec(title) ?? [];
  if (reason === undefined) return null;
  const opened = reason.split('(').length;
  const closed = reason.split(')').length;
  return closed > opened ? reason.replace(/\)(?=[^)]*$)/, '') : reason;
}

/** Vitest's own report, and after it the closing lines. */
export class SummaryReporter extends DefaultReporter {
  override onTestRunEnd(...ended: Parameters<DefaultReporter['onTestRunEnd']>): void {
    super.onTestRunEnd(...ended);
    const [modules, unhandled] = ended;
    const outcome = outcomeOf(modules, unhandled.length);
    const refused = process.env['CI'] === 'true' ? refuseInCi(outcome.skipped) : [];
    if (refused.length > 0) process.exitCode = 1;
    const lines = [...refusalLines(refused), ...closingLines(outcome)];
    process.stdout.write(`${lines.join('\n')}\n`);
  }
}

function outcomeOf(modules: readonly TestModule[], unhandled: number): Outcome {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const inState = (state: string) => tests.filter((one) => one.result().state === state);
  // A file that did not load, a hook that threw and a stray rejection are failures of no test.
  const broken = modules.filter((module) => brokenOutsideTests(module)).length;
  return {
    passed: inState('passed').length,
    failed: inState('failed').length + broken + unhandled,
    skipped: [...inState('skipped'), ...inState('pending')].map((one) => ({
      reason: reasonOf(one),
      title: `${one.module.relativeModuleId} > ${one.fullName}`,
    })),
  };
}

function brokenOutsideTests(module: TestModule): boolean {
  const suites = [...module.children.allSuites()];
  return module.errors().length > 0 || suites.some((suite) => suite.errors().length > 0);
}

function reasonOf(test: TestCase): string | null {
  const result = test.result();
  if (result.state === 'skipped' && result.note !== undefined) return reasonOrAll(result.note);
  return reasonInTitle(test.fullName);
}

function reasonOrAll(note: string): string {
  const reason = reasonInTitle(note);
  return reason === null ? note : reason;
}
