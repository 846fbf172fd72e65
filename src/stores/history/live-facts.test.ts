import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { basis, map, Part, Read, rowsSeen, Unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { ImportOrigin } from '../../evidence/source.ts';
import { type ChainFacts, FACT_NAMES, factUnread, noFacts } from '../../ports/accounts.ts';
import type { CoverageRange, Neighbourhood } from '../../ports/history.ts';
import { evm } from '../../testing/addresses.ts';
import { freshWarehouse } from '../../testing/fresh-warehouse.ts';
import { memoryChainFacts } from '../../testing/twins/accounts.ts';
import { fullCoverage, memoryTransfer } from '../../testing/twins/history.ts';
import { warehouseFacts } from '../warehouse/creations.ts';
import type { EmbeddedWarehouse } from '../warehouse/engine/embedded.ts';
import { transferStore } from '../warehouse/transfers/store.ts';
import { cascadedFacts, liveFacts } from './live-facts.ts';

const HEAD_TIME = 1_800_000_000;
const [a, b] = ['a', 'b'].map((digit) => `0x${digit.repeat(40)}`) as [string, string];
const ORIGIN = { source: 'x:', origin: 'observed', read_at: HEAD_TIME } as const;

function known(blocks: readonly number[], over: Partial<Neighbourhood> = {}): Neighbourhood {
  const transfers = blocks.map((block) => memoryTransfer(block, a, b));
  return {
    address: a,
    degree: 1,
    provenance: 'onchain',
    counterparties: [{ address: b, transfers, transfer_count: transfers.length }],
    coverage: fullCoverage('ethereum', HEAD_TIME).map(({ address: _, ...range }) => {
      return { ...range, to_block: 1_000 };
    }),
    ...over,
  };
}

describe('what was read live', () => {
  test('is kept up to what is final, and said to be held no further', () => {
    const facts = liveFacts(known([5, 936, 937, 1_000]), ORIGIN);
    expect(facts.transfers.map(({ block }) => block)).toEqual([5, 936]);
    expect(facts.ranges.map(({ to_block }) => to_block)).toEqual([936, 936, 936, 936]);
    for (const { to_time } of facts.ranges) expect(to_time).toBeLessThan(HEAD_TIME - 64 * 12);
  });

  test('of a kind that was read less far is kept less far', () => {
    const coverage = known([]).coverage.map((range): CoverageRange => {
      return range.kind === 'native' ? { ...range, to_block: 500 } : range;
    });
    const facts = liveFacts(known([400, 450], { coverage }), ORIGIN);
    expect(facts.transfers.map(({ block }) => block)).toEqual([400]);
    expect(facts.ranges.find(({ kind }) => kind === 'native')?.to_block).toBe(436);
    expect(facts.ranges.find(({ kind }) => kind === 'token')?.to_block).toBe(936);
  });

  test('within its newest blocks alone is no range', () => {
    const coverage = known([]).coverage.map((range) => ({ ...range, from_block: 950 }));
    expect(liveFacts(known([960], { coverage }), ORIGIN).ranges).toEqual([]);
  });

  test('keeps what is known of tokens, and nothing of those of which nothing is', () => {
    const token = `0x${'7'.repeat(40)}`;
    const named = memoryTransfer(1, a, b, { kind: 'token', token, symbol: 'T', has_market: false });
    const unknown = memoryTransfer(2, a, b, { kind: 'token', token: `0x${'8'.repeat(40)}` });
    const transfers = [named, unknown];
    const counterparties = [{ address: b, transfers, transfer_count: 2 }];
    const { tokens } = liveFacts(known([], { counterparties }), ORIGIN);
    expect(tokens).toEqual([
      ...[{ chain: 'ethereum', token, symbol: 'T', decimals: null, has_market: false }].map(
        (one) => ({ ...one, read_at: HEAD_TIME }),
      ),
    ]);
  });

  test('leaves out what a chain gives by itself: it is not named by a transaction', () => {
    const reward = memoryTransfer(1, `0x${'0'.repeat(40)}`, a, { kind: 'internal' });
    const counterparties = [{ address: reward.from, transfers: [reward], transfer_count: 1 }];
    expect(liveFacts(known([], { counterparties }), ORIGIN).transfers).toEqual([]);
  });
});

const CONTRACT = evm('contract');
const MAKER = evm('maker');
const FACTORY = evm('factory');
const TX = `0x${'7'.repeat(64)}`;
const SIGNAL = new AbortController().signal;
const memory = memoryChainFacts({
  chains: ['ethereum'],
  as_of: 5,
  simulated: false,
  facts: [{ chain: 'ethereum', address: CONTRACT, nonce: 4 }],
});

function failing(fault: string): ChainFacts {
  const reason = why('provider_failed', { provider: 'It', fault });
  return {
    stateChains: [],
    setBy: async () => factUnread(reason),
    of: async () => noFacts(reason),
  };
}

describe('a cascade of sources', () => {
  test('asks the next only for what the one before did not tell', async () => {
    const wanted: (readonly string[])[] = [];
    const last: ChainFacts = {
      stateChains: ['base'],
      setBy: failing('down').setBy,
      of: async (...asked) => {
        wanted.push(asked[2]);
        return failing('down').of(...asked);
      },
    };
    const joined = cascadedFacts([memory, last]);
    const facts = await joined.of('ethereum', CONTRACT, FACT_NAMES, SIGNAL);
    expect(wanted).toEqual([['creation']]);
    expect(facts.nonce).toMatchObject({ value: 4 });
    expect(joined.stateChains).toEqual(['ethereum', 'base']);
  });

  test('says the fault of the one that should have told, not that others are not for it', async () => {
    const joined = cascadedFacts([memory, failing('down')]);
    const { nonce } = await joined.of('base', CONTRACT, ['nonce'], SIGNAL);
    expect(nonce).toBeInstanceOf(Unread);
    if (nonce instanceof Unread) expect(nonce.why.reason).toBe('It failed: down.');
    const turned = cascadedFacts([failing('down'), memory]);
    const other = await turned.of('base', CONTRACT, ['nonce'], SIGNAL);
    if (other.nonce instanceof Unread) expect(other.nonce.why.reason).toBe('It failed: down.');
  });

  test('without a source, every fact says that none is configured', async () => {
    const facts = await cascadedFacts([]).of('base', CONTRACT, FACT_NAMES, SIGNAL);
    for (const reading of Object.values(facts)) {
      expect(reading instanceof Unread && reading.why.code).toBe('not_configured');
    }
  });

  test('made-up state is a part, whatever it says', async () => {
    const madeUp = memoryChainFacts({
      chains: ['ethereum'],
      as_of: 5,
      simulated: true,
      facts: [],
    });
    const { code } = await madeUp.of('ethereum', CONTRACT, ['code'], SIGNAL);
    expect(code).toBeInstanceOf(Part);
    expect(basis(code).sources.map(({ simulated }) => simulated)).toEqual([true]);
  });
});

describe('creations in the warehouse', () => {
  let warehouse: EmbeddedWarehouse;
  beforeAll(async () => {
    warehouse = await freshWarehouse();
  }, 60_000);
  afterAll(() => warehouse.close());

  async function held(created: string, origin: ImportOrigin, creator: string): Promise<void> {
    const creation = {
      chain: 'ethereum' as const,
      created,
      creator,
      initiator: MAKER,
      tx_hash: TX,
      block: 9,
      block_hash: null,
      block_time: 1_700_000_000,
    };
    const facts = { transfers: [], creations: [creation], blocks: [], transactions: [] };
    const store = transferStore(warehouse, () => 1_790_251_200);
    const written = await store.appendImported(facts, { source: 'tests', origin, import_id: '1' });
    expect(written).toBeInstanceOf(Read);
  }

  async function creationOf(address: string) {
    const facts = warehouseFacts(warehouse, () => 1_790_251_200);
    return (await facts.of('ethereum', address, ['creation'], SIGNAL)).creation;
  }

  test('name who signed, and the factory that ran the creation', async () => {
    await held(CONTRACT, 'observed', FACTORY);
    // Through a factory a bundler may have signed for somebody else, which is not held.
    const through = await creationOf(CONTRACT);
    expect(rowsSeen(map(through, (one) => [one]))).toEqual([
      { creator: MAKER, relay: null, factory: FACTORY, tx: TX, block: 9 },
    ]);
    expect(through instanceof Part && through.why.code).toBe('creation_relay_unread');
    await held(evm('direct'), 'observed', MAKER);
    expect(await creationOf(evm('direct'))).toMatchObject({
      value: { creator: MAKER, factory: null },
    });
  });

  test('that are made up are a part; of what is not held nothing is said', async () => {
    await held(evm('made up'), 'simulated', MAKER);
    expect(await creationOf(evm('made up'))).toBeInstanceOf(Part);
    const unknown = await creationOf(evm('unknown'));
    expect(unknown instanceof Unread && unknown.why.code).toBe('creation_not_found');
  });

  test('are silent once the warehouse is closed', async () => {
    const other = await freshWarehouse();
    await other.close();
    const facts = await warehouseFacts(other, () => 0).of(
      ...(['ethereum', CONTRACT, ['creation'], SIGNAL] as const),
    );
    expect(facts.creation).toBeInstanceOf(Unread);
  });
});
