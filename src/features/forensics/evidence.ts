// Collects the evidence about one address from chain, tables and history. Every item names its
// basis. Items are never weighed, and a kind of finding is checked only if everything that it rests
// on was read completely.

import type { ParsedAddress } from '../../chain/address.ts';
import type { ChainName } from '../../chain/chain.ts';
import { formatIsoTime } from '../../chain/time.ts';
import { claim, claimOrNull, claimWhole } from '../../evidence/claim.ts';
import { listOrNone } from '../../evidence/measure.ts';
import {
  all,
  basis,
  both,
  decide,
  map,
  type Partly,
  Read,
  type Reading,
  rowsSeen,
  some,
  unread,
} from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { portInTime } from '../../evidence/waiting.ts';
import {
  type ChainFacts,
  FACT_NAMES,
  type FactReadings,
  type IssuerFreezes,
  type MixerRegistry,
  noFacts,
  type TokenApprovals,
} from '../../ports/accounts.ts';
import type { BridgeRegistry, TransactionReceipts } from '../../ports/bridges.ts';
import type { DeployerRecords } from '../../ports/deployers.ts';
import type {
  CoinJoins,
  EntityCluster,
  EntityClusters,
  EntityClustersPort,
} from '../../ports/entities.ts';
import type { CounterpartyRing, HistoryTransfer, TransferHistory } from '../../ports/history.ts';
import type { FlaggedAddresses } from '../../ports/rug-flags.ts';
import type { SanctionsList } from '../../ports/sanctions.ts';
import type { ExchangeLabels } from '../../ports/tables.ts';
import {
  type Contact,
  type TracePort,
  type TraceReadings,
  traceHistory,
} from '../bridges/trace.ts';
import {
  addressHistory,
  firstFundingTransfer,
  readOnce,
  sinceFirst,
} from '../history/address-history.ts';
import { proximity, WALK_LIMITS, type WalkPort } from '../sanctions/walk.ts';
import {
  approvalsOf,
  approvalsSeen,
  askAllowances,
  askSetters,
  factsInTime,
  freezesOf,
  MAIN_FACTS_CHAIN,
  namesInFacts,
  type RecordHeld,
  readAccountFacts,
  recordHeld,
  wasNotMade,
} from './facts-asked.ts';
import {
  type FindingDraft,
  type FindingInputs,
  type FindingKind,
  nameFinding,
  otherSide,
} from './finding.ts';
import { delegatedAccount, proxyAuthority } from './kinds/authority.ts';
import {
  bridgeContact,
  coinJoined,
  exchangeDeposit,
  exchangeWithdrawal,
  mixerContact,
} from './kinds/contacts.ts';
import {
  createdFlaggedContract,
  dustFromListed,
  flaggedCounterparty,
  flaggedInFacts,
  flaggedItself,
  fundedByFlagged,
  fundedByListed,
  issuerFreeze,
  labelledInFacts,
  listedCounterparty,
  listedInFacts,
  listedItself,
  openToFlagged,
  openToListed,
  wayToListed,
} from './kinds/listed.ts';
import { poisoningReceived } from './kinds/poisoning.ts';
import type { ACCOUNT_KINDS, FactPort, Finding, MeasuredFact } from './shapes.ts';

/** The ports that the evidence of one address is read from. */
export type ForensicPorts = {
  readonly sanctionsList: SanctionsList;
  readonly exchangeLabels: ExchangeLabels;
  readonly flaggedAddresses: FlaggedAddresses;
  readonly mixerRegistry: MixerRegistry;
  readonly bridgeRegistry: BridgeRegistry;
  readonly transactionReceipts: TransactionReceipts;
  readonly chainFacts: ChainFacts;
  readonly transferHistory: TransferHistory;
  readonly counterpartyRing: CounterpartyRing;
  readonly entityClusters: EntityClusters;
  readonly issuerFreezes: IssuerFreezes;
  readonly tokenApprovals: TokenApprovals;
  readonly deployerRecords: Pick<DeployerRecords, 'heldOf'>;
};

type ForensicRequest = { readonly signal: AbortSignal };

/** The outcome of one kind. A part shows what it found and is not checked. */
export type KindResult = {
  readonly kind: FindingKind;
  readonly found: Partly<readonly Finding[], never>;
};

