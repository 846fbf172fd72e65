// The artefact in force is parsed once a publication; what cannot be used is unread, by name.

import { read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type {
  ModelArtefact,
  PublishedModel,
  PublishedModelPort,
  PublishedModels,
} from '../../ports/rug-model.ts';
import { artefactIn } from '../../sources/files/model-artefact.ts';
import { FileFault } from '../../sources/files/text-lines.ts';
import {
  type ControlContext,
  controlReadings,
  type Database,
  epochSecond,
} from './engine/database.ts';

const PORT: PublishedModelPort = 'published_model';

type Publication = { readonly id: string; readonly version: string; readonly published_at: number };
type Held =
  | { readonly id: string; readonly published: PublishedModel }
  | { readonly id: string; readonly version: string; readonly fault: string };

const NEWEST = `
  select id::text as id, version, ${epochSecond('published_at')}
  from rug_model_publications order by rug_model_publications.id desc limit 1`;

// One lock for all who publish: the newest publication is looked at and added to as one.
const PUBLISH_LOCK = 7_166_923_121;

/** The published models over the control database. */
export function rugModelTable(database: Database, context: ControlContext): PublishedModels {
  const { ask } = controlReadings(PORT, 'The published rug model', context);
  let held: Held | null = null;
  return {
    inForce: async () => {
      const newest = await ask(async () => (await database.query<Publication>(NEWEST)).at(0));
      if (!newest.checked) return newest;
      const publication = newest.value;
      if (publication === undefined) return unread(PORT, why('model_not_published'));
      if (held?.id !== publication.id) {
        const loaded = await ask(async () => {
          const { id, version, published_at } = publication;
          const [row] = await database.query<{ artefact: string }>(
            'select artefact from rug_models where version = $1',
            [version],
          );
          if (row === undefined) throw new Error('a publication names an artefact not kept');
          const artefact = usable(row.artefact);
          if (typeof artefact === 'string') return { id, version, fault: artefact };
          if (artefact.version !== version) {
            return { id, version, fault: 'it is kept under another name' };
          }
          return { id, published: { ...artefact, published_at } };
        });
        if (!loaded.checked) return loaded;
        held = loaded.value;
      }
      if ('fault' in held) {
        const { version, fault } = held;
        return unread(PORT, why('model_unusable', { version, fault }));
      }
      // A model is as old as its publication; trained on made-up launches, it says so.
      const source: Source = {
        name: 'Rug model',
        url: 'control-store:',
        as_of: held.published.published_at,
        kind: 'table',
        simulated: context.simulated || held.published.model.card.data.simulated,
      };
      return read(held.published, { port: PORT, source });
    },
    publish: ({ version, text }: ModelArtefact) =>
      ask(() =>
        database.transaction(async (session) => {
          await session.query('select pg_advisory_xact_lock($1::bigint)', [PUBLISH_LOCK]);
          await session.query(
            'insert into rug_models (version, artefact) values ($1, $2) on conflict do nothing',
            [version, text],
          );
          const [newest] = await session.query<Publication>(NEWEST);
          if (newest?.version === version) return 'in_force_already';
          await session.query('insert into rug_model_publications (version) values ($1)', [
            version,
          ]);
          return 'published';
        }),
      ),
  };
}

function usable(text: string): ModelArtefact | string {
  try {
    return artefactIn(text);
  } catch (fault) {
    if (fault instanceof FileFault) return fault.message;
    throw fault;
  }
}
