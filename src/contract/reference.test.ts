import { expect, test } from 'vitest';
import { errorsPage, reasonsPage } from './reference.ts';

test('docs/reference/reasons.md holds every reason the code can give', async () => {
  await expect(reasonsPage()).toMatchFileSnapshot('../../docs/reference/reasons.md');
});

test('docs/reference/errors.md holds every refusal the code can give', async () => {
  await expect(errorsPage()).toMatchFileSnapshot('../../docs/reference/errors.md');
});
