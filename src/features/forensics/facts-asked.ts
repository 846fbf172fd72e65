// Reads the chain facts of an address, with few requests: the state first, contract facts only if
// there is code, and the creator only if one may exist.

import { matchKey, type ParsedAddress } from '../../chain/address.ts';
import type { EvmChainName } from '../../chain/chain.ts';
import { formatIsoTime } from '../../chain/time.ts';
import { claimOrNull, claimWhole } from '../../evidence/claim.ts';
import { listOrNone, present } from '../../evidence/measure.ts';
import {
  decide,
  map,
  type Partly,
  Read,
  type Reading,
  rowsSeen,
  some,
  Unread,
  unread,
} from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { inTime, OUT_OF_TIME, portInTime, STOPPED_BY_TIME } from '../../evidence/waiting.ts';
import type {
  ApprovalEvent,
  ApprovalEvents,
  ChainFacts,
  ChainFactsPort,
  FactName,
  FactReadings,
  FreezeState,
  IssuerFreezes,
  IssuerFreezesPort,
  SetBy,
  SetFact,
  TokenAllowance,
  TokenApprovals,
  TokenApprovalsPort,
} from '../../ports/accounts.ts';
import { noFacts } from '../../ports/accounts.ts';
import type {
  CommittedRecord,
  DeployerRecords,
  DeployerRecordsPort,
} from '../../ports/deployers.ts';
import { countsOf, wholeRecord } from '../deployers/record.ts';

/** The chain whose facts are shown first. */
export const MAIN_FACTS_CHAIN: EvmChainName = 'ethereum';
const STATE_FACTS = ['code', 'nonce', 'balance_wei'] as const;
const CONTRACT_FACTS = ['verified_name', 'creation', 'is_token', 'authority'] as const;
const NO_CODE = why('account_without_code');

/** The facts of an address on the main chain and on each other whose state can be read. */
export async function readAccountFacts(
  chainFacts: ChainFacts,
  { kind, address }: ParsedAddress,
  signal: AbortSignal,
): Promise<readonly ChainFactsOf[]> {
  if (kind !== 'evm') return NO_FACTS;
  const beside = chainFacts.stateChains.filter((chain) => chain !== MAIN_FACTS_CHAIN);
  return Promise.all([
    factsOn(chainFacts, MAIN_FACTS_CHAIN, address, CONTRACT_FACTS, signal),
    ...beside.map((chain) => factsOn(chainFacts, chain, address, ['authority'], signal)),
  ]);
}

const NO_FACTS: readonly ChainFactsOf[] = Object.freeze([]);

async function factsOn(
  chainFacts: ChainFacts,
  chain: EvmChainName,
  address: string,
  ofContracts: readonly FactName[],
  signal: AbortSignal,
): Promise<ChainFactsOf> {
  const creation_asked = ofContracts.includes('creation');
  const ask = (wanted: readonly FactName[]) => chainFacts.of(chain, address, wanted, signal);
  const { code, nonce, balance_wei } = await ask(STATE_FACTS);
  const size = rowsSeen(map(code, (one) => [one.size]));
  const state = { code, nonce, balance_wei };
  if (size !== null && size[0] > 0) {
    return { chain, facts: { ...(await ask(ofContracts)), ...state }, creation_asked };
  }
  const bare = { ...noFacts(code instanceof Read ? NO_CODE : code.why), ...state };
  if (!creation_asked || (code instanceof Read && hasSigned(nonce))) {
    return { chain, facts: bare, creation_asked };
  }
  // A contract that destroyed itself has no code, and a chain whose state is silent shows none.
  const { creation } = await ask(['creation']);
  return { chain, facts: { ...bare, creation }, creation_asked };
}

