// Answers one question: which rows has a list in all, page after page, and is that all of it?
// A list has ended only where the provider, asked again from its last block on, says just the rows
// of that block: a page can be cut short without a word, inside a block too. Pages go by block,
// since numbered ones end at a window.

import type { HistoryTransfer } from '../../ports/history/transfer-history.ts';
import { attempt, type CallBudget, ProviderFault } from '../http/provider.ts';
import type { ListAction } from './empties.ts';
import { type ListPage, pageIn, WindowEnded } from './envelope.ts';
import { askExplorer, type ExplorerChain } from './provider.ts';
import { type RowsAsked, rowIn } from './rows.ts';

/** What every plan gives; the free one gives no more than this, whatever is asked for. */
const PAGE_ROWS = 1_000;
const PAGES_MAX = 200;

/**
 * A list. `cut`: it has more transfers than were asked for, or the provider's window ended before
 * its rows did; `pending`: the provider says that rows are still to come. `whole_to`: the last
 * block up to which all rows are among them, one before the first asked where there is none.
 */
export type Listed<T = HistoryTransfer> = {
  readonly transfers: readonly T[];
  readonly cut: boolean;
  readonly pending: boolean;
  readonly whole_to: number;
};

/** How much of a list is read at once: so many transfers, or pages. */
export type ListBounds = { readonly transfersMax: number; readonly pagesMax?: number };

/** A row as it came, with its block, and what it tells; `null` where it tells nothing. */
export type ReadAs<T> = { readonly block: number; readonly told: T | null };

/** Reads a row; throws `ProviderFault` for one that is not as documented. */
type RowReader<T> = (action: ListAction, row: unknown, asked: RowsAsked) => ReadAs<T>;

/** A list that is read. */
type Reading<T> = {
  readonly at: ExplorerChain;
  readonly action: ListAction;
  readonly rowIn: RowReader<T>;
  readonly budget: CallBudget;
};

/** Reads a list to its end, or until its bounds are passed. */
export function listed(
  at: ExplorerChain,
  action: ListAction,
  asked: RowsAsked,
  bounds: ListBounds,
  budget: CallBudget,
): Promise<Listed> {
  const transferIn: RowReader<HistoryTransfer> = (list, row, of) => {
    const { block, transfer } = rowIn(list, row, of);
    return { block, told: transfer };
  };
  return listedAs({ at, action, rowIn: transferIn, budget }, asked, bounds);
}

/** Reads a list as `listed` does, whatever its rows tell. */
export async function listedAs<T>(
  list: Reading<T>,
  asked: RowsAsked,
  { transfersMax, pagesMax = PAGES_MAX }: ListBounds,
): Promise<Listed<T>> {
  const { action } = list;
  const done: T[] = [];
  let pending = false;
  let from = asked.fromBlock;
  // How many rows of block `from` the page before ended with; 0 where it is not known to have any.
  let shown = 0;
  const told = (cut: boolean, whole_to: number) => ({ transfers: done, cut, pending, whole_to });
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const { rows, ...page } = await askedPage(list, { ...asked, fromBlock: from }, 1);
    pending ||= page.pending;
    // The two answers are of different states: nothing follows from either.
    const again = rows.filter(({ block }) => block === from).length;
    if (again < shown) throw disagree(action);
    const last = rows.at(-1)?.block;
    if (last === undefined) return told(false, asked.toBlock);
    if (rows.length < PAGE_ROWS) {
      collectTransfers(done, rows);
      const cut = done.length > transfersMax;
      if (!cut) {
        const ended = rows.filter(({ block }) => block === last).length;
        const rest = { ...asked, fromBlock: last };
        const more = await askedPage(list, rest, 1);
        if (more.rows.length !== ended) throw cutShort(action);
        pending ||= more.pending;
      }
      return told(cut, cut ? from - 1 : asked.toBlock);
    }
    const before = rows.filter(({ block }) => block < last);
    if (before.length > 0) {
      collectTransfers(done, before);
      shown = rows.length - before.length;
      from = last;
    } else {
      const rest = await restOfBlock(list, { ...asked, fromBlock: last }, rows);
      collectTransfers(done, rest.rows);
      pending ||= rest.pending;
      if (rest.cut || last === asked.toBlock) return told(rest.cut, rest.cut ? last - 1 : last);
      shown = 0;
      from = last + 1;
    }
    if (done.length > transfersMax) return told(true, from - 1);
  }
  return told(true, from - 1);
}

function cutShort(action: ListAction): ProviderFault {
  return new ProviderFault(`cut a page short without a word (${action})`, 'passing');
}

function disagree(action: ListAction): ProviderFault {
  return new ProviderFault(`answered pages that disagree (${action})`, 'passing');
}

type Rest<T> = {
  readonly rows: readonly ReadAs<T>[];
  readonly cut: boolean;
  readonly pending: boolean;
};

/** The rest of a block that alone fills a page: numbered pages, as far as the window goes. */
async function restOfBlock<T>(
  list: Reading<T>,
  asked: RowsAsked,
  first: readonly ReadAs<T>[],
): Promise<Rest<T>> {
  const rows = [...first];
  let pending = false;
  let full = first.length >= PAGE_ROWS;
  const block = { ...asked, toBlock: asked.fromBlock };
  for (let number = 2; full; number += 1) {
    if (number > PAGES_MAX) return { rows, cut: true, pending };
    const page = await attempt(WindowEnded, () => askedPage(list, block, number));
    if (page instanceof WindowEnded) return { rows, cut: true, pending };
    pending ||= page.pending;
    rows.push(...page.rows);
    full = page.rows.length >= PAGE_ROWS;
  }
  return { rows, cut: false, pending };
}

function collectTransfers<T>(done: T[], rows: readonly ReadAs<T>[]): void {
  for (const { told } of rows) {
    if (told !== null) done.push(told);
  }
}

async function askedPage<T>(
  { at, action, rowIn, budget }: Reading<T>,
  asked: RowsAsked,
  number: number,
): Promise<{ readonly rows: readonly ReadAs<T>[]; readonly pending: boolean }> {
  const question = at.list({
    module: 'account',
    action,
    address: asked.address,
    sort: 'asc',
    startblock: String(asked.fromBlock),
    endblock: String(asked.toBlock),
    page: String(number),
    offset: String(PAGE_ROWS),
  });
  const page: ListPage = await askExplorer(at, budget, question, (told) => pageIn(action, told));
  if (page.rows.length > PAGE_ROWS) {
    throw new ProviderFault(`answered more rows than were asked for (${action})`, 'passing');
  }
  const rows = page.rows.map((row) => rowIn(action, row, asked));
  rows.forEach(({ block }, i) => {
    const before = rows[i - 1];
    if (before === undefined || before.block <= block) return;
    throw new ProviderFault(`answered rows out of order (${action})`, 'passing');
  });
  return { rows, pending: page.pending };
}
