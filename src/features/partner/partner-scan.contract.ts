// Declares POST /api/v1/scan/{address}: the answers of several routes about one address, for a
// partner that asks on behalf of its own users.

import { z } from 'zod';
import { sectionsOf } from '../../contract/embedded.ts';
import { evidenceRoute } from '../../contract/route.ts';
import { addressText, harmless, oneOf, prose } from '../../contract/wire.ts';
import { walletBridges } from '../bridges/wallet-bridges.contract.ts';
import { walletCex } from '../exchanges/wallet-cex.contract.ts';
import { walletScore } from '../forensics/wallet-score.contract.ts';
import { walletOfac } from '../sanctions/wallet-ofac.contract.ts';

/** The sections that may be asked for. One whose route is not served here is not among them. */
export const SECTION_NAMES = ['ofac', 'exchange', 'bridges', 'evidence'] as const;
export type Section = (typeof SECTION_NAMES)[number];

/** The route of each section. */
export const SECTION_ROUTES = {
  ofac: walletOfac,
  exchange: walletCex,
  bridges: walletBridges,
  evidence: walletScore,
} as const satisfies { readonly [S in Section]: unknown };

const refused = z.strictObject({ section: oneOf(SECTION_NAMES), error: prose().min(1) });

export const partnerScan = evidenceRoute({
  name: 'partner_scan',
  surface: 'hosted',
  method: 'POST',
  path: '/api/v1/scan/{address}',
  summary: 'Several routes about one address at once, for partners: each answer as its route’s.',
  access: 'partner',
  params: z.strictObject({ address: addressText }),
  body: z
    .strictObject({
      /** The chain of the section `bridges`. */
      chain: walletBridges.query.shape.chain.unwrap().optional(),
      /** All of them, where none is named. */
      sections: z.array(z.enum(SECTION_NAMES)).min(1).max(SECTION_NAMES.length).optional(),
    })
    .optional(),
  data: z.strictObject({
    sections: sectionsOf(SECTION_ROUTES),
    refused: harmless(z.array(refused), 'it is about the sections that were asked for'),
    caveat: prose().min(1),
  }),
  absences: ['not_supported', 'not_deployed'],
  tool: null,
});
