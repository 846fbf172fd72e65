// With whom did these addresses exchange transfers, asked of the live source of their own kind?
// An address of a kind for which no source is configured is unread; no other source is asked.

import { type AddressKind, parseAddress } from '../../chain/address.ts';
import { all, map, type Partly, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  Neighbourhood,
  RawHistory,
  RawHistoryPort,
} from '../../ports/history/transfer-history.ts';

const PORT = 'raw_history';

/** The live sources, by the kind of address that they know. */
type LiveSources = {
  readonly evm: RawHistory | null;
  readonly solana: RawHistory | null;
};

/** One history over the live sources of a deployment. */
export function liveHistory(sources: LiveSources): RawHistory {
  const present = [sources.evm, sources.solana].filter((one) => one !== null);
  return {
    chainsRead: async () => {
      if (present.length === 0) return unread(PORT, why('no_history'));
      const chains = await Promise.all(present.map((one) => one.chainsRead()));
      return map(all(chains), (lists) => lists.flat());
    },
    neighbourhoods: async (addresses, limits) => {
      const kinds = new Map(addresses.map((address) => [address, kindOf(address)]));
      const of = (kind: 'evm' | 'solana') => addresses.filter((one) => kinds.get(one) === kind);
      const answers = await Promise.all([
        sources.evm === null ? null : sources.evm.neighbourhoods(of('evm'), limits),
        sources.solana === null ? null : sources.solana.neighbourhoods(of('solana'), limits),
      ]);
      const told = new Map(answers.flatMap((one) => (one === null ? [] : [...one])));
      const readings = new Map<string, Partly<Neighbourhood, RawHistoryPort>>();
      for (const [address, kind] of kinds) {
        const reading = told.get(address);
        const silent = unread(PORT, why('not_walked_kind', { kind }));
        readings.set(address, reading === undefined ? silent : reading);
      }
      return readings;
    },
  };
}

function kindOf(address: string): AddressKind | 'no known form' {
  const parsed = parseAddress(address);
  return parsed === null ? 'no known form' : parsed.kind;
}
