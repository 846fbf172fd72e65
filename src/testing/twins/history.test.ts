import { describe, expect, test } from 'vitest';
import { Unread } from '../../evidence/reading.ts';
import { SUITE_NOW, transferHistoryKeeps } from '../../ports/transfer-history.suite.ts';
import { memoryTransferHistory, silentHistory } from './history.ts';

transferHistoryKeeps('memory', async (world) => {
  const held = { ...world, provenance: 'warehouse', as_of: SUITE_NOW - 60 } as const;
  return { history: memoryTransferHistory(held), close: async () => undefined };
});

describe('a deployment without history', () => {
  test('says that nothing is held and nothing read, whatever it is asked', async () => {
    const history = silentHistory();
    const limits = {
      rowsMax: 1,
      degreeMax: 1,
      transfersPerCounterpartyMax: 1,
      batchRowsMax: 1,
      signal: new AbortController().signal,
    };
    const address = `0x${'a'.repeat(40)}`;
    const readings = [
      await history.chainsRead(),
      (await history.neighbourhoods([address], limits)).get(address),
    ];
    for (const reading of readings) {
      expect(reading instanceof Unread && reading.why.code).toBe('no_history');
    }
  });
});
