// Entity clusters: ties are kept in the control store; what is new is read through history and
// creations.

import { MS_PER_S } from '../../chain/time.ts';
import { nowS, pause } from '../../compose/clock.ts';
import {
  type Base,
  feature,
  type OpenedRests,
  type Service,
  servePage,
  serveRoute,
} from '../../compose/feature.ts';
import { Refusal } from '../../contract/refusals.ts';
import { Unread } from '../../evidence/reading.ts';
import { type BlocksWatch, ENTITY_CHAINS } from '../../ports/entities.ts';
import { etlFiles } from '../../sources/bitcoin/etl-files.ts';
import { bitcoinNode } from '../../sources/bitcoin/node.ts';
import { jsonRpc, RPC_LIMITS } from '../../sources/http/json-rpc.ts';
import { clusterStore } from '../../stores/control/clusters.ts';
import { warehouseCreations } from '../../stores/warehouse/creations.ts';
import { forensics } from '../forensics/feature.ts';
import { history } from '../history/feature.ts';
import { tables } from '../tables/feature.ts';
import {
  calibrationPage,
  entitiesCalibrationPage,
  publishedCalibration,
} from './calibration.route.tsx';

import type { EntityPorts } from './closure.ts';
import { type EntityQuestion, type EntityServices, entityCommands } from './entity.command.ts';
import { heldClusters } from './held-clusters.ts';
import { importBlocks, NO_BLOCKS } from './import.ts';
import {
  entityAnswers,
  walletEntity,
  walletEntityData,
  walletEntityHandler,
} from './wallet-entity.route.ts';

type Rested = OpenedRests<{
  tables: typeof tables;
  history: typeof history;
  forensics: typeof forensics;
}>;

export const entities = feature({
  name: 'entities',
  heading: 'Entities',
  rests: { tables, history, forensics },
  open: (
    { config, database, warehouse, context }: Base,
    { tables: { ports }, history: held, forensics: facts }: Rested,
  ) => {
    const tipMaxAgeS = config.tipMaxAgeMs / MS_PER_S;
    const fresh = { now: nowS, tipMaxAgeS };
    const entityTies = clusterStore(database, context);
    const contractCreations = warehouseCreations(warehouse, fresh);
    const { transferHistory } = held.ports;
    const { exchangeLabels } = ports;
    const { chainFacts } = facts.ports;
    const asked = {
      entityTies,
      contractCreations,
      exchangeLabels,
      transferHistory,
      chainFacts,
    };
    const { bitcoin } = config.rpc;
    const url = bitcoin === null ? null : new URL(bitcoin.reveal());
    const rpc =
      url === null ? null : jsonRpc({ url, headers: {}, limits: RPC_LIMITS, sleep: pause });
    const node = rpc === null ? null : bitcoinNode(rpc);
    return {
      ports: { entityClusters: heldClusters(asked, fresh), entityTies, contractCreations },
      services: {
        entity: {
          ask: (question: EntityQuestion) => answerTo(question, asked, fresh),
          importFiles: (paths: readonly string[], watch: BlocksWatch) =>
            importBlocks(entityTies, etlFiles(paths), watch),
          importNode:
            node === null
              ? null
              : async (from: number | null, to: number | null, watch: BlocksWatch) => {
                  const first = from === null ? await nextBlock(asked) : from;
                  if (first instanceof Unread) {
                    return { outcome: 'unread', imported: NO_BLOCKS, why: first.why } as const;
                  }
                  return importBlocks(entityTies, node(first, to), watch);
                },
        },
      },
      close: () => rpc?.close(),
    };
  },
  routes: [
    serveRoute(walletEntity, (ports: EntityPorts & { readonly service: Service }) =>
      walletEntityHandler(ports, ports.service),
    ),
  ],
  ports: {
    entityClusters: {
      tag: 'entity_clusters',
      title: 'Entity clusters',
      says: 'Which addresses are tied to each other',
      pages: true,
      freshness: { kind: 'per_answer', absence: () => null },
    },
    entityTies: {
      tag: 'entity_ties',
      title: 'Ties between addresses',
      says: 'What joins the addresses of a cluster',
      pages: true,
      freshness: { kind: 'shown_with', tag: 'entity_clusters' },
    },
    contractCreations: {
      tag: 'contract_creations',
      title: 'Contract creations',
      says: 'Who made which contract',
      pages: true,
      freshness: { kind: 'shown_with', tag: 'transfer_history' },
    },
  },
  commands: entityCommands,
  pages: [
    servePage(entitiesCalibrationPage, 'Entities', (_given: unknown, facts) => {
      const shown = calibrationPage(facts, publishedCalibration());
      return async () => entitiesCalibrationPage.reply(200, shown);
    }),
  ],
});

/** The block behind those held from the first on. */
async function nextBlock({ entityTies }: EntityPorts) {
  const held = await entityTies.blocksHeld();
  if (held instanceof Unread) return held;
  const [lowest] = held.value;
  return lowest === undefined || lowest.from_block > 0 ? 0 : lowest.to_block + 1;
}

/** @internal The answer to a question of a command. */
export async function answerTo(
  { subject, chain, explain, signal }: EntityQuestion,
  ports: EntityPorts,
  { now, tipMaxAgeS }: { readonly now: () => number; readonly tipMaxAgeS: number },
): ReturnType<EntityServices['entity']['ask']> {
  const asked = ENTITY_CHAINS.find((one) => one === chain);
  if (chain !== null && asked === undefined) {
    return { problem: `--chain takes one of: ${ENTITY_CHAINS.join(', ')}.`, couldNotCheck: false };
  }
  let address = subject;
  let on = asked;
  if (subject.includes(':')) {
    const found = await ports.entityTies.memberOf(subject);
    if (found instanceof Unread) return { problem: found.why.reason, couldNotCheck: true };
    const member = found.value;
    if (member === null) {
      return { problem: 'No cluster was shown here under that id.', couldNotCheck: true };
    }
    address = member.address;
    on = ENTITY_CHAINS.find((one) => one === member.chain);
  }
  const query = {
    ...(on === undefined ? {} : { chain: on }),
    ...(explain === null ? {} : { explain }),
  };
  const answer = entityAnswers(ports, { tipMaxAgeS });
  const said = await answer(address, query, { now, signal });
  if (!(said instanceof Refusal)) return walletEntityData.parse(said.body);
  const { body } = said;
  const isSaid = typeof body === 'object' && body !== null && 'error' in body;
  const problem = isSaid ? String(body.error) : 'The question was refused.';
  return { problem, couldNotCheck: false };
}
