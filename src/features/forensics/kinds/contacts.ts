// With which mixers, bridges and exchanges did the address deal, by the registries held?
// A contact is a transfer to or from a named contract or wallet; poisoning and spam never make one.

import { matchKey } from '../../../chain/address.ts';
import { heldUnder, present } from '../../../evidence/measure.ts';
import { both, map } from '../../../evidence/reading.ts';
import type { HistoryTransfer } from '../../../ports/history/transfer-history.ts';
import { leadingLabel } from '../../tables/labels.ts';
import { draftSource, type FindingDraft, type FindingKind } from '../finding.ts';
import { byOther, carriedBy, countText, sidesOf, wishText } from '../finding-evidence.ts';

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
        heldUnder(seen.mixers.found, other).flatMap((row) => {
          const transfers = all.filter((one) => stoodAt(row, one));
          if (transfers.length === 0) return [];
          const statement =
            `${countText(address, transfers)} with ${row.name} (${row.protocol}) on ` +
            `${row.chain}, ${other}; ${wishText(address, transfers)}.`;
          const { as_of } = draftSource(mixers);
          return [{ statement, ...carriedBy(address, transfers), source: sourcesText(row), as_of }];
        }),
      );
    }),
};

/** Transfers to or from the contracts of a bridge. A mint or a bridged token's own are none. */
export const bridgeContact: FindingKind = {
  kind: 'bridge_contact',
  title: 'Bridge contact',
  appliesTo: ['evm'],
  ofHistory: true,
  find: ({ subject: { address }, history, bridges }) =>
    map(both({ history, bridges }), (seen) => {
      const { kept } = sidesOf(address, seen.history.transfers);
      const lists = byOther(address, kept);
      return seen.bridges.rows.flatMap((row) => {
        const transfers = heldUnder(lists, row.address).filter((one) => stoodAt(row, one));
        if (transfers.length === 0) return [];
        const messaging = row.role === 'messaging' ? ', which only passes messages' : '';
        const statement =
          `${countText(address, transfers)} with ${row.name} of ${row.protocol} (${row.role}) on ` +
          `${row.chain}, ${row.address}${messaging}; ${wishText(address, transfers)}.`;
        const { as_of } = draftSource(bridges);
        const source = row.sources.join('; ');
        return [{ statement, ...carriedBy(address, transfers), source, as_of }];
      });
    }),
};

/** Whether a contract of a registry stood on the transfer's chain at its block. */
function stoodAt(
  row: { readonly chain: string; readonly valid_from_block: number | null },
  { chain, block }: HistoryTransfer,
): boolean {
  return chain === row.chain && (row.valid_from_block === null || block >= row.valid_from_block);
}

function sourcesText(row: { readonly source: string; readonly second_source: string | null }) {
  return row.second_source === null ? row.source : `${row.source}; ${row.second_source}`;
}

/** What the address sent to wallets that a table names as an exchange's. */
export const exchangeDeposit: FindingKind = exchangeKind(
  'exchange_deposit',
  'Exchange deposit',
  'sent to',
  (subject, { from }) => from === subject,
);

/** What wallets that a table names as an exchange's sent to the address. */
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
    appliesTo: ['evm', 'solana', 'bitcoin', 'tron'],
    ofHistory: true,
    find: ({ subject: { address }, history, labels }) =>
      map(both({ history, labels }), (seen): readonly FindingDraft[] => {
        const { kept } = sidesOf(address, seen.history.transfers);
        const meant = kept.filter((one) => isMeant(address, one) && one.raw_amount > 0n);
        const drafts = [...byOther(address, meant)].map(([other, transfers]) => {
          const label = leadingLabel(heldUnder(seen.labels.found, matchKey(other)));
          if (label === null) return null;
          const times = transfers.length === 1 ? '1 transfer' : `${transfers.length} transfers`;
          const statement =
            `${times} ${verb} ${other}, which ${label.source} labels “${label.label}” of ` +
            `${label.entity} (${label.role}).`;
          const { as_of } = draftSource(labels);
          return { statement, ...carriedBy(address, transfers), source: label.source, as_of };
        });
        return present(drafts);
      }),
  };
}
