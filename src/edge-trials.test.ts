// Tried filters are counted by membership: whichever of its keys is sent, and once each.

import { expect, test } from 'vitest';
import { createGate } from './access/gate.ts';
import { deriveSecrets, mintKey } from './access/secret.ts';
import type { Caller } from './contract/route.ts';
import { Read } from './evidence/reading.ts';
import { edgeBacktestHandler } from './features/edge/edge.route.ts';
import { WORK_APART } from './features/edge/feature.ts';
import { edgeTrialTable } from './features/edge/trials.store.ts';
import { accessIn, embeddedControl } from './testing/control-store.ts';
import { memoryEmittedCalls, NOTHING_EMITTED } from './testing/twins/emitted-calls.ts';
import { memorySeriesStore } from './testing/twins/series.ts';

const NOW = 1_790_000_000;
const fresh = embeddedControl();

function tableOf() {
  const control = fresh();
  return {
    control,
    trials: edgeTrialTable(control, { simulated: false, nowMs: () => NOW * 1_000 }),
  };
}

test('a filter is one trial, however often it is asked, and each membership has its own', async () => {
  const { trials } = tableOf();
  const digest = (n: number) => n.toString(16).padStart(64, '0');
  const countOf = async (membership: string, n: number) => {
    const told = await trials.countTrial(membership, digest(n));
    return told instanceof Read ? told.value.distinct : told.why.reason;
  };
  expect(await countOf('mem_1', 1)).toBe(1);
  expect(await countOf('mem_1', 1)).toBe(1);
  expect(await countOf('mem_1', 2)).toBe(2);
  expect(await countOf('mem_2', 2)).toBe(1);
  const together = await Promise.all(Array.from({ length: 8 }, (_, n) => countOf('mem_3', n % 4)));
  expect(together.every((one) => typeof one === 'number')).toBe(true);
  expect(await countOf('mem_3', 0)).toBe(4);
});

test('two processes over one store count a filter once', async () => {
  const { control, trials } = tableOf();
  const other = edgeTrialTable(control, { simulated: false, nowMs: () => NOW * 1_000 });
  const digest = (n: number) => n.toString(16).padStart(64, '0');
  const told = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      (n % 2 === 0 ? trials : other).countTrial('mem_1', digest(Math.floor(n / 4))),
    ),
  );
  expect(told.every((one) => one instanceof Read)).toBe(true);
  for (const table of [trials, other]) {
    expect(await table.countTrial('mem_1', digest(0))).toMatchObject({ value: { distinct: 5 } });
  }
});

test('three keys of one membership have one count, and nobody is counted without one', async () => {
  const { control, trials } = tableOf();
  const { memberships, keys, quota } = accessIn(control, () => NOW * 1_000);
  const secrets = deriveSecrets('a root secret of the tests', null);
  await memberships.record({ membership_id: 'mem_1', plan: 'desk', status: 'active', at: NOW });
  const gate = createGate({ keys, quota, secrets, durable: true }, () => NOW);
  const callerBy = async (authorization: string | undefined): Promise<Caller> => {
    const rest = { serviceMembership: undefined, search: '', origin: undefined };
    const admitted = await gate.identify({ authorization, ...rest, opensToPages: false });
    if (admitted.kind === 'refused') throw new Error('a key was refused');
    return admitted.caller;
  };
  const ports = {
    ...memoryEmittedCalls(NOTHING_EMITTED),
    marketSeries: memorySeriesStore(),
    edgeTrials: trials,
  };
  const handle = edgeBacktestHandler(ports, WORK_APART);
  const request = { now: () => NOW, signal: new AbortController().signal };
  const counted = async (caller: Caller, asset: string) => {
    const reply = await handle({ params: {}, query: { asset }, body: undefined }, request, caller);
    return Object(Reflect.get(reply, 'body')).counted;
  };
  for (const number of [1, 2, 3]) {
    const key = mintKey({ kind: 'sc', membership_id: 'mem_1' }, secrets, NOW);
    await keys.add(key.stored, 5);
    const caller = await callerBy(`Bearer ${key.text}`);
    expect(await counted(caller, 'BTC')).toMatchObject({ distinct: number === 1 ? 1 : 2 });
    expect(await counted(caller, 'ETH')).toMatchObject({ distinct: 2 });
  }
  expect(await counted(await callerBy(undefined), 'SOL')).toBeNull();
});
