// Writes a model to its file. The same model is the same bytes, and its version is derived from
// them.

import { createHash } from 'node:crypto';
import {
  MODEL_SCHEMA,
  type ModelArtefact,
  modelVersion,
  type RugModel,
} from '../../ports/rug-model.ts';

export function artefactOf(model: RugModel): ModelArtefact {
  const text = JSON.stringify(model);
  const sha256 = createHash('sha256').update(text).digest('hex');
  return {
    version: modelVersion(sha256),
    model,
    text: `{"schema":"${MODEL_SCHEMA}","sha256":"${sha256}","model":${text}}\n`,
  };
}
