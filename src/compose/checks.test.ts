import { expect, test } from 'vitest';
import { parseConfig } from '../config.ts';
import { callsSaid, portChecks } from './checks.ts';

function absentNames(env: { readonly [name: string]: string }): string[] {
  const parsed = parseConfig(env, { cwd: '/' });
  if (!parsed.ok) throw new Error(parsed.problems.join('; '));
  return portChecks(parsed.config).map(({ name }) => name);
}

test('each source that is not set says what is answered without it; one that is set does not', () => {
  const without = absentNames({});
  expect(without).toContain('explorer');
  expect(new Set(without).size).toBe(without.length);
  expect(absentNames({ EXHIBIT_EXPLORER_URL: 'https://e.example/v2/api' })).toEqual(
    without.filter((name) => name !== 'explorer'),
  );
});

test('a node of Solana is no node of an EVM chain: each lack has a row of its own', () => {
  const names = (env: { readonly [name: string]: string }) =>
    absentNames(env).filter((name) => name === 'RPC endpoints' || name === 'Solana node');
  const url = 'https://node.example/';
  expect(names({}).sort()).toEqual(['RPC endpoints', 'Solana node']);
  expect(names({ EXHIBIT_RPC_SOLANA: url })).toEqual(['RPC endpoints']);
  expect(names({ EXHIBIT_RPC_BASE: url })).toEqual(['Solana node']);
});

test('the calls of a day are told beside the budget, and a budget that is nearly spent is warned of', () => {
  const hour = (answered: number, failed: number) => ({
    from: 0,
    calls: { answered, failed, stopped: 1 },
  });
  const report = {
    hours: [hour(50, 9), { from: 3_600, calls: null }, hour(19, 0)],
    watched_since: 0,
  };
  const since = 'in the last day, counted since 1970-01-01T00:00:00.000Z';
  expect(callsSaid(report, null)).toEqual({ state: 'ok', says: `80 calls ${since}` });
  expect(callsSaid(report, 101)).toEqual({
    state: 'ok',
    says: `80 calls of 101 that a day allows ${since}`,
  });
  expect(callsSaid(report, 100).state).toBe('warning');
});
