// Finds deposit addresses among the addresses that a subject pays, and tests the subject itself.
// Reads a second hop, for a bounded number of candidates. Never takes a contract for a deposit
// address, and leaves open the candidates that nothing shows to be either.

import { isSystemAddress } from '../../chain/address.ts';
import { isEvmChain } from '../../chain/chain.ts';
import { collect, present } from '../../evidence/measure.ts';
import {
  all,
  both,
  map,
  type Partly,
  Read,
  rowsSeen,
  some,
  Unread,
  weaken,
} from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { ChainFacts, ChainFactsPort, CodeFact } from '../../ports/accounts.ts';
import {
  type HistoryTransfer,
  signerOf,
  type TransferHistory,
  type TransferHistoryPort,
} from '../../ports/history.ts';

import type { ExchangeLabels, ExchangeLabelsPort } from '../../ports/tables.ts';
import {
  type AddressHistory,
  addCause,
  addressHistories,
  type Cause,
  type Causes,
  everyoneIn,
  type HistoryRequest,
} from '../history/address-history.ts';

import { compareText } from '../history/edge-rule.ts';
import { type LabelledNames, namesInLabels } from '../tables/labels.ts';
import { keptTransfers } from './activity.ts';
import { type InferredDeposit, inferDeposit, type Movement, OWN_RULE } from './inference.ts';

const CANDIDATES_MAX = 20;
/** How many transfers of one candidate are read: a user's deposit address has few. */
const CANDIDATE_ROWS_MAX = 2_000;

/** An inferred deposit address. */
export type SeenDeposit = {
  readonly inferred: InferredDeposit;
  /** The exchange as its label spells it. */
  readonly entity: string;
  /** True where it signed or has no code; `null`: nothing read shows whether it is a contract. */
  readonly externallyOwned: true | null;
  /** Whether its history was read to its end, so that nothing more could speak against it. */
  readonly whole: boolean;
  readonly first: HistoryTransfer;
};

/** Deposit addresses, and the second hop that they rest on. */
export type Deposits = {
  readonly deposits: readonly SeenDeposit[];
  /** How many of the addresses that the subject pays were asked for. */
  readonly candidates: number;
  /** Everything for which something went unseen; none where all was read to its end. */
  readonly causes: readonly Cause[];
};
type DepositsPort = ExchangeLabelsPort | TransferHistoryPort;

/** The ports from which deposits with exchanges are inferred. */
export type DepositsPorts = {
  readonly exchangeLabels: ExchangeLabels;
  readonly transferHistory: TransferHistory;
  readonly chainFacts: ChainFacts;
};
type History = Partly<AddressHistory, TransferHistoryPort>;

/**
 * The deposit addresses around a subject. A whole reading of none says that no candidate behaves
 * as one; anything unread, cut or past the bound makes it a part.
 */
export async function depositsAround(
  own: Exclude<History, Unread<TransferHistoryPort>>,
  isLabelled: (address: string) => boolean,
  ports: DepositsPorts,
  asked: HistoryRequest,
): Promise<Partly<Deposits, DepositsPort>> {
  const [{ address: subject, transfers }] = valueAsRead(own);
  // An exchange's own wallet is nobody's user: by the rule, nothing is a deposit address of it.
  const candidates = isLabelled(subject)
    ? NONE
    : candidatesOf(subject, keptTransfers(subject, transfers).kept, isLabelled);
  const taken = candidates.slice(0, CANDIDATES_MAX);
  const readings =
    taken.length === 0
      ? new Map<string, History>()
      : await addressHistories(ports.transferHistory, taken, {
          ...asked,
          rowsMax: CANDIDATE_ROWS_MAX,
        });
  const histories: ReadonlyMap<string, History> = new Map([[subject, own], ...readings]);
  const met: Causes = new Map();
  for (const reading of histories.values()) {
    if (!(reading instanceof Read)) addCause(met, reading.why);
  }
  if (candidates.length > CANDIDATES_MAX) {
    const counts = { candidates: String(candidates.length), limit: String(CANDIDATES_MAX) };
    addCause(met, why('deposit_candidates', counts));
  }
  const causes = [...met.values()];
  const inferred = await depositsIn(histories, ports, asked.signal);
  const told = map(inferred, (deposits): Deposits => {
    const near = deposits.filter(
      ({ inferred: { address, forwards } }) =>
        address === subject || forwards.some(({ user }) => user === subject),
    );
    return { deposits: near, candidates: taken.length, causes };
  });
  const [cause] = causes;
  return cause === undefined ? told : weaken(told, cause.why);
}

/**
 * The deposit addresses among those whose histories were read: the one way in which any answer
 * infers one. What nothing shows to be a contract or not stays in, and says so.
 */
