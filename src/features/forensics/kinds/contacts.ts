// With which mixers, bridges and exchanges did the address deal, by the registries held?
// A contact is a transfer to or from a named contract or wallet; poisoning and spam never make one.

import { matchKey } from '../../../chain/address.ts';
import { formatIsoTime } from '../../../chain/time.ts';
import { collect, present, rowsUnder } from '../../../evidence/measure.ts';
import { both, map } from '../../../evidence/reading.ts';
import type { JoinedIn, JointForm } from '../../../ports/entities.ts';
import type { HistoryTransfer } from '../../../ports/history.ts';
import type { Contact } from '../../bridges/trace.ts';
import { leadingLabel } from '../../tables/labels.ts';
import {
  byOther,
  carryEvidence,
  countText,
  draftSource,
  EVERY_KIND,
  EVIDENCE_SHOWN_MAX,
  type FindingDraft,
  type FindingKind,
  jointSource,
  sidesOf,
  wishText,
} from '../finding.ts';

/** Transfers to or from the contracts of a mixer. */
export const mixerContact: FindingKind = {
  kind: 'mixer_contact',
  title: 'Mixer contact',
  appliesTo: ['evm'],
  ofHistory: true,
  find: ({ subject: { address }, history, mixers }) =>
    map(both({ history, mixers }), (seen) => {
      const { kept } = sidesOf(address, seen.history.transfers);
      return [...byOther(address, kept)].flatMap(([other, all]) =>
        rowsUnder(seen.mixers.found, other).flatMap((row) => {
          const transfers = all.filter((one) => isOnChainAt(row, one));
          if (transfers.length === 0) return [];
          const statement =
            `${countText(address, transfers)} with ${row.name} (${row.protocol}) on ` +
            `${row.chain}, ${other}; ${wishText(address, transfers)}.`;
          const { as_of } = draftSource(mixers);
          return [
            {
              statement,
              ...carryEvidence(address, transfers),
              source:
                row.second_source === null ? row.source : `${row.source}; ${row.second_source}`,
              as_of,
            },
          ];
        }),
      );
    }),
};

/**
 * Transfers to or from the contracts of a bridge, and those that an event of one names. The trace
 * that `bridges` answers decides, so that neither denies what the other sees.
 */
export const bridgeContact: FindingKind = {
  kind: 'bridge_contact',
  title: 'Bridge contact',
  appliesTo: ['evm'],
  ofHistory: true,
  find: ({ subject: { address }, bridged, bridges }) =>
    map(both({ bridged, bridges }), (seen) => {
      const lists = new Map<string, Contact[]>();
      for (const one of seen.bridged) collect(lists, rowName(one.row), one);
      return seen.bridges.rows.flatMap((row) => {
        const contacts = rowsUnder(lists, rowName(row));
        if (contacts.length === 0) return [];
        const transfers = contacts.map(({ transfer }) => transfer);
        const messaging = row.role === 'messaging' ? ', which only passes messages' : '';
        const byEvent = contacts.filter(({ basis }) => basis === 'event').length;
        const events = byEvent === 0 ? '' : `; ${byEvent} of them by what its events name`;
        const statement =
          `${countText(address, transfers)} with ${row.name} of ${row.protocol} (${row.role}) on ` +
          `${row.chain}, ${row.address}${messaging}${events}; ${wishText(address, transfers)}.`;
        const { as_of } = draftSource(bridges);
        const source = row.sources.join('; ');
        return [{ statement, ...carryEvidence(address, transfers), source, as_of }];
      });
    }),
};

function rowName({ chain, address, role }: Contact['row']): string {
  return `${chain} ${address} ${role}`;
}

function isOnChainAt(
  row: { readonly chain: string; readonly valid_from_block: number | null },
  { chain, block }: HistoryTransfer,
): boolean {
  return chain === row.chain && (row.valid_from_block === null || block >= row.valid_from_block);
}

