import type { LocalCommands } from '../../compose/feature.ts';
import { VERSION } from '../../compose/version.ts';
import { localTableFiles } from '../../sources/files/files.ts';
import { modelTrain, type TrainServices } from './model.command.ts';

export const rugModelLocal: LocalCommands<TrainServices> = {
  commands: [modelTrain],
  services: () => ({ training: { files: localTableFiles(), codeVersion: VERSION } }),
};
