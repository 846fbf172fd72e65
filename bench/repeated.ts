// How many calls to an explorer, and how much time, do the first and the second question about an
// address cost?

import { request } from 'undici';
import type { ExplorerRow } from '../src/world/chain-types.ts';
import { type StartedExplorer, startExplorer } from '../src/world/explorer-api.ts';
import { middle } from './asking.ts';

const HEAD = 30_000;
const BLOCK_S = 12;
/** Transfers of each address, over several counterparties. */
const ROWS = 60;
const FRIENDS = 6;

/** All but that of signals, whose producer works beside what is measured. */
export const SURFACES = 'hosted,integrations,mcp,web';

/** What the questions about so many addresses cost in the middle. */
export type Cost = { readonly calls: number; readonly ms: number };

const addressOf = (n: number) => `0x${(0x1000 + n).toString(16).padStart(40, '0')}`;
const timeOf = (block: number) => Math.floor(Date.now() / 1_000) - (HEAD - block) * BLOCK_S;

function rowsOf(address: string): readonly ExplorerRow[] {
  return Array.from({ length: ROWS }, (_, n): ExplorerRow => {
    const block = 100 + n;
    const tx = `0x${n.toString(16).padStart(24, '0')}${address.slice(2)}`;
    const to = `0x${(n % FRIENDS).toString(16).padStart(4, 'f')}${address.slice(6)}`;
    const paid = { from: address, to, value: 10n ** 18n, token: null, success: true };
    return { kind: 'native', tx, block, at: timeOf(block), ...paid };
  });
}

/** An explorer of a chain on which each address has paid some others. */
export function repeatedExplorer(): Promise<StartedExplorer> {
  return startExplorer({
    headOf: () => HEAD,
    timeOf: (_, block) => timeOf(block),
    rowsOf: (_, address) => rowsOf(address),
    rowsOfToken: () => [],
  });
}

/** The settings of a service that asks it for nothing beside what it is asked. */
export function settingsOf(explorer: StartedExplorer): { readonly [name: string]: string } {
  return {
    EXHIBIT_BLOCKSCOUT_ETHEREUM: explorer.blockscout(1).href,
    EXHIBIT_RING_CALLS: '0',
    EXHIBIT_SURFACES: SURFACES,
  };
}

/** Asks `score` and the screen of each address twice, and counts what each question cost. */
export async function askTwice(
  explorer: StartedExplorer,
  base: string,
  key: string,
  { from, count }: { readonly from: number; readonly count: number },
): Promise<readonly [first: Cost, second: Cost]> {
  const costs: [Cost[], Cost[]] = [[], []];
  for (let n = from; n < from + count; n += 1) {
    for (const of of costs) {
      const [calls, started] = [explorer.calls.length, performance.now()];
      for (const route of ['ofac', 'score']) {
        const url = `${base}/api/v1/wallet/${addressOf(n)}/${route}`;
        const answer = await request(url, { headers: { authorization: `Bearer ${key}` } });
        if (answer.statusCode !== 200) throw new Error(`${url}: ${answer.statusCode}`);
        await answer.body.dump();
      }
      of.push({ calls: explorer.calls.length - calls, ms: performance.now() - started });
    }
  }
  return [middleOf(costs[0]), middleOf(costs[1])];
}

function middleOf(costs: readonly Cost[]): Cost {
  const [calls, ms] = [costs.map((one) => one.calls), costs.map((one) => one.ms)];
  return { calls: middle(calls), ms: middle(ms) };
}
