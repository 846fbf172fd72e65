// How often a test tries what takes long: some times in the suite, and each time with
// `npm run test:all`, which sets EXHIBIT_TEST_ALL=1. A variable of a test's own goes before both.

/** `few` in the suite, `all` with EXHIBIT_TEST_ALL=1, else the number or `all` of the variable. */
export function trialsOf(variable: string, few: number, all: number): number {
  const named = process.env[variable];
  if (named === 'all') return all;
  if (named !== undefined) return Number(named);
  return process.env['EXHIBIT_TEST_ALL'] === '1' ? all : few;
}

/**
 * Which of the trials are made, counted from 1: those of `FROM-TO` where the variable names them so
 * that a long trial can be made in pieces, else the first ones.
 */
export function trialRange(variable: string, few: number, all: number) {
  const [from, to] = (process.env[variable] ?? '').split('-').map(Number);
  if (to === undefined) return { from: 1, to: trialsOf(variable, few, all) };
  return { from: Number(from), to };
}
