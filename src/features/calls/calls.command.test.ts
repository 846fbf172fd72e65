// The commands print what the record holds, each input of a call among it, and exit 3 where it was
// not read.

import { expect, test } from 'vitest';
import { EXIT } from '../../command/command.ts';
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
  expect(none).toMatchObject({ status: EXIT.done, lines: ['No call was emitted in this time.'] });
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
