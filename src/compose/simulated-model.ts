// The way of an operator: a file of launches, trained on and published by the same commands.

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT, type Io } from '../command/command.ts';
import type { Config } from '../config.ts';
import { rugModelFeature } from '../features/rug-model/feature.ts';
import { modelPublish, modelTrain } from '../features/rug-model/model.command.ts';

import { WORLD_HORIZON_H, worldLaunchHistoryCsv } from '../world/launch-history.ts';
import { WORLD_SEED } from '../world/listed-parties.ts';
import type { ProcessParts } from './parts.ts';
import { VERSION } from './version.ts';

const TRAINING_MS_MAX = 60_000;

/** Trains a model on the launches of the world and publishes it, unless one is in force. */
export async function publishSimulatedModel(config: Config, parts: ProcessParts): Promise<void> {
  const { services } = parts.of(rugModelFeature);
  const inForce = await services.model.published.inForce();
  if (inForce.checked) return;
  const folder = join(config.dataDir, 'spool');
  await mkdir(folder, { recursive: true });
  const [data, artefact] = [join(folder, 'launch-history.csv'), join(folder, 'rug-model.json')];
  const said: string[] = [];
  const io: Io = {
    out: () => undefined,
    err: (line) => said.push(line),
    json: true,
    colour: false,
    cwd: folder,
    signal: AbortSignal.timeout(TRAINING_MS_MAX),
  };
  await writeFile(data, worldLaunchHistoryCsv(WORLD_SEED));
  const target = ['--horizon', String(WORLD_HORIZON_H)];
  const words = ['--data', data, '--out', artefact, '--origin', 'simulated', ...target];
  const training = { files: services.model.trainingFiles, codeVersion: VERSION };
  const trained = await modelTrain.run(words, io, { training });
  const status = trained === EXIT.done ? await modelPublish.run([artefact], io, services) : trained;
  await Promise.all([data, artefact].map((file) => rm(file, { force: true })));
  if (status === EXIT.done) return;
  throw new Error(`The simulated rug model could not be published: ${said.join(' ')}`);
}
