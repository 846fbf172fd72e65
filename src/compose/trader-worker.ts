// A thread that works out the record of one trader, so that the one that answers does not wait for
// it. It takes the record in pieces, answers and ends.

import { parentPort } from 'node:worker_threads';
import { pieceTaker, type RecordPiece } from '../features/traders/analyse.ts';

const take = pieceTaker();
parentPort?.on('message', (piece: RecordPiece) => {
  const result = take(piece);
  if (result === null) return;
  parentPort?.postMessage(result);
  parentPort?.close();
});
