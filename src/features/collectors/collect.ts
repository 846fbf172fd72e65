// Collects the evidence about a target over the ports of other features. Each collector asks for
// itself; one that is silent is a gap by name and changes nothing of what the others say.

import { isSystemAddress, parseAddress } from '../../chain/address.ts';
import { CHAIN_NAMES, CHAINS, parseChain } from '../../chain/chain.ts';
import { why } from '../../evidence/reasons.ts';
import {
  askerOf,
  inTime,
  OUT_OF_TIME,
  STOPPED_BY_TIME,
  signalAskedBy,
} from '../../evidence/waiting.ts';
import { addressHistory } from '../history/address-history.ts';
import { type Gathered, gapOf, makeBundle } from './bundle.ts';
import {
  collectBridges,
  collectCluster,
  collectFunding,
  collectNetFlow,
} from './collect-history.ts';
import {
  collectAuthorities,
  collectContract,
  collectDeployer,
  collectFlags,
  collectFreezes,
  collectLabels,
  collectLaunch,
  collectRugFlag,
  collectSanctions,
  collectVenue,
} from './collect-records.ts';
import type { CollectorPorts, CollectorRequest } from './collector.ts';
import type { Bundle, BundleSource, BundleTarget } from './shapes.ts';

type Collector = {
  readonly sources: readonly BundleSource[];
  readonly collect: (
    ports: CollectorPorts,
    asked: CollectorRequest,
  ) => Promise<readonly Gathered[]>;
};

/** The collectors by name, each with the sources that it gives. */
export const COLLECTORS = {
  sanctions: {
    sources: ['sanctions'],
    collect: async (ports, asked) => [await collectSanctions(ports, asked)],
  },
  labels: {
    sources: ['labels', 'flags'],
    collect: (ports, asked) =>
      Promise.all([collectLabels(ports, asked), collectFlags(ports, asked)]),
  },
  deployer: {
    sources: ['deployer'],
    collect: async (ports, asked) => [await collectDeployer(ports, asked)],
  },
  launches: {
    sources: ['launches'],
    collect: async (ports, asked) => [await collectLaunch(ports, asked)],
  },
  venue: {
    sources: ['venue'],
    collect: async (ports, asked) => [await collectVenue(ports, asked)],
  },
  holders: {
    sources: ['holders', 'authorities', 'contract', 'freezes'],
    collect: async (ports, asked) => [
      gapOf('holders', why('no_evidence_source', { what: 'Who holds a token' })),
      ...(await Promise.all([
        collectAuthorities(ports, asked),
        collectContract(ports, asked),
        collectFreezes(ports, asked),
      ])),
    ],
  },
  bridges: {
    sources: ['bridges'],
    collect: async (ports, asked) => [await collectBridges(ports, asked)],
  },
  cluster: {
    sources: ['cluster'],
    collect: async (ports, asked) => [await collectCluster(ports, asked)],
  },
  rug_flag: {
    sources: ['rug_flag'],
    collect: async (ports, asked) => [await collectRugFlag(ports, asked)],
  },
  funding: {
    sources: ['funding'],
    collect: async (_ports, asked) => [await collectFunding(asked)],
  },
  net_flow: {
    sources: ['net_flow'],
    collect: async (_ports, asked) => [await collectNetFlow(asked)],
  },
} as const satisfies { readonly [name: string]: Collector };

/** Collects the evidence about a target, until the signal ends its time. `now` is Unix seconds. */
export async function collectBundle(
  ports: CollectorPorts,
  target: BundleTarget,
  now: number,
  signal: AbortSignal,
): Promise<Bundle> {
  const { simulated, transferHistory } = ports;
  const { kind } = CHAINS[target.chain];
  const asked = { target, kind, now, simulated, signal };
  let reading: ReturnType<CollectorRequest['history']> | null = null;
  const history = () => {
    if (reading === null) {
      const chains = [target.chain];
      reading = addressHistory(transferHistory, target.address, { signal, chains });
    }
    return reading;
  };
  const collectors: readonly Collector[] = Object.values(COLLECTORS);
  const gathered = await Promise.all(
    collectors.map(async ({ sources, collect }) => {
      // A signal of its own for each: what listens to one is bounded.
      const own = signalAskedBy(() => askerOf(signal), signal);
      const given = await inTime(() => collect(ports, { ...asked, signal: own, history }), own);
      if (given !== OUT_OF_TIME) return given;
      return sources.map((source) => gapOf(source, STOPPED_BY_TIME));
    }),
  );
  return makeBundle(target, gathered.flat(), now);
}

/** The target that a chain and a text name, or why they name none. */
export function parseTarget(
  chainName: string,
  text: string,
): { readonly target: BundleTarget } | { readonly refused: string } {
  const chain = parseChain(chainName);
  if (chain === null) {
    return { refused: `chain: none that is served; one of ${CHAIN_NAMES.join(', ')}` };
  }
  const parsed = parseAddress(text);
  if (parsed === null) {
    return { refused: 'address: form not recognised; it is no address and no token of a chain' };
  }
  if (parsed.kind !== CHAINS[chain].kind) {
    return { refused: `address: of another kind of chain than ${chain}` };
  }
  const { address } = parsed;
  if (isSystemAddress(address)) {
    return { refused: 'address: it belongs to a chain itself, or to nobody' };
  }
  return { target: { chain, address } };
}
