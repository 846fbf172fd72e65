// How many transfers of a token does one query of an explorer show?
// The query is one page: a page that is full says that there are more.

import { z } from 'zod';
import { parseEvmAddress } from '../../chain/address.ts';
import { read, unread } from '../../evidence/reading.ts';
import type { TokenTransfers } from '../../ports/launches/deployer-walk.ts';
import { outsideRow } from '../http/forms.ts';
import { ProviderFault, withBudget } from '../http/provider.ts';
import { whyOf } from './account-facts.ts';
import { type WalkExplorer, walkSource } from './deployer-creations.ts';
import { pageIn } from './envelope.ts';
import { askExplorer } from './provider.ts';

const PORT = 'token_transfers';
/** What every plan gives in one answer. */
const PAGE_ROWS = 1_000;

const row = outsideRow({ contractAddress: z.string() });

/** The transfers of tokens as an explorer lists them. */
export function explorerTokenTransfers(explorer: WalkExplorer): TokenTransfers {
  const { at, timeMs, callsMax } = explorer;
  return {
    observed: async (token, signal) => {
      const question = at.list({
        module: 'account',
        action: 'tokentx',
        contractaddress: token,
        page: '1',
        offset: String(PAGE_ROWS),
        sort: 'asc',
      });
      try {
        const count = await withBudget({ timeMs, callsMax, signal }, (budget) =>
          askExplorer(at, budget, question, (answer) => {
            const { rows, pending } = pageIn('tokentx', answer);
            if (pending) throw new ProviderFault('has not processed every block yet', 'passing');
            if (!rows.every((one) => isOf(one, token))) {
              throw new ProviderFault('answered transfers of another token (tokentx)', 'passing');
            }
            return rows.length;
          }),
        );
        const observed = { count, truncated: count >= PAGE_ROWS };
        return read(observed, { port: PORT, source: walkSource(explorer) });
      } catch (error) {
        return unread(PORT, whyOf(error, at));
      }
    },
  };
}

function isOf(one: unknown, token: string): boolean {
  const parsed = row.safeParse(one);
  return parsed.success && parseEvmAddress(parsed.data.contractAddress) === token;
}
