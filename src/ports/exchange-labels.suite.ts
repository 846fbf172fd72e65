// The guarantees of every exchange-wallet table, whatever holds it. Each one's test runs them.

import { describe, expect, test } from 'vitest';
import { basis, Unread } from '../evidence/reading.ts';
import { valueIn } from './imported-table.suite.ts';
import type { ExchangeLabel, ExchangeLabels } from './tables.ts';

/** The rows of the sources under test, or `null` where no import has ever completed. */
export type SuiteLabels = {
  readonly labels: readonly ExchangeLabel[] | null;
  readonly simulated: boolean;
};

const EVM = '0x28c6c06298d514db089934071355e5743bf21d60';
const SOLANA = 'FWZedVtyKQtP4CXhT7XDnLidRADrJknmZGA2qNjpTPg8';
const BECH32 = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const ABSENT = '0x00000000219ab540356cbb839cbe05303d7705fa';

/** A label with everything that a row may hold. */
export function labelOf(address: string, source: string): ExchangeLabel {
  return {
    address,
    chain: 'ethereum',
    label: `Exemplar: Hot Wallet (${source})`,
    entity: 'exemplar',
    role: 'hot',
    confidence: 'service_data',
    clusterable: false,
    source,
    source_url: 'https://example.org/wallets',
    first_seen: '2026-01-15',
  };
}

const LABELS = [
  labelOf(EVM, 'one'),
  { ...labelOf(EVM, 'two'), entity: 'specimen' },
  { ...labelOf(SOLANA, 'one'), chain: null, source_url: null },
  labelOf(BECH32, 'one'),
];

/** Holds an exchange-wallet table to its promises. */
export function exchangeLabelsKeep(
  name: string,
  make: (world: SuiteLabels) => Promise<ExchangeLabels>,
): void {
  describe(`${name} keeps the promises of an exchange-wallet table`, () => {
    const asked = async (labels: SuiteLabels['labels'], ...addresses: string[]) => {
      const made = await make({ labels, simulated: false });
      return made.lookUp(addresses);
    };

    test('gives a row back with everything that its source said', async () => {
      const { found } = valueIn(await asked(LABELS, SOLANA));
      expect(found.get(SOLANA)).toEqual([LABELS[2]]);
    });

    test('keeps the rows of sources that disagree, all of them', async () => {
      const { found } = valueIn(await asked(LABELS, EVM));
      const held = found.get(EVM)?.map(({ source, entity }) => [source, entity]);
      expect(held?.sort()).toEqual([
        ['one', 'exemplar'],
        ['two', 'specimen'],
      ]);
    });

    test('finds an EVM or bech32 address in any case it may be written in', async () => {
      const upper = `0x${EVM.slice(2).toUpperCase()}`;
      const { found } = valueIn(await asked(LABELS, upper, BECH32.toUpperCase()));
      expect([...found.keys()].sort()).toEqual([EVM, BECH32].sort());
    });

    test('does not find a base58 address in another case', async () => {
      const { found } = valueIn(await asked(LABELS, SOLANA.toLowerCase()));
      expect([...found.keys()]).toEqual([]);
    });

    test('an address without rows has no key; the table says how many it holds', async () => {
      const look = valueIn(await asked(LABELS, ABSENT, EVM));
      expect(look.found.has(ABSENT)).toBe(false);
      expect(look.table_rows).toBe(LABELS.length);
    });

    test('never imported is unread, never an empty table', async () => {
      const reading = await asked(null, EVM);
      expect(reading).toBeInstanceOf(Unread);
      if (reading instanceof Unread) expect(reading.why.code).toBe('table_never_imported');
    });

    test('a table of simulated rows says so in its source', async () => {
      const made = await make({ labels: LABELS, simulated: true });
      const { sources } = basis(await made.lookUp([EVM]));
      expect(sources.map(({ kind, simulated }) => [kind, simulated])).toEqual([['table', true]]);
    });
  });
}
