// The ports of the collectors, and what one of them is asked.

import type { ParsedAddress } from '../../chain/address.ts';
import { type ChainName, type EvmChainName, isEvmChain } from '../../chain/chain.ts';
import { type Partly, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { ChainFacts, IssuerFreezes } from '../../ports/accounts.ts';
import type { BridgeRegistry, TransactionReceipts } from '../../ports/bridges.ts';
import type { DeployerRecords, Venue, WalletLaunches } from '../../ports/deployers.ts';
import type { EntityClusters } from '../../ports/entities.ts';
import type { TransferHistory, TransferHistoryPort } from '../../ports/history.ts';
import type { LaunchListings } from '../../ports/launches.ts';
import type { FlaggedAddresses, LaunchWatch, RugFlags } from '../../ports/rug-flags.ts';
import type { PublishedModels } from '../../ports/rug-model.ts';
import type { SanctionsList } from '../../ports/sanctions.ts';
import type { ExchangeLabels } from '../../ports/tables.ts';
import type { TokenHolders } from '../../ports/token-holders.ts';
import type { AddressHistory } from '../history/address-history.ts';
import type { Gathering } from './bundle.ts';
import type { BundleTarget } from './shapes.ts';

/** The ports that evidence is collected over, each of the feature that answers from it. */
export type CollectorPorts = {
  /** Whether this deployment serves the simulated world. */
  readonly simulated: boolean;
  readonly sanctionsList: SanctionsList;
  readonly exchangeLabels: ExchangeLabels;
  readonly flaggedAddresses: FlaggedAddresses;
  readonly deployerRecords: Pick<DeployerRecords, 'heldOf'>;
  readonly walletLaunches: WalletLaunches;
  readonly chainFacts: ChainFacts;
  readonly issuerFreezes: IssuerFreezes;
  /** The mints of Solana. */
  readonly tokenHolders: TokenHolders;
  /** The pools of a token of an EVM chain, and whether one of Solana is listed. */
  readonly venueOn: (chain: EvmChainName) => Venue;
  readonly launchListings: LaunchListings;
  readonly bridgeRegistry: BridgeRegistry;
  readonly transactionReceipts: TransactionReceipts;
  readonly transferHistory: TransferHistory;
  readonly entityClusters: EntityClusters;
  readonly rugFlags: RugFlags;
  readonly launchWatch: LaunchWatch;
  readonly modelInForce: PublishedModels['inForce'];
};

/** What a collector is asked: the target, and the one reading of its history that several share. */
export type CollectorRequest = Gathering & {
  readonly target: BundleTarget;
  readonly kind: ParsedAddress['kind'];
  readonly signal: AbortSignal;
  readonly history: () => Promise<Partly<AddressHistory, TransferHistoryPort>>;
};

/** Asks about a target on an EVM chain; on any other nothing tells what is named. */
export async function onEvm<T, P extends string>(
  port: P,
  what: string,
  { target: { chain } }: CollectorRequest,
  ask: (chain: EvmChainName) => Promise<Partly<T, P>>,
): Promise<Partly<T, P>> {
  return isEvmChain(chain) ? ask(chain) : unread(port, untoldOn(chain, what));
}

/** Why a chain tells nothing of what is named, whatever is configured. */
export function untoldOn(chain: ChainName, what: string): Why {
  return why('no_evidence_source', { what: `${what} on ${chain}` });
}
