// What does an item of evidence, or what speaks against a link, say in words?

import type { Objection, Tie } from '../../ports/entities/cluster-store.ts';

/** What a tie says of so many addresses. `exchanges`: the names of labelled wallets. */
export function statementOf(
  { heuristic, form, key, rests_on }: Tie,
  count: number,
  exchanges: ReadonlyMap<string, string>,
): string {
  const exchange = rests_on === null ? undefined : exchanges.get(rests_on);
  switch (heuristic) {
    case 'deposit_reuse': {
      const payers = `${count - 1} ${count === 2 ? 'address' : 'addresses'} paid into ${key}`;
      const whose = exchange === undefined ? 'an exchange' : exchange;
      const said = `${payers}, an inferred deposit address of ${whose}.`;
      if (form === 'hot_wallet') return said;
      return `${said} The label of the wallet that it forwards to tells no role.`;
    }
    case 'shared_funder':
      return `${count} addresses got their first coins from ${key} within a day of each other.`;
    case 'lockstep':
      return (
        'The two addresses send to each other and act on the same counterparties at one time, ' +
        'more often than chance would have it.'
      );
    case 'same_deployer':
      return form === 'signed'
        ? `${key} made ${count - 1} of these contracts in transactions of its own.`
        : `${key} made ${count - 1} of these contracts through a contract that it had made.`;
    case 'multi_input':
      return `${count} addresses were spent together in ${key}, ${SPENT[spentAs(form)]}`;
    case 'change':
      return (
        `In ${key} one of two outputs went to an address never paid before: the change of its ` +
        `inputs, by ${SIGNS[signsOf(form)]}.`
      );
  }
}

const SPENT = {
  spent_together: 'no known joint transaction; a PayJoin cannot be told from a payment.',
  payjoin_form: 'which has the form of a PayJoin: one of the inputs may be the payee’s.',
  tx0: 'in which a wallet cuts its coins for a Whirlpool mix (Tx0).',
} as const;

function spentAs(form: Tie['form']): keyof typeof SPENT {
  return form === 'payjoin_form' || form === 'tx0' ? form : 'spent_together';
}

const SIGNS = {
  one_sign: 'that sign alone',
  two_signs: 'that and one more sign',
  three_signs: 'that and two or more signs',
} as const;

function signsOf(form: Tie['form']): keyof typeof SIGNS {
  return form === 'two_signs' || form === 'three_signs' ? form : 'one_sign';
}

const PROTOCOLS: { readonly [protocol: string]: string } = {
  joinmarket: 'a CoinJoin of JoinMarket’s form',
  wasabi_1_0: 'a CoinJoin of Wasabi 1.0',
  wasabi_1_1: 'a CoinJoin of Wasabi 1.1’s form',
  wasabi_2_0: 'a CoinJoin of Wasabi 2.0’s form (WabiSabi)',
  whirlpool: 'a CoinJoin of Whirlpool',
};

/** What speaks against joining so many addresses. */
export function objectionText({ kind, key, detail }: Objection, count: number): string {
  const these = `${count} ${count === 1 ? 'address' : 'addresses'}`;
  switch (kind) {
    case 'coinjoin': {
      const named = detail === null ? undefined : PROTOCOLS[detail];
      const protocol = named === undefined ? 'a CoinJoin by its equal outputs' : named;
      return `${key} is ${protocol}: its inputs are many people’s and link nobody.`;
    }
    case 'partial_signature':
      return (
        `An input of ${key} is signed only in part (ANYONECANPAY, SINGLE or NONE), so that ` +
        'others could add theirs: its inputs link nobody.'
      );
    case 'marketplace_trade':
      return `${key} has the form of a trade of inscribed coins: buyer and seller both sign it.`;
    case 'payjoin_form':
      return `${key} has the form of a PayJoin, so that one of its inputs may be the payee’s.`;
    case 'crowd':
      return (
        `${key} serves many${detail === null ? '' : ` (${detail} addresses)`}: that ${these} ` +
        'dealt with it links nobody.'
      );
    case 'contract_payer':
      return (
        `The first coins of ${these} came from ${key}, which is a contract or did not sign ` +
        'itself: whoever asks it to pays through it.'
      );
    case 'by_chance':
      return 'The two act on the same targets at one time no more often than strangers would.';
    case 'separate_accounts':
      return `Two linked addresses use accounts that they do not share: ${written(detail)}.`;
  }
}

function written(detail: string | null): string {
  return detail === null ? 'which, is not told' : detail;
}
