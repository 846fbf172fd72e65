// Answers GET /api/v1/receipts from the folder of receipts.
// It refuses to say that no receipt covers a question unless the whole folder was read.

import { describeMisform, parseAddress } from '../../chain/address.ts';
import { badInput } from '../../contract/refusals.ts';
import type { Handler } from '../../contract/route.ts';
import { Read } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Receipt, ReceiptFolder } from '../../ports/receipts/published-receipts.ts';
import { covering, publishedOf } from './covering.ts';
import { RECEIPTS_DEFAULT, receiptsIndex, type ShownReceipt } from './receipts-index.contract.ts';

/** What the index rests on. `base` begins the links. */
export type ReceiptsGiven = {
  readonly receiptFolder: ReceiptFolder;
  readonly service: { readonly base: () => string };
};

const CAVEAT =
  'A receipt is an article about one case as it stood on its date. That no receipt names an ' +
  'address says nothing about it.';

/** The handler of the index. */
export function receiptsIndexHandler({
  receiptFolder,
  service,
}: ReceiptsGiven): Handler<typeof receiptsIndex> {
  return async ({ query: { address, q, limit } }) => {
    const parsed = address === undefined ? null : parseAddress(address);
    if (address !== undefined && parsed === null) {
      const misform = describeMisform(address);
      return badInput([why(misform === null ? 'form_not_recognised' : misform).reason]);
    }
    const subject = parsed === null ? 'receipts' : parsed.address;
    const files = await receiptFolder.files();
    if (!(files instanceof Read))
      return receiptsIndex.absent.not_deployed({ subject, silent: files });
    const published = publishedOf(files.value);
    const asked = { address: parsed === null ? null : parsed.address, words: q ?? null };
    const found = covering(published, asked);
    const [first, ...more] = found
      .slice(0, limit === undefined ? RECEIPTS_DEFAULT : limit)
      .map((one) => receiptShown(one, service.base()));
    if (first === undefined) {
      const told = { published: String(published.length) };
      return receiptsIndex.absent.insufficient_evidence({
        subject,
        why: why('no_receipt', told),
        consulted: [files],
      });
    }
    return receiptsIndex.ok({
      subject,
      rests: [files],
      data: {
        receipts: [first, ...more],
        total: found.length,
        returned: 1 + more.length,
        published_total: published.length,
        drafts_withheld: files.value.length - published.length,
        caveat: CAVEAT,
      },
    });
  };
}

/** A receipt as the index shows it. */
export function receiptShown({ body: _, tags, ...receipt }: Receipt, base: string): ShownReceipt {
  return { ...receipt, tags: [...tags], url: `${base}/receipts/${receipt.slug}` };
}
