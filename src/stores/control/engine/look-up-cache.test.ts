import { describe, expect, test } from 'vitest';
import { type Reading, read, Unread, unread } from '../../../evidence/reading.ts';
import { why } from '../../../evidence/reasons.ts';
import type { SecretHash } from '../../../ports/access.ts';
import { FRESH_MS, rememberLookUps, STALE_MAX_MS } from './look-up-cache.ts';

const source = { name: 's', url: 's:', as_of: 0, kind: 'table', simulated: false } as const;
const fault = why('store_unreadable', { what: 'The keys', fault: 'no answer' });
const LATE = unread('keys', why('store_unreadable', { what: 'The keys', fault: 'too slow' }));
const secrets = (n: number): [SecretHash] => [{ hash: new Uint8Array(32).fill(n), pepper: 'p' }];

/** A store that can be changed and silenced, on a clock that is moved by hand. */
function world() {
  const state = { value: 'valid', silent: false, nowMs: 0, tookMs: 0, asked: 0 };
  const find = async (): Promise<Reading<string | null, 'keys'>> => {
    state.asked += 1;
    const value = state.value;
    state.nowMs += state.tookMs;
    await Promise.resolve();
    return state.silent ? unread('keys', fault) : read(value, { port: 'keys', source });
  };
  const remembered = rememberLookUps(find, LATE, () => state.nowMs);
  return { state, lookUp: remembered.find, forget: remembered.forget };
}
const said = (reading: Reading<string | null, 'keys'>) => reading.checked && reading.value;

describe('look-ups with a memory', () => {
  test('within two seconds the store is asked once, then again', async () => {
    const { state, lookUp } = world();
    await lookUp(secrets(1));
    state.nowMs = FRESH_MS - 1;
    await lookUp(secrets(1));
    expect(state.asked).toBe(1);
    state.nowMs = FRESH_MS;
    await lookUp(secrets(1));
    expect(state.asked).toBe(2);
  });

  test('callers at once share one question, other keys have their own', async () => {
    const { state, lookUp } = world();
    await Promise.all([lookUp(secrets(1)), lookUp(secrets(1)), lookUp(secrets(2))]);
    expect(state.asked).toBe(2);
  });

  test('a revocation elsewhere is seen as soon as the memory has aged', async () => {
    const { state, lookUp } = world();
    await lookUp(secrets(1));
    state.value = 'revoked';
    state.nowMs = FRESH_MS;
    expect(said(await lookUp(secrets(1)))).toBe('revoked');
  });

  test('while the store is silent the memory serves five seconds, not more', async () => {
    const { state, lookUp } = world();
    await lookUp(secrets(1));
    state.silent = true;
    state.nowMs = STALE_MAX_MS - 1;
    expect(said(await lookUp(secrets(1)))).toBe('valid');
    state.nowMs = STALE_MAX_MS;
    expect(await lookUp(secrets(1))).toBeInstanceOf(Unread);
    state.silent = false;
    expect(said(await lookUp(secrets(1)))).toBe('valid');
  });

  test('a key never seen before is unread while the store is silent, never a miss', async () => {
    const { state, lookUp } = world();
    state.silent = true;
    expect(await lookUp(secrets(1))).toBeInstanceOf(Unread);
  });

  test('an answer that took five seconds to come is not used', async () => {
    const { state, lookUp } = world();
    state.tookMs = STALE_MAX_MS;
    expect(await lookUp(secrets(1))).toBe(LATE);
  });

  test('an answer counts from when it was asked for, not from when it came', async () => {
    const { state, lookUp } = world();
    state.tookMs = FRESH_MS - 1;
    await lookUp(secrets(1));
    state.tookMs = 0;
    state.nowMs += 1;
    await lookUp(secrets(1));
    expect(state.asked).toBe(2);
  });

  test('a change made here is seen at once, whatever was under way before it', async () => {
    const { state, lookUp, forget } = world();
    await lookUp(secrets(1));
    const underWay = lookUp(secrets(2));
    state.value = 'revoked';
    forget();
    expect(said(await lookUp(secrets(1)))).toBe('revoked');
    expect(said(await lookUp(secrets(2)))).toBe('revoked');
    expect(said(await underWay)).toBe('valid');
    expect(said(await lookUp(secrets(2)))).toBe('revoked');
  });

  test('a flood of other keys does not grow the memory without end', async () => {
    const { state, lookUp } = world();
    for (let n = 0; n < 25_000; n += 1) {
      const hash = new Uint8Array(32);
      new DataView(hash.buffer).setUint32(0, n);
      await lookUp([{ hash, pepper: 'p' }]);
    }
    const asked = state.asked;
    await lookUp([{ hash: new Uint8Array(32), pepper: 'p' }]);
    expect(state.asked).toBe(asked + 1);
  });
});
