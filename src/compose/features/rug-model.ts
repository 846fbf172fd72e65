// The rug model: trained on files of launches, published as an artefact, told by its card.

import { modelCard } from '../../features/rug-model/card.command.ts';
import { modelEvaluate } from '../../features/rug-model/evaluate.command.ts';
import { modelPublish } from '../../features/rug-model/publish.command.ts';
import { modelTrain, type TrainServices } from '../../features/rug-model/train.command.ts';
import { localTableFiles } from '../../sources/files/files.ts';
import { localModelFiles } from '../../sources/files/model-artefact.ts';
import { rugModelTable } from '../../stores/control/rug-models.ts';
import { nowS } from '../clock.ts';
import { type Base, feature } from '../feature.ts';
import { VERSION } from '../version.ts';

export const rugModel = feature({
  name: 'rug model',
  heading: 'Rug model',
  open: ({ config, database, context }: Base) => {
    const published = rugModelTable(database, context);
    const model = {
      published,
      readFile: localModelFiles(nowS),
      trainingFiles: localTableFiles(nowS),
      simulated: config.simulate,
    };
    return { ports: {}, services: { model } };
  },
  ports: {},
  commands: [modelCard, modelPublish, modelEvaluate],
  local: {
    commands: [modelTrain],
    services: (): TrainServices => ({
      training: { files: localTableFiles(nowS), codeVersion: VERSION },
    }),
  },
});
