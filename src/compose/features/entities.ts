// Answers one question: where do entity clusters live, and what are they read from.
// The ties are in the control store; what is new is read through history and creations.

import type { Config } from '../../config.ts';
import { Refusal } from '../../contract/refusals.ts';
import type { PlainHandler } from '../../contract/route.ts';
import { Unread } from '../../evidence/reading.ts';
import type { EntityQuestion, EntityServices } from '../../features/entities/entity.command.ts';
import type { EntityPorts } from '../../features/entities/entity.ts';
import { heldClusters } from '../../features/entities/held-clusters.ts';
import { importBlocks } from '../../features/entities/import.ts';
import {
  ENTITY_CHAINS,
  type walletEntity,
  walletEntityData,
} from '../../features/entities/wallet-entity.contract.ts';
import { entityAnswers, walletEntityHandler } from '../../features/entities/wallet-entity.route.ts';
import type { EntityClusters } from '../../ports/entities/entity-clusters.ts';
import type { TransferHistory } from '../../ports/history/transfer-history.ts';
import type { ExchangeLabels } from '../../ports/labels/exchange-labels.ts';
import { etlFiles } from '../../sources/bitcoin/etl-files.ts';
import { bitcoinNode } from '../../sources/bitcoin/node.ts';
import { type JsonRpc, jsonRpc, RPC_LIMITS } from '../../sources/http/json-rpc.ts';
import { clusterStore } from '../../stores/control/clusters.ts';
import type { ControlContext } from '../../stores/control/engine/control-readings.ts';
import type { Database } from '../../stores/control/engine/database.ts';
import { warehouseCreations } from '../../stores/warehouse/creations.ts';
import type { Warehouse } from '../../stores/warehouse/engine/executor.ts';
import { nowS, pause } from '../clock.ts';

const MS_PER_S = 1_000;

/** What entities are composed from. */
export type EntitySources = {
  readonly database: Database;
  readonly warehouse: Warehouse;
  readonly context: ControlContext;
  readonly labels: ExchangeLabels;
  readonly history: TransferHistory;
};

/** Entities as they are composed. */
export type EntityParts = {
  /** The clusters held, for other routes. */
  readonly clusters: EntityClusters;
  readonly handler: PlainHandler<typeof walletEntity>;
  readonly services: EntityServices;
  readonly close: () => void;
};

/** Composes entities. Nothing is asked before it is asked of. */
export function entityParts(config: Config, sources: EntitySources): EntityParts {
  const tipMaxAgeS = config.tipMaxAgeMs / MS_PER_S;
  const fresh = { now: nowS, tipMaxAgeS };
  const ports: EntityPorts = {
    store: clusterStore(sources.database, sources.context),
    labels: sources.labels,
    history: sources.history,
    creations: warehouseCreations(sources.warehouse, fresh),
  };
  const handler = walletEntityHandler(ports, { tipMaxAgeS });
  const rpc = nodeOf(config);
  const node = rpc === null ? null : bitcoinNode(rpc);
  return {
    clusters: heldClusters(ports, fresh),
    handler,
    services: {
      entity: {
        ask: (question) => answerTo(question, ports, entityAnswers(ports, { tipMaxAgeS })),
        importFiles: (paths, watch) => importBlocks(ports.store, etlFiles(paths), watch),
        importNode:
          node === null
            ? null
            : async (from, to, watch) => {
                const first = from === null ? await nextBlock(ports) : from;
                return importBlocks(ports.store, node(first, to), watch);
              },
      },
    },
    close: () => rpc?.close(),
  };
}

function nodeOf({ rpc }: Config): JsonRpc | null {
  if (rpc.bitcoin === null) return null;
  const url = new URL(rpc.bitcoin.reveal());
  return jsonRpc({ url, headers: {}, limits: RPC_LIMITS, sleep: pause });
}

/** The block behind those held from the first on; a silent store says so when it is asked. */
async function nextBlock({ store }: EntityPorts): Promise<number> {
  const held = await store.blocksHeld();
  if (held instanceof Unread || !held.checked) return 0;
  const [lowest] = held.value;
  return lowest === undefined || lowest.from_block > 0 ? 0 : lowest.to_block + 1;
}

type Told = Awaited<ReturnType<EntityServices['entity']['ask']>>;

async function answerTo(
  { subject, chain, explain, signal }: EntityQuestion,
  { store }: EntityPorts,
  answer: ReturnType<typeof entityAnswers>,
): Promise<Told> {
  const asked = ENTITY_CHAINS.find((one) => one === chain);
  if (chain !== null && asked === undefined) {
    return { problem: `--chain takes one of: ${ENTITY_CHAINS.join(', ')}.`, couldNotCheck: false };
  }
  let address = subject;
  let on = asked;
  if (subject.includes(':')) {
    const found = await store.memberOf(subject);
    if (found instanceof Unread) return { problem: found.why.reason, couldNotCheck: true };
    const member = found.value;
    if (member === null) return { problem: 'No cluster was shown here under that id.', ...NO_ID };
    address = member.address;
    on = ENTITY_CHAINS.find((one) => one === member.chain);
  }
  const query = {
    ...(on === undefined ? {} : { chain: on }),
    ...(explain === null ? {} : { explain }),
  };
  const said = await answer(address, query, { now: nowS, signal });
  if (said instanceof Refusal) return { problem: problemOf(said), couldNotCheck: false };
  return walletEntityData.parse(said.body);
}

const NO_ID = { couldNotCheck: true } as const;

function problemOf({ body }: Refusal): string {
  const isSaid = typeof body === 'object' && body !== null && 'error' in body;
  return isSaid ? String(body.error) : 'The question was refused.';
}
