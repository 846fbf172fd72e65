// The rug model: trained on files of launches, published as an artefact, told by its card.

import { type Base, feature, servePage, serveRoute } from '../../compose/feature.ts';
import { localTableFiles } from '../../sources/files/files.ts';
import { readModelFile } from '../../sources/files/model-artefact.ts';
import { rugModelTable } from '../../stores/control/rug-models.ts';
import {
  type CardPorts,
  rugModelCard,
  rugModelCardHandler,
  rugModelPage,
  rugModelPageHandler,
} from './card.route.tsx';
import { rugModelLocal } from './local.ts';
import { modelCard, modelEvaluate, modelPublish } from './model.command.ts';

export const rugModelFeature = feature({
  name: 'rug model',
  heading: 'Rug model',
  open: ({ config, database, context }: Base) => {
    const published = rugModelTable(database, context);
    const model = {
      published,
      readFile: readModelFile,
      trainingFiles: localTableFiles(),
      simulated: config.simulate,
    };
    return { ports: { publishedModels: { find: published.find } }, services: { model } };
  },
  ports: {
    publishedModels: {
      tag: 'published_model',
      title: 'Rug models',
      says: 'Which rug models were published, and what stands behind them',
      pages: false,
      freshness: { kind: 'per_answer', absence: () => null },
    },
  },
  routes: [serveRoute(rugModelCard, (given: CardPorts) => rugModelCardHandler(given))],
  pages: [
    servePage(rugModelPage, null, (given: CardPorts, facts) => rugModelPageHandler(given, facts)),
  ],
  commands: [modelCard, modelPublish, modelEvaluate],
  local: rugModelLocal,
});
