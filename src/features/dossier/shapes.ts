import type { z } from 'zod';
import type { Absence } from '../../contract/answer.ts';
import type { Caller } from '../../contract/route.ts';
import type { ReasonCode } from '../../evidence/reasons.ts';
import type { WireSource } from '../../evidence/source.ts';
import { walletBridges } from '../bridges/wallet-bridges.route.ts';
import type { DeployerRecordView } from '../deployers/deployer-record.route.tsx';
import type { walletEntityData } from '../entities/wallet-entity.route.ts';
import type { walletCex } from '../exchanges/wallet-cex.route.ts';
import type { walletScore } from '../forensics/wallet-score.route.ts';
import type { solanaDeployer } from '../launches/solana-deployer.route.ts';
import type { receiptsIndex } from '../receipts/receipts-index.route.tsx';
import type { walletOfac } from '../sanctions/wallet-ofac.route.ts';

/** The parts of a dossier, in the order in which they are shown. */
export const PART_NAMES = [
  'lists',
  'evidence',
  'entity',
  'exchanges',
  'bridges',
  'launches',
] as const;
export type PartName = (typeof PART_NAMES)[number];

/** What has a page of its own: each part, and the neighbours that several parts tell of. */
export const ALONE_NAMES = [...PART_NAMES, 'ways'] as const;
export type AloneName = (typeof ALONE_NAMES)[number];

/** The chains whose bridges can be asked for. */
export const BRIDGE_TRACE_CHAINS = walletBridges.query.shape.chain.unwrap().options;
export type BridgeTraceChain = (typeof BRIDGE_TRACE_CHAINS)[number];

type DataOf<R extends { readonly data: z.ZodType }> = z.output<R['data']>;
export type ListsData = DataOf<typeof walletOfac>;
export type EvidenceData = DataOf<typeof walletScore>;
export type EntityData = z.output<typeof walletEntityData>;
export type ExchangesData = DataOf<typeof walletCex>;
export type BridgesData = DataOf<typeof walletBridges>;
/** Outcomes of launches: a record of Ethereum, or the settled launches of a Solana wallet. */
export type LaunchesData =
  | { readonly chain: 'ethereum'; readonly record: DeployerRecordView }
  | { readonly chain: 'solana'; readonly wallet: DataOf<typeof solanaDeployer> };

export type ReceiptsData = DataOf<typeof receiptsIndex>;

/** A source as the envelope shows it. */
export type PartSource = WireSource;

/**
 * The answer of a part. `path`: of the route that answers it. `refused`: the route takes no address
 * of this form. `unasked`: it was not called. `late`: it did not answer in time. `failed`: a fault
 * of the service.
 * `ran_out`: the time of the page for it was over before it answered.
 */
export type PartOf<D> = { readonly path: string; readonly ran_out: boolean } & (
  | {
      readonly state: 'ok';
      readonly data: D;
      readonly sources: readonly PartSource[];
      readonly json: string;
    }
  | {
      readonly state: Absence;
      readonly code: ReasonCode;
      readonly reason: string;
      readonly sources: readonly PartSource[];
      readonly json: string;
    }
  | { readonly state: 'refused' | 'unasked' | 'late' | 'failed'; readonly reason: string }
);

/** Reads each part when it is first asked for. */
export type PartReaders = {
  readonly lists: () => Promise<PartOf<ListsData>>;
  readonly evidence: () => Promise<PartOf<EvidenceData>>;
  readonly entity: () => Promise<PartOf<EntityData>>;
  readonly exchanges: () => Promise<PartOf<ExchangesData>>;
  readonly bridges: () => Promise<PartOf<BridgesData>>;
  readonly launches: () => Promise<PartOf<LaunchesData>>;
  readonly receipts: () => Promise<PartOf<ReceiptsData>>;
};

/** The parts as they were read. */
export type DossierParts = {
  readonly [N in keyof PartReaders]: Awaited<ReturnType<PartReaders[N]>>;
};

/** The facts of a dossier's page that rest on none of its parts. */
export type DossierHead = {
  /** As its kind of address is written. */
  readonly subject: string;
  readonly kind: 'evm' | 'solana' | 'bitcoin' | 'tron' | 'other';
  readonly now: number;
  /** The start of examples. */
  readonly base: string;
  readonly caller: Caller;
  /** Why nothing was read from outside sources; `null` where it was. */
  readonly unread: { readonly reason: string; readonly signIn: boolean } | null;
};

/** The rows of a page: findings of one kind, and which page of findings or neighbours. */
export type FindingsRange = {
  readonly kind: string | undefined;
  readonly page: number | undefined;
};
