// Answers one question: which rug model is in force on this deployment?
// Versions are kept for ever and never change; the newest publication names the one in force.

import type { UnixSeconds } from '../../chain/time.ts';
import type { Reading } from '../../evidence/reading.ts';
import type { ModelArtefact } from './rug-model.ts';

/** The name of this port in readings and contracts. */
export type PublishedModelPort = 'published_model';

/** The model in force. */
export type PublishedModel = ModelArtefact & { readonly published_at: UnixSeconds };

/** The published models. */
export type PublishedModels = {
  /**
   * The one in force. Unread with `model_not_published` where none ever was, with
   * `model_unusable` where what was published cannot be read by this version.
   */
  readonly inForce: () => Promise<Reading<PublishedModel, PublishedModelPort>>;
  /** Keeps an artefact and puts it in force; one that is in force already stays as it is. */
  readonly publish: (
    artefact: ModelArtefact,
  ) => Promise<Reading<'published' | 'in_force_already', PublishedModelPort>>;
};
