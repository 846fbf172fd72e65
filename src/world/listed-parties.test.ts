import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SANDBOX_LAUNCHERS } from './corpus.ts';
import { SANDBOX_LABELLED } from './labels.ts';
import { SANDBOX_PARTY } from './listed-parties.ts';
import { PUBLISHER_FAULTS } from './publisher.ts';

const guide = readFileSync(
  new URL('../../docs/guides/simulated-world.md', import.meta.url),
  'utf8',
);

test('the guide names every sandbox address and every fault of the publisher', () => {
  const addresses = [
    ...SANDBOX_PARTY.addresses.map(({ address }) => address),
    ...Object.values(SANDBOX_LABELLED),
    ...Object.values(SANDBOX_LAUNCHERS),
  ];
  expect(addresses.length).toBeGreaterThan(10);
  for (const named of [...addresses, ...PUBLISHER_FAULTS]) expect(guide).toContain(named);
});
