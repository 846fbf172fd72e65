// A thread that moves the outcomes of one trader ten thousand times, so that the one that answers
// does not wait for it. It takes one question, answers it and ends.

import { parentPort, workerData } from 'node:worker_threads';
import { type ConcentrationInput, concentrate } from '../features/traders/concentration.ts';

parentPort?.postMessage(concentrate(workerData as ConcentrationInput));
