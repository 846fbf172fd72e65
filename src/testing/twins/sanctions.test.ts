import { NOW, sanctionsListKeeps } from '../../ports/sanctions-list.suite.ts';
import { memorySanctionsList } from './sanctions.ts';

sanctionsListKeeps('the list in memory', async (world) => ({
  list: memorySanctionsList({ ...world, now: () => NOW }),
  close: async () => undefined,
}));
