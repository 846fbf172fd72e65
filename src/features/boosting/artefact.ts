// Writes a model to its file. The same model is the same bytes, and its version is derived from
// them.

import { createHash } from 'node:crypto';
import type { Artefact, ModelFormat, StoredModel } from '../../ports/boosted-trees.ts';

export function makeArtefact<M extends StoredModel>(
  model: M,
  { schema, version }: Pick<ModelFormat<M>, 'schema' | 'version'>,
): Artefact<M> {
  const text = JSON.stringify(model);
  const sha256 = createHash('sha256').update(text).digest('hex');
  return {
    version: version(sha256),
    model,
    text: `{"schema":"${schema}","sha256":"${sha256}","model":${text}}\n`,
  };
}
