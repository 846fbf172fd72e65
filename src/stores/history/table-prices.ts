// Reads the price of a coin from the table of prices, otherwise from the source that fills it. The
// table comes first, so that a corrected price corrects every answer. An old price is read again
// after the answer, by which a source corrects it.

import { parseDecimal } from '../../chain/amount.ts';
import { textOrEmpty } from '../../evidence/measure.ts';
import { map, type Partly, rowsSeen, some, Unread, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import {
  type PriceAsk,
  type Priced,
  type Prices,
  type PricesPort,
  type PriceTable,
  priceName,
  type ReadPrice,
} from '../../ports/history.ts';

/** After so long a price is asked for again: sources correct what they told. */
const ASKED_AGAIN_AFTER_S = 7 * 86_400;
const AGAIN_TIMEOUT_MS = 15_000;
/** The digits that the table holds of a price, before and behind the point. */
const WHOLE_DIGITS_MAX = 20;
const FRACTION_DIGITS_MAX = 18;

/** The table, and what fills it. `now` gives Unix seconds. */
type TablePricesOptions = {
  readonly table: PriceTable;
  /** `null` where none is configured: then the table is all there is. */
  readonly source: Prices | null;
  readonly now: () => number;
  /** Told where what was read could not be kept: the answer does not wait for it. */
  readonly onUnkept: (reason: string) => void;
};

type Answer = Partly<readonly Priced[], PricesPort>;

/** Prices by the table, and by the source for what it does not hold. */
export function tablePrices(options: TablePricesOptions): Prices {
  const { table, source, now } = options;
  let asksAgain = false;

  const asTable = (told: Answer) => map(told, (rows) => rows.map(asHeld));

  async function keep(told: Answer): Promise<void> {
    const rows = rowsSeen(told);
    if (rows === null) return;
    const read_at = now();
    const priced = rows.flatMap(({ ask, price }): ReadPrice[] =>
      price === null ? [] : [{ ask, price, read_at }],
    );
    if (priced.length === 0) return;
    const kept = await table.keep(priced);
    if (kept instanceof Unread) options.onUnkept(kept.why.reason);
  }

  /** Asks again for old prices, one batch at a time; whoever comes meanwhile does not wait. */
  function refresh(asks: readonly PriceAsk[]): void {
    if (source === null || asks.length === 0 || asksAgain) return;
    asksAgain = true;
    void source
      .historical(asks, AbortSignal.timeout(AGAIN_TIMEOUT_MS))
      .then((told) => keep(asTable(told)))
      .catch((fault: unknown) => options.onUnkept(String(fault)))
      .finally(() => {
        asksAgain = false;
      });
  }

  return {
    historical: async (asks, signal) => {
      const held = await table.held(asks, signal);
      // Without the table nobody knows what was corrected in it.
      if (held instanceof Unread) return held;
      const known = new Map(held.value.map((row) => [priceName(row.ask), row]));
      const oldest = now() - ASKED_AGAIN_AFTER_S;
      refresh([...known.values()].filter(({ read_at }) => read_at < oldest).map(({ ask }) => ask));
      const had = map(held, (rows) => rows.map(({ ask, price }): Priced => ({ ask, price })));
      const missing = asks.filter((ask) => !known.has(priceName(ask)));
      if (missing.length === 0) return had;
      if (source === null) return map(some([had, unread('prices', NO_SOURCE)]), flat);
      const told = asTable(await source.historical(missing, signal));
      void keep(told).catch((fault: unknown) => options.onUnkept(String(fault)));
      return map(some([had, told]), flat);
    },
    markets: async (coins, signal) =>
      source === null ? unread('prices', NO_SOURCE) : source.markets(coins, signal),
  };
}

const NO_SOURCE = why('not_configured', { what: 'A source of prices' });

function flat(lists: readonly (readonly Priced[])[]): Priced[] {
  return lists.flat();
}

/** A price as the table holds it, so that the first answer is the second one's. */
function asHeld({ ask, price }: Priced): Priced {
  if (price === null) return { ask, price };
  const [whole, fraction] = price.usd.split('.');
  const usd = parseDecimal(`${whole}.${textOrEmpty(fraction).slice(0, FRACTION_DIGITS_MAX)}0`);
  const fits = textOrEmpty(whole).length <= WHOLE_DIGITS_MAX;
  return { ask, price: usd === null || usd === '0' || !fits ? null : { ...price, usd } };
}
