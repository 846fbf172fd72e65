// A thread that works out one part of each question about the edge, one after the other, so that
// the thread that answers does not wait for it.

import { parentPort, workerData } from 'node:worker_threads';
import { type EdgeOrder, type EdgeWork, WORK_HERE } from '../features/edge/question.ts';

const work = WORK_HERE[workerData as keyof EdgeWork];

parentPort?.on('message', async (order: EdgeOrder) => {
  parentPort?.postMessage(await work(order));
});
