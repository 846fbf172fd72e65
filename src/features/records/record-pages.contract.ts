// Declares /screens: the records of the membership of a browser, and each as a page to file.

import { z } from 'zod';
import { html } from '../../contract/media.ts';
import { plainRoute } from '../../contract/route.ts';
import type { walletOfac } from '../sanctions/wallet-ofac.contract.ts';
import type { bulkWalletScreen } from '../screening/bulk-wallet-screen.contract.ts';
import type { screenRecord } from './records.contract.ts';

const SESSION = { surface: 'web', access: 'session', method: 'GET' } as const;
const ID_CHARS_MAX = 64;

export const screensPage = plainRoute({
  ...SESSION,
  name: 'screens_page',
  path: '/screens',
  summary: 'The newest records of screens of the membership of this browser.',
  responses: { 200: html(), 503: html() },
});

export const screenPage = plainRoute({
  ...SESSION,
  name: 'screen_page',
  path: '/screens/{id}',
  summary: 'A record of a screen, to print and to file.',
  params: z.strictObject({ id: z.string().min(1).max(ID_CHARS_MAX) }),
  responses: { 200: html(), 404: html(), 503: html() },
});

/** A record as its route shows it, and its answer taken apart where this version can. */
export type RecordShown = {
  readonly record: z.output<(typeof screenRecord.responses)[200]>;
  readonly subject: string;
  readonly answered:
    | { readonly route: 'wallet_ofac'; readonly data: z.output<typeof walletOfac.data> }
    | {
        readonly route: 'bulk_wallet_screen';
        readonly data: z.output<typeof bulkWalletScreen.data>;
      }
    | null;
  /** What links and examples begin with. */
  readonly base: string;
};

/** A record as it is listed. */
export type RecordListed = {
  readonly id: string;
  readonly made_at: string;
  readonly about: string;
  readonly state: string;
  readonly answer_sha256: string;
};

/** Records, newest first; `null`: there is none. */
export type RecordsListed = {
  readonly records: readonly RecordListed[] | null;
  readonly whole: boolean;
};

/** Draws the pages of records. */
export type DrawRecords = {
  readonly list: (shown: RecordsListed) => string;
  readonly one: (shown: RecordShown) => string;
  readonly unread: (reason: string) => string;
  readonly unknown: () => string;
};
