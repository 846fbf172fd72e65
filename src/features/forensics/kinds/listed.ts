// Relates the address to the published sanctions list by its own transfers. A contact is a fact
// about two addresses and designates neither; the signer stands beside it.

import { isSystemAddress, matchKey } from '../../../chain/address.ts';
import { compareDecimals } from '../../../chain/amount.ts';
import { CHAINS } from '../../../chain/chain.ts';
import { listFrom, listOrNone, present, rowsUnder } from '../../../evidence/measure.ts';
import { basis, both, map, type Partly, Read, rowsSeen, some } from '../../../evidence/reading.ts';
import { why } from '../../../evidence/reasons.ts';
import type { ApprovalEvent, FreezeState, TokenAllowance } from '../../../ports/accounts.ts';
import { type HistoryTransfer, isSignedBy } from '../../../ports/history.ts';
import type { FlaggedLookUp, FlaggedRow } from '../../../ports/rug-flags.ts';
import type { ListEntry, ListLookUp } from '../../../ports/sanctions.ts';
import { fundingOf } from '../../history/address-history.ts';
import { entriesOf } from '../../sanctions/direct-check.ts';
import { endOf, stopsOf } from '../../sanctions/walk-hop.ts';
import { leadingLabel } from '../../tables/labels.ts';
import { approvalKey, NAMED_AS, type NamedByFact, namedKey, type SetByOf } from '../facts-asked.ts';
import {
  anyOwn,
  byOther,
  carryEvidence,
  countText,
  describeTransfer,
  draftSource,
  EVERY_KIND,
  EVIDENCE_SHOWN_MAX,
  type FindingDraft,
  type FindingInputs,
  type FindingKind,
  jointSource,
  sidesOf,
  wishText,
} from '../finding.ts';
import type { RecordEvidence } from '../shapes.ts';

/** Larger unsolicited payments are no dust: the dust of August 2022 was a tenth of an ether. */
const DUST_USD_MAX = '500';
/** The dust amounts of unpriced coins: a tenth of a coin, a thousandth of a bitcoin. */
const DUST_PARTS = { bitcoin: 1_000n, others: 10n };

/** The address itself stands on the list. */
export const listedItself: FindingKind = {
  kind: 'listed_itself',
  title: 'Stands on the sanctions list',
  appliesTo: EVERY_KIND,
  ofHistory: false,
  find: ({ subject, listed }) =>
    map(listed, (look) =>
      entriesOf(look, subject.address).map((entry) => ({
        statement: `The list names this address under ${partyText(entry)}.`,
        evidence: [listRecord(entry)],
        evidence_count: 1,
        initiated_by_subject: null,
        ...draftSource(listed),
      })),
    ),
};

/** A counterparty of the address stands on the list. */
export const listedCounterparty: FindingKind = {
  kind: 'listed_counterparty',
  title: 'Listed counterparty within one hop',
  appliesTo: EVERY_KIND,
  ofHistory: true,
  find: ({ subject: { address }, history, listed }) =>
    map(both({ history, listed }), (seen) => {
      const { kept } = sidesOf(address, seen.history.transfers);
      return draftListed(seen.listed, byOther(address, kept), ([other, transfers, entry]) => ({
        statement:
          `${countText(address, transfers)} with ${other}, which the list names under ` +
          `${partyText(entry)}; ${wishText(address, transfers)}.`,
        ...carryEvidence(address, transfers),
        ...draftSource(listed),
      }));
    }),
};

/** Transfers lead from the address to a listed one, past at most one other. */
export const wayToListed: FindingKind = {
  kind: 'way_to_listed',
  title: 'Shortest way to a listed address within two hops',
  appliesTo: EVERY_KIND,
  ofHistory: true,
  find: ({ subject: { address }, walk }) =>
    map(walk, ({ found }) =>
      listFrom(found, ({ way, entry }) => {
        const hops = way.length === 1 ? '1 hop leads' : `${way.length} hops lead`;
        const transfers = way.map((hop) => hop.transfer);
        const evidence = [
          ...way.map(({ transfer, near }) => describeTransfer(address, transfer, near)),
          listRecord(entry),
        ];
        const statement =
          `${hops} from this address to ${endOf(way)}, which the list names under ` +
          `${partyText(entry)}: ${stopsOf(way).join(', ')}; ${wishText(address, transfers)}.`;
        const initiated_by_subject = anyOwn(address, transfers);
        const evidence_count = evidence.length;
        return [
          { statement, evidence, evidence_count, initiated_by_subject, ...jointSource(walk) },
        ];
      }),
    ),
};

