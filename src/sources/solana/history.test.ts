import { createServer, type Server } from 'node:http';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { map, Part, type Partly, Read, rowsSeen, Unread } from '../../evidence/reading.ts';
import type { Neighbourhood } from '../../ports/history.ts';
import { UNHELD } from '../../testing/clock.ts';
import { inventAddress } from '../../world/made-up-address.ts';
import { liveHistory } from '../explorer/history.ts';
import { providerGuard } from '../http/provider.ts';
import { exactJson, solanaHistory } from './history.ts';

const NOW = Date.UTC(2026, 10, 21) / 1_000;
const KEY = 'MARKER7f3a';
const [ALICE, BOB, VAULT, PURSE, MINT] = ['alice', 'bob', 'vault', 'purse', 'mint'].map((name) =>
  inventAddress('solana test', 'solana', name),
) as [string, string, string, string, string];
const WIDE = '600000000000000001';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

function transaction(slot: number, over: { top?: unknown[]; inner?: unknown[]; err?: unknown }) {
  const balance = (accountIndex: number, owner: string) => {
    return { accountIndex, mint: MINT, owner, uiTokenAmount: { decimals: 6, amount: '1' } };
  };
  return {
    slot,
    blockTime: NOW - 10_000 + slot,
    meta: {
      err: over.err === undefined ? null : over.err,
      preTokenBalances: [balance(2, ALICE)],
      postTokenBalances: [balance(2, ALICE), balance(3, BOB)],
      innerInstructions: [{ index: 0, instructions: over.inner ?? [] }],
    },
    transaction: {
      signatures: [`signature${slot}`],
      message: {
        accountKeys: [ALICE, BOB, VAULT, PURSE].map((pubkey) => ({ pubkey, signer: false })),
        instructions: over.top ?? [],
      },
    },
  };
}

function paid(source: string, destination: string, lamports: unknown) {
  const info = { source, destination, lamports };
  return { program: 'system', parsed: { type: 'transfer', info } };
}
const TOKENS_MOVED = {
  program: 'spl-token',
  parsed: { type: 'transfer', info: { source: VAULT, destination: PURSE, amount: '25' } },
};
const TRANSACTIONS = [
  transaction(1, { top: [paid(ALICE, BOB, 'WIDE')] }),
  transaction(2, { inner: [paid(BOB, ALICE, 7)] }),
  transaction(3, { top: [TOKENS_MOVED] }),
  transaction(4, { top: [paid(ALICE, BOB, 5)], err: { InstructionError: [0, 'Custom'] } }),
  transaction(5, { top: [paid(BOB, MINT, 5)] }),
];
/** Which transactions a node lists under an account: token transfers only under token accounts. */
const LISTED: Readonly<Record<string, readonly number[]>> = { [ALICE]: [4, 2, 1], [VAULT]: [3] };

type Over = Readonly<Record<string, unknown>>;