/** The ports that every answer about findings rests on, whatever the kind of address. */
type CommonPort = 'transfer_history' | 'sanctions_list' | 'flagged_addresses' | 'exchange_labels';

export type ForensicEvidence = {
  readonly subject: ParsedAddress;
  readonly inputs: FindingInputs;
  /** The facts of the main chain; `null` where no chain facts apply to such an address. */
  readonly mainFacts: FactReadings | null;
  readonly kinds: readonly KindResult[];
  /** Read where every kind ran on inputs that were read: all findings then. */
  readonly checked: Partly<readonly Finding[], CommonPort>;
  readonly entity: Partly<EntityCluster | null, EntityClustersPort>;
  /** The record of contracts that it created. */
  readonly made: RecordHeld;
};

/** Gathers the evidence of one address. */
export async function forensicEvidence(
  untimed: ForensicPorts,
  subject: ParsedAddress,
  asked: ForensicRequest,
): Promise<ForensicEvidence> {
  const { signal } = asked;
  const ports = portsInTime(untimed, signal);
  const { address } = subject;
  const once = readOnce(ports.transferHistory);
  const [history, coinJoins, facts, entity, freezes, approvals, made] = await Promise.all([
    historyOf(once, subject, asked),
    coinJoinsOf(ports.entityClusters, subject),
    readAccountFacts(ports.chainFacts, subject, signal),
    entityOf(ports.entityClusters, subject),
    freezesOf(ports.issuerFreezes, subject, signal),
    approvalsOf(ports.tokenApprovals, subject, signal),
    recordHeld(ports.deployerRecords, subject),
  ]);
  const named = namesInFacts(facts);
  const transfers = listOrNone(rowsSeen(map(history, (own) => own.transfers)));
  // A walk leaves a hub alone, which only a reading under its own bounds tells of a cut history.
  const isCut = transfers.length >= WALK_LIMITS.rowsMax;
  const known = isCut ? ports.transferHistory : once;
  const others = transfers.map((one) => otherSide(one, address));
  const inFacts = listOrNone(rowsSeen(named)).map((one) => one.address);
  const allowed = approvalsSeen(approvals).map(({ spender }) => spender);
  const everyone = [...new Set([address, ...others, ...inFacts, ...allowed])];
  const [walk, tables] = await Promise.all([
    walkOf(ports, known, subject, asked),
    lookUpEveryone(ports, subject, everyone),
  ]);
  const { listed, flagged } = tables;
  const onList = listOrNone(rowsSeen(map(listed, ({ found }) => [...found.keys()])));
  const inFlags = listOrNone(rowsSeen(map(flagged, ({ found }) => [...found.keys()])));
  const told: ReadonlySet<string> = new Set([...onList, ...inFlags]);
  const [left, setBy, bridged] = await Promise.all([
    askAllowances(ports.tokenApprovals, address, approvals, told, signal),
    askSetters(ports.chainFacts, address, named, told, signal),
    bridgeContactsOf(
      { ...ports, transferHistory: once },
      { table: tables.bridges, history },
      address,
      asked,
    ),
  ]);
  const read = { subject, history, coinJoins, facts, named, freezes, approvals };
  const inputs = { ...read, ...tables, walk, left, setBy, bridged };
  const kinds = FINDING_KINDS.filter(({ appliesTo }) => appliesTo.includes(subject.kind)).map(
    (kind): KindResult => {
      const nameAll = (drafts: readonly FindingDraft[]) =>
        drafts.map((one) => nameFinding(kind, address, one));
      return { kind, found: map(kind.find(inputs), nameAll) };
    },
  );
  // It rests on the common ports by type and on all others by what the kinds were read from.
  const every = all(kinds.map(({ found }) => found));
  const whole = both({ history, listed, flagged, labels: tables.labels, every });
  const checked = map(whole, (one) => one.every.flat());
  const [main] = facts;
  const mainFacts = main === undefined ? null : main.facts;
  return { subject, inputs, mainFacts, kinds, checked, entity, made };
}