/** The same facts for one request: what did not come before the signal is unread. */
export function factsInTime(facts: ChainFacts, signal: AbortSignal): ChainFacts {
  const { stateChains, setBy } = facts;
  return {
    ...portInTime('chain_facts', { stateChains, setBy }, signal),
    of: async (...asked) => {
      const read = await inTime(() => facts.of(...asked), signal);
      return read === OUT_OF_TIME ? noFacts(STOPPED_BY_TIME) : read;
    },
  };
}

/** Whether it signed a transaction: it is an account of its own key then, which nobody made. */
function hasSigned(nonce: FactReadings['nonce']): boolean {
  const known = rowsSeen(map(nonce, (count) => [count]));
  return known !== null && known[0] > 0;
}

// Reads freezes by token issuers, and approvals of the address. The remaining amount of an approval
// is read only for spenders that a table names: an address may have thousands of approvals.

const LEFT_MAX = 20;

/** Asks the issuers on the main chain and on every other that can be asked. */
export async function freezesOf(
  freezes: IssuerFreezes,
  { kind, address }: ParsedAddress,
  signal: AbortSignal,
): Promise<readonly FreezesOf[]> {
  const chains = kind === 'evm' ? withMain(freezes.chains) : NO_CHAINS;
  return Promise.all(
    chains.map(async (chain) => {
      return { chain, states: await freezes.of(chain, address, signal) };
    }),
  );
}

/** Asks whom it allowed, on the main chain and on every other that can be asked. */
export async function approvalsOf(
  approvals: TokenApprovals,
  { kind, address }: ParsedAddress,
  signal: AbortSignal,
): Promise<readonly ApprovalsOf[]> {
  const chains = kind === 'evm' ? withMain(approvals.chains) : NO_CHAINS;
  return Promise.all(
    chains.map(async (chain) => {
      return { chain, given: await approvals.given(chain, address, signal) };
    }),
  );
}

const NO_CHAINS: readonly EvmChainName[] = Object.freeze([]);

function withMain(chains: readonly EvmChainName[]): readonly EvmChainName[] {
  return [MAIN_FACTS_CHAIN, ...chains.filter((chain) => chain !== MAIN_FACTS_CHAIN)];
}

/** Every approval that was seen, of whatever chain. */
export function approvalsSeen(approvals: readonly ApprovalsOf[]): readonly ApprovalEvent[] {
  return approvals.flatMap((one) => [
    ...listOrNone(rowsSeen(map(one.given, ({ events }) => events))),
  ]);
}

/** An approval's name among those of one owner. */
export function approvalKey({ chain, way, token, spender }: ApprovalEvent): string {
  return `${chain} ${way} ${token} ${spender}`;
}

