import { expect, test } from 'vitest';
import { parseConfig } from '../config.ts';
import { portChecks } from './checks.ts';

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
