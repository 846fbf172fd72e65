// Answers POST /api/v1/bulk/wallet-screen: one result for each address, from the tables held.
// It asks nobody outside, and it echoes nothing of a body that it refuses.

import { badInput } from '../../contract/refusals.ts';
import type { Handler } from '../../contract/route.ts';
import { why } from '../../evidence/reasons.ts';
import { bulkScreen, type ScreenPorts } from './bulk-screen.ts';
import { bulkWalletScreen } from './bulk-wallet-screen.contract.ts';
import type { Misformed } from './screen-subject.ts';

const SUBJECT = 'bulk';

/** The caveat of every screen. */
const SCREEN_CAVEAT =
  'A screen of the tables held here: the published sanctions list, the exchange-wallet table and ' +
  'the Solana launch corpus. No transfer, counterparty or chain was read, so it is no forensic ' +
  'reconstruction, and an address that these tables do not hold is not thereby shown to be ' +
  'anything. For the full record of one address ask GET /api/v1/wallet/{address}/score.';

/** What is said beside it where the list was read. */
const FORMS_CAVEAT =
  'Other forms of the same key or account were looked for on the list too: those that stand ' +
  'there are told in equivalent_forms, apart from sanctions.';

/** The handler of the bulk screen over the tables that it reads. */
export function bulkWalletScreenHandler(ports: ScreenPorts): Handler<typeof bulkWalletScreen> {
  return async ({ body: { addresses, tables } }, { now }) => {
    const screen = await bulkScreen(addresses, ports, { now: now(), tables });
    switch (screen.outcome) {
      case 'misformed':
        return badInput(screen.misformed.map(problemOf));
      case 'silent':
        return bulkWalletScreen.absent.not_deployed({ subject: SUBJECT, ...screen });
      case 'screened': {
        const { results, counts, rests, ageNotes, otherNames } = screen;
        const ofList = ageNotes === null ? [] : [FORMS_CAVEAT, ...ageNotes];
        const ofOthers = otherNames === null ? [] : [othersCaveat(otherNames)];
        const caveat = [SCREEN_CAVEAT, ...ofOthers, ...ofList].join(' ');
        const data = { results, requested: results.length, counts, caveat };
        return bulkWalletScreen.ok({ subject: SUBJECT, data, rests });
      }
    }
  };
}

/** What is said beside it where lists of other authorities were read. */
function othersCaveat(names: readonly string[]): string {
  return (
    `Lists of other authorities were read too (${names.join(', ')}): what they say stands in ` +
    'other_lists, apart from sanctions.'
  );
}

/** The problem of one position; the text that stood there is not repeated. */
function problemOf({ index, code }: Misformed): string {
  return why(code).reason.replace(/^address/, `addresses[${index}]`);
}
