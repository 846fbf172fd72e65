// A report of RugCheck has the fields that it tells, and none for what it leaves empty.

import { expect, onTestFinished, test } from 'vitest';
import { Read } from '../../evidence/reading.ts';
import { startStandIn } from '../../world/stand-in.ts';
import { providerGuard } from '../http/provider.ts';
import { rugcheckTokenRisk } from './report.ts';

const MINT = 'So11111111111111111111111111111111111111112';
const LIMITS = { callsPerS: 10_000, retriesMax: 0, backoffMs: 1, failuresMax: 9, restMs: 1 };

async function fieldsOf(report: object) {
  const server = await startStandIn((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ mint: MINT, ...report }));
    return true;
  });
  onTestFinished(server.close);
  const { fieldsOf: read } = rugcheckTokenRisk({
    url: new URL(server.origin),
    guard: providerGuard(LIMITS, () => performance.now()),
    key: null,
    timeMs: 5_000,
    callsMax: 1,
    simulated: false,
    now: () => 7,
  });
  const reading = await read(MINT, AbortSignal.timeout(5_000));
  if (!(reading instanceof Read)) throw new Error('it was not read');
  return reading.value;
}

const DANGERS = [
  { name: 'Low Liquidity', level: 'danger' },
  { name: 'Mutable metadata', level: 'warn' },
];

test.each([
  ['everything', { rugged: true, risks: DANGERS, score_normalised: 62 }, ['true', '1', '62']],
  ['no risk', { rugged: false, risks: [], score_normalised: 1 }, ['false', '0', '1']],
])('of %s has each field', async (_, report, [rugged, danger, score_normalised]) => {
  expect(await fieldsOf(report)).toEqual({ rugged, danger, score_normalised });
});

test.each([
  ['null', { rugged: null, risks: null, score_normalised: null }],
  ['left out', {}],
])('has no field of what is %s, and no word in its place', async (_, report) => {
  expect(await fieldsOf(report)).toEqual({});
});
