// Which rows of an imported table stand under an address?

import { matchKey } from '../../chain/address.ts';
import { collect } from '../../evidence/measure.ts';

/** Rows under the addresses that they are added to. */
type RowsByAddress<Row> = {
  readonly add: (address: string, row: Row) => void;
  /** How many rows are held. */
  readonly size: () => number;
  /** The rows of these addresses by their match keys; an address without rows has no key. */
  readonly under: (addresses: readonly string[]) => ReadonlyMap<string, readonly Row[]>;
};

/** No rows yet. */
export function rowsByAddress<Row>(): RowsByAddress<Row> {
  const byKey = new Map<string, Row[]>();
  let rows = 0;
  return {
    add: (address, row) => {
      rows += 1;
      const key = matchKey(address);
      // Where both are the same text one copy of it is kept.
      collect(byKey, key === address ? address : key, row);
    },
    size: () => rows,
    under: (addresses) => {
      const found = new Map<string, readonly Row[]>();
      for (const key of addresses.map(matchKey)) {
        const held = byKey.get(key);
        if (held !== undefined) found.set(key, held);
      }
      return found;
    },
  };
}
