import { type ModelArtefact, RUG_FORMAT, type RugModel } from '../../ports/rug-model.ts';
import { makeArtefact } from '../boosting/artefact.ts';

/** The artefact of a rug model. */
export function artefactOf(model: RugModel): ModelArtefact {
  return makeArtefact(model, RUG_FORMAT);
}