/** A node; `over` holds whole answers by method, as JSON text or an envelope. */
async function node(over: Over = {}) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += String(chunk)));
    request.on('end', () => {
      const question: unknown = JSON.parse(text);
      const { method, params } = question as { method: string; params: string[] };
      asked.push(method);
      const own = over[method];
      if (own === 'silence') return;
      const answer = own === undefined ? { result: resultOf(method, params) } : own;
      const said = typeof answer === 'string' ? answer : JSON.stringify(answer);
      response.end(said.replaceAll('"WIDE"', WIDE));
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { url: new URL(`http://127.0.0.1:${address.port}/${KEY}`), asked };
}

function resultOf(method: string, [first]: readonly string[]): unknown {
  if (method === 'getGenesisHash') return '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
  if (method === 'getSlot') return 100;
  if (method === 'getFirstAvailableBlock') return 0;
  if (method === 'getBlockTime') return NOW - 60;
  if (method === 'getTokenAccountsByOwner') return { context: { slot: 100 }, value: [] };
  if (method === 'getSignaturesForAddress') {
    return (LISTED[String(first)] ?? []).map((slot) => {
      const one = TRANSACTIONS.find((tx) => tx.slot === slot);
      return { signature: `signature${slot}`, slot, err: one?.meta.err ?? null };
    });
  }
  return TRANSACTIONS.find(({ slot }) => `signature${slot}` === first) ?? null;
}

async function told(over: Over = {}, callsMax = 100, simulated = false, timeMs = 2_000) {
  const { url, asked } = await node(over);
  const limits = { callsPerS: 10_000, retriesMax: 0, backoffMs: 1, failuresMax: 99, restMs: 1 };
  const guard = providerGuard(limits, () => performance.now());
  const bounds = { timeMs, callsMax, simulated };
  const solana = solanaHistory({ url, guard, now: () => NOW, ...bounds, ...UNHELD });
  const history = liveHistory({ evm: null, solana });
  const readings = await history.neighbourhoods([ALICE], {
    rowsMax: 100,
    degreeMax: 10,
    transfersPerCounterpartyMax: 10,
    batchRowsMax: 100,
    signal: new AbortController().signal,
  });
  const reading = readings.get(ALICE);
  if (reading === undefined) throw new Error('no reading');
  return { reading, known: knownIn(reading), asked, host: url.host, history };
}

function knownIn(reading: Partly<Neighbourhood, 'raw_history'>): Neighbourhood | null {
  const sight = rowsSeen(map(reading, (one) => [one]));
  return sight === null ? null : sight[0];
}

describe('an address of Solana', () => {
  test('has what instructions moved from it and to it, exactly, and nothing that failed', async () => {
    const { reading, known } = await told();
    expect(reading).toBeInstanceOf(Read);
    const [bob, ...others] = known?.counterparties ?? [];
    expect(others).toEqual([]);
    const rows = bob?.transfers.map(({ kind, from, token, decimals, raw_amount }) => {
      return [kind, from, token, decimals, raw_amount];
    });
    expect(rows).toEqual([
      ['token', ALICE, MINT, 6, 25n],
      ['internal', BOB, null, null, 7n],
      ['native', ALICE, null, null, BigInt(WIDE)],
    ]);
  });

  test('is covered in no kind, though it was read to its end: closed accounts are not', async () => {
    const { reading, known } = await told();
    expect(reading).toBeInstanceOf(Read);
    expect(known?.coverage).toEqual([]);
  });

  test('is a part on a node that does not keep all history', async () => {
    const { reading, known } = await told({ getFirstAvailableBlock: { result: 50 } });
    expect(reading instanceof Part && reading.why.reason).toContain('from slot 50 only');
    expect(known?.coverage).toEqual([]);
    expect(known?.degree).toBe(1);
  });

  test('is asked for in the newest version, and in the older one where that is refused', async () => {
    const { reading, asked } = await told({ getTransaction: { error: { code: -32602 } } });
    expect(reading).toBeInstanceOf(Unread);
    expect(asked.filter((method) => method === 'getTransaction')).toHaveLength(2);
  });

  test('whose calls ran out shows what was read, and covers nothing', async () => {
    const { reading, known } = await told({}, 8);
    expect(reading instanceof Part && reading.why.code).toBe('call_budget');
    const madeUp = await told({}, 8, true);
    expect(madeUp.reading).toMatchObject({ why: { code: 'call_budget' } });
    expect((await told({}, 100, true)).reading).toMatchObject({ why: { code: 'simulated' } });
    expect(known?.coverage).toEqual([]);
  });

  test('with more signatures than 100 pages is unread, and no list that ended', async () => {
    const listed = Array.from({ length: 1_000 }, () => ({ signature: 'failed', err: 'Custom' }));
    const pages = { getSignaturesForAddress: JSON.stringify({ result: listed }) };
    const { reading, asked } = await told(pages, 1_000, false, 60_000);
    expect(asked.filter((method) => method === 'getSignaturesForAddress')).toHaveLength(100);
    expect(reading).toBeInstanceOf(Unread);
    expect(reading instanceof Unread && reading.why.reason).toContain('has over 100 pages');
  });

  test('of another kind is not asked for', async () => {
    const { history } = await told();
    const other = `0x${'a'.repeat(40)}`;
    const limits = { rowsMax: 1, degreeMax: 1, transfersPerCounterpartyMax: 1, batchRowsMax: 1 };
    const signal = new AbortController().signal;
    const reading = (await history.neighbourhoods([other], { ...limits, signal })).get(other);
    expect(reading instanceof Unread && reading.why.code).toBe('not_walked_kind');
  });
});

const METHODS = [
  'getGenesisHash',
  'getFirstAvailableBlock',
  'getTokenAccountsByOwner',
  'getSignaturesForAddress',
  'getTransaction',
] as const;
const FAULTS = {
  'no history': { error: { code: -32011, message: KEY } },
  unhealthy: { error: { code: -32005 } },
  html: '<html><body>down</body></html>',
  'a list of text': { result: 'nothing' },
  'no result': {},
  silence: 'silence',
} as const;

describe.each(METHODS)('a fault at %s', (method) => {
  test.each(Object.entries(FAULTS))('%s never makes a whole history', async (_, fault) => {
    const { reading, host } = await told({ [method]: fault });
    // The genesis is text: another text is another network, which is a fault too.
    expect(reading).not.toBeInstanceOf(Read);
    if (reading instanceof Read) throw new Error('read');
    expect(reading.why.reason).not.toContain(KEY);
    if (fault === 'silence') expect(reading.why.code).toBe('time_budget');
    else expect(reading.why.reason).toContain(`http://${host}`);
  });
});

test('integers of any width are read digit for digit, and all else as ever', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n }), fc.string(), (wide, text) => {
      const json = `{"a":${wide},"b":${JSON.stringify(`${text}1234567890123456789`)},"c":[1.5,-2]}`;
      const value = exactJson(json) as { a: number | string; b: string; c: number[] };
      expect(BigInt(value.a)).toBe(wide);
      expect(value.b).toBe(`${text}1234567890123456789`);
      expect(value.c).toEqual([1.5, -2]);
    }),
  );
});