/** The first coins of the address came from a listed one. */
export const fundedByListed: FindingKind = {
  kind: 'funded_by_listed',
  title: 'First funded by a listed address',
  appliesTo: EVERY_KIND,
  ofHistory: true,
  find: ({ subject: { address }, history, listed }) =>
    map(both({ funding: fundingOf(history), listed }), (seen) =>
      listFrom(seen.funding, (funding) =>
        draftListed(seen.listed, new Map([[funding.from, [funding]]]), ([other, , entry]) => ({
          statement:
            `The first coins of this address came from ${other}, which the list names under ` +
            `${partyText(entry)}.`,
          ...carryEvidence(address, [funding]),
          ...draftSource(listed),
        })),
      ),
    ),
};

/** A listed address sent it something small that it had not asked for. */
export const dustFromListed: FindingKind = {
  kind: 'dust_from_listed',
  title: 'Dust from a listed address',
  appliesTo: EVERY_KIND,
  ofHistory: true,
  find: ({ subject: { address }, history, listed }) =>
    map(both({ history, listed }), (seen) => {
      const { kept, leftOut } = sidesOf(address, seen.history.transfers);
      const unwanted = new Set(leftOut.map(({ transfer }) => transfer));
      const dust = [...kept.filter(isSmall), ...unwanted].filter(
        (one) => one.to === address && isSignedBy(address, one) === false,
      );
      return draftListed(seen.listed, byOther(address, dust), ([other, transfers, entry]) => ({
        statement:
          `${other}, which the list names under ${partyText(entry)}, sent this address ` +
          `${dustText(transfers, unwanted)}; the address itself signed none of it.`,
        ...carryEvidence(address, transfers),
        ...draftSource(listed),
      }));
    }),
};

type Contact = readonly [string, readonly HistoryTransfer[], ListEntry];

function draftListed(
  look: ListLookUp,
  contacts: ReadonlyMap<string, readonly HistoryTransfer[]>,
  draft: (contact: Contact) => FindingDraft,
): FindingDraft[] {
  return [...contacts].flatMap(([other, transfers]) => {
    const [entry] = entriesOf(look, other);
    return entry === undefined ? [] : [draft([other, transfers, entry])];
  });
}

/** Worth little, or little of its chain's coin where nothing says what it is worth. */
function isSmall({ usd, kind, chain, raw_amount }: HistoryTransfer): boolean {
  if (usd !== null) return compareDecimals(usd, DUST_USD_MAX) <= 0;
  const parts = chain === 'bitcoin' ? DUST_PARTS.bitcoin : DUST_PARTS.others;
  const coin = 10n ** BigInt(CHAINS[chain].native.decimals);
  return kind !== 'token' && raw_amount * parts <= coin;
}

function dustText(
  transfers: readonly HistoryTransfer[],
  unwanted: ReadonlySet<HistoryTransfer>,
): string {
  const rest = transfers.filter((one) => unwanted.has(one)).length;
  const small = transfers.length - rest;
  const said = [
    small === 0 ? null : `something small ${timesText(small)}`,
    rest === 0 ? null : `something of no value or without a market ${timesText(rest)}`,
  ];
  return present(said).join(', and ');
}

function timesText(times: number): string {
  return times === 1 ? 'once' : `${times} times`;
}

export function partyText({ entity, programs, uid }: ListEntry): string {
  const name = entity === null ? `entry ${uid}` : entity;
  return programs === null || programs.length === 0 ? name : `${name} (${programs.join(', ')})`;
}

