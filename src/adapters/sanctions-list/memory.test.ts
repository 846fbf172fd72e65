import { publicationStoreKeeps } from '../../ports/publication-store.suite.ts';
import { NOW, sanctionsListKeeps } from '../../ports/sanctions-list.suite.ts';
import { memoryPublicationStore, memorySanctionsList } from './memory.ts';

sanctionsListKeeps('the list in memory', async (world) => ({
  list: memorySanctionsList({ ...world, now: () => NOW }),
  close: async () => undefined,
}));

publicationStoreKeeps('the store in memory', async () => ({
  store: memoryPublicationStore(),
  close: async () => undefined,
}));
