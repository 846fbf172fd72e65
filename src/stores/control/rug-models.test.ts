import { expect, test, vi } from 'vitest';
import { basis, Read, Unread } from '../../evidence/reading.ts';
import type { ModelArtefact, PublishedModels, RugModel } from '../../ports/rug-model.ts';
import { artefactIn } from '../../sources/files/model-artefact.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { onEachEngine } from '../../testing/control-store.ts';
import { artefactText, NO_FATES, SMALL_MODEL } from '../../testing/rug-models.ts';
import { rugModelTable } from './rug-models.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const CONTEXT = { simulated: false, nowMs: () => STILL_NOW * 1_000 };
const artefact = (model: RugModel): ModelArtefact => artefactIn(artefactText(model));
const ONE = artefact(SMALL_MODEL);
const OTHER = artefact({ ...SMALL_MODEL, base: 0.3 });

async function codeOf(models: PublishedModels): Promise<string> {
  const reading = await models.inForce();
  return reading instanceof Unread ? reading.why.code : reading.value.version;
}

onEachEngine((name, fresh) => {
  test(`${name}: where nothing was published the reading is unread and says so`, async () => {
    const reading = await rugModelTable(fresh(), CONTEXT).inForce();
    expect(reading).toBeInstanceOf(Unread);
    if (reading instanceof Unread) expect(reading.why.code).toBe('model_not_published');
  });

  test(`${name}: a store that cannot be asked is another silence than nothing published`, async () => {
    const database = fresh();
    const models = rugModelTable(database, CONTEXT);
    await models.publish(ONE);
    expect(await codeOf(models)).toBe(ONE.version);
    database.silence('it is down');
    expect(await codeOf(models)).toBe('store_unreadable');
  });

  test(`${name}: the newest publication is in force, whichever version, to the byte`, async () => {
    const database = fresh();
    const [here, elsewhere] = [rugModelTable(database, CONTEXT), rugModelTable(database, CONTEXT)];
    const outcomes = [];
    for (const one of [ONE, OTHER, OTHER, ONE]) {
      const kept = await here.publish(one);
      outcomes.push(kept.checked ? kept.value : 'unread');
      expect([await codeOf(here), await codeOf(elsewhere)]).toEqual([one.version, one.version]);
    }
    expect(outcomes).toEqual(['published', 'published', 'in_force_already', 'published']);
    const reading = await elsewhere.inForce();
    expect(reading).toBeInstanceOf(Read);
    if (reading instanceof Read) {
      expect(reading.value.text).toBe(ONE.text);
      expect(basis(reading).sources).toMatchObject([
        { name: 'Rug model', as_of: reading.value.published_at, simulated: false },
      ]);
    }
    expect(await database.query('select version from rug_models')).toHaveLength(2);
  });

  test(`${name}: each version can be found, with whether it is in force or withdrawn`, async () => {
    const database = fresh();
    const models = rugModelTable(database, CONTEXT);
    const found = async (version: string) => {
      const reading = await models.find(version);
      return reading.checked ? reading.value : reading.why.code;
    };
    expect(await found(ONE.version)).toBeNull();
    await models.publish(ONE);
    await models.publish(OTHER);
    expect(await found(ONE.version)).toMatchObject({
      version: ONE.version,
      text: ONE.text,
      in_force: false,
      withdrawn: null,
      fates: NO_FATES,
    });
    expect(await found(OTHER.version)).toMatchObject({ in_force: true });
    await database.query(
      `insert into rug_model_withdrawals values ($1, to_timestamp($2::float8), 'So.', 200, 9, 0)`,
      [ONE.version, STILL_NOW],
    );
    expect(await found(ONE.version)).toMatchObject({
      withdrawn: { withdrawn_at: STILL_NOW, reason: 'So.' },
    });
    // What was withdrawn is not put in force again.
    expect(await models.publish(ONE)).toMatchObject({ value: 'withdrawn' });
    expect(await codeOf(models)).toBe(OTHER.version);
    database.silence('it is down');
    expect(await found(ONE.version)).toBe('store_unreadable');
  });

  test(`${name}: a model that learnt from made-up launches is a simulated source`, async () => {
    const models = rugModelTable(fresh(), CONTEXT);
    const { card } = SMALL_MODEL;
    const data = { ...card.data, simulated: true };
    await models.publish(artefact({ ...SMALL_MODEL, card: { ...card, data } }));
    expect(basis(await models.inForce()).sources).toMatchObject([{ simulated: true }]);
  });

  test(`${name}: a damaged artefact is unread, by its version and its fault`, async () => {
    const database = fresh();
    await rugModelTable(database, CONTEXT).publish(ONE);
    await database.query('update rug_models set artefact = left(artefact, 100)');
    const reading = await rugModelTable(database, CONTEXT).inForce();
    if (reading instanceof Read) throw new Error('it was read');
    expect(reading.why).toEqual({
      code: 'model_unusable',
      reason: `The published rug model ${ONE.version} cannot be used: it is not whole: its JSON does not end; nothing is scored.`,
    });
  });

  test(`${name}: two that publish at once leave one publication of each version`, async () => {
    const database = fresh();
    const models = rugModelTable(database, CONTEXT);
    await Promise.all([models.publish(ONE), models.publish(ONE), models.publish(ONE)]);
    expect(await database.query('select version from rug_model_publications')).toHaveLength(1);
  });
});
