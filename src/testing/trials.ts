// How often a test tries what takes long: some times in the suite, and each time with
// `npm run test:all`, which sets EXHIBIT_TEST_ALL=1. A variable of a test's own goes before both.

/** `few` in the suite, `all` with EXHIBIT_TEST_ALL=1, else the number or `all` of the variable. */
export function trialsOf(variable: string, few: number, all: number): number {
  const named = process.env[variable];
  if (named === 'all') return all;
  if (named !== undefined) return Number(named);
  return process.env['EXHIBIT_TEST_ALL'] === '1' ? all : few;
}
