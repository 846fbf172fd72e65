import { z } from 'zod';
import { badInput } from '../../contract/refusals.ts';
import { evidenceRoute, type Handler } from '../../contract/route.ts';
import { addressText, prose, sharedShape } from '../../contract/wire.ts';
import { why } from '../../evidence/reasons.ts';
import { bulkScreen, type ScreenPorts } from './bulk-screen.ts';
import {
  SCREENED_TABLES,
  screenResult,
  stateCounts,
  type TableName,
  unreadTable,
} from './shapes.ts';

const BULK_ADDRESSES_MAX = 500;
/** The largest body that is read. */
export const BULK_BODY_BYTES_MAX = 256 * 1024;

/** The input of a bulk screen. */
export const bulkAsked = sharedShape(
  'ScreenRequest',
  z.strictObject({
    addresses: z.array(addressText).min(1).max(BULK_ADDRESSES_MAX),
    tables: z
      .array(z.enum(SCREENED_TABLES))
      .min(1)
      .max(SCREENED_TABLES.length)
      .describe('The tables to look in; without it all of them.')
      .optional(),
  }),
);

export const bulkWalletScreen = evidenceRoute({
  name: 'bulk_wallet_screen',
  surface: 'hosted',
  method: 'POST',
  path: '/api/v1/bulk/wallet-screen',
  summary: 'One result for each of up to 500 addresses, from the tables held. No outside call.',
  access: 'desk',
  bodyBytesMax: BULK_BODY_BYTES_MAX,
  body: bulkAsked,
  data: z.strictObject({
    results: z.array(screenResult).min(1),
    requested: z.int().positive(),
    counts: stateCounts,
    unread: z
      .array(unreadTable)
      .min(1)
      .nullable()
      .describe('The tables that were asked and not read to their end, each with the reason.'),
    caveat: prose().min(1),
  }),
  absences: ['not_deployed'],
  tool: null,
});

// The screen asks nobody outside, and a refusal echoes nothing of the body.

const SUBJECT = 'bulk';

const TABLE_NAMES: { readonly [T in TableName]: string } = {
  sanctions_list: 'the published sanctions list',
  exchange_table: 'the exchange-wallet table',
  launch_corpus: 'the Solana launch corpus',
  other_lists: 'the lists of other authorities',
};
/** Which tables an answer without a choice of them is about; what the others held says more. */
const USUAL_TABLES = ['sanctions_list', 'exchange_table', 'launch_corpus'] as const;

const AND = new Intl.ListFormat('en-GB', { type: 'conjunction' });

/** The caveat names the tables that were asked alone. */
function screenCaveat(asked: readonly TableName[] = USUAL_TABLES): string {
  const names = AND.format([...new Set(asked)].map((table) => TABLE_NAMES[table]));
  return (
    `A screen of the tables held here: ${names}. No transfer, counterparty or chain was read, so ` +
    'it is no forensic reconstruction, and an address that these tables do not hold is not ' +
    'thereby shown to be anything. For the full record of one address ask GET ' +
    '/api/v1/wallet/{address}/score.'
  );
}

const FORMS_CAVEAT =
  'Other forms of the same key or account were looked for on the list too: those that stand ' +
  'there are told in equivalent_forms, apart from sanctions.';

/** @internal The handler of the bulk screen over the tables that it reads. */
export function bulkWalletScreenHandler(ports: ScreenPorts): Handler<typeof bulkWalletScreen> {
  return async ({ body: { addresses, tables } }, { now }) => {
    const screen = await bulkScreen(addresses, ports, { now: now(), tables });
    switch (screen.outcome) {
      case 'misformed':
        return badInput(
          screen.misformed.map(({ index, code }) => ({
            path: ['addresses', index],
            says: why(code).reason,
          })),
        );
      case 'silent':
        return bulkWalletScreen.absent.not_deployed({ subject: SUBJECT, ...screen });
      case 'screened': {
        const { results, counts, unread, rests, ageNotes, otherNames } = screen;
        const ofList = ageNotes === null ? [] : [FORMS_CAVEAT, ...ageNotes];
        const ofOthers =
          otherNames === null
            ? []
            : [
                `Lists of other authorities were read too (${otherNames.join(', ')}): what they ` +
                  'say stands in other_lists, apart from sanctions.',
              ];
        const caveat = [screenCaveat(tables), ...ofOthers, ...ofList].join(' ');
        const data = { results, requested: results.length, counts, unread, caveat };
        return bulkWalletScreen.ok({ subject: SUBJECT, data, rests });
      }
    }
  };
}
