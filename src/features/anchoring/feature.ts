// Anchoring: the roots of the log, sent to a contract that anybody can read.

import { randomUUID } from 'node:crypto';
import { CHAINS, EVM_CHAINS, type EvmChainName } from '../../chain/chain.ts';
import { MS_PER_S } from '../../chain/time.ts';
import { nowS, pause } from '../../compose/clock.ts';
import { evmClients } from '../../compose/evm-clients.ts';
import { type Base, feature, type Job, type OpenedRests } from '../../compose/feature.ts';
import type { Why } from '../../evidence/reasons.ts';
import {
  type AnchorContractOptions,
  anchorContract,
  anchoredRoots,
} from '../../sources/evm/anchor-contract.ts';
import { type JsonRpc, RPC_LIMITS } from '../../sources/http/json-rpc.ts';
import { lastSentFile } from '../../stores/control/last-sent.ts';
import { leaseTable } from '../../stores/control/leases.ts';
import { log as logFeature } from '../log/feature.ts';
import { type AnchoringParts, anchorUntilStopped } from './anchor.job.ts';
import { anchoringStatus } from './anchoring.command.ts';
import { anchorTable } from './anchors.store.ts';
import { anchorsOfLog, newestRoot } from './anchors.ts';

/** How long the job waits between two turns. */
const TURN_MS = 15_000;

type Rested = OpenedRests<{ log: typeof logFeature }>;

export const anchoring = feature({
  name: 'anchoring',
  heading: 'Anchoring',
  rests: { log: logFeature },
  open: (base: Base, { log }: Rested) => {
    const { config, database, context, outside, providers } = base;
    const { chainId: chain_id, contract, key } = config.anchoring;
    const { transparencyLog } = log.ports;
    const nodes = evmClients(outside, RPC_LIMITS, { ...providers, ports: ['anchors'] });
    const place = contract === null ? null : placeOf(base, nodes.byChain, contract);
    const sends = anchorTable(database, { chain_id, contract }, context);
    const chain =
      place === null || key === null ? null : anchorContract({ ...place, key: key.reveal() });
    const roots = place === null ? null : anchoredRoots(place);
    return {
      ports: {
        anchors: anchorsOfLog({ anchor_chain_id: chain_id, sends, roots, log: transparencyLog }),
      },
      services: {
        anchoring: {
          anchor_chain_id: chain_id,
          contract,
          sender: chain === null ? null : chain.sender,
          sends,
        },
      },
      jobs: chain === null ? [] : [sendingJob(base, { chain, sends, log: transparencyLog })],
      close: nodes.close,
    };
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

/** The contract at its node. */
function placeOf(
  { config }: Base,
  nodes: ReadonlyMap<EvmChainName, JsonRpc>,
  contract: string,
): Omit<AnchorContractOptions, 'key'> {
  const chain_id = config.anchoring.chainId;
  const chain = EVM_CHAINS.find((name) => CHAINS[name].chain_id === chain_id);
  const rpc = chain === undefined ? undefined : nodes.get(chain);
  // The settings were held together when they were read.
  if (rpc === undefined) throw new Error(`anchoring: no node of chain ${chain_id}`);
  return { rpc, chain_id, contract, simulated: config.simulate, now: nowS };
}

type Sending = Pick<AnchoringParts, 'chain' | 'sends'> & {
  readonly log: Parameters<typeof newestRoot>[0];
};

function sendingJob(
  { config, database, context, log: logger }: Base,
  { chain, sends, log }: Sending,
): Job {
  const parts = {
    chain,
    sends,
    leases: leaseTable(database, randomUUID(), context),
    lastSent: lastSentFile(config.dataDir, chain),
    head: () => newestRoot(log),
    everyS: config.anchoring.everyMs / MS_PER_S,
    now: nowS,
    turnMs: TURN_MS,
    sleep: pause,
    onWhy: ({ code, reason }: Why) => logger.warn({ code, reason }, 'anchoring: waits'),
    onBug: (fault: unknown) => logger.error({ fault: String(fault) }, 'anchoring: failed'),
  };
  return { name: 'anchoring', start: () => anchorUntilStopped(parts) };
}