/** An entry as evidence. */
export function listRecord({ uid, entity, address }: ListEntry) {
  const value = `${entity === null ? '' : `${entity}, `}uid ${uid}, as ${address}`;
  return { evidence: 'record', ...NOWHERE, name: 'list_entry', value } as const;
}

// Relates the address to imported tables of flags (phishing, exploits), in their words. A tag is
// the source's claim and is shown with the source, without judgement.

/** An imported table flags the address itself. */
export const flaggedItself: FindingKind = {
  kind: 'flagged_itself',
  title: 'Flagged by an imported table',
  appliesTo: EVERY_KIND,
  ofHistory: false,
  find: ({ subject, flagged }) =>
    map(flagged, (look) => {
      const rows = rowsOf(look, subject.address);
      return rows.map((row) => ({
        statement: `${row.source} flags this address as ${tagText(row)}.`,
        evidence: [flaggedRecord(row)],
        evidence_count: 1,
        initiated_by_subject: null,
        ...whose(row, flagged),
      }));
    }),
};

/** The address exchanged transfers with one that a table flags. */
export const flaggedCounterparty: FindingKind = {
  kind: 'flagged_counterparty',
  title: 'Interaction with a flagged address or contract',
  appliesTo: EVERY_KIND,
  ofHistory: true,
  find: ({ subject: { address }, history, flagged }) =>
    map(both({ history, flagged }), (seen) => {
      const { kept } = sidesOf(address, seen.history.transfers);
      const drafts = [...byOther(address, kept)].map(([other, transfers]) => {
        const [row] = rowsOf(seen.flagged, other);
        if (row === undefined) return null;
        const statement =
          `${countText(address, transfers)} with ${other}, which ${row.source} flags as ` +
          `${tagText(row)}; ${wishText(address, transfers)}.`;
        return { statement, ...carryEvidence(address, transfers), ...whose(row, flagged) };
      });
      return present(drafts);
    }),
};

/** The first coins of the address came from a flagged one, or from the maker of a flagged one. */
export const fundedByFlagged: FindingKind = {
  kind: 'funded_by_flagged',
  title: 'First funded by a flagged address',
  appliesTo: EVERY_KIND,
  ofHistory: true,
  find: ({ subject: { address }, history, flagged }) =>
    map(both({ funding: fundingOf(history), flagged }), (seen) =>
      listFrom(seen.funding, (funding): readonly FindingDraft[] => {
        if (isSystemAddress(funding.from)) return [];
        const first = `The first coins of this address came from ${funding.from}, which`;
        const carried = carryEvidence(address, [funding]);
        const [row] = rowsOf(seen.flagged, funding.from);
        if (row !== undefined) {
          const statement = `${first} ${row.source} flags as ${tagText(row)}.`;
          return [{ statement, ...carried, ...whose(row, flagged) }];
        }
        return flaggedCreations(seen.flagged, funding.from)
          .slice(0, 1)
          .map((made) => {
            const tag = tagText(made);
            const statement =
              `${first} ${made.source} names as the maker of ${made.address}, ` +
              `flagged as ${tag}.`;
            return { statement, ...carried, ...whose(made, flagged) };
          });
      }),
    ),
};

/** A table names the address as the maker of contracts that it flags. */
export const createdFlaggedContract: FindingKind = {
  kind: 'created_flagged_contract',
  title: 'Created a flagged contract or token',
  appliesTo: ['evm'],
  ofHistory: false,
  find: ({ subject, flagged }) =>
    map(flagged, (look) => {
      const made = flaggedCreations(look, subject.address);
      const noun = made.length === 1 ? 'a contract' : `${made.length} contracts`;
      return made.slice(0, 1).map((first) => ({
        statement: `${first.source} names this address as the maker of ${noun} that it flags.`,
        evidence: made.slice(0, EVIDENCE_SHOWN_MAX).map(flaggedRecord),
        evidence_count: made.length,
        // The maker of a contract is the signer of the transaction that made it.
        initiated_by_subject: true,
        ...whose(first, flagged),
      }));
    }),
};

function rowsOf({ found }: FlaggedLookUp, address: string): readonly FlaggedRow[] {
  return rowsUnder(found, matchKey(address));
}

