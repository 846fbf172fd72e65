// Who of these transfers' parties dealt with a listed one? The ring over a history in memory.

import { collect, heldUnder } from '../../evidence/measure.ts';
import { type Partly, part, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  Counterparty,
  CoverageRange,
  HeldRing,
  HistoryTransfer,
  RawRing,
  RawRingPort,
} from '../../ports/history.ts';
import type { MemoryHistory } from './transfer-history.ts';

const PORT = 'raw_ring';

/** The ring in memory; one that is `unbuilt` is unread, as while a deployment builds its own. */
export function memoryRing(held: MemoryHistory, unbuilt = false): RawRing {
  const source = {
    name: 'Transfers in memory',
    url: 'memory:',
    as_of: held.as_of,
    kind: 'observation',
    simulated: held.simulated,
  } as const;
  const origin = { port: PORT, source } as const;
  return {
    meet: async ({ addresses, listed, chains, rowsMax, signal }) => {
      if (signal.aborted) return unread(PORT, why('time_budget'));
      if (unbuilt) return unread(PORT, why('ring_unbuilt', { cause: 'the ring is being built' }));
      const asked = new Set(addresses);
      const onList = new Set(listed);
      const newestFirst = [...held.transfers].sort((a, b) => b.at - a.at);
      const pairs = new Map<string, HistoryTransfer[]>();
      for (const transfer of newestFirst) {
        if (!chains.includes(transfer.chain) || transfer.from === transfer.to) continue;
        for (const [one, other] of bothWays(transfer)) {
          if (asked.has(one) && onList.has(other)) collect(pairs, `${one} ${other}`, transfer);
        }
      }
      const meetings = new Map<string, Counterparty[]>();
      for (const [pair, transfers] of pairs) {
        const [one, address] = pair.split(' ') as [string, string];
        const shown = transfers.slice(0, rowsMax);
        collect(meetings, one, { address, transfers: shown, transfer_count: transfers.length });
      }
      const ring: HeldRing = { meetings, coverage: coverageOf(held) };
      const reading: Partly<HeldRing, RawRingPort> = held.simulated
        ? part(ring, origin, why('simulated'))
        : read(ring, origin);
      return reading;
    },
  };
}

function bothWays({ from, to }: HistoryTransfer): readonly (readonly [string, string])[] {
  return [
    [from, to],
    [to, from],
  ];
}

function coverageOf({ coverage }: MemoryHistory): HeldRing['coverage'] {
  const ofListed = new Map<string, CoverageRange[]>();
  const ofChains: CoverageRange[] = [];
  for (const { address, ...range } of coverage) {
    if (address === null) ofChains.push(range);
    else ofListed.set(address, [...heldUnder(ofListed, address), range]);
  }
  return { ofChains, ofListed };
}
