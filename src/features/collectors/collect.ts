// Collects the evidence about a target over the ports of other features. Each collector asks for
// itself; one that is silent is a gap by name and changes nothing of what the others say.

import { isSystemAddress, parseAddress } from '../../chain/address.ts';
import { CHAIN_NAMES, CHAINS, parseChain } from '../../chain/chain.ts';
import { present } from '../../evidence/measure.ts';
import type { Why } from '../../evidence/reasons.ts';
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
  collectHolders,
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
    collect: (ports, asked) =>
      Promise.all([
        collectHolders(ports, asked),
        collectAuthorities(ports, asked),
        collectContract(ports, asked),
        collectFreezes(ports, asked),
      ]),
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
  const asked = { target, kind, now, simulated };
  const ofHistory = watchCalls(signal);
  let reading: ReturnType<CollectorRequest['history']> | null = null;
  const readHistory = () => {
    if (reading === null) {
      const limits = { signal: ofHistory.signal, chains: [target.chain] };
      reading = addressHistory(transferHistory, target.address, limits);
    }
    return reading;
  };
  const collectors: readonly Collector[] = Object.values(COLLECTORS);
  const gathered = await Promise.all(
    collectors.map(async ({ sources, collect }) => {
      const own = watchCalls(signal);
      let refusals = [own];
      const history = () => {
        refusals = [own, ofHistory];
        return readHistory();
      };
      const request = { ...asked, signal: own.signal, history };
      const given = await inTime(() => collect(ports, request), own.signal);
      if (given === OUT_OF_TIME) return sources.map((source) => gapOf(source, STOPPED_BY_TIME));
      const [refused] = present(refusals.map(({ refusal }) => refusal() ?? undefined));
      return refused === undefined ? given : given.map((one) => nameRefusal(one, refused));
    }),
  );
  return makeBundle(target, gathered.flat(), now);
}

/** A signal of its own for each: what listens to one is bounded. It knows of refused calls. */
function watchCalls(signal: AbortSignal): {
  readonly signal: AbortSignal;
  readonly refusal: () => Why | null;
} {
  let refusal: Why | null = null;
  const countingAsker = () => {
    const asker = askerOf(signal);
    if (asker === null) return null;
    const { name } = asker;
    const countCall = () => {
      const refused = asker.countCall();
      if (refused !== null) refusal = refused;
      return refused;
    };
    return { name, countCall };
  };
  return { signal: signalAskedBy(countingAsker, signal), refusal: () => refusal };
}

/** What was cut short because no call was left says so, in whichever words it came. */
function nameRefusal(given: Gathered, refused: Why): Gathered {
  const { source, status } = given.line;
  return status === 'error' ? gapOf(source, refused) : given;
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