/** History and ring keep no time here: who walks them gives them theirs. */
function portsInTime(ports: ForensicPorts, signal: AbortSignal): ForensicPorts {
  return {
    sanctionsList: portInTime('sanctions_list', ports.sanctionsList, signal),
    exchangeLabels: portInTime('exchange_labels', ports.exchangeLabels, signal),
    flaggedAddresses: portInTime('flagged_addresses', ports.flaggedAddresses, signal),
    mixerRegistry: portInTime('mixer_registry', ports.mixerRegistry, signal),
    bridgeRegistry: portInTime('bridge_registry', ports.bridgeRegistry, signal),
    // A trace settles with the receipts that came before the signal.
    transactionReceipts: ports.transactionReceipts,
    chainFacts: factsInTime(ports.chainFacts, signal),
    transferHistory: ports.transferHistory,
    counterpartyRing: ports.counterpartyRing,
    entityClusters: portInTime('entity_clusters', ports.entityClusters, signal),
    issuerFreezes: portInTime('issuer_freezes', ports.issuerFreezes, signal),
    tokenApprovals: portInTime('token_approvals', ports.tokenApprovals, signal),
    deployerRecords: portInTime('deployer_records', ports.deployerRecords, signal),
  };
}

/** Every finding that was seen, of the kinds that ran and of those that ran in part. */
export function findingsSeen(kinds: readonly KindResult[]): Finding[] {
  return kinds.flatMap(({ found }) => {
    const shown = rowsSeen(found);
    return shown === null ? [] : [...shown];
  });
}

/** The readings behind what is shown: a finding that was seen is a fact, whatever went unread. */
export function readsBehind(kinds: readonly KindResult[]): Read<unknown, never>[] {
  return kinds
    .map(({ found }) => decide(found, (findings) => findings.length > 0))
    .filter((shown) => shown instanceof Read);
}

async function historyOf(
  history: TransferHistory,
  { kind, address }: ParsedAddress,
  { signal }: ForensicRequest,
): Promise<FindingInputs['history']> {
  // A kind of address without a chain here has no history to ask for, and none to walk.
  if (MAIN_CHAINS[kind] === null) {
    return unread('transfer_history', why('not_walked_kind', { kind }));
  }
  return addressHistory(history, address, { signal, chains: null });
}

async function walkOf(
  { sanctionsList: list, counterpartyRing: ring }: ForensicPorts,
  history: TransferHistory,
  subject: ParsedAddress,
  asked: ForensicRequest,
): Promise<FindingInputs['walk']> {
  const { kind } = subject;
  if (MAIN_CHAINS[kind] === null) {
    return unread<WalkPort>('transfer_history', why('not_walked_kind', { kind }));
  }
  return proximity({ list, history, ring, labels: null }, subject, WALK_LIMITS, asked);
}

/** The contacts with bridges on each chain of the registry that is read. */
async function bridgeContactsOf(
  ports: ForensicPorts,
  readings: TraceReadings,
  address: string,
  { signal }: ForensicRequest,
): Promise<FindingInputs['bridged']> {
  const rows = listOrNone(rowsSeen(map(readings.table, (table) => table.rows)));
  const whole = map(both(readings), (): readonly Contact[] => NO_CONTACT);
  if (rows.length === 0) return whole;
  const known = listOrNone(rowsSeen(await ports.transferHistory.chainsRead()));
  const chains = [...new Set(rows.map(({ chain }) => chain))].filter((one) => known.includes(one));
  const traces = chains.map(async (chain) => {
    const { trace } = await traceHistory(ports, readings, {
      address,
      chain,
      signal,
      receiptsOf: 'candidates',
    });
    return map(trace, ({ contacts }) => [
      ...[...contacts.bridging, ...contacts.messaging, ...contacts.provided],
    ]);
  });
  return map(some<readonly Contact[], TracePort>([whole, ...(await Promise.all(traces))]), (all) =>
    all.flat(),
  );
}

const NO_CONTACT: readonly Contact[] = Object.freeze([]);

/** The chain that stands for a kind of address; `null` where none is read here. */
export const MAIN_CHAINS: Readonly<Record<ParsedAddress['kind'], ChainName | null>> = {
  evm: 'ethereum',
  solana: 'solana',
  bitcoin: 'bitcoin',
  tron: null,
};

async function entityOf(
  clusters: EntityClusters,
  { kind, address }: ParsedAddress,
): Promise<ForensicEvidence['entity']> {
  const chain = MAIN_CHAINS[kind];
  if (chain === null) return unread('entity_clusters', why('not_walked_kind', { kind }));
  return clusters.clusterOf(chain, address);
}

