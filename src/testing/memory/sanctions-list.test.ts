import { publicationStoreKeeps } from '../../ports/sanctions/publication-store.suite.ts';
import { NOW, sanctionsListKeeps } from '../../ports/sanctions/sanctions-list.suite.ts';
import { memoryPublicationStore, memorySanctionsList } from './sanctions-list.ts';

sanctionsListKeeps('the list in memory', async (world) => ({
  list: memorySanctionsList({ ...world, now: () => NOW }),
  close: async () => undefined,
}));

publicationStoreKeeps('the store in memory', async () => ({
  store: memoryPublicationStore(),
  close: async () => undefined,
}));
