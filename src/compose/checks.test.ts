import { expect, test } from 'vitest';
import { deriveSecrets } from '../access/secret.ts';
import { parseConfig } from '../config.ts';
import { read, unread } from '../evidence/reading.ts';
import { type Why, why } from '../evidence/reasons.ts';
import { checkpointOver, servedLeaves } from '../testing/served-log.ts';
import {
  anchoringSaid,
  callsSaid,
  doctorServices,
  logSaid,
  portChecks,
  sealedSaid,
} from './checks.ts';
import type { DatedSource } from './freshness.ts';
import { FEATURES } from './list.ts';

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

const UNASKED: Awaited<ReturnType<DatedSource['age']>> = {
  state: 'per_answer',
  as_of: null,
  published: null,
  age_s: null,
  max_age_s: null,
  reason: null,
};

test('each thing that doctor looks at has one line', () => {
  const parsed = parseConfig({}, { cwd: '/' });
  if (!parsed.ok) throw new Error(parsed.problems.join('; '));
  const unasked = why('not_configured', { what: 'This test' });
  const sources = FEATURES.flatMap(({ ports }) => Object.values(ports)).map((facts) => {
    return { facts, age: async () => UNASKED };
  });
  const { checks } = doctorServices(
    parsed.config,
    { checks: [], withdrawn: async () => [], sealedElsewhere: async () => 0 },
    sources,
    { underOtherSecrets: async () => unread('keys', unasked) },
    deriveSecrets('a root of this test', null),
    () => [],
    {
      signing: { all: async () => unread('signing_keys', unasked) },
      log: { head: async () => unread('transparency_log', unasked) },
      anchoring: async () => ({ state: 'off' }),
    },
    async () => unasked,
    async () => unread('store_marks', unasked),
  );
  // One and several of a thing are one thing.
  const names = checks.map(({ name }) => name.replace(/s$/, ''));
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  expect(names).toContain('signing key');
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

test('roots that wait for the operator have failed, and those that nobody could look at are unchecked', () => {
  const place = { contract: '0xc', sender: '0xa' };
  const empty = why('anchor_purse_empty', { sender: '0xa', has: '1', needs: '9' });
  const high = why('anchor_fee_high', { fee: '9', max: '5' });
  const silent = why('timed_out', { what: 'The node', limit: '8 s' });
  const stateOf = (...whys: Why[]) => anchoringSaid({ state: 'looked', at: 0, whys }).state;
  expect(stateOf()).toBe('ok');
  expect(stateOf(high)).toBe('warning');
  expect(stateOf(silent)).toBe('unchecked');
  for (const one of [empty, why('anchor_contract_other', place)]) {
    expect(stateOf(one)).toBe('failed');
    expect(stateOf(high, one)).toBe('failed');
  }
  const both = anchoringSaid({ state: 'looked', at: 0, whys: [high, silent] });
  expect(both).toEqual({ state: 'unchecked', says: `${high.reason} ${silent.reason}` });
  expect(anchoringSaid({ state: 'elsewhere' }).state).toBe('absent');
});

test('a log that is frozen has failed, and one that cannot be read is not called well', async () => {
  const origin = 'log.example/log/1';
  const note = checkpointOver(servedLeaves(304), origin);
  const newest = { size: 300, root: `0x${'0'.repeat(64)}`, signed_at: 0, note };
  const standing = {
    generation: 1,
    origin,
    leaves: 304,
    newest,
    published: note,
    frozen: null,
    former: [],
  };
  const source = { name: 'k', url: 'k:', as_of: 0, kind: 'table', simulated: false } as const;
  const port = 'transparency_log';
  const said = (over: object) =>
    logSaid({ head: async () => read({ ...standing, ...over }, { port, source }) });
  expect(await said({})).toEqual({ state: 'ok', says: '300 of 304 leaves are signed' });
  expect(await said({ newest: null, published: null })).toEqual({
    state: 'ok',
    says: '304 leaves await the first checkpoint',
  });
  const cause = 'it signed 304 leaves, of which 300 are stored';
  const frozen = why('log_behind', { origin, cause });
  expect(await said({ frozen })).toEqual({
    state: 'failed',
    says: `${frozen.reason} It has signed 304 leaves.`,
  });
  expect(frozen.reason).toContain(cause);
  const silent = (reason: ReturnType<typeof why>) =>
    logSaid({ head: async () => unread(port, reason) });
  expect((await silent(why('not_configured', { what: 'A signed log' }))).state).toBe('absent');
  const fault = why('store_unreadable', { what: 'The transparency log', fault: 'ESILENT' });
  expect(await silent(fault)).toEqual({ state: 'unchecked', says: fault.reason });
});

test('chats that no secret opens have failed, and say how many and what to do', () => {
  expect(sealedSaid(0)).toEqual({
    state: 'ok',
    says: 'every chat opens under the secret that is set',
  });
  const { state, says } = sealedSaid(3);
  expect(state).toBe('failed');
  expect(says).toMatch(/^3 chats are sealed under a secret that is not set/);
  expect(says).toContain('EXHIBIT_SECRET_PREVIOUS');
});
