// Declares the dossier: everything that is answered of one address, part by part, for people.

import { z } from 'zod';
import { html, noBody } from '../../contract/reply.ts';
import { plainRoute } from '../../contract/route.ts';
import { addressText } from '../../contract/wire.ts';
import type { WireSource } from '../../evidence/source.ts';
import { walletBridges } from '../bridges/wallet-bridges.route.ts';
import type { DeployerRecordView } from '../deployers/deployer-record.route.tsx';
import type { walletEntityData } from '../entities/wallet-entity.route.ts';
import type { walletCex } from '../exchanges/wallet-cex.route.ts';
import type { walletScore } from '../forensics/wallet-score.route.ts';
import type { solanaDeployer } from '../launches/solana-deployer.route.ts';
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

const CHARS_MAX = 300;
const VISITOR = { surface: 'web', method: 'GET', access: 'visitor' } as const;
const PAGES = { 200: html(), 400: html() } as const;

export const dossierPage = plainRoute({
  ...VISITOR,
  name: 'dossier_page',
  path: '/address/{address}',
  summary: 'Everything that is answered of an address, for people.',
  params: z.strictObject({ address: addressText }),
  responses: PAGES,
});

export const dossierPartPage = plainRoute({
  ...VISITOR,
  name: 'dossier_part_page',
  path: '/address/{address}/{part}',
  summary: 'One part of the dossier of an address, with its JSON.',
  params: z.strictObject({ address: addressText, part: z.enum(PART_NAMES) }),
  query: z.strictObject({ chain: walletBridges.query.shape.chain.unwrap().optional() }),
  responses: PAGES,
});

export const searchPage = plainRoute({
  name: 'search_page',
  surface: 'web',
  method: 'GET',
  access: 'open',
  path: '/search',
  summary: 'Opens the dossier of the address that was searched for.',
  query: z.strictObject({ q: z.string().max(CHARS_MAX).optional() }),
  responses: { 303: noBody(), 400: html() },
  headers: { 303: { location: 'The page of what was searched for.' } },
});

/** The chains whose bridges can be asked for. */
export const BRIDGE_TRACE_CHAINS = walletBridges.query.shape.chain.unwrap().options;
export type BridgeTraceChain = (typeof BRIDGE_TRACE_CHAINS)[number];

type DataOf<R extends { readonly data: z.ZodType }> = z.output<R['data']>;
export type ListsData = DataOf<typeof walletOfac>;
export type EvidenceData = DataOf<typeof walletScore>;
export type EntityData = z.output<typeof walletEntityData>;
export type ExchangesData = DataOf<typeof walletCex>;
export type BridgesData = DataOf<typeof walletBridges>;
/** What became of launches: a record of Ethereum, or the settled launches of a Solana wallet. */
export type LaunchesData =
  | { readonly chain: 'ethereum'; readonly record: DeployerRecordView }
  | { readonly chain: 'solana'; readonly wallet: DataOf<typeof solanaDeployer> };

/** A source as the envelope shows it. */
export type PartSource = WireSource;

/**
 * What was answered of a part. `path`: of the route that answers it. `refused`: the route takes no
 * address of this form. `unasked`: it was not asked. `late`: it was asked, and had not answered.
 */
export type PartOf<D> = { readonly path: string } & (
  | {
      readonly state: 'ok';
      readonly data: D;
      readonly sources: readonly PartSource[];
      readonly json: string;
    }
  | {
      readonly state: 'insufficient_evidence' | 'not_supported' | 'not_deployed';
      readonly reason: string;
      readonly sources: readonly PartSource[];
      readonly json: string;
    }
  | { readonly state: 'refused' | 'unasked' | 'late'; readonly reason: string }
);

/** The parts that a page shows; `null`: it does not show that one. */
export type DossierParts = {
  readonly lists: PartOf<ListsData> | null;
  readonly evidence: PartOf<EvidenceData> | null;
  readonly entity: PartOf<EntityData> | null;
  readonly exchanges: PartOf<ExchangesData> | null;
  readonly bridges: PartOf<BridgesData> | null;
  readonly launches: PartOf<LaunchesData> | null;
};

/** All that a page of a dossier shows. */
export type Dossier = {
  /** As its kind of address is written. */
  readonly subject: string;
  readonly kind: 'evm' | 'solana' | 'bitcoin' | 'tron' | 'other';
  readonly now: number;
  /** What examples begin with. */
  readonly base: string;
  /** Why nothing was read from outside sources; `null` where it was. */
  readonly unread: { readonly reason: string; readonly signIn: boolean } | null;
  readonly parts: DossierParts;
};

/** Draws the pages. */
export type DossierPages = {
  readonly whole: (dossier: Dossier) => string;
  readonly part: (dossier: Dossier, name: PartName) => string;
  readonly notFound: (sought: string, problem: string) => string;
};