/** Asks what is left of the approvals to spenders whom a table names by these keys. */
export async function askAllowances(
  port: TokenApprovals,
  owner: string,
  approvals: readonly ApprovalsOf[],
  told: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<LeftOf> {
  const named = approvalsSeen(approvals).filter(({ spender }) => told.has(matchKey(spender)));
  const cut = unread('token_approvals' as const, why('call_budget', { limit: String(LEFT_MAX) }));
  const asked = named.map(async (one, i) => {
    if (i >= LEFT_MAX) return [approvalKey(one), cut] as const;
    return [approvalKey(one), await port.left(one, owner, signal)] as const;
  });
  return new Map(await Promise.all(asked));
}

// Finds the transaction that set a fact naming a listed or flagged address. It reads only those
// facts, since a search of a chain's events or past states costs calls.

const ASKED_MAX = 8;
const SET: Readonly<Record<NamingFact, SetFact | null>> = {
  creator: null,
  factory: null,
  minimal_proxy_of: null,
  implementation: 'implementation',
  admin: 'admin',
  beacon: 'beacon',
  owner: 'owner',
  delegates_to: 'delegates_to',
};

/** A minimal proxy names what it was made with, by its creation alone. */
const MADE = unread(
  'chain_facts' as const,
  why('fact_not_told', { source: 'The code of a minimal proxy', fact: 'when it was made' }),
);

/** Asks who set the facts that name somebody whom a table names by these keys. */
export async function askSetters(
  facts: ChainFacts,
  account: string,
  named: Partly<readonly NamedByFact[], ChainFactsPort>,
  told: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<SetByOf> {
  const cut = unread('chain_facts' as const, why('call_budget', { limit: String(ASKED_MAX) }));
  const asked = listOrNone(rowsSeen(named))
    .filter((one) => one.tx === null && told.has(matchKey(one.address)))
    .map(async (one, i) => {
      const fact = SET[one.fact];
      if (fact === null) return [namedKey(one), MADE] as const;
      if (i >= ASKED_MAX) return [namedKey(one), cut] as const;
      const { chain, address } = one;
      const setBy = await facts.setBy(chain, account, { fact, address }, signal);
      return [namedKey(one), setBy] as const;
    });
  return new Map(await Promise.all(asked));
}

// Looks up the addresses that facts of an address name: owners, administrators and creators are
// looked up like counterparties. An unread fact may name anybody, so the result without it is a
// part.

/** The role of the address in each fact, in words that follow “its”. */
export const NAMED_AS = {
  creator: 'creator',
  factory: 'factory',
  implementation: 'implementation',
  admin: 'admin',
  beacon: 'beacon',
  owner: 'owner',
  minimal_proxy_of: 'minimal proxy’s contract',
  delegates_to: 'delegate',
} as const;
type NamingFact = keyof typeof NAMED_AS;

type Named = Partly<readonly NamedByFact[], ChainFactsPort>;

/** The name of one fact that names somebody, among those of one address. */
export function namedKey({ chain, fact, address }: NamedByFact): string {
  return `${chain} ${fact} ${address}`;
}

/** Everyone whom the facts name, chain by chain; read where every fact that could name was. */
export function namesInFacts(facts: readonly ChainFactsOf[]): Named {
  return flat(facts.map(namesOnChain));
}

function flat(readings: readonly Named[]): Named {
  return map(some(readings), (lists) => lists.flat());
}

function namesOnChain({ chain, facts, creation_asked }: ChainFactsOf): Named {
  const { code } = facts;
  const here = (fact: NamingFact, address: string | null): NamedByFact | null =>
    address === null ? null : { chain, fact, address, tx: null, block: null };
  // The code of a minimal proxy is what it was made with.
  const [made] = listOrNone(rowsSeen(map(facts.creation, ({ tx, block }) => [{ tx, block }])));
  const byCode = map(code, ({ delegates_to, minimal_proxy_of }) => {
    const proxied = here('minimal_proxy_of', minimal_proxy_of);
    const since = proxied === null || made === undefined ? proxied : Object.assign(proxied, made);
    return present([here('delegates_to', delegates_to), since]);
  });
  // An account without code names nobody by its state.
  const nobody = map(code, () => NOBODY);
  const byState = map(facts.authority, ({ implementation, admin, beacon, owner }) =>
    present([
      here('implementation', implementation),
      here('admin', admin),
      here('beacon', beacon),
      here('owner', owner),
    ]),
  );
  const ofState = hasNoCode(code) ? nobody : byState;
  if (!creation_asked) return flat([byCode, ofState]);
  const byCreation = map(facts.creation, ({ creator, factory, tx, block }) =>
    present([here('creator', creator), here('factory', factory)]).map((one) => {
      return { chain, fact: one.fact, address: one.address, tx, block };
    }),
  );
  return flat([byCode, ofState, wasNotMade(facts) ? nobody : byCreation]);
}

const NOBODY: readonly NamedByFact[] = Object.freeze([]);

/** Whether an address is known to have no code on a chain. */
export function hasNoCode(code: FactReadings['code']): boolean {
  const known = rowsSeen(map(code, ({ size }) => [size === 0]));
  return known?.[0] === true;
}

/**
 * Whether nobody made it, as far as can be known: an account of its own key, of which no source
 * knows a creation. A contract of which none is known was made by somebody.
 */
export function wasNotMade({ code, creation }: FactReadings): boolean {
  const known = rowsSeen(map(code, ({ size, delegates_to }) => [{ size, delegates_to }]));
  if (known?.[0].delegates_to != null) return true;
  if (known?.[0].size !== 0 || !(creation instanceof Unread)) return false;
  const { code: reason } = creation.why;
  return reason === 'creation_not_found' || reason === 'account_without_code';
}

export type ChainFactsOf = {
  readonly chain: EvmChainName;
  readonly facts: FactReadings;
  /** Whether who made it was asked there: an explorer's calls are counted. */
  readonly creation_asked: boolean;
};

/** An address that a fact names. `tx` and `block` are null for a fact of today's state. */
export type NamedByFact = {
  readonly chain: EvmChainName;
  readonly fact: NamingFact;
  readonly address: string;
  readonly tx: string | null;
  readonly block: number | null;
};

/** Which transactions set what facts name, by `namedKey`. */
export type SetByOf = ReadonlyMap<string, Partly<SetBy | null, ChainFactsPort>>;

/** The freezes by issuers of one chain's tokens. */
export type FreezesOf = {
  readonly chain: EvmChainName;
  readonly states: Partly<readonly FreezeState[], IssuerFreezesPort>;
};

/** The approvals of the address on one chain. */
export type ApprovalsOf = {
  readonly chain: EvmChainName;
  readonly given: Partly<ApprovalEvents, TokenApprovalsPort>;
};

/** The remaining amounts of approvals, by `approvalKey`. */
export type LeftOf = ReadonlyMap<string, Partly<TokenAllowance, TokenApprovalsPort>>;

// Shows the outcomes of the contracts that an address created, from its last committed walk. This
// answer starts no walk: an address without a record was never examined.

/** The record of what an address made. */
export type RecordHeld = Reading<CommittedRecord, DeployerRecordsPort>;

const SHOWN_MAX = 10;

/** The committed record, of an address of a kind that is walked. */
export async function recordHeld(
  records: Pick<DeployerRecords, 'heldOf'>,
  { kind, address }: ParsedAddress,
): Promise<RecordHeld> {
  if (kind !== 'evm') return unread('deployer_records', why('not_for_this_kind'));
  return records.heldOf(address);
}

/** The creations with their outcomes; null for kinds of addresses that are not walked. */
export function createdShown({ kind }: ParsedAddress, held: RecordHeld) {
  if (kind !== 'evm') return null;
  const record = held instanceof Read ? held.value : null;
  const whole = wholeRecord(held);
  // A record in part counts what it saw, and none of what it did not see.
  const claimCount = (count: (record: CommittedRecord) => number) =>
    claimOrNull(
      decide(whole, (one) => count(one) > 0),
      count,
    );
  const ordered = [...listOrNone(record?.launches)].sort(
    (a, b) =>
      Number(b.outcome === 'died') - Number(a.outcome === 'died') || b.created_at - a.created_at,
  );
  const shown = ordered.slice(0, SHOWN_MAX).map(({ address, outcome, created_at }) => {
    return { address, outcome, created_at: formatIsoTime(created_at) };
  });
  return {
    checked: claimWhole(whole),
    reason: whole instanceof Read ? null : whole.why.reason,
    captured_at: record === null ? null : formatIsoTime(record.captured_at),
    contracts: claimCount(({ launches, skipped }) => launches.length + skipped.length),
    died: claimCount(({ launches }) => countsOf(launches).died),
    survived: claimCount(({ launches }) => countsOf(launches).survived),
    never_listed: claimCount(({ launches }) => countsOf(launches).never_listed),
    unchecked: claimOrNull(held, ({ launches }) => countsOf(launches).unchecked),
    truncated: claimOrNull(held, ({ truncated }) => truncated),
    launches: shown.length === 0 ? null : shown,
  };
}
