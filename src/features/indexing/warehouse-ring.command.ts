// The command that shows the contents and gaps of the ring around the sanctions list. A ring that
// could not be read is unread, never empty.

import { MS_PER_S } from '../../chain/time.ts';
import { defineCommand, EXIT, type ExitStatus, fail, type Io } from '../../command/command.ts';
import { print, printJson, tableLines } from '../../command/output.ts';
import type { Reading } from '../../evidence/reading.ts';
import type {
  RawRingPort,
  RingFilling,
  RingFillState,
  RingKeeping,
  RingStatus,
} from '../../ports/history.ts';

type RingServices = {
  readonly warehouseRing: Pick<RingKeeping, 'status' | 'rebuild'> & {
    readonly filling: RingFilling;
  };
};

const GAPS_SHOWN = 20;
const MIB = 1_024 * 1_024;
/** How many listed addresses lie between two lines of progress. */
const PROGRESS_EACH = 1_024;

const status = defineCommand({
  name: 'warehouse ring status',
  summary: 'Show the ring of all who dealt with listed addresses, and what it lacks.',
  example: 'exhibit warehouse ring status',
  notes: [
    'The ring is every counterparty of every listed address, as the warehouse holds them. A walk',
    'that meets a whole one need not read its second hop address by address. Until a chain is',
    'whole, a walk that left a busy address out is not checked.',
    'Exit status 3: the warehouse or the list could not be read.',
  ],
  run: async (_, io, { warehouseRing: ring }: RingServices) =>
    printRing(await ring.status(), ring.filling.state(), io),
});

const rebuild = defineCommand({
  name: 'warehouse ring rebuild',
  summary: 'Build the ring around the sanctions list anew.',
  example: 'exhibit warehouse ring rebuild',
  notes: [
    'It is kept up by itself; what was forgotten in the warehouse leaves it by a rebuild.',
    'Walks are answered from the earlier ring until the new one is whole.',
    'Exit status 3: the warehouse or the list could not be read.',
  ],
  run: async (_, io, { warehouseRing: ring }: RingServices) => {
    const onProgress = (done: number, of: number) => {
      if (done === of || done % PROGRESS_EACH === 0) io.err(`${done} of ${of} listed addresses`);
    };
    return printRing(await ring.rebuild(onProgress), ring.filling.state(), io);
  },
});

const fill = defineCommand({
  name: 'warehouse ring fill',
  summary: 'Read what listed addresses did through explorers.',
  example: 'exhibit warehouse ring fill',
  notes: [
    'A service does so by itself. What is read is kept list by list: stop it with Ctrl-C, and the',
    'next one goes on from there. It makes EXHIBIT_RING_CALLS calls a day at most.',
    'Exit status 3: some of it could not be read, or the calls of today are spent.',
  ],
  run: async (_, io, { warehouseRing: ring }: RingServices) => {
    let printed: number | null = null;
    const onState = ({ lists_held, lists, calls_today }: RingFillState) => {
      const step = Math.floor((lists_held * STEPS) / Math.max(1, lists));
      if (step === printed) return;
      printed = step;
      io.err(`${lists_held} of ${lists} lists held, ${calls_today} calls today`);
    };
    const state = await ring.filling.fill(onState, io.signal);
    const exit = printRing(await ring.status(), state, io);
    return exit === EXIT.done && state.state !== 'filled' ? EXIT.couldNotCheck : exit;
  },
});

/** Lines of progress of one round. */
const STEPS = 100;

function printRing(
  reading: Reading<RingStatus, RawRingPort>,
  filling: RingFillState,
  io: Io,
): ExitStatus {
  if (!reading.checked) return fail(io, reading.why.reason, EXIT.couldNotCheck);
  const { why, ...state } = filling;
  const read_ahead = { ...state, reason: why === null ? null : why.reason };
  if (io.json) printJson(io, { ...reading.value, read_ahead });
  else print(io, [...ringLines(reading.value, io), readAheadLine(filling)]);
  return EXIT.done;
}

const READ_AHEAD: Readonly<Record<RingFillState['state'], string>> = {
  waiting: 'Reading ahead has not begun.',
  reading: 'Reading ahead is under way.',
  filled: 'Reading ahead: nothing is left to read.',
  held_up: 'Reading ahead is held up, and goes on by itself.',
  budget_spent: 'Reading ahead: the calls of today are spent.',
  elsewhere: 'Reading ahead is done by another process.',
  off: 'Nothing is read ahead.',
};

function readAheadLine(filling: RingFillState): string {
  const { state, why, lists_held, lists, calls_today, calls_a_day } = filling;
  const because = why === null ? '' : ` ${why.reason}`;
  if (state === 'off') return `${READ_AHEAD.off}${because}`;
  const counts = `${lists_held} of ${lists} lists, ${calls_today} of ${calls_a_day} calls today`;
  return `${READ_AHEAD[state]} ${counts}.${because}`;
}

function ringLines({ listed, pairs, bytes, build_ms, chains, gaps }: RingStatus, io: Io): string[] {
  const columns = [
    { title: 'chain' },
    { title: 'state' },
    { title: 'listed', right: true },
    { title: 'held in full', right: true },
    { title: 'counterparties', right: true },
  ];
  const rows = chains.map(({ chain, state, ...of }) => {
    return [chain, state, of.listed, of.held_in_full, of.pairs];
  });
  const took = build_ms === null ? '' : `, built in ${(build_ms / MS_PER_S).toFixed(1)} s`;
  const size = `${pairs} pairs of ${listed} listed addresses in ${(bytes / MIB).toFixed(1)} MiB`;
  if (chains.length === 0) return ['No chain is read here, so there is no ring.'];
  const lacking = gaps
    .slice(0, GAPS_SHOWN)
    .map(({ listed: address, chain, kind, held }) => [address, chain, kind, held]);
  const heading = ['not whole: listed address', 'chain', 'kind', 'held'].map((title) => ({
    title,
  }));
  const more = gaps.length - lacking.length;
  return [
    ...tableLines(columns, rows, io),
    `${size}${took}.`,
    ...(lacking.length === 0
      ? ['It is whole: each listed address is held from its first block to a fresh tip.']
      : ['', ...tableLines(heading, lacking, io)]),
    ...(more > 0 ? [`and ${more} more; --json tells all of them`] : []),
  ];
}

export const ringCommands = [status, rebuild, fill];