/** Transfers of the address to wallets that a table names as an exchange's. */
export const exchangeDeposit: FindingKind = exchangeKind(
  'exchange_deposit',
  'Exchange deposit',
  'sent to',
  (subject, { from }) => from === subject,
);

/** Transfers to the address from wallets that a table names as an exchange's. */
export const exchangeWithdrawal: FindingKind = exchangeKind(
  'exchange_withdrawal',
  'Exchange withdrawal',
  'received from',
  (subject, { to }) => to === subject,
);

function exchangeKind(
  kind: string,
  title: string,
  verb: string,
  isMeant: (subject: string, transfer: HistoryTransfer) => boolean,
): FindingKind {
  return {
    kind,
    title,
    appliesTo: EVERY_KIND,
    ofHistory: true,
    find: ({ subject: { address }, history, labels }) =>
      map(both({ history, labels }), (seen): readonly FindingDraft[] => {
        const { kept } = sidesOf(address, seen.history.transfers);
        const meant = kept.filter((one) => isMeant(address, one) && one.raw_amount > 0n);
        const drafts = [...byOther(address, meant)].map(([other, transfers]) => {
          const label = leadingLabel(rowsUnder(seen.labels.found, matchKey(other)));
          if (label === null) return null;
          const times = transfers.length === 1 ? '1 transfer' : `${transfers.length} transfers`;
          const statement =
            `${times} ${verb} ${other}, which ${label.source} labels “${label.label}” of ` +
            `${label.entity} (${label.role}).`;
          const { as_of } = draftSource(labels);
          return { statement, ...carryEvidence(address, transfers), source: label.source, as_of };
        });
        return present(drafts);
      }),
  };
}

// In which transactions of Bitcoin that several people make together is the address spent or paid?
// The form of a transaction tells it: the finding says which form, not why anybody mixed coins, and
// not that whoever is paid is one of them: a maker of such a transaction may pay a stranger by it.

/** Joint transactions that spent coins of the address or paid it. */
export const coinJoined: FindingKind = {
  kind: 'coinjoin',
  title: 'CoinJoins',
  appliesTo: ['bitcoin'],
  ofHistory: false,
  find: ({ coinJoins }) =>
    map(coinJoins, ({ forms, newest }): readonly FindingDraft[] => {
      if (forms.length === 0) return [];
      const evidence = newest.slice(0, EVIDENCE_SHOWN_MAX).map(recordOf);
      const counts = forms.map(({ form, transactions }) => `${transactions} of ${FORMS[form]}`);
      const evidence_count = forms.reduce((sum, { transactions }) => sum + transactions, 0);
      const statement =
        'It is spent from or paid in transactions that by their form several people make ' +
        `together, or that prepare one: ${counts.join(', ')}. Whoever is only paid in one may be ` +
        'a stranger to those who made it.';
      const initiated_by_subject = newest.some(({ spent }) => spent) ? true : null;
      return [
        { statement, evidence, evidence_count, initiated_by_subject, ...jointSource(coinJoins) },
      ];
    }),
};

const FORMS: Readonly<Record<JointForm, string>> = {
  joinmarket: 'JoinMarket’s form',
  wasabi_1_0: 'Wasabi 1.0',
  wasabi_1_1: 'Wasabi 1.1’s form',
  wasabi_2_0: 'Wasabi 2.0’s form (WabiSabi)',
  whirlpool: 'Whirlpool',
  whirlpool_tx0: 'Whirlpool’s preparation (Tx0)',
  equal_outputs: 'equal outputs, by a protocol that is not known',
};

function recordOf({ tx, block, at, form, spent, paid }: JoinedIn) {
  const both = spent && paid ? 'its coins were spent, and it was paid' : null;
  const one = spent ? 'its coins were spent' : 'it was paid';
  const place = { chain: 'bitcoin', tx, block, at: formatIsoTime(at) } as const;
  const value = `${FORMS[form]}: ${both === null ? one : both}`;
  return { evidence: 'record', ...place, name: 'coinjoin', value } as const;
}
