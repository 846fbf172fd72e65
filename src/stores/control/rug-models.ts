// The artefact in force is parsed once a publication; what cannot be used is unread, by name.

import { z } from 'zod';
import { DAY_S } from '../../chain/time.ts';
import { map, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import {
  DRIFT_DEPLOYERS,
  DRIFT_FLAGS,
  DRIFT_FLAGS_OF_ONE,
  type FlagFates,
  type ModelArtefact,
  type PublishedModel,
  type PublishedModelPort,
  type PublishedModels,
} from '../../ports/rug-model.ts';
import { artefactIn } from '../../sources/files/model-artefact.ts';
import { FileFault } from '../../sources/files/text-lines.ts';
import {
  type ControlContext,
  controlReadings,
  type Database,
  epochSecond,
  onlyRow,
  rowOrNull,
  type Session,
} from './engine/database.ts';

const PORT: PublishedModelPort = 'published_model';

const publicationRow = z.object({
  id: z.string(),
  version: z.string(),
  published_at: z.int(),
  withdrawn_at: z.int().nullable(),
  reason: z.string().nullable(),
});
const artefactRow = z.object({ artefact: z.string() });
type Publication = z.output<typeof publicationRow>;
type Parsed = { readonly version: string; readonly artefact: ModelArtefact | string };

const PUBLICATIONS = `
  select p.id::text as id, p.version, ${epochSecond('p.published_at', 'published_at')},
    ${epochSecond('w.withdrawn_at', 'withdrawn_at')}, w.reason
  from rug_model_publications p
  left join rug_model_withdrawals w on w.version = p.version`;
const NEWEST = `${PUBLICATIONS} order by p.id desc limit 1`;
const NEWEST_OF = `${PUBLICATIONS} where p.version = $1 order by p.id desc limit 1`;

// One lock for all who publish: the newest publication is looked at and added to as one.
const PUBLISH_LOCK = 7_166_923_121;

async function publication(
  session: Pick<Session, 'query'>,
  sql: string,
  ...params: string[]
): Promise<Publication | null> {
  return publicationRow.nullable().parse(rowOrNull(await session.query(sql, params)));
}

/** The published models over the control database. */
export function rugModelTable(database: Database, context: ControlContext): PublishedModels {
  const { ask } = controlReadings(PORT, 'The published rug model', context);
  // An artefact never changes, so that the one that was parsed last is kept.
  let held: Parsed | null = null;
  const artefactOf = async (version: string): Promise<ModelArtefact | string> => {
    if (held?.version === version) return held.artefact;
    const [row] = await database.query('select artefact from rug_models where version = $1', [
      version,
    ]);
    if (row === undefined) throw new Error('a publication names an artefact not kept');
    const artefact = usable(artefactRow.parse(row).artefact, version);
    held = { version, artefact };
    return artefact;
  };
  // A model is as old as its publication; trained on made-up launches, it says so.
  const sourceOf = ({ published_at: as_of, model }: PublishedModel): Source => ({
    name: 'Rug model',
    url: 'control-store:',
    as_of,
    kind: 'table',
    simulated: context.simulated || model.card.data.simulated,
  });
  const unusable = (version: string, fault: string) =>
    unread(PORT, why('model_unusable', { version, fault }));
  return {
    inForce: async () => {
      const asked = await ask(async () => {
        const newest = await publication(database, NEWEST);
        return newest === null ? null : { newest, artefact: await artefactOf(newest.version) };
      });
      if (!asked.checked) return asked;
      if (asked.value === null) return unread(PORT, why('model_not_published'));
      const { newest, artefact } = asked.value;
      if (typeof artefact === 'string') return unusable(newest.version, artefact);
      const published = assembleModel(artefact, newest);
      return read(published, { port: PORT, source: sourceOf(published) });
    },
    find: async (version) => {
      const asked = await ask(async () => {
        const [newest, own] = [
          await publication(database, NEWEST),
          await publication(database, NEWEST_OF, version),
        ];
        if (own === null) return null;
        const [artefact, fates] = [await artefactOf(version), await readFates(database, version)];
        return { own, artefact, fates, in_force: newest?.id === own.id };
      });
      if (!asked.checked) return asked;
      if (asked.value === null) return map(asked, () => null);
      const { own, artefact, ...rest } = asked.value;
      if (typeof artefact === 'string') return unusable(version, artefact);
      const published = assembleModel(artefact, own);
      return read({ ...published, ...rest }, { port: PORT, source: sourceOf(published) });
    },
    publish: ({ version, text }: ModelArtefact) =>
      ask(() =>
        database.transaction(async (session) => {
          await session.query('select pg_advisory_xact_lock($1::bigint)', [PUBLISH_LOCK]);
          await session.query(
            'insert into rug_models (version, artefact) values ($1, $2) on conflict do nothing',
            [version, text],
          );
          const withdrawn = await session.query(
            'select version from rug_model_withdrawals where version = $1',
            [version],
          );
          if (withdrawn.length > 0) return 'withdrawn';
          const newest = await publication(session, NEWEST);
          if (newest?.version === version) return 'in_force_already';
          await session.query('insert into rug_model_publications (version) values ($1)', [
            version,
          ]);
          return 'published';
        }),
      ),
  };
}

function assembleModel(
  artefact: ModelArtefact,
  { published_at, withdrawn_at, reason }: Publication,
): PublishedModel {
  const withdrawn = withdrawn_at === null || reason === null ? null : { withdrawn_at, reason };
  return { ...artefact, published_at, withdrawn };
}

/** The artefact that a text is, or its fault. */
function usable(text: string, version: string): ModelArtefact | string {
  try {
    const artefact = artefactIn(text);
    return artefact.version === version ? artefact : 'it is kept under another name';
  } catch (fault) {
    if (fault instanceof FileFault) return fault.message;
    throw fault;
  }
}

/** A launch counts once its horizon has passed for so long that somebody looked at it. */
const SETTLED_FOR_S = DAY_S;
/** Launches of a model that are looked through on either side, the newest first. */
const FATES_MAX = 20_000;

// From the newest flag on, until so many are settled; what nobody saw among them is counted apart.
// Deployers count by the newest of theirs, flagged and passed, of the time of those flags.
const FATES = `
  with flagged as (
    select chain, address, token, fate, settles_at from launch_fates
    where model_version = $1 and flagged
      and settles_at < control_now() - make_interval(secs => $2::int)
    order by settles_at desc, token desc limit $3::int
  ), of_one as (
    select fate, settles_at, token,
      row_number() over (partition by chain, address order by settles_at desc, token desc) as nth
    from flagged
  ), counted as (
    select fate, count(fate) over (order by settles_at desc, token desc) as place
    from of_one where nth <= $5::int
  ), flags as (
    select count(fate)::int4 as settled, (count(*) filter (where fate = 'died'))::int4 as died,
      (count(*) filter (where fate is null))::int4 as unknown
    from counted where place < $4::int or (place = $4::int and fate is not null)
  ), deployers as (
    select * from (
      select distinct on (chain, address) fate, settles_at from flagged where fate is not null
      order by chain, address, settles_at desc, token desc
    ) newest order by settles_at desc limit $6::int
  ), span as (
    select min(settles_at) as first, max(settles_at) as last from deployers
  ), passed as (
    select chain, address, token, fate, settles_at from launch_fates, span
    where model_version = $1 and not flagged and fate is not null
      and settles_at between span.first and span.last
    order by settles_at desc, token desc limit $3::int
  ), others as (
    select distinct on (chain, address) fate from passed
    order by chain, address, settles_at desc, token desc
  )
  select flags.*,
    (select count(*)::int4 from deployers) as flagged,
    (select count(*)::int4 from deployers where fate = 'died') as flagged_died,
    (select count(*)::int4 from others) as passed,
    (select count(*)::int4 from others where fate = 'died') as passed_died
  from flags`;
const count = z.int().nonnegative();
const fatesRow = z.object({
  settled: count,
  died: count,
  unknown: count,
  flagged: count,
  flagged_died: count,
  passed: count,
  passed_died: count,
});

/** The outcomes of the newest launches that a model flagged, and of those that it passed. */
export async function readFates(database: Database, version: string): Promise<FlagFates> {
  const bounds = [SETTLED_FOR_S, FATES_MAX, DRIFT_FLAGS, DRIFT_FLAGS_OF_ONE, DRIFT_DEPLOYERS];
  const row = fatesRow.parse(onlyRow(await database.query(FATES, [version, ...bounds])));
  const { settled, died, unknown, flagged, flagged_died, passed, passed_died } = row;
  return {
    settled,
    died,
    unknown,
    deployers: {
      flagged: { settled: flagged, died: flagged_died },
      passed: { settled: passed, died: passed_died },
    },
  };
}
