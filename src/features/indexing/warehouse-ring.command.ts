// What an operator types to see what the ring around the sanctions list holds and lacks.
// A ring that could not be told is said to be unread; that is never an empty one.

import { type Command, EXIT, type ExitStatus, type Io, readArgs } from '../../command/command.ts';
import { print, printJson, tableLines } from '../../command/output.ts';
import type { Reading } from '../../evidence/reading.ts';
import type { RawRingPort } from '../../ports/history/counterparty-ring.ts';
import type { RingKeeping, RingStatus } from '../../ports/indexing/ring-keeping.ts';

/** The commands' services; compose fills them. */
type RingServices = { readonly warehouseRing: RingKeeping };

const GAPS_SHOWN = 20;
const MIB = 1_024 * 1_024;
const MS_PER_S = 1_000;
/** How many listed addresses lie between two lines of progress. */
const TOLD_EACH = 1_024;

const status: Command<RingServices> = {
  name: 'warehouse ring status',
  summary: 'Show the ring of all who dealt with listed addresses, and what it lacks.',
  usage: 'exhibit warehouse ring status [--json]',
  example: 'exhibit warehouse ring status',
  details: [
    'The ring is every counterparty of every listed address, as the warehouse holds them. A walk',
    'that meets a whole one need not read its second hop address by address.',
    'Exit status 3: the warehouse or the list could not be read.',
  ],
  run: async (argv, io, { warehouseRing: ring }) => {
    readArgs(argv, { options: {} });
    return shown(await ring.status(), io);
  },
};

const rebuild: Command<RingServices> = {
  name: 'warehouse ring rebuild',
  summary: 'Build the ring around the sanctions list anew.',
  usage: 'exhibit warehouse ring rebuild [--json]',
  example: 'exhibit warehouse ring rebuild',
  details: [
    'It is kept up by itself; what was forgotten in the warehouse leaves it by a rebuild.',
    'Walks are answered from the earlier ring until the new one is whole.',
    'Exit status 3: the warehouse or the list could not be read.',
  ],
  run: async (argv, io, { warehouseRing: ring }) => {
    readArgs(argv, { options: {} });
    const told = (done: number, of: number) => {
      if (done === of || done % TOLD_EACH === 0) io.err(`${done} of ${of} listed addresses`);
    };
    return shown(await ring.rebuild(told), io);
  },
};

function shown(reading: Reading<RingStatus, RawRingPort>, io: Io): ExitStatus {
  if (!reading.checked) {
    io.err(reading.why.reason);
    return EXIT.couldNotCheck;
  }
  if (io.json) printJson(io, reading.value);
  else print(io, linesOf(reading.value, io));
  return EXIT.done;
}

function linesOf({ listed, pairs, bytes, build_ms, chains, gaps }: RingStatus, io: Io): string[] {
  const columns = [
    { title: 'chain' },
    { title: 'listed', right: true },
    { title: 'held in full', right: true },
    { title: 'counterparties', right: true },
  ];
  const rows = chains.map((one) => [one.chain, one.listed, one.held_in_full, one.pairs]);
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

/** The commands of the ring. */
export const ringCommands: readonly Command<RingServices>[] = [status, rebuild];
