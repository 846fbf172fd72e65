// Does what an earlier secret sealed come under the one in force, and stay where it cannot?

import { expect, test, vi } from 'vitest';
import { deriveSecrets, seal, unseal } from './access/secret.ts';

import { sealAnew } from './features/integrations/seal-anew.ts';
import type { Sealed } from './ports/integrations.ts';
import { embeddedControl } from './testing/control-store.ts';
import { addIntegration, integrationsIn } from './testing/integrations.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
const fresh = embeddedControl();

test('after a rotation all is under the new secret, and the old one may go', async () => {
  const database = fresh();
  const before = deriveSecrets('the secret before', null);
  const during = deriveSecrets('the secret of now', 'the secret before');
  const after = deriveSecrets('the secret of now', null);
  const lost = deriveSecrets('a secret that nobody has', null);
  const keep = async (id: string, { bytes, by }: Sealed) => {
    await addIntegration(database, id, 'mem_1');
    await database.query('update integrations set sealed = $2, sealed_by = $3 where id = $1', [
      id,
      bytes,
      by,
    ]);
  };
  await keep('int_1', seal('one', 'int_1', before));
  await keep('int_2', seal('two', 'int_2', after));
  await keep('int_3', seal('three', 'int_3', lost));
  const store = integrationsIn(database);
  const [{ fingerprint }] = during;
  const anew = (sealed: Sealed, id: string) => {
    const text = unseal(sealed, id, during);
    return text === null ? null : seal(text, id, during);
  };
  const ends = [await sealAnew(store, fingerprint, anew), await sealAnew(store, fingerprint, anew)];
  expect(ends).toEqual([
    { resealed: 1, unopened: 1 },
    { resealed: 0, unopened: 1 },
  ]);
  const opened = async (id: string) => {
    const held = await store.sealedOf('mem_1', id);
    if (!held.checked || held.value === null) throw new Error('test: not held');
    return unseal(held.value.sealed, id, after);
  };
  expect([await opened('int_1'), await opened('int_2')]).toEqual(['one', 'two']);
  expect(await opened('int_3')).toBeNull();
});
