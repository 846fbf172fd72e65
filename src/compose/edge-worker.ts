// A thread that works out one part of each question about the edge, one after the other, so that
// the thread that answers does not wait for it. It begins with questions about a record of its own,
// whose answers nobody sees: by the time that somebody asks, the code is compiled.

import { setImmediate } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { HOUR_S, MS_PER_S } from '../chain/time.ts';
import { sharesFrom } from '../evidence/random.ts';
import type { Filter } from '../features/edge/filters.ts';
import { type EdgeOrder, type EdgeWork, WORK_HERE } from '../features/edge/question.ts';
import { buildRecord, type RecordColumns, type RecordedCall } from '../features/edge/record.ts';
import { DETECTOR_KINDS, DIRECTIONS } from '../ports/emitted-calls.ts';

const work = WORK_HERE[workerData as keyof EdgeWork];

parentPort?.on('message', async (order: EdgeOrder) => {
  parentPort?.postMessage(await work(order));
});

const ROUNDS = 250;
const CALLS = 1_000;
const HELD_H = 24;
const DAYS = 60;
const HOURS = HELD_H * DAYS;
const ASSETS = ['A', 'B', 'C'] as const;

/** Calls and prices by lot, with every kind, direction and conviction. */
function inventRecord(): RecordColumns {
  const draw = sharesFrom(1);
  const hours = Array.from({ length: HOURS }, (_, hour) => hour);
  const opens = new Map<string, ReadonlyMap<number, number>>(
    ASSETS.map((asset) => [asset, new Map(hours.map((hour) => [hour, 1 + draw()]))]),
  );
  const opensOf = ({ asset }: Pick<RecordedCall, 'asset'>) => {
    const own = opens.get(asset);
    if (own === undefined) throw new RangeError('an asset without prices');
    return own;
  };
  const ran = [{ from: 0, to: HOURS * HOUR_S }];
  const {
    calls: _,
    made: __,
    simulated: ___,
    ...columns
  } = buildRecord({
    calls: Array.from({ length: CALLS }, (_, leaf) => inventCall(leaf, draw, opensOf)),
    versions: [],
    ran: { funding: ran, liq: ran, netflow: ran, whale: ran },
    opensOf,
  });
  return columns;
}

type OpensOf = (instrument: Pick<RecordedCall, 'asset'>) => ReadonlyMap<number, number>;

function inventCall(leaf: number, draw: () => number, opensOf: OpensOf): RecordedCall {
  const entryHour = 1 + Math.floor(draw() * (HOURS - 2 * HELD_H));
  const exitHour = entryHour + HELD_H;
  const asset = drawOf(ASSETS, draw);
  const kind = drawOf(DETECTOR_KINDS, draw);
  const opens = opensOf({ asset });
  const [entry, exit] = [Number(opens.get(entryHour)), Number(opens.get(exitHour))];
  return {
    kind,
    asset,
    venue: 'hyperliquid',
    direction: drawOf(DIRECTIONS, draw),
    conviction: String(0.5 + draw() / 2),
    price: '1',
    emitted_at: (entryHour - 1) * HOUR_S,
    horizon_h: HELD_H,
    detector_version: `${kind}-1`,
    bar: '0.5',
    window: leaf,
    simulated: true,
    call_id: `call_${leaf}`,
    leaf,
    outcome: {
      state: 'closed',
      closed_at: exitHour * HOUR_S,
      entry_at_ms: entryHour * HOUR_S * MS_PER_S,
      entry: String(entry),
      exit_at_ms: exitHour * HOUR_S * MS_PER_S,
      exit: String(exit),
      gross_return: String(exit / entry - 1),
      funding_paid: '0',
      delisted: false,
      restated: null,
    },
  };
}

function drawOf<T>(values: readonly T[], draw: () => number): T {
  const [drawn] = values.slice(Math.floor(draw() * values.length));
  if (drawn === undefined) throw new RangeError('nothing to draw from');
  return drawn;
}

const record = inventRecord();
for (let round = 0; round < ROUNDS; round += 1) {
  const filter: Filter = {
    kinds: null,
    asset: round % 4 === 3 ? ASSETS[0] : null,
    direction: round % 3 === 2 ? 'long' : null,
    horizon_h: null,
    days: DAYS,
    cost_bps: round,
    min_conviction: null,
  };
  // It is read as what another thread sends, which has a form of its own in memory.
  await work(structuredClone({ record, filter }));
  // A question that came in the meantime goes first.
  await setImmediate();
}
