// Is a text an artefact of a model that this version can use?
// It is held to its own hash and to a schema: cut, changed, of another format or with a feature
// that is not known here, it is a fault that says so.

import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { z } from 'zod';
import { type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Artefact, ModelFormat, ModelTree, StoredModel } from '../../ports/boosted-trees.ts';
import { RANKER_FORMAT, type Ranker } from '../../ports/ranker.ts';
import { type ModelArtefact, RUG_FORMAT } from '../../ports/rug-model.ts';
import { jsonIn } from '../http/fetch.ts';
import { describeFault, FileFault } from './text-lines.ts';

const PORT = 'model_file';
const MODEL_FILE = { name: 'model file', url: 'urn:exhibit:model-file' } as const;
const ARTEFACT_BYTES_MAX = 16 * 1024 * 1024;

const file = z.strictObject({
  schema: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  model: z.looseObject({}),
});

/** The rug model that a text is. Throws `FileFault`, whose message names the fault. */
export function artefactIn(text: string): ModelArtefact {
  return modelIn(text, RUG_FORMAT);
}

/** The same of a ranker of calls. */
export function rankerIn(text: string): Artefact<Ranker> {
  return modelIn(text, RANKER_FORMAT);
}

function modelIn<M extends StoredModel>(
  text: string,
  { schema, shape, version }: ModelFormat<M>,
): Artefact<M> {
  const held = jsonIn(text);
  if (held === undefined) throw new FileFault('it is not whole: its JSON does not end');
  const outer = file.extend({ schema: z.literal(schema) }).safeParse(held);
  if (!outer.success) throw new FileFault(`it is no artefact of ${schema}${where(outer)}`);
  const { sha256 } = outer.data;
  const found = createHash('sha256').update(JSON.stringify(outer.data.model)).digest('hex');
  if (found !== sha256) throw new FileFault('it was changed: it does not hash to its own SHA-256');
  const inner = shape.safeParse(outer.data.model);
  if (!inner.success) throw new FileFault(`this version cannot use it${where(inner)}`);
  for (const [at, tree] of inner.data.trees.entries()) {
    if (!isTree(tree, inner.data.features.length)) throw new FileFault(`tree ${at} is no tree`);
  }
  return { version: version(sha256), model: inner.data, text };
}

function where({ error }: { readonly error: z.ZodError }): string {
  const [issue] = error.issues;
  if (issue === undefined) return ' (whole)';
  const path = issue.path.join('.');
  return ` (${path === '' ? 'whole' : path}: ${issue.message})`;
}

/** Whether each node but the root is the child of exactly one node before it. */
function isTree(tree: ModelTree, features: number): boolean {
  const children = new Set<number>();
  for (const [at, one] of tree.entries()) {
    if (!('feature' in one)) continue;
    if (one.feature >= features || one.left === one.right || one.rows === 0) return false;
    for (const child of [one.left, one.right]) {
      if (child <= at || child >= tree.length || children.has(child)) return false;
      children.add(child);
    }
  }
  return children.size === tree.length - 1;
}

/** Reads an artefact of the rug model from a file of this machine. */
export function readModelFile(path: string): Promise<Reading<ModelArtefact, 'model_file'>> {
  return readArtefact(path, RUG_FORMAT);
}

/** Reads a ranker of calls from a file of this machine. */
export function readRankerFile(path: string): Promise<Reading<Artefact<Ranker>, 'model_file'>> {
  return readArtefact(path, RANKER_FORMAT);
}

async function readArtefact<M extends StoredModel>(
  path: string,
  format: ModelFormat<M>,
): Promise<Reading<Artefact<M>, 'model_file'>> {
  try {
    const { size } = await stat(path);
    if (size > ARTEFACT_BYTES_MAX) throw new FileFault(`it is over ${ARTEFACT_BYTES_MAX} bytes`);
    const artefact = modelIn(await readFile(path, 'utf8'), format);
    // A model is as old as the newest of the data that it was trained on.
    const { simulated, to: as_of } = artefact.model.card.data;
    const source = { ...MODEL_FILE, as_of, kind: 'table', simulated } as const;
    return read(artefact, { port: PORT, source });
  } catch (fault) {
    return unread(PORT, why('file_unreadable', { fault: describeFault(fault) }));
  }
}
