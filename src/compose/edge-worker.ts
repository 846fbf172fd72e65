// A thread that measures the listed families of the edge, one after the other, so that the one that
// answers does not wait for it.

import { parentPort } from 'node:worker_threads';
import { type FamilyOrder, measureFamily } from '../features/edge/luck.ts';

parentPort?.on('message', (order: FamilyOrder) => {
  parentPort?.postMessage(measureFamily(order));
});
