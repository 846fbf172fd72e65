import { expect, test } from 'vitest';
import { parseConfig } from '../config.ts';
import { absences } from './checks.ts';

function absentNames(env: { readonly [name: string]: string }): string[] {
  const parsed = parseConfig(env, { cwd: '/' });
  if (!parsed.ok) throw new Error(parsed.problems.join('; '));
  return absences(parsed.config).map(({ name }) => name);
}

test('each source that is not set says what is answered without it; one that is set does not', () => {
  const without = absentNames({});
  expect(without).toContain('explorer');
  expect(new Set(without).size).toBe(without.length);
  expect(absentNames({ EXHIBIT_EXPLORER_URL: 'https://e.example/v2/api' })).toEqual(
    without.filter((name) => name !== 'explorer'),
  );
});
