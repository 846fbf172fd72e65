// How far do the blocks of Bitcoin that are held reach, for each heuristic that reads them?
// Inputs need every block from the first to a fresh tip, with its signatures; change needs them
// taken in from the first.

import { type Partly, Read, Unread, weaken } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { BlockRange, ClusterStore, HeldTiesPort } from '../../ports/entities/cluster-store.ts';

type Asked = { readonly now: () => number; readonly tipMaxAgeS: number };
type Ran = Partly<unknown, HeldTiesPort>;
type BlockRun = { readonly heuristic: 'multi_input' | 'change'; readonly ran: Ran };

/** How far each heuristic of Bitcoin came for an address. `now` is Unix seconds. */
export async function blockRuns(
  store: Pick<ClusterStore, 'blocksHeld'>,
  address: string,
  { now, tipMaxAgeS }: Asked,
): Promise<readonly BlockRun[]> {
  const blocks = await store.blocksHeld();
  const ran = (missing: Why | null): Ran => {
    return blocks instanceof Unread || missing === null ? blocks : weaken(blocks, missing);
  };
  if (!(blocks instanceof Read)) {
    return [
      { heuristic: 'multi_input', ran: blocks },
      { heuristic: 'change', ran: blocks },
    ];
  }
  const gaps = missingOf(blocks.value, now() - tipMaxAgeS, address);
  const unsigned = blocks.value.find(({ signatures }) => !signatures);
  const missing =
    gaps === null && unsigned !== undefined
      ? why('blocks_without_signatures', shown(unsigned))
      : gaps;
  const untold = blocks.value.find(({ change }) => !change);
  const unchanged = untold === undefined ? null : why('blocks_without_change', shown(untold));
  return [
    { heuristic: 'multi_input', ran: ran(missing) },
    { heuristic: 'change', ran: ran(missing === null ? unchanged : missing) },
  ];
}

/** Every block as one reading, whatever is told of signatures and change. */
export async function everyBlock(
  store: Pick<ClusterStore, 'blocksHeld'>,
  address: string,
  { now, tipMaxAgeS }: Asked,
): Promise<Ran> {
  const blocks = await store.blocksHeld();
  if (!(blocks instanceof Read)) return blocks;
  const missing = missingOf(blocks.value, now() - tipMaxAgeS, address);
  return missing === null ? blocks : weaken(blocks, missing);
}

/** Both heuristics as one reading. */
export async function blocksReading(
  store: Pick<ClusterStore, 'blocksHeld'>,
  address: string,
  asked: Asked,
): Promise<Ran> {
  return leastIn(await blockRuns(store, address, asked));
}

/** The first of them that was cut; where none was, any. */
export function leastIn(runs: readonly BlockRun[]): Ran {
  const [first] = runs;
  const cut = runs.find(({ ran }) => !(ran instanceof Read));
  if (first === undefined) throw new Error('blocks: no heuristic reads them');
  return cut === undefined ? first.ran : cut.ran;
}

function shown({ from_block, to_block }: BlockRange): {
  readonly from: string;
  readonly to: string;
} {
  return { from: String(from_block), to: String(to_block) };
}

function missingOf(ranges: readonly BlockRange[], oldest: number, address: string): Why | null {
  const gaps = (held: string) =>
    why('partial_history', { gaps: `bitcoin blocks ${held}, for ${address}` });
  const [lowest] = ranges;
  if (lowest === undefined) return gaps('none held');
  if (lowest.from_block > 0) {
    return gaps(`held from block ${lowest.from_block}, not from the first`);
  }
  let reach = lowest;
  for (const range of ranges) if (range.from_block === reach.to_block + 1) reach = range;
  if (reach.to_time > oldest) return null;
  const hole = ranges.some(({ to_block }) => to_block > reach.to_block);
  return gaps(`held to block ${reach.to_block}, ${hole ? 'then a hole' : 'not to a fresh tip'}`);
}