export async function depositsIn(
  histories: ReadonlyMap<string, History>,
  { exchangeLabels, chainFacts }: Omit<DepositsPorts, 'transferHistory'>,
  signal: AbortSignal,
): Promise<Partly<readonly SeenDeposit[], DepositsPort>> {
  const look = await exchangeLabels.lookUp(everyoneIn(histories));
  const told = [...histories.values()].filter((one) => !(one instanceof Unread));
  const history = some(told.map((one) => map(one, () => null)));
  const met = map(both({ look, history }), (read) => {
    const exchanges = namesInLabels(read.look);
    return present(
      [...histories].map(([address, reading]) => judgeCandidate(address, reading, exchanges)),
    );
  });
  return withoutContracts(met, chainFacts, signal);
}

const NONE: readonly string[] = Object.freeze([]);

/** The part of a history that was read, whether or not it came to its end. */
export function valueAsRead<T>(
  reading: Exclude<Partly<T, never>, Unread<never>>,
): readonly [T, ...T[]] {
  const known = rowsSeen(map(reading, (one) => [one]));
  if (known === null) throw new Error('exchanges: a history that was read has a value');
  return known;
}

type Met = Partly<readonly SeenDeposit[], DepositsPort>;

/**
 * Asks the chain for the code of those of whom history does not show whether they are externally
 * owned. One that has code is left out; of one whose code was not read it stays open.
 */
async function withoutContracts(met: Met, facts: ChainFacts, signal: AbortSignal): Promise<Met> {
  const open = rowsSeen(map(met, (all) => all.filter((one) => one.externallyOwned === null)));
  if (open === null) return met;
  const codes = new Map<string, Partly<CodeFact, ChainFactsPort>>();
  for (const { inferred, first } of open) {
    if (!isEvmChain(first.chain)) continue;
    const { code } = await facts.of(first.chain, inferred.address, ['code'], signal);
    codes.set(inferred.address, code);
  }
  const sorted = map(met, (all) => all.flatMap((one) => classifyByCode(one, codes)));
  const told = [...codes.values()].filter((code) => !(code instanceof Unread));
  return map(both({ sorted, codes: all(told) }), ({ sorted: deposits }) => deposits);
}

function classifyByCode(
  deposit: SeenDeposit,
  codes: ReadonlyMap<string, Partly<CodeFact, ChainFactsPort>>,
): SeenDeposit[] {
  const code = codes.get(deposit.inferred.address);
  const told = code === undefined ? null : rowsSeen(map(code, (one) => [one]));
  if (told === null) return [deposit];
  const [{ size, delegates_to }] = told;
  // An account that delegates (EIP-7702) runs code and is still its owner's.
  const owned = size === 0 || delegates_to !== null;
  return owned ? [{ ...deposit, externallyOwned: true }] : [];
}

/** The unlabelled payees of the subject, by its kept transfers, most frequent first. */
export function candidatesOf(
  subject: string,
  kept: readonly HistoryTransfer[],
  isLabelled: (address: string) => boolean,
): string[] {
  const paid = new Map<string, HistoryTransfer[]>();
  for (const one of kept) {
    if (one.from === subject && one.raw_amount > 0n) collect(paid, one.to, one);
  }
  return [...paid]
    .filter(([address]) => !isLabelled(address) && !isSystemAddress(address))
    .sort((a, b) => b[1].length - a[1].length || compareText(a[0], b[0]))
    .map(([address]) => address);
}

function judgeCandidate(
  address: string,
  reading: History,
  exchanges: LabelledNames,
): SeenDeposit | null {
  const known = rowsSeen(map(reading, (one) => [one]));
  if (known === null || exchanges.owners.has(address)) return null;
  const { kept } = keptTransfers(address, known[0].transfers);
  const externallyOwned = isExternallyOwned(address, kept);
  if (externallyOwned === false) return null;
  const inferred = inferDeposit(address, kept.map(movementOf), exchanges, OWN_RULE);
  if (typeof inferred === 'string') return null;
  const entity = exchanges.names.get(inferred.exchange);
  const [first] = kept;
  if (entity === undefined || first === undefined) throw new Error('deposits: of no exchange');
  const whole = reading instanceof Read;
  return { inferred, entity, externallyOwned, whole, first };
}

/**
 * Whether an address is externally owned: it is where it signed a transaction, and is not where it
 * sent coins from inside one without ever signing.
 */
function isExternallyOwned(address: string, transfers: readonly HistoryTransfer[]): boolean | null {
  if (transfers.some((one) => signerOf(one) === address)) return true;
  const executed = transfers.some(
    ({ chain, kind, from }) => from === address && kind === 'internal' && isEvmChain(chain),
  );
  return executed ? false : null;
}

/** A transfer as `inferDeposit` takes it: in time, by its chain and token. */
export function movementOf(transfer: HistoryTransfer): Movement {
  const { chain, token, from, to, raw_amount, at, tx } = transfer;
  return { asset: `${chain} ${token === null ? COIN : token}`, from, to, raw_amount, when: at, tx };
}

const COIN = 'coin';

/** The transfers of an asset as `inferDeposit` names it: its chain and token. */
export function assetParts(asset: string): {
  readonly chain: string;
  readonly token: string | null;
} {
  const [chain = asset, token = COIN] = asset.split(' ');
  return { chain, token: token === COIN ? null : token };
}
