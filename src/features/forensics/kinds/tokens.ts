// Does an issuer hold tokens of the address frozen, and may somebody flagged or listed take them?
// A black list and an allowance are states at one block. An event alone shows neither: an approval
// is told only where the token itself says that some of it is left.

import { matchKey } from '../../../chain/address.ts';
import { given, heldUnder, present } from '../../../evidence/measure.ts';
import { both, map, type Partly, seen, some } from '../../../evidence/reading.ts';
import type { FreezeState } from '../../../ports/accounts/issuer-freezes.ts';
import type { Allowance, ApprovalEvent } from '../../../ports/accounts/token-approvals.ts';
import { entriesOf } from '../../sanctions/direct-check.ts';
import {
  type FindingDraft,
  type FindingInputs,
  type FindingKind,
  jointSource,
  type RecordEvidence,
} from '../finding.ts';
import { approvalKey } from '../tokens-asked.ts';
import { recordOf as flaggedRecord, tagText } from './flagged.ts';
import { recordOf as listRecord, partyText } from './listed.ts';

type Found = Partly<readonly FindingDraft[], never>;

/** An issuer's black list names the address. */
export const issuerFreeze: FindingKind = {
  kind: 'issuer_freeze',
  title: 'Frozen by an issuer',
  appliesTo: ['evm'],
  ofHistory: false,
  blocksOf: ({ freezes }) =>
    freezes.flatMap(({ chain, states }) =>
      given(seen(states))
        .slice(0, 1)
        .map(({ block }) => ({ chain, from: block, to: block })),
    ),
  find: ({ freezes }) =>
    flat(
      freezes.map(({ states }) =>
        map(states, (all) =>
          all.filter(({ frozen }) => frozen).map((state) => frozenDraft(state, states)),
        ),
      ),
    ),
};

function frozenDraft(
  { token, block, placed }: FreezeState,
  states: Partly<unknown, never>,
): FindingDraft {
  const { issuer, symbol, chain, address, asks } = token;
  const { source, as_of } = jointSource(states);
  const on = placed === null ? '' : `, since ${placed.tx}`;
  const state = { evidence: 'record', chain, tx: placed === null ? null : placed.tx } as const;
  const at = { block: placed === null ? block : placed.block, at: null };
  const value = `${symbol} ${address}: ${asks} was true at block ${block}`;
  return {
    statement:
      `${issuer} holds ${symbol} of this address frozen on ${chain}${on}: ${asks} of ${address} ` +
      `was true at block ${block}.`,
    evidence: [{ ...state, ...at, name: 'issuer_freeze', value }],
    evidence_count: 1,
    initiated_by_subject: false,
    source: `${source}; ${token.source}`,
    as_of,
  };
}

/** A table flags somebody who may still take tokens of the address. */
export const openToFlagged: FindingKind = {
  kind: 'open_approval_to_flagged',
  title: 'Open token approval to a flagged address',
  appliesTo: ['evm'],
  ofHistory: false,
  blocksOf: approvedBlocks,
  find: (inputs) =>
    map(both({ flagged: inputs.flagged, open: openIn(inputs) }), (seen) =>
      present(
        seen.open.map((one) => {
          const [row] = heldUnder(seen.flagged.found, matchKey(one.approval.spender));
          if (row === undefined) return null;
          const said = `which ${row.source} flags as ${tagText(row)}`;
          const readings = both({ flagged: inputs.flagged, open: openIn(inputs) });
          return openDraft(one, said, flaggedRecord(row), readings);
        }),
      ),
    ),
};

/** The list names somebody who may still take tokens of the address. */
export const openToListed: FindingKind = {
  kind: 'open_approval_to_listed',
  title: 'Open token approval to a listed address',
  appliesTo: ['evm'],
  ofHistory: false,
  blocksOf: approvedBlocks,
  find: (inputs) =>
    map(both({ listed: inputs.listed, open: openIn(inputs) }), (seen) =>
      present(
        seen.open.map((one) => {
          const [entry] = entriesOf(seen.listed, one.approval.spender);
          if (entry === undefined) return null;
          const said = `which the list names under ${partyText(entry)}`;
          const readings = both({ listed: inputs.listed, open: openIn(inputs) });
          return openDraft(one, said, listRecord(entry), readings);
        }),
      ),
    ),
};

function approvedBlocks({ approvals }: FindingInputs) {
  return approvals.flatMap(({ chain, given: told }) =>
    given(seen(map(told, ({ to_block }) => present([to_block])))).map((to) => {
      return { chain, from: 0, to };
    }),
  );
}

type Open = { readonly approval: ApprovalEvent; readonly left: Allowance };

/**
 * The approvals of which the token says that some is left, of those to spenders whom a table names:
 * nobody asked of the others. What could not be asked makes it a part.
 */
function openIn({ approvals, left }: FindingInputs): Partly<readonly Open[], 'token_approvals'> {
  const all = approvals.map(({ given: told }) => map(told, ({ events }) => events));
  const events = map(some(all), (lists) => lists.flat());
  const none = map(events, (): readonly Open[] => []);
  const asked = given(seen(events)).map((approval) => {
    // Of a spender whom no table names nobody asked what is left.
    const reading = left.get(approvalKey(approval));
    return reading === undefined
      ? none
      : map(reading, (one) => (one.raw_amount === 0n ? [] : [{ approval, left: one }]));
  });
  return map(some<readonly Open[], 'token_approvals'>([none, ...asked]), (lists) => lists.flat());
}

/** More than any supply: the spender may take whatever there is. */
const UNLIMITED = 2n ** 128n;

function openDraft(
  { approval, left }: Open,
  said: string,
  row: RecordEvidence,
  readings: Partly<unknown, never>,
): FindingDraft {
  const { chain, way, token, spender, tx, block, raw_amount } = approval;
  const record = { evidence: 'record', chain, at: null } as const;
  const { name, asked, through } = WAYS[way];
  const evidence = [
    { ...record, tx, block, name, value: `${token} to ${spender}: ${amountText(raw_amount)}` },
    { ...record, tx: null, block: left.block, name: asked, value: amountText(left.raw_amount) },
    row,
  ];
  return {
    statement:
      `On ${chain} it allowed ${spender}, ${said}, to take its tokens ${token}${through}; at ` +
      `block ${left.block} ${leftText(left.raw_amount)} may still be taken.`,
    evidence,
    evidence_count: evidence.length,
    initiated_by_subject: null,
    ...jointSource(readings),
  };
}

const WAYS = {
  allowance: { name: 'approval', asked: 'allowance', through: '' },
  operator: { name: 'approval_for_all', asked: 'is_approved_for_all', through: '' },
  permit2: { name: 'permit2_approval', asked: 'permit2_allowance', through: ' through Permit2' },
} as const;

function amountText(raw_amount: bigint | null): string {
  return raw_amount === null ? 'every item' : String(raw_amount);
}

function leftText(raw_amount: bigint | null): string {
  if (raw_amount === null) return 'every item of them';
  return raw_amount >= UNLIMITED ? 'all of them' : `${raw_amount} units of them`;
}

function flat(readings: readonly Found[]): Found {
  return map(some(readings), (lists) => lists.flat());
}
