// Where labels disagree whose a wallet is, entities say what the rest of the house says.

import { describe, expect, test } from 'vitest';
import type { ExchangeLabel } from '../../ports/tables.ts';
import { leadingLabel, namesInLabels } from './labels.ts';

const WALLET = '0x28c6c06298d514db089934071355e5743bf21d60';

function label(more: Partial<ExchangeLabel>): ExchangeLabel {
  return {
    address: WALLET,
    chain: 'ethereum',
    label: 'one',
    entity: 'One',
    role: 'hot',
    confidence: 'web_crawl',
    clusterable: false,
    source: 'a',
    source_url: null,
    first_seen: '2026-11-21',
    ...more,
  };
}

const named = (...rows: ExchangeLabel[]) =>
  namesInLabels({ table_rows: rows.length, found: new Map([[WALLET, rows]]) });

describe('a hot wallet that two sources give to two exchanges', () => {
  const proven = label({ entity: 'Proven', confidence: 'ownership', source: 'z' });
  const crawled = label({ entity: 'Crawled' });

  test.each([
    ['first', [proven, crawled]],
    ['last', [crawled, proven]],
  ] as const)('is of the one whose label is the strongest, be it told %s', (_, rows) => {
    expect(leadingLabel(rows)?.entity).toBe('Proven');
    expect(named(...rows).exchanges.get(WALLET)).toBe('Proven');
    expect(named(...rows).receivers).toEqual(named(proven).receivers);
  });
});

test('a deposit address is no wallet of the exchange, however sure its label is', () => {
  const deposit = label({ role: 'deposit', entity: 'Other', confidence: 'ownership' });
  expect(named(deposit).exchanges.size).toBe(0);
  const both = named(deposit, label({ entity: 'Own' }));
  expect(both.exchanges.get(WALLET)).toBe('Own');
  expect(both.isService(WALLET)).toBe(true);
});
