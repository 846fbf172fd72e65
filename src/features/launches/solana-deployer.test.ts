import { describe, expect, test } from 'vitest';
import { envelopeSchema, NOBODY } from '../../contract/route.ts';

import { unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { WalletLaunches } from '../../ports/deployers.ts';
import { launchOf } from '../../ports/launches.suite.ts';
import type { Launch } from '../../ports/launches.ts';
import { addressNamed } from '../../testing/addresses.ts';
import { STILL_NOW, stillClock } from '../../testing/clock.ts';
import { memoryWalletLaunches } from '../../testing/twins/deployers.ts';
import { solanaDeployer, solanaDeployerHandler } from './solana-deployer.route.ts';

const [WALLET, OTHER, NEW] = ['wallet', 'other', 'new'].map((one) => addressNamed('solana', one));
const DAY_S = 86_400;
/** 2026-09-01T00:00:00Z, a midnight. */
const FIRST = 1_788_220_800;

function launch(mint: string, wallet: string, day: number, listed: boolean | null): Launch {
  const launched_at = FIRST + day * DAY_S;
  const last_checked_at = launched_at + DAY_S + 60;
  return { ...launchOf(mint, wallet, listed), launched_at, last_checked_at };
}

const LAUNCHES: readonly Launch[] = [
  launch('mint-1', String(WALLET), 0, false),
  launch('mint-2', String(WALLET), 1, false),
  launch('mint-3', String(OTHER), 0, true),
  launch('mint-4', String(OTHER), 1, false),
  launch('mint-5', String(WALLET), 4, false),
  launch('mint-6', String(OTHER), 4, true),
  launch('mint-7', String(OTHER), 5, null),
  launch('mint-8', String(NEW), 5, null),
];

function holding(launches: readonly Launch[] | null, change: object = {}): WalletLaunches {
  return memoryWalletLaunches({ launches, as_of: STILL_NOW - 60, simulated: false, ...change });
}

async function asked(address: string, walletLaunches = holding(LAUNCHES)) {
  const input = { params: { address }, query: {}, body: undefined };
  const asked = { now: stillClock(), signal: new AbortController().signal };
  const answer = await solanaDeployerHandler({ walletLaunches })(input, asked, NOBODY);
  if (!('envelope' in answer)) throw new Error('it was refused');
  const envelope = answer.envelope(STILL_NOW);
  envelopeSchema(solanaDeployer).parse(envelope);
  return envelope;
}

const SOURCES = [{ name: 'Solana launch corpus', url: 'memory:', as_of: STILL_NOW - 60 }];
const CAVEAT =
  'The launches that this deployment has on record, credited to the wallet that signed them; ' +
  'others of it may be missing, and a record that is not flagged is no clearance. A launch died ' +
  'where a venue listed it on the curve of its launchpad at most once its window had passed: it ' +
  'may still trade there. The flag says that a launch is likelier to be gone 24 hours later, and nothing else. On the corpus of this ' +
  'deployment, of the launches from 2026-09-05 on, held out, were still listed after their ' +
  'window: 0 of 1 (0.00%, 95% interval 0.00% to 79.35%) of wallets flagged before, 1 of 1 ' +
  '(100.00%, 95% interval 20.65% to 100.00%) of all others. Published reference, measured ' +
  'elsewhere: 0.80% of flagged launches against 4.34% of the rest.';

function entry(mint: string, day: number, listed: boolean) {
  const launched_at = FIRST + day * DAY_S;
  return {
    mint,
    launched_at,
    settled_at: launched_at + DAY_S + 60,
    listed_after_window: listed,
    outcome: listed ? 'survived' : 'died',
  };
}

describe('says', () => {
  test('flagged: every settled launch of the wallet has died', async () => {
    expect(await asked(String(WALLET))).toEqual({
      state: 'ok',
      subject: WALLET,
      sources: SOURCES,
      as_of: STILL_NOW,
      simulated: false,
      data: {
        answer: 'flagged',
        entries: [entry('mint-5', 4, false), entry('mint-2', 1, false), entry('mint-1', 0, false)],
        count: 3,
        empty: false,
        empty_reason: null,
        window_hours: 24,
        suppressed: 0,
        caveat: CAVEAT,
      },
    });
  });

  test('record: at least one survived, beside how many have not settled', async () => {
    expect(await asked(String(OTHER))).toEqual({
      state: 'ok',
      subject: OTHER,
      sources: SOURCES,
      as_of: STILL_NOW,
      simulated: false,
      data: {
        answer: 'record',
        entries: [entry('mint-6', 4, true), entry('mint-4', 1, false), entry('mint-3', 0, true)],
        count: 3,
        empty: false,
        empty_reason: null,
        window_hours: 24,
        suppressed: 1,
        caveat: CAVEAT,
      },
    });
  });

  test('no_record of a wallet that launched nothing that has settled', async () => {
    expect(await asked(String(NEW))).toEqual({
      state: 'insufficient_evidence',
      subject: NEW,
      sources: SOURCES,
      as_of: STILL_NOW,
      simulated: false,
      data: null,
      reason: 'no_record: this wallet signed none of 6 settled launches; not settled: 1.',
    });
  });

  test('no_record of a flagged wallet in another letter case', async () => {
    const swapped = String(WALLET).replace(/[a-zA-Z]/g, (one) =>
      one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase(),
    );
    const written = swapped.replace(/[0OIl]/g, 'x').slice(0, 44);
    expect(await asked(written)).toMatchObject({
      state: 'insufficient_evidence',
      data: null,
      reason: expect.stringMatching(/^no_record: /),
    });
    const short = 'a'.repeat(32);
    expect(await asked(short)).toEqual({
      state: 'insufficient_evidence',
      subject: short,
      sources: SOURCES,
      as_of: STILL_NOW,
      simulated: false,
      data: null,
      reason: 'no_record: not a 32-byte key; check its letter case. None of 6 launches has it.',
    });
  });

  test('what was collected, and what the gaps leave out', async () => {
    const collection = { since: FIRST, reached_at: FIRST + 6 * DAY_S, gaps: 2, missed_s: 5_400 };
    expect(await asked(String(WALLET), holding(LAUNCHES, { collection }))).toMatchObject({
      data: {
        caveat: `${CAVEAT} Collected from 2026-09-01 to 2026-09-07, with 2 gaps of 1.5 hours together.`,
      },
    });
  });

  test('the newest 500 entries, beside how many there are', async () => {
    const many = Array.from({ length: 501 }, (_, i) => {
      return launch(`mint-${i}`, String(WALLET), 0, false);
    });
    const answer = await asked(String(WALLET), holding(many));
    expect(answer).toMatchObject({
      data: {
        entries: { length: 500 },
        count: 501,
        caveat: expect.stringMatching(/The newest 500 are shown\.$/),
      },
    });
  });

  test('that made-up launches are made up', async () => {
    expect(await asked(String(WALLET), holding(LAUNCHES, { simulated: true }))).toMatchObject({
      state: 'ok',
      sources: [{ name: 'Solana launch corpus (simulated)' }],
      data: { answer: 'flagged', caveat: expect.stringMatching(/^Simulated:/) },
    });
  });
});

describe('is silent', () => {
  test('not_deployed where the corpus is unreadable', async () => {
    const fault = { what: 'The Solana launch corpus', fault: 'it is down' };
    const silent = unread('wallet_launches' as const, why('store_unreadable', fault));
    const walletLaunches = { of: async () => silent, launchOf: async () => silent };
    expect(await asked(String(WALLET), walletLaunches)).toEqual({
      state: 'not_deployed',
      subject: WALLET,
      sources: [],
      as_of: STILL_NOW,
      simulated: false,
      data: null,
      reason: why('store_unreadable', fault).reason,
    });
  });

  test('not_deployed while no corpus was imported, and for a letter case as for any other', async () => {
    for (const address of [String(WALLET), 'a'.repeat(32)]) {
      expect(await asked(address, holding(null))).toMatchObject({
        state: 'not_deployed',
        sources: [],
        data: null,
      });
    }
  });
});

describe('refuses', () => {
  test.each(['0x64144967c175997fc8526ba694021ae36965331c', 'a'.repeat(31), `${'a'.repeat(31)}0`])(
    'what is no base58 of 32 to 44 characters: %s',
    (address) => {
      expect(solanaDeployer.params.safeParse({ address }).success).toBe(false);
    },
  );
});
