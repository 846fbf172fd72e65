import { describe, expect, test } from 'vitest';
import { Part, Read, Unread, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { RawHistory } from '../../ports/history.ts';
import {
  coveredHistoryKeeps,
  SUITE_NOW,
  SUITE_TIP_MAX_AGE_S,
  type SuiteHistory,
  transferHistoryKeeps,
} from '../../ports/transfer-history.suite.ts';
import { evm } from '../../testing/addresses.ts';
import { heldInFull, memoryTransferHistory, silentHistory } from '../../testing/twins/history.ts';
import { coveredHistory } from './covered.ts';

const TIP = { now: () => SUITE_NOW, tipMaxAgeS: SUITE_TIP_MAX_AGE_S };
const LIMITS = {
  rowsMax: 100,
  degreeMax: 50,
  batchRowsMax: 1_000,
  transfersPerCounterpartyMax: 10,
  signal: new AbortController().signal,
};

function rawOf(world: SuiteHistory): RawHistory {
  const chains = [...new Set([...world.chains, ...world.transfers.map(({ chain }) => chain)])];
  return memoryTransferHistory({
    ...world,
    chains,
    provenance: 'warehouse',
    as_of: SUITE_NOW - 60,
  });
}

async function covered(world: SuiteHistory) {
  return { history: coveredHistory(rawOf(world), TIP), close: async () => undefined };
}

transferHistoryKeeps('covered memory', covered);
coveredHistoryKeeps('covered memory', covered);

describe('is silent', () => {
  const address = evm('somebody');
  const ask = async (raw: RawHistory) =>
    (await coveredHistory(raw, TIP).neighbourhoods([address], LIMITS)).get(address);

  test('where the chains that are read are not known, nothing is whole', async () => {
    const coverage = heldInFull('ethereum', SUITE_NOW - 60);
    const raw = rawOf({ chains: ['ethereum'], transfers: [], coverage, simulated: false });
    expect(await ask(raw)).toBeInstanceOf(Read);
    const fault = why('store_unreadable', { what: 'It', fault: 'down' });
    const reading = await ask({ ...raw, chainsRead: async () => unread('raw_history', fault) });
    expect(reading instanceof Part && reading.why).toEqual(fault);
  });

  test('where there is no history it says so of the chains and of each address', async () => {
    const chains = await coveredHistory(silentHistory(), TIP).chainsRead();
    const reading = await ask(silentHistory());
    for (const one of [chains, reading]) {
      expect(one instanceof Unread && one.why.code).toBe('no_history');
      expect(one instanceof Unread && [...one.ports]).toEqual(['transfer_history']);
    }
  });
});
