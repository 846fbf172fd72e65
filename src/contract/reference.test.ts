import { expect, test } from 'vitest';
import { coveragePage, errorsPage, reasonsPage } from './reference.ts';

test('docs/reference/reasons.md holds every reason the code can give', async () => {
  await expect(reasonsPage()).toMatchFileSnapshot('../../docs/reference/reasons.md');
});

test('docs/reference/errors.md holds every refusal the code can give', async () => {
  await expect(errorsPage()).toMatchFileSnapshot('../../docs/reference/errors.md');
});

test('docs/reference/coverage.md holds what can be held in full, and why not more', async () => {
  await expect(coveragePage()).toMatchFileSnapshot('../../docs/reference/coverage.md');
});
