// Who among these addresses does a label name, and who of them may link nobody?
// A hot or cold wallet is paid by many unrelated people; a deposit address is one customer's.

import { matchKey } from '../../chain/address.ts';
import type { ServiceMark } from '../../ports/entities/cluster-store.ts';
import type { ExchangeLabel, LabelLookUp } from '../../ports/labels/exchange-labels.ts';
import { leadingLabel } from './labels.ts';

/** What labels say of some addresses. */
export type Named = {
  readonly isLabelled: (address: string) => boolean;
  /** Whether it is an exchange's own: any labelled wallet but a customer's deposit address. */
  readonly isService: (address: string) => boolean;
  /** The hot wallets, and the exchange of each. */
  readonly hotWallets: ReadonlyMap<string, string>;
  /** The exchanges of hot wallets, as their labels spell them. */
  readonly hotNames: ReadonlyMap<string, string>;
  readonly labelled: { readonly has: (address: string) => boolean };
  readonly services: readonly ServiceMark[];
  /** Every labelled wallet but deposit addresses, with the exchange as its label spells it. */
  readonly exchanges: ReadonlyMap<string, string>;
  readonly labelsOf: (address: string) => readonly ExchangeLabel[];
};

/** The same for the spellings of one exchange's name by different sources. */
export function exchangeKey(entity: string): string {
  return entity.normalize('NFKC').trim().toLowerCase();
}

/** What a look-up of labels says. */
export function namedIn({ found }: LabelLookUp): Named {
  const hotWallets = new Map<string, string>();
  const hotNames = new Map<string, string>();
  const exchanges = new Map<string, string>();
  const services: ServiceMark[] = [];
  for (const rows of found.values()) {
    // Where sources disagree the strongest label says whose it is, as it does everywhere.
    const hot = leadingLabel(rows.filter(({ role }) => role === 'hot'));
    const own = leadingLabel(rows.filter(({ role }) => role !== 'deposit'));
    if (hot !== null) hotNames.set(exchangeKey(hot.entity), hot.entity);
    for (const { address, clusterable } of rows) {
      if (hot !== null) hotWallets.set(address, exchangeKey(hot.entity));
      if (own !== null) exchanges.set(address, own.entity);
      if (!clusterable) services.push({ address, why: 'label' });
    }
  }
  const labelsOf = (address: string) => {
    const rows = found.get(matchKey(address));
    return rows === undefined ? NO_LABELS : rows;
  };
  const isLabelled = (address: string) => labelsOf(address).length > 0;
  return {
    hotWallets,
    hotNames,
    exchanges,
    services,
    labelsOf,
    isLabelled,
    isService: (address) => labelsOf(address).some(({ role }) => role !== 'deposit'),
    labelled: { has: isLabelled },
  };
}

const NO_LABELS: readonly ExchangeLabel[] = Object.freeze([]);