function flaggedCreations({ created }: FlaggedLookUp, address: string): readonly FlaggedRow[] {
  return rowsUnder(created, matchKey(address));
}

/** The text of a row about its address. */
export function tagText({ tag, category }: FlaggedRow): string {
  return tag === category ? `“${tag}”` : `“${tag}” (${category})`;
}

function whose(
  { source }: FlaggedRow,
  table: Parameters<typeof draftSource>[0],
): Pick<FindingDraft, 'source' | 'as_of'> {
  return { source, as_of: draftSource(table).as_of };
}

/** A row as evidence. */
export function flaggedRecord({
  chain,
  creation_tx,
  tag,
  category,
  address,
}: FlaggedRow): RecordEvidence {
  const value = `${address}: ${tag} (${category})`;
  return {
    evidence: 'record',
    chain,
    tx: creation_tx,
    block: null,
    at: null,
    name: 'flagged_row',
    value,
  };
}

// Do the tables name anybody whom the facts of an address name: its owner, admin, code or maker?
// Power over a contract is no transfer; it is a fact of the chain at one moment.

/** The sanctions list names somebody whom a fact names. */
export const listedInFacts: FindingKind = {
  kind: 'listed_in_facts',
  title: 'Facts name a listed address',
  appliesTo: ['evm'],
  ofHistory: false,
  find: ({ named, listed, setBy }) =>
    map(both({ named, listed }), (seen) => {
      const drafts = seen.named.map((one) => {
        const [entry] = entriesOf(seen.listed, one.address);
        if (entry === undefined) return null;
        const said = `which the list names under ${partyText(entry)}`;
        return draftOf(one, said, listRecord(entry), { setBy, rests: both({ listed, named }) });
      });
      return present(drafts);
    }),
};

/** An imported table flags somebody whom a fact names, or a contract that this one made. */
export const flaggedInFacts: FindingKind = {
  kind: 'flagged_in_facts',
  title: 'Facts name a flagged address',
  appliesTo: ['evm'],
  ofHistory: false,
  find: ({ named, flagged, setBy }) =>
    map(both({ named, flagged }), (seen) => {
      const drafts = seen.named.map((one) => {
        const row = flagOf(seen.flagged, one);
        if (row === null) return null;
        const rests = both({ flagged, named });
        return draftOf(one, row.said, flaggedRecord(row.row), { setBy, rests });
      });
      return present(drafts);
    }),
};

/** The label table names somebody whom a fact names. */
export const labelledInFacts: FindingKind = {
  kind: 'labelled_in_facts',
  title: 'Facts name a labelled address',
  appliesTo: ['evm'],
  ofHistory: false,
  find: ({ named, labels, setBy }) =>
    map(both({ named, labels }), (seen) => {
      const drafts = seen.named.map((one) => {
        const label = leadingLabel(rowsUnder(seen.labels.found, matchKey(one.address)));
        if (label === null) return null;
        const { entity, role, source } = label;
        const said = `which ${source} labels “${label.label}” of ${entity} (${role})`;
        const value = `${one.address}: ${label.label}, ${entity} (${role})`;
        const row = { evidence: 'record', ...NOWHERE, name: 'label', value } as const;
        return draftOf(one, said, row, { setBy, rests: both({ labels, named }) });
      });
      return present(drafts);
    }),
};

const NOWHERE = { chain: null, tx: null, block: null, at: null } as const;

function flagOf({ found, created }: FlaggedLookUp, { fact, address }: NamedByFact) {
  const [row] = rowsUnder(found, matchKey(address));
  if (row !== undefined) return { row, said: `which ${row.source} flags as ${tagText(row)}` };
  const [made] = fact === 'creator' ? rowsUnder(created, matchKey(address)) : [];
  if (made === undefined) return null;
  const said = `which ${made.source} names as the maker of ${made.address}, flagged as`;
  return { row: made, said: `${said} ${tagText(made)}` };
}

type Beside = { readonly setBy: SetByOf; readonly rests: Partly<unknown, never> };

