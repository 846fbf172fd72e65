// Who among these addresses does a label name, and who of them may link nobody?
// A hot or cold wallet is paid by many unrelated people; a deposit address is one customer's.

import { matchKey } from '../../chain/address.ts';
import { heldUnder } from '../../evidence/measure.ts';
import type { ServiceMark } from '../../ports/entities/cluster-store.ts';
import type { ExchangeLabel, LabelLookUp } from '../../ports/labels/exchange-labels.ts';
import { leadingLabel } from './labels.ts';

/** What labels say of some addresses. */
export type Named = {
  readonly isLabelled: (address: string) => boolean;
  /** Whether it is an exchange's own: any labelled wallet but a customer's deposit address. */
  readonly isService: (address: string) => boolean;
  /** The wallets that may take deposits, by the exchange of each: hot ones, and of no told role. */
  readonly receivers: ReadonlyMap<string, { exchange: string; role: 'hot' | 'unstated' }>;
  /** Every labelled address, and the exchange that its strongest label names. */
  readonly owners: ReadonlyMap<string, string>;
  /** The exchanges of those, as their labels spell them. */
  readonly names: ReadonlyMap<string, string>;
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
  const receivers = new Map<string, { exchange: string; role: 'hot' | 'unstated' }>();
  const owners = new Map<string, string>();
  const names = new Map<string, string>();
  const exchanges = new Map<string, string>();
  const services: ServiceMark[] = [];
  for (const rows of found.values()) {
    // Where sources disagree the strongest label says whose it is, as it does everywhere.
    const hot = leadingLabel(rows.filter(({ role }) => role === 'hot'));
    const own = leadingLabel(rows.filter(({ role }) => role !== 'deposit'));
    const any = leadingLabel(rows);
    const receiver = hot === null ? unstatedIn(rows) : hot;
    for (const { address, clusterable } of rows) {
      if (receiver !== null) {
        const role = receiver === hot ? 'hot' : 'unstated';
        receivers.set(address, { exchange: exchangeKey(receiver.entity), role });
        names.set(exchangeKey(receiver.entity), receiver.entity);
      }
      const owner = receiver === null ? any : receiver;
      if (owner !== null) owners.set(address, exchangeKey(owner.entity));
      if (own !== null) exchanges.set(address, own.entity);
      if (!clusterable) services.push({ address, why: 'label' });
    }
  }
  const labelsOf = (address: string) => heldUnder(found, matchKey(address));
  const isLabelled = (address: string) => labelsOf(address).length > 0;
  return {
    receivers,
    owners,
    names,
    exchanges,
    services,
    labelsOf,
    isLabelled,
    isService: (address) => labelsOf(address).some(({ role }) => role !== 'deposit'),
  };
}

/** The label of an address of which no label tells the role; one that tells another is no such. */
function unstatedIn(rows: readonly ExchangeLabel[]): ExchangeLabel | null {
  return rows.every(({ role }) => role === 'other') ? leadingLabel(rows) : null;
}
