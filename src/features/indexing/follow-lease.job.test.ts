import { describe, expect, test } from 'vitest';
import { read, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { FollowEnd, FollowState, FollowWatch } from '../../ports/indexing/chain-following.ts';
import type { Leases } from '../../ports/indexing/leases.ts';
import { followUnderLease, LEASE_RENEW_MS, LEASE_S } from './follow-lease.job.ts';

const STATE: FollowState = {
  chain: 'base',
  source: 'a node',
  kinds: null,
  head_block: null,
  last_block: null,
  last_time: null,
  final_block: null,
  lag_blocks: null,
  lag_s: null,
  blocks: 0,
  transfers: 0,
  reorgs: 0,
  blocks_undone: 0,
  left_out: { misshapen: 0 },
  fault: null,
};

const SOURCE = { name: 'x', url: 'x', as_of: 0, kind: 'table', simulated: true } as const;
const ORIGIN = { port: 'leases', source: SOURCE } as const;
type Held = { by: string | null; untilMs: number };

/** The one lease that is asked for, by a clock that the test moves: a database has its own. */
function leasesOf(held: Held, holder: string, nowMs: () => number): Leases {
  return {
    take: async (_, forS) => {
      const isFree = held.by === null || held.by === holder || held.untilMs < nowMs();
      if (isFree) Object.assign(held, { by: holder, untilMs: nowMs() + forS * 1_000 });
      return read(isFree ? { epoch: 1, released: true } : null, ORIGIN);
    },
    release: async () => {
      if (held.by === holder) held.by = null;
      return read(true, ORIGIN);
    },
  };
}

/** A clock that moves when somebody waits, in turns so that all who wait see each step of it. */
function world() {
  let atMs = 0;
  const held: Held = { by: null, untilMs: 0 };
  const log: string[] = [];
  const stop = new AbortController();
  const sleep = async (ms: number, signal: AbortSignal) => {
    const until = atMs + ms;
    while (atMs < until && !signal.aborted) await new Promise((resolve) => setImmediate(resolve));
  };
  const process = (holder: string, over: Partial<Leases> = {}) => {
    const leases = { ...leasesOf(held, holder, () => atMs), ...over };
    const ended = new AbortController();
    const signal = AbortSignal.any([ended.signal, stop.signal]);
    const follow = async (watch: FollowWatch): Promise<FollowEnd> => {
      log.push(`${holder} begins`);
      await sleep(Number.MAX_SAFE_INTEGER, watch.signal);
      log.push(`${holder} ends`);
      return { end: 'stopped', state: STATE };
    };
    const waits = (fault: Why): FollowState => {
      log.push(`${holder} waits: ${fault.code}`);
      return { ...STATE, fault };
    };
    const watch = { signal, onState: () => undefined };
    const running = followUnderLease(
      { chain: 'base', leases, sleep, settleMs: 0 },
      follow,
      watch,
      waits,
    );
    return { running, ended };
  };
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += LEASE_RENEW_MS / 2) {
      atMs += LEASE_RENEW_MS / 2;
      for (let turn = 0; turn < 20; turn += 1) await new Promise((done) => setImmediate(done));
    }
  };
  return { process, pass, log, stop };
}

describe('a chain that two processes would follow', () => {
  test('is followed by one; the other takes over once that has stopped', async () => {
    const { process, pass, log, stop } = world();
    const one = process('one');
    await pass(LEASE_RENEW_MS);
    const other = process('other');
    await pass(3 * LEASE_S * 1_000);
    expect(log.filter((line) => line.endsWith('begins'))).toEqual(['one begins']);
    expect(log).toContain('other waits: followed_elsewhere');
    one.ended.abort();
    await one.running;
    await pass(2 * LEASE_RENEW_MS);
    expect(log.filter((line) => !line.includes('waits'))).toEqual([
      ...['one begins', 'one ends', 'other begins'],
    ]);
    stop.abort();
    await other.running;
  });

  test('is let go before the lease ends where it can no longer be held', async () => {
    const { process, pass, log, stop } = world();
    let silent = false;
    const gone = unread('leases' as const, why('store_unreadable', { what: 'It', fault: 'gone' }));
    const own = leasesOf({ by: null, untilMs: 0 }, 'one', () => 0);
    const take: Leases['take'] = async (name, forS) => (silent ? gone : own.take(name, forS));
    const one = process('one', { take });
    await pass(LEASE_RENEW_MS);
    silent = true;
    await pass(LEASE_S * 1_000 - LEASE_RENEW_MS);
    expect(log).toContain('one ends');
    silent = false;
    await pass(2 * LEASE_RENEW_MS);
    expect(log.at(-1)).toBe('one begins');
    stop.abort();
    await one.running;
  });
});
