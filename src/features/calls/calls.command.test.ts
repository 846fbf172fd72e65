// The commands print what the record holds, each input of a call among it, and exit 3 where it was
// not read.

import { expect, test } from 'vitest';
import { EXIT } from '../../command/command.ts';
import { formatTime } from '../../command/output.ts';
import { read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { EmittedCall } from '../../ports/emitted-calls.ts';
import { ran } from '../../testing/recording-io.ts';
import { memorySource, PLANTED } from '../../testing/twins/dated.ts';
import {
  emittedCallOf,
  memoryEmittedCalls,
  NOTHING_EMITTED,
  outcomeOf,
  plantedEmittedCalls,
  silentEmittedCalls,
} from '../../testing/twins/emitted-calls.ts';
import {
  type CallsServices,
  callsList,
  callsReplay,
  callsShow,
  callsVersions,
} from './calls.command.ts';
import type { Replay } from './replay.ts';

const COMMANDS = [callsList, callsReplay, callsShow, callsVersions];
const NOW = PLANTED.as_of;
const ORIGIN = {
  port: 'emitted_calls',
  source: memorySource('Record', 'table', PLANTED),
} as const;
const SILENT = why('store_unreadable', { what: 'The record of calls', fault: 'away' });
const SAID = { emitted_at: NOW - 3 * 86_400, horizon_h: 24 };
const CALL = emittedCallOf(SAID, outcomeOf(SAID, { gross_return: '0.01', funding_paid: '0.0002' }));
const SAME: Replay = { ticks: 4, emitted: 1, replayed: 1, differences: [] };

function serviceOf(
  calls: readonly EmittedCall[],
  replay: Replay = SAME,
): { readonly calls: CallsServices['calls'] } {
  const { emittedCalls } = memoryEmittedCalls({ ...NOTHING_EMITTED, changes: calls });
  return {
    calls: {
      ...emittedCalls,
      now: () => NOW,
      emitted: async ({ from, to }) =>
        read(
          calls.filter(({ emitted_at: at }) => at >= from && at < to),
          ORIGIN,
        ),
      replay: async () => replay,
    },
  };
}

const run = (words: string, services = serviceOf([CALL])) => ran(words, COMMANDS, services);

test('a call is shown with every observation that it rests on', async () => {
  const { status, lines } = await run(`calls show ${CALL.call_id}`);
  const text = lines.join('\n');
  expect(status).toBe(EXIT.done);
  for (const part of [CALL.hash, '0.0006', 'hyperliquid', 'funding paid while held', '0.0002']) {
    expect(text).toContain(part);
  }
  const received = new Date(Number(CALL.inputs[0]?.received_at_ms)).toISOString();
  expect(text).toContain(received);
  const json = await run(`calls show ${CALL.call_id} --json`);
  expect(JSON.parse(json.lines.join(''))).toEqual(CALL);
  expect(await run('calls show call_none')).toMatchObject({ status: EXIT.failed });
});

test('calls of a time are listed, and none says so', async () => {
  expect((await run('calls list')).lines.join('\n')).toContain(CALL.call_id);
  const day = new Date(NOW * 1_000).toISOString().slice(0, 10);
  const none = await run(`calls list --from ${day}`);
  expect(none).toMatchObject({
    status: EXIT.done,
    lines: ['No call of this time is on record.'],
  });
});

test('a list tells of how many hours each detector looked', async () => {
  const whole = { from: NOW - 30 * 86_400, to: NOW };
  const part = [
    { from: whole.from - 3_600, to: whole.from + 7_200 },
    { from: NOW - 3_600, to: NOW },
  ];
  const { emittedCalls } = memoryEmittedCalls({
    ...NOTHING_EMITTED,
    ran: { funding: [whole], liq: part, netflow: [], whale: [] },
  });
  const services = { calls: { ...serviceOf([]).calls, ran: emittedCalls.ran } };
  const span = `--from ${formatTime(whole.from)}`;
  for (const [words, from] of [
    [`calls list ${span}`, services],
    [`calls list ${span} --json`, services],
    ['calls list', serviceOf([])],
  ] as const) {
    const { status, errors } = await run(words, from);
    expect(status).toBe(EXIT.done);
    const of = from === services ? ['720', '3', '0', '0'] : ['0', '0', '0', '0'];
    const said = `funding ${of[0]}, liq ${of[1]}, netflow ${of[2]}, whale ${of[3]}`;
    expect(errors).toEqual([`Hours in which detectors ran, of 720: ${said}.`]);
  }
  const { emittedCalls: silent } = silentEmittedCalls(SILENT);
  const unread = { calls: { ...services.calls, ran: silent.ran } };
  expect(await run('calls list', unread)).toMatchObject({ status: EXIT.couldNotCheck });
});

test('a replay of a time in which no detector ran compares nothing, and exits 3', async () => {
  const nothing: Replay = { ticks: 0, emitted: 0, replayed: 0, differences: [] };
  for (const words of ['calls replay', 'calls replay --json']) {
    const { status, errors } = await run(words, serviceOf([], nothing));
    expect(status).toBe(EXIT.couldNotCheck);
    expect(errors.join()).toContain('nothing was compared');
  }
});

test('a replay exits 1 where the record gives other calls, and names each', async () => {
  expect(await run('calls replay')).toMatchObject({ status: EXIT.done });
  const other: Replay = {
    ...SAME,
    differences: [
      {
        found: 'only_emitted',
        at: CALL.emitted_at,
        detector_version: 'funding-1',
        call_id: CALL.call_id,
        asset: 'BTC',
        direction: 'short',
      },
    ],
  };
  const { status, lines } = await run('calls replay', serviceOf([CALL], other));
  expect(status).toBe(EXIT.failed);
  expect(lines.join('\n')).toContain(CALL.call_id);
  expect(lines.join('\n')).toContain('emitted, and not of the record');
});

test('versions are listed with their leaves', async () => {
  const { emittedCalls } = plantedEmittedCalls({ emitted: true });
  const services = { calls: { ...serviceOf([]).calls, versions: emittedCalls.versions } };
  const { lines } = await run('calls versions --json', services);
  const versions = lines.map((line): unknown => JSON.parse(line));
  expect(versions[0]).toMatchObject({ version: 'funding-1', leaf: 0 });
  expect(versions.length).toBeGreaterThan(1);
});

test('what was not read exits 3, and denies nothing', async () => {
  const { emittedCalls } = silentEmittedCalls(SILENT);
  const silent = async () => unread('emitted_calls' as const, SILENT);
  const services = {
    calls: { ...emittedCalls, now: () => NOW, emitted: silent, replay: async () => SILENT },
  };
  for (const words of ['list', 'versions', `show ${CALL.call_id}`, 'replay']) {
    const { status, lines, errors } = await run(`calls ${words}`, services);
    expect([words, status, lines]).toEqual([words, EXIT.couldNotCheck, []]);
    expect(errors.join(' ')).toContain('away');
  }
});