async function coinJoinsOf(
  clusters: EntityClusters,
  { kind, address }: ParsedAddress,
): Promise<Partly<CoinJoins, EntityClustersPort>> {
  if (kind !== 'bitcoin') return unread('entity_clusters', why('not_for_this_kind'));
  return clusters.coinJoinsOf(address);
}

/** Registries of EVM contracts, for addresses of other kinds. */
const NO_MIXERS = unread('mixer_registry' as const, why('not_for_this_kind'));
const NO_BRIDGES = unread('bridge_registry' as const, why('not_for_this_kind'));

async function lookUpEveryone(
  ports: ForensicPorts,
  { kind }: ParsedAddress,
  everyone: readonly string[],
) {
  const ofEvm = kind === 'evm';
  const [listed, flagged, labels, mixers, bridges] = await Promise.all([
    ports.sanctionsList.lookUp(everyone),
    ports.flaggedAddresses.lookUp(everyone),
    ports.exchangeLabels.lookUp(everyone),
    ofEvm ? ports.mixerRegistry.lookUp(everyone) : NO_MIXERS,
    ofEvm ? ports.bridgeRegistry.table() : NO_BRIDGES,
  ]);
  return { listed, flagged, labels, mixers, bridges };
}

/** A fact whose value shows something; for such a fact a part counts too. */
export function factual<T, P extends string>(
  reading: Partly<T, P>,
  isSomething: (value: T) => boolean,
): Partly<T, P> {
  const settled: Reading<T, P> = decide(reading, isSomething);
  return settled instanceof Read ? settled : reading;
}

/** The kind of an address, by its code on a chain. A token needs both readings, an account one. */
export function accountKind(
  facts: FactReadings,
): Partly<(typeof ACCOUNT_KINDS)[number], 'chain_facts'> {
  const { code, is_token, creation } = facts;
  const bare = map(code, ({ size, delegates_to }) => size === 0 || delegates_to !== null);
  const shown = rowsSeen(map(bare, (one) => [one]));
  if (shown === null || (shown[0] && wasNotMade(facts))) return map(code, () => 'eoa' as const);
  // Somebody made it, and its code is gone: it destroyed itself.
  if (shown[0]) return map(both({ code, creation }), () => 'contract' as const);
  const kind = map(both({ code, is_token }), (read) => (read.is_token ? 'token' : 'contract'));
  return factual(kind, (one) => one === 'token');
}

/** The readings of every fact that was asked on the main chain. */
export function anyFact(facts: FactReadings): Partly<unknown[], 'chain_facts'> {
  return some<unknown, 'chain_facts'>(FACT_NAMES.map((name) => facts[name]));
}

// The facts of an address in its forensic record, each with its provenance. An unread fact is null,
// and its provenance gives the reason; zero is a measurement.

type Span = {
  readonly first: HistoryTransfer | null;
  readonly last: HistoryTransfer | null;
  readonly transactions: number;
  readonly funding: HistoryTransfer | null;
};

function spanOf({ history }: FindingInputs): Partly<Span | null, 'transfer_history'> {
  return map(sinceFirst(history), (known) => {
    if (known.gaps.length > 0) return null;
    const live = known.transfers.filter(({ success }) => success !== false);
    const [last] = live;
    const first = live.at(-1);
    return {
      first: first === undefined ? null : first,
      last: last === undefined ? null : last,
      transactions: new Set(live.map(({ chain, tx }) => `${chain} ${tx}`)).size,
      funding: firstFundingTransfer(known),
    };
  });
}