function draftOf(
  one: NamedByFact,
  said: string,
  row: RecordEvidence,
  { setBy, rests }: Beside,
): FindingDraft {
  const { chain, fact, address } = one;
  const record = { evidence: 'record', chain, at: null, name: fact, value: address } as const;
  const evidence = [{ ...record, ...placeOf(one, setBy) }, row];
  return {
    named_by: [namedKey(one), row.name, row.value].join(' '),
    statement: `On ${chain} its ${NAMED_AS[fact]} is ${address}, ${said}.`,
    evidence,
    evidence_count: evidence.length,
    initiated_by_subject: null,
    ...jointSource(rests),
  };
}

/** The transaction that made the fact name this address, or why it is not known. */
function placeOf(one: NamedByFact, setBy: SetByOf) {
  const { tx, block } = one;
  const reading = setBy.get(namedKey(one));
  if (tx !== null || reading === undefined) {
    return tx === null ? { tx, block, tx_reason: why('set_by_unasked').reason } : { tx, block };
  }
  const [set] = listOrNone(rowsSeen(map(reading, (found) => present([found]))));
  if (set !== undefined) return { tx: set.tx, block: set.block };
  const source = listOrNone(basis(reading).sources.map(({ name }) => name)).join('; ');
  const tx_reason = reading instanceof Read ? why('set_by_unseen', { source }) : reading.why;
  return { tx, block, tx_reason: tx_reason.reason };
}

// Does an issuer hold tokens of the address frozen, and may somebody flagged or listed take them?
// A black list and an allowance are states at one block. An event alone shows neither: an approval
// is told only where the token itself says that some of it is left.

/** An issuer's black list names the address. */
export const issuerFreeze: FindingKind = {
  kind: 'issuer_freeze',
  title: 'Frozen by an issuer',
  appliesTo: ['evm'],
  ofHistory: false,
  blocksOf: ({ freezes }) =>
    freezes.flatMap(({ chain, states }) =>
      listOrNone(rowsSeen(states))
        .slice(0, 1)
        .map(({ block }) => ({ chain, from: block, to: block })),
    ),
  find: ({ freezes }) => {
    const found = freezes.map(({ states }) =>
      map(states, (all) =>
        all.filter(({ frozen }) => frozen).map((state) => frozenDraft(state, states)),
      ),
    );
    return map(some(found), (lists) => lists.flat());
  },
};

function frozenDraft(
  { token, block, placed }: FreezeState,
  states: Partly<unknown, never>,
): FindingDraft {
  const { issuer, symbol, chain, address, asks } = token;
  const { source, as_of } = jointSource(states);
  const event = placed !== null && 'tx' in placed ? placed : { tx: null, block };
  const on = event.tx === null ? '' : `, since ${event.tx}`;
  const unplaced = placed !== null && 'code' in placed ? { tx_reason: placed.reason } : null;
  const state = { evidence: 'record', chain, ...event, ...unplaced, at: null } as const;
  const value = `${symbol} ${address}: ${asks} was true at block ${block}`;
  return {
    statement:
      `${issuer} holds ${symbol} of this address frozen on ${chain}${on}: ${asks} of ${address} ` +
      `was true at block ${block}.`,
    evidence: [{ ...state, name: 'issuer_freeze', value }],
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
          const [row] = rowsUnder(seen.flagged.found, matchKey(one.approval.spender));
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
    listOrNone(rowsSeen(map(told, ({ to_block }) => present([to_block])))).map((to) => {
      return { chain, from: 0, to };
    }),
  );
}

type Open = { readonly approval: ApprovalEvent; readonly left: TokenAllowance };

/**
 * The approvals of which the token says that some is left, of those to spenders whom a table names:
 * nobody asked of the others. What could not be asked makes it a part.
 */
function openIn({ approvals, left }: FindingInputs): Partly<readonly Open[], 'token_approvals'> {
  const all = approvals.map(({ given: told }) => map(told, ({ events }) => events));
  const events = map(some(all), (lists) => lists.flat());
  const none = map(events, (): readonly Open[] => []);
  const asked = listOrNone(rowsSeen(events)).map((approval) => {
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
