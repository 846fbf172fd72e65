// Anchoring: the roots of the log, sent to a contract that anybody can read.

import { randomUUID } from 'node:crypto';
import { CHAINS, EVM_CHAINS } from '../../chain/chain.ts';
import { accountOf } from '../../chain/signed-transaction.ts';
import { MS_PER_S } from '../../chain/time.ts';
import { nowS, pause } from '../../compose/clock.ts';
import { evmClient, evmClients } from '../../compose/evm-clients.ts';
import { type Base, feature, type Job, type OpenedRests } from '../../compose/feature.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { WatchRun } from '../../evidence/waiting.ts';
import type { AnchoringReport } from '../../ports/anchoring.ts';
import { anchorContract, anchoredRoots } from '../../sources/evm/anchor-contract.ts';
import type { JsonRpc, RpcLimits } from '../../sources/http/json-rpc.ts';
import { lastSentFile } from '../../stores/control/last-sent.ts';
import { leaseTable } from '../../stores/control/leases.ts';
import { log as logFeature } from '../log/feature.ts';
import { type AnchoringParts, anchorUntilStopped, lookAhead } from './anchor.job.ts';
import { anchoringStatus } from './anchoring.command.ts';
import { anchorTable } from './anchors.store.ts';
import { anchorsOfLog, newestRoot } from './anchors.ts';

/** How long the job waits between two turns. */
const TURN_S = 15;

/** The limits of a call: whoever verifies waits for it. */
const LIMITS: RpcLimits = {
  deadlineMs: 8_000,
  bytesMax: 4 * 1024 * 1024,
  batchMax: 16,
  waitMaxMs: 1_000,
  attemptsMax: 2,
};

type Rested = OpenedRests<{ log: typeof logFeature }>;

export const anchoring = feature({
  name: 'anchoring',
  heading: 'Anchoring',
  rests: { log: logFeature },
  open: (base: Base, { log }: Rested) => {
    const { config, database, context } = base;
    const { chainId: chain_id, contract, key } = config.anchoring;
    const { transparencyLog } = log.ports;
    const nodes = openNodes(base);
    const sends = anchorTable(database, context);
    const sender = key === null ? null : accountOf(key.reveal());
    const place = { chain_id, contract, sender };
    const { simulate: simulated } = config;
    const rpc = nodes.of(chain_id);
    // The settings were held together when they were read.
    const roots =
      contract === null || rpc === null
        ? null
        : anchoredRoots({ rpc, chain_id, contract, simulated, now: nowS });
    const ports = { anchors: anchorsOfLog({ place, sends, roots, log: transparencyLog }) };
    if (contract === null || key === null || sender === null) {
      const state = contract === null ? 'off' : 'elsewhere';
      const report = (): AnchoringReport => ({ state });
      const look = async () => report();
      return { ports, services: { anchoring: { place, sends, report, look } }, close: nodes.close };
    }
    const parts: AnchoringParts = {
      place: { chain_id, contract, sender },
      sends,
      chainAt: (at) => {
        const node = nodes.of(at.chain_id);
        // What another account signed can be sent again, and not be signed anew.
        const signs = at.sender === sender ? key.reveal() : null;
        return node === null
          ? null
          : anchorContract({ ...at, rpc: node, key: signs, simulated, now: nowS });
      },
      leases: leaseTable(database, randomUUID(), context),
      lastSent: lastSentFile(config.dataDir, context),
      head: () => newestRoot(transparencyLog),
      everyS: config.anchoring.everyMs / MS_PER_S,
      now: nowS,
    };
    const { job, report } = sendingJob(parts, base.log);
    const look = async (signal: AbortSignal): Promise<AnchoringReport> => {
      return { state: 'looked', at: nowS(), whys: await lookAhead(parts, signal) };
    };
    const services = { anchoring: { place, sends, report, look } };
    return { ports, services, jobs: [job], close: nodes.close };
  },
  ports: {
    anchors: {
      tag: 'anchors',
      title: 'Anchors',
      says: 'Which roots of the log the anchoring contract holds',
      pages: false,
      freshness: { kind: 'per_answer', absence: () => null },
    },
  },
  commands: [anchoringStatus],
  optional: [
    {
      name: 'Anchoring contract',
      setting: 'EXHIBIT_ANCHOR_CONTRACT',
      isSet: ({ anchoring: { contract } }) => contract !== null,
      without: 'no root of the log is sent to a chain: signals say `queued`, and are not anchored',
    },
  ],
});

/** The nodes of chains by their numbers. */
type Nodes = { readonly of: (chain_id: number) => JsonRpc | null; readonly close: () => void };

/** The node of anchors alone is asked where it is set, and else that of the chain. */
function openNodes({ config, outside, providers }: Base): Nodes {
  const watched = { ...providers, ports: ['anchors'] };
  const shared = evmClients(outside, LIMITS, watched);
  const { chainId, node } = config.anchoring;
  const own =
    node === null
      ? null
      : evmClient('Node of the chain of anchors', new URL(node.reveal()), LIMITS, watched);
  return {
    of: (chain_id) => {
      if (chain_id === chainId && own !== null) return own;
      const chain = EVM_CHAINS.find((name) => CHAINS[name].chain_id === chain_id);
      const client = chain === undefined ? undefined : shared.byChain.get(chain);
      return client === undefined ? null : client;
    },
    close: () => {
      shared.close();
      own?.close();
    },
  };
}

/** The job that sends roots, and what kept it from that in its last turn. */
function sendingJob(
  parts: AnchoringParts,
  logger: Base['log'],
): { readonly job: Job; readonly report: () => AnchoringReport } {
  // Where the job was never begun, another process works.
  let last: AnchoringReport = { state: 'elsewhere' };
  const turns = {
    ...parts,
    everyS: TURN_S,
    sleep: pause,
    onTurn: (whys: readonly Why[] | null) => {
      last = whys === null ? { state: 'elsewhere' } : { state: 'looked', at: nowS(), whys };
    },
    onFault: ({ whys }: { readonly whys: readonly Why[] }) => {
      for (const { code, reason } of whys) logger.warn({ code, reason }, 'anchoring: waits');
    },
    onBug: (fault: unknown) => {
      last = { state: 'not_looked' };
      logger.error({ fault: String(fault) }, 'anchoring: failed');
    },
  };
  const start = (watch: WatchRun) => {
    last = { state: 'not_looked' };
    return anchorUntilStopped({ ...turns, watch });
  };
  return { job: { name: 'anchoring', start }, report: () => last };
}