/** The facts of the main chain, and what history says. */
export function factsShown(inputs: FindingInputs, main: FactReadings | null) {
  const facts = main === null ? NO_FACTS : main;
  const span = spanOf(inputs);
  const code = valueSeen(facts.code);
  const creation = valueSeen(facts.creation);
  const kind = accountKind(facts);
  const lived = valueSeen(span);
  const funding = lived === null ? null : lived.funding;
  const powers = valueSeen(both({ code: facts.code, authority: facts.authority }));
  const transactions = map(span, (one) => (one === null ? null : one.transactions));
  return {
    chain: main === null ? null : MAIN_FACTS_CHAIN,
    kind: kind instanceof Read ? claim(kind, (one) => one) : null,
    first_seen: timeOf(lived === null ? null : lived.first),
    last_seen: timeOf(lived === null ? null : lived.last),
    transactions: claimOrNull(
      factual(transactions, (one) => one !== null && one > 0),
      (one) => one,
    ),
    ...stateOf(facts),
    creator: creation === null ? null : creation.creator,
    creation_tx: creation === null ? null : creation.tx,
    verified_name: valueSeen(facts.verified_name),
    funded_by:
      funding === null
        ? null
        : {
            address: funding.from,
            chain: funding.chain,
            tx: funding.tx,
            at: formatIsoTime(funding.at),
          },
    delegates_to: code === null ? null : code.delegates_to,
    authority:
      powers === null
        ? null
        : { ...powers.authority, minimal_proxy_of: powers.code.minimal_proxy_of },
  };
}

/** The numbers of an account's state: a zero is said only where it was read to its end. */
function stateOf(facts: FactReadings) {
  const size = map(facts.code, (code) => code.size);
  return {
    nonce: claimOrNull(factual(facts.nonce, isPositive), (one) => one),
    balance_wei: claimOrNull(
      factual(facts.balance_wei, (one) => one > 0n),
      String,
    ),
    code_size: claimOrNull(factual(size, isPositive), (one) => one),
  };
}

function isPositive(count: number): boolean {
  return count > 0;
}

function valueSeen<T>(reading: Partly<T, never>): T | null {
  const shown = rowsSeen(map(reading, (one) => [one]));
  return shown === null ? null : shown[0];
}

function timeOf(transfer: HistoryTransfer | null): string | null {
  return transfer === null ? null : formatIsoTime(transfer.at);
}

/**
 * The state of the address on the other chains whose node is asked; `null` where none is. What was
 * not read of a chain is null there, so that no chain drops out without a word.
 */
export function elsewhereOf({ facts }: FindingInputs) {
  const [, ...others] = facts;
  const asked = others.map(({ chain, facts: own }) => {
    const code = valueSeen(own.code);
    return { chain, ...stateOf(own), delegates_to: code === null ? null : code.delegates_to };
  });
  return asked.length === 0 ? null : asked;
}

/** Whence each fact is. */
export function provenanceOf(inputs: FindingInputs, main: FactReadings | null) {
  const facts = main === null ? NO_FACTS : main;
  const span = spanOf(inputs);
  const lived = measure(span);
  const code = measure(facts.code);
  const creation = measure(facts.creation);
  return {
    kind: measure(accountKind(facts)),
    first_seen: lived,
    last_seen: lived,
    transactions: lived,
    nonce: measure(facts.nonce),
    balance_wei: measure(facts.balance_wei),
    code_size: code,
    creator: creation,
    creation_tx: creation,
    verified_name: measure(facts.verified_name),
    funded_by: lived,
    delegates_to: code,
    authority: measure(both({ code: facts.code, authority: facts.authority })),
  };
}

function measure<P extends FactPort>(reading: Partly<unknown, P>): MeasuredFact<P> {
  const [source] = basis(reading).sources;
  return {
    measured: claimWhole(reading),
    source: source === undefined ? null : source.name,
    as_of: source === undefined ? null : source.as_of,
    reason: reading instanceof Read ? null : reading.why.reason,
  };
}

const NO_FACTS = noFacts(
  why('fact_not_told', {
    source: 'A source of chain facts',
    fact: 'anything of this kind of address',
  }),
);

/** Every kind, in the order in which answers list them. */
export const FINDING_KINDS: readonly FindingKind[] = [
  listedItself,
  listedCounterparty,
  wayToListed,
  fundedByListed,
  dustFromListed,
  listedInFacts,
  flaggedItself,
  flaggedCounterparty,
  fundedByFlagged,
  createdFlaggedContract,
  flaggedInFacts,
  poisoningReceived,
  mixerContact,
  coinJoined,
  bridgeContact,
  exchangeDeposit,
  exchangeWithdrawal,
  labelledInFacts,
  proxyAuthority,
  delegatedAccount,
  issuerFreeze,
  openToListed,
  openToFlagged,
];
