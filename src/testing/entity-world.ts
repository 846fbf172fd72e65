// One subject with a like of its own, a deposit address, a funder and a hot wallet.

import { Reply } from '../contract/answer.ts';
import { entityAnswers, walletEntityData } from '../features/entities/wallet-entity.route.ts';
import type { Creation } from '../ports/accounts.ts';
import type { HistoryTransfer } from '../ports/history.ts';
import type { ExchangeLabel } from '../ports/tables.ts';
import { evm } from './addresses.ts';
import { STILL_NOW } from './clock.ts';
import { clustersIn, embeddedControl } from './control-store.ts';
import { memoryChainFacts, memoryCreations } from './twins/accounts.ts';
import { memoryTransfer } from './twins/history.ts';
import { labelOf } from './twins/tables.ts';
import { walkedPorts } from './walked-world.ts';

/** The people and wallets of the world. */
export const SUBJECT = evm('subject');
export const OTHER = evm('other');
export const THIRD = evm('third');
export const DEPOSIT = evm('deposit');
export const HOT = evm('hot');
export const FUNDER = evm('funder');
const TARGETS = [evm('target a'), evm('target b'), evm('target c')];
const TIP_AGE_S = 3_600;
/** Moments lie days apart: within minutes of each other they are chance. */
const DAYS_S = 300_000;
/** The label of the hot wallet. */
export const LABEL = labelOf(HOT, 'Exemplar');

type Over = Partial<HistoryTransfer>;
/** A transfer by its number. */
export const t = (n: number, from: string, to: string, over: Over = {}) =>
  memoryTransfer(n, from, to, over);

/** Two users of one deposit address, which passes everything on. */
export const DEPOSITS = [
  t(10, SUBJECT, DEPOSIT),
  t(11, DEPOSIT, HOT),
  t(20, OTHER, DEPOSIT),
  t(21, DEPOSIT, HOT),
];
/** The separate acts of both addresses. */
export const ACTED = [t(5, SUBJECT, evm('one shop')), t(6, OTHER, evm('another shop'))];
/** Their first coins, from one funder. */
export const FUNDED = [t(1, FUNDER, SUBJECT), t(2, FUNDER, OTHER), ...ACTED];
/** Transfers both ways, and three moments of acting alike. */
export const LOCKSTEP = [
  t(100, SUBJECT, OTHER),
  t(101, OTHER, SUBJECT),
  ...TARGETS.flatMap((target, n) => [
    t(200 + n * DAYS_S, SUBJECT, target),
    t(201 + n * DAYS_S, OTHER, target),
  ]),
];
const CODE = { size: 45, delegates_to: null, minimal_proxy_of: null };
/** Two contracts that the subject made. */
export const CREATED: readonly Creation[] = [evm('contract a'), evm('contract b')].map(
  (created, n) => ({
    chain: 'ethereum',
    created,
    creator: SUBJECT,
    signer: SUBJECT,
    tx: `0x${n}`,
    block: 300 + n,
    at: 1_780_000_000 + n,
  }),
);

type Setting = {
  readonly transfers?: readonly HistoryTransfer[];
  readonly labels?: readonly ExchangeLabel[] | null;
  readonly creations?: readonly Creation[];
  readonly wholeCreations?: boolean;
  readonly simulated?: boolean;
  /** Those of whom the node tells code. */
  readonly contracts?: readonly string[];
  readonly history?: Parameters<typeof walkedPorts>[0]['history'];
};

const fresh = embeddedControl();

/** The ports of an entity over a world. One is asked to its end before the next one is. */
export function world(setting: Setting = {}) {
  const {
    transfers = [],
    labels = [LABEL],
    simulated = false,
    creations = [],
    contracts = [],
  } = setting;
  const { history: transferHistory, ...over } = walkedPorts({
    now: STILL_NOW,
    transfers,
    listed: [],
    labels,
    simulated,
    ...(setting.history === undefined ? {} : { history: setting.history }),
  });
  const whole = setting.wholeCreations !== false;
  const made = { creations, whole, simulated, as_of: STILL_NOW };
  const ports = {
    entityTies: clustersIn(fresh(), simulated),
    exchangeLabels: over.labels,
    transferHistory,
    contractCreations: memoryCreations(made),
    chainFacts: memoryChainFacts({
      chains: ['ethereum'],
      facts: contracts.map((address) => ({ chain: 'ethereum', address, code: CODE })),
      as_of: STILL_NOW - 60,
      simulated,
    }),
  };
  return { ports };
}
/** The ports of an entity as a world makes them. */
export type Ports = ReturnType<typeof world>['ports'];

/** Requests the route, and returns its answer or refusal. */
export async function askWalletEntity(
  address: string,
  ports: Ports,
  query: { chain?: 'ethereum' | 'base' | 'solana' | 'bitcoin'; explain?: string } = {},
  signal = new AbortController().signal,
) {
  const asked = { now: () => STILL_NOW, signal };
  return entityAnswers(ports, { tipMaxAgeS: TIP_AGE_S })(address, query, asked);
}

/** The body that the route answers. */
export async function dataOfEntity(...args: Parameters<typeof askWalletEntity>) {
  const reply = await askWalletEntity(...args);
  if (!(reply instanceof Reply)) throw new Error('refused');
  return walletEntityData.parse(reply.body);
}
