import { describe, expect, test } from 'vitest';
import { map, Part, Read, read, rowsSeen, Unread, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { RawHistory } from '../../ports/history.ts';
import type { LiveHistory } from '../../ports/indexing.ts';
import {
  fullCoverage,
  memoryTransfer,
  memoryTransferHistory,
  silentHistory,
} from '../../testing/twins/history.ts';
import { cascadedHistory } from './cascade.ts';

const NOW = 1_800_000_000;
const [a, b, c] = ['a', 'b', 'c'].map((digit) => `0x${digit.repeat(40)}`) as [
  string,
  string,
  string,
];
const LIMITS = {
  rowsMax: 100,
  degreeMax: 50,
  batchRowsMax: 1_000,
  transfersPerCounterpartyMax: 10,
  signal: new AbortController().signal,
};

function historyOf(
  transfers: ReturnType<typeof memoryTransfer>[],
  tipAt: number,
  provenance: 'warehouse' | 'onchain',
  simulated = false,
): RawHistory {
  return memoryTransferHistory({
    chains: ['ethereum'],
    transfers,
    provenance,
    as_of: tipAt,
    simulated,
    coverage: fullCoverage('ethereum', tipAt),
  });
}

const failed: RawHistory = {
  chainsRead: async () =>
    read(['ethereum'], {
      port: 'raw_history',
      source: { name: 'x', url: 'x:', as_of: NOW, kind: 'observation', simulated: false },
    }),
  neighbourhoods: async (addresses) => {
    const fault = why('provider_failed', {
      provider: 'https://explorer.example',
      fault: 'HTTP 502',
    });
    return new Map(addresses.map((one) => [one, unread('raw_history' as const, fault)]));
  },
};

function cascade(held: RawHistory, live: RawHistory) {
  const kept: LiveHistory[] = [];
  const unkept: string[] = [];
  const source = { name: 's', url: 's:', as_of: NOW, kind: 'table', simulated: false } as const;
  const history = cascadedHistory({
    held,
    live,
    origin: 'observed',
    tipMaxAgeS: 3_600,
    now: () => NOW,
    store: {
      appendLive: async (one) => {
        kept.push(one);
        return read(true as const, { port: 'transfer_store', source });
      },
    },
    onUnkept: (reason) => unkept.push(reason),
  });
  return { history, kept, unkept };
}

async function ask(history: RawHistory, address = a) {
  const answer = (await history.neighbourhoods([address], LIMITS)).get(address);
  if (answer === undefined) throw new Error('no answer');
  return answer;
}

describe('says', () => {
  test('what the warehouse holds in full to a fresh tip is not asked of a provider', async () => {
    const held = historyOf([memoryTransfer(1, a, b)], NOW - 60, 'warehouse');
    const { history, kept } = cascade(held, failed);
    const answer = await ask(history);
    expect(answer instanceof Read && answer.value.provenance).toBe('warehouse');
    expect(kept).toEqual([]);
  });

  test('past a stale tip a live read is joined to it, and is kept for the second call', async () => {
    const held = historyOf([memoryTransfer(1, a, b)], NOW - 9_000, 'warehouse');
    const live = historyOf([memoryTransfer(1, a, b), memoryTransfer(2, c, a)], NOW - 60, 'onchain');
    const { history, kept, unkept } = cascade(held, live);
    const answer = await ask(history);
    if (!(answer instanceof Read)) throw new Error('not read');
    expect(answer.value.counterparties.map(({ address }) => address).sort()).toEqual([b, c]);
    expect(answer.value.counterparties.find(({ address }) => address === b)).toMatchObject({
      transfer_count: 1,
      transfers: [{ tx: memoryTransfer(1, a, b).tx }],
    });
    expect(answer.value.provenance).toBe('onchain');
    expect(kept[0]?.transfers.map(({ from }) => from).sort()).toEqual([a, c]);
    expect(kept[0]?.ranges).toHaveLength(4);
    expect(unkept).toEqual([]);
  });

  test('what is completed is all that is held, also where counterparties might be left out', async () => {
    const told = historyOf([memoryTransfer(1, a, b)], NOW - 9_000, 'warehouse');
    const held: RawHistory = {
      chainsRead: told.chainsRead,
      neighbourhoods: async (addresses, limits) => {
        const readings = [...(await told.neighbourhoods(addresses, limits))];
        if (limits.standingOnly !== true) return new Map(readings);
        return new Map(
          readings.map(([one, reading]) => {
            return [one, map(reading, (known) => ({ ...known, degree: 7, counterparties: [] }))];
          }),
        );
      },
    };
    const live = historyOf([memoryTransfer(2, c, a)], NOW - 60, 'onchain');
    const { history } = cascade(held, live);
    const limits = { ...LIMITS, standingOnly: true };
    const answer = (await history.neighbourhoods([a], limits)).get(a);
    if (!(answer instanceof Read)) throw new Error('not read');
    expect(answer.value.counterparties.map(({ address }) => address).sort()).toEqual([b, c]);
    expect(answer.value.degree).toBe(2);
  });

  test('simulated history that is held in part is completed like any', async () => {
    const held = historyOf([memoryTransfer(1, a, b)], NOW - 9_000, 'warehouse', true);
    const live = historyOf([memoryTransfer(2, c, a)], NOW - 60, 'onchain', true);
    const answer = await ask(cascade(held, live).history);
    expect(answer instanceof Part && answer.why.code).toBe('simulated');
    const met = rowsSeen(map(answer, ({ counterparties }) => counterparties));
    expect(met?.map(({ address }) => address).sort()).toEqual([b, c]);
  });

  test('with nothing held the live read answers alone', async () => {
    const live = historyOf([memoryTransfer(2, c, a)], NOW - 60, 'onchain');
    const answer = await ask(cascade(silentHistory(), live).history);
    expect(answer instanceof Read && answer.value.degree).toBe(1);
  });
});

describe('is silent', () => {
  test('a failed live read is told of what is held, also where that is made up', async () => {
    const held = historyOf([memoryTransfer(1, a, b)], NOW - 9_000, 'warehouse', true);
    const answer = await ask(cascade(held, failed).history);
    expect(answer instanceof Part && answer.why.code).toBe('provider_failed');
  });

  test('a failed live read leaves what is held a part, with the provider and its fault', async () => {
    const held = historyOf([memoryTransfer(1, a, b)], NOW - 9_000, 'warehouse');
    const answer = await ask(cascade(held, failed).history);
    expect(answer).toBeInstanceOf(Part);
    expect(answer instanceof Part && answer.why.reason).toContain(
      'explorer.example failed: HTTP 502',
    );
  });

  test('two silent sources are one silence with both reasons', async () => {
    const answer = await ask(cascade(failed, failed).history);
    expect(answer).toBeInstanceOf(Unread);
    expect(answer instanceof Unread && answer.why.reason.match(/HTTP 502/g)).toHaveLength(2);
  });

  test('a warehouse that cannot be read weakens a live read: what it holds is not known', async () => {
    const live = historyOf([memoryTransfer(2, c, a)], NOW - 60, 'onchain');
    expect(await ask(cascade(failed, live).history)).toBeInstanceOf(Part);
  });

  test('rows that came cut are not recorded as held', async () => {
    const many = Array.from({ length: 30 }, (_, n) => memoryTransfer(n, a, b));
    const { history, kept } = cascade(silentHistory(), historyOf(many, NOW - 60, 'onchain'));
    await ask(history);
    expect(kept).toEqual([]);
  });

  test('a source that is silent for another reason than having nothing leaves the chains open', async () => {
    const silent: RawHistory = {
      ...failed,
      chainsRead: async () =>
        unread('raw_history', why('store_unreadable', { what: 'It', fault: 'down' })),
    };
    const live = historyOf([], NOW - 60, 'onchain');
    expect(await cascade(silent, live).history.chainsRead()).toBeInstanceOf(Unread);
    const chains = await cascade(silentHistory(), live).history.chainsRead();
    expect(chains instanceof Read && chains.value).toEqual(['ethereum']);
  });
});
