// The rug model: trained on files of launches, published as an artefact, told by its card.

import { type Base, feature } from '../../compose/feature.ts';
import { VERSION } from '../../compose/version.ts';
import { localTableFiles } from '../../sources/files/files.ts';
import { readModelFile } from '../../sources/files/model-artefact.ts';
import { rugModelTable } from '../../stores/control/rug-models.ts';
import {
  modelCard,
  modelEvaluate,
  modelPublish,
  modelTrain,
  type TrainServices,
} from './model.command.ts';

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
    return { ports: {}, services: { model } };
  },
  ports: {},
  commands: [modelCard, modelPublish, modelEvaluate],
  local: {
    commands: [modelTrain],
    services: (): TrainServices => ({
      training: { files: localTableFiles(), codeVersion: VERSION },
    }),
  },
});
