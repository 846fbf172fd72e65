import { z } from 'zod';
import { parseAddress } from '../../chain/address.ts';
import { parseIsoDate } from '../../chain/time.ts';
import { badAddress } from '../../contract/refusals.ts';
import { html, text } from '../../contract/reply.ts';
import { evidenceRoute, type Handler, plainRoute } from '../../contract/route.ts';
import {
  addressText,
  isoDay,
  missOf,
  prose,
  rowFact,
  rowFacts,
  words,
} from '../../contract/wire.ts';
import { Read } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { renderMarkdown } from '../../pages/guide.tsx';
import { type PageFacts, page } from '../../pages/layout.tsx';
import { Pager } from '../../pages/words.tsx';
import { type Receipt, type ReceiptFolder, receipt } from '../../ports/receipts.ts';
import { covering, selectPublished } from './covering.ts';

const INDEX = { restsOn: ['receipts'] } as const;

/** The most receipts of one answer, and how many where none is named. */
export const RECEIPTS_MAX = 50;
export const RECEIPTS_DEFAULT = 20;
const WORDS_CHARS_MAX = 200;

const receiptView = rowFacts(receipt)
  .omit({ body: true, transactions: true })
  .extend({
    date: isoDay,
    tags: rowFact(z.array(words()).readonly(), INDEX),
    url: words(z.url()),
  });

/** A receipt as the index shows it. */
export type ReceiptView = z.output<typeof receiptView>;

const filters = z.strictObject({
  address: addressText.optional(),
  q: z.string().trim().min(1).max(WORDS_CHARS_MAX).optional(),
  limit: z.coerce.number().int().min(1).max(RECEIPTS_MAX).optional(),
});

export const receiptsIndex = evidenceRoute({
  name: 'receipts_index',
  surface: 'hosted',
  method: 'GET',
  path: '/api/v1/receipts',
  summary: 'The published receipts: reviewed articles, each about one case, newest first.',
  access: 'analyst',
  query: filters,
  data: missOf(
    z.strictObject({
      receipts: z.array(receiptView).min(1).max(RECEIPTS_MAX),
      total: z.int().positive(),
      returned: z.int().positive(),
      published_total: z.int().positive(),
      drafts_withheld: rowFact(z.int().nonnegative(), INDEX),
      caveat: prose().min(1),
    }),
    INDEX,
  ),
  absences: ['insufficient_evidence', 'not_deployed'],
  tool: {
    name: 'receipts_index',
    description:
      'Finds the reviewed articles that this service published about an address (as subject or ' +
      'deployer) or under some words of title, description and tags. That none is found says ' +
      'nothing about an address.',
  },
});

export const receiptsPage = plainRoute({
  name: 'receipts_page',
  surface: 'web',
  method: 'GET',
  path: '/receipts',
  summary: 'The published receipts, for people.',
  access: 'open',
  query: z.strictObject({
    q: z.string().max(WORDS_CHARS_MAX).optional(),
    page: z.coerce.number().int().min(1).max(1_000).optional(),
  }),
  responses: { 200: html(), 503: html() },
});

export const receiptPage = plainRoute({
  name: 'receipt_page',
  surface: 'web',
  method: 'GET',
  path: '/receipts/{slug}',
  summary: 'One receipt, for people.',
  access: 'open',
  params: z.strictObject({ slug: z.string().regex(/^[a-z0-9-]{1,100}$/) }),
  responses: { 200: html(), 404: html(), 503: html() },
});

export const receiptsFeed = plainRoute({
  name: 'receipts_feed',
  surface: 'web',
  method: 'GET',
  path: '/receipts.atom',
  summary: 'The newest receipts, as an Atom feed.',
  access: 'open',
  responses: {
    200: text('application/atom+xml; charset=utf-8'),
    404: text('text/plain; charset=utf-8'),
    503: text('text/plain; charset=utf-8'),
  },
});

// The route says that no receipt covers a question only if the whole folder was read.

/** The ports of the index. `base` begins the links. */
export type ReceiptsPorts = {
  readonly receiptFolder: ReceiptFolder;
  readonly service: { readonly base: () => string };
};

const CAVEAT =
  'A receipt is an article about one case as it stood on its date. That no receipt names an ' +
  'address says nothing about it.';

/** @internal */
export function receiptsIndexHandler({
  receiptFolder,
  service,
}: ReceiptsPorts): Handler<typeof receiptsIndex> {
  return async ({ query: { address, q, limit } }) => {
    const parsed = address === undefined ? null : parseAddress(address);
    if (address !== undefined && parsed === null) return badAddress(address);
    const subject = parsed === null ? 'receipts' : parsed.address;
    const files = await receiptFolder.files();
    if (!(files instanceof Read))
      return receiptsIndex.absent.not_deployed({ subject, silent: files });
    const published = selectPublished(files.value);
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

/** @internal A receipt as the index shows it. */
export function receiptShown(
  { body: _, transactions: __, ...receipt }: Receipt,
  base: string,
): ReceiptView {
  return { ...receipt, url: `${base}/receipts/${receipt.slug}` };
}

// Only published receipts are shown; of drafts the page shows that some exist.

const PATH = receiptsPage.path;
const TITLE = 'Receipts';

/** A page of the index: what was sought, and what of it is shown. */
export type ReceiptsView = {
  readonly sought: string;
  readonly receipts: readonly ReceiptView[];
  readonly total: number;
  readonly published: number;
  readonly withheld: number;
  /** The numbers of this page and of the last one, from 1. */
  readonly at: number;
  readonly last: number;
};

/** @internal The index of receipts; `reason` stands where the folder could not be read. */
export function receiptsIndexPage(
  facts: PageFacts,
  shown: ReceiptsView | { readonly reason: string },
): string {
  return page({
    ...facts,
    title: TITLE,
    current: PATH,
    children:
      'reason' in shown ? (
        <>
          <h1>{TITLE}</h1>
          <p class="lead">The receipts could not be read: {shown.reason}</p>
        </>
      ) : (
        <Index shown={shown} />
      ),
  });
}

function Index({ shown }: { shown: ReceiptsView }) {
  const { sought, receipts, total, published, withheld } = shown;
  return (
    <>
      <h1>{TITLE}</h1>
      <p class="lead">
        Reviewed articles, each about one case as it stood on its date. That no receipt names an
        address says nothing about it.
      </p>
      <search>
        <form class="search" method="get" action={PATH}>
          <label for="q">An address, or words of a title, description or tag</label>
          <input id="q" name="q" type="search" value={sought} maxLength={200} />
          <button type="submit">Search</button>
        </form>
      </search>
      <p class="quiet">
        {sought === '' ? '' : `${total} of `}
        {published} published{withheld === 0 ? '' : `, ${withheld} held back`}. As a feed:{' '}
        <a href={receiptsFeed.path}>{receiptsFeed.path}</a>
      </p>
      {receipts.length === 0 ? (
        <p class="nothing">
          {published === 0
            ? 'No receipt is published here yet.'
            : 'No published receipt holds that. It is no statement about any address.'}
        </p>
      ) : (
        <ol class="entries">
          {receipts.map((one) => (
            <Entry key={one.id} receipt={one} />
          ))}
        </ol>
      )}
      <Pages shown={shown} />
    </>
  );
}

function Entry({ receipt }: { receipt: ReceiptView }) {
  const { slug, title, date, description, kind, tags } = receipt;
  return (
    <li>
      <h2>
        <a href={`${PATH}/${slug}`}>{title}</a>
      </h2>
      <p>{description}</p>
      <p class="quiet">
        <time dateTime={date}>{date}</time> · {[kind, ...tags].join(' · ')}
      </p>
    </li>
  );
}

function Pages({ shown: { sought, at, last } }: { shown: ReceiptsView }) {
  const linkTo = (number: number) => {
    const query = new URLSearchParams({ ...(sought === '' ? {} : { q: sought }) });
    query.set('page', String(number));
    return `${PATH}?${query}`;
  };
  return <Pager of="receipts" at={at} last={last} linkTo={linkTo} before="Newer" after="Older" />;
}

/** @internal One receipt, with its text as Markdown. */
export function receiptArticle(facts: PageFacts, receipt: ReceiptView, body: string): string {
  const { title, date, description, subject, deployer, kind, tags, id } = receipt;
  return page({
    ...facts,
    title,
    current: PATH,
    children: (
      <article>
        <h1>{title}</h1>
        <p class="lead">{description}</p>
        <dl class="facts">
          <dt>Date</dt>
          <dd>
            <time dateTime={date}>{date}</time>
          </dd>
          <dt>About</dt>
          <dd>
            <code>{subject}</code>
          </dd>
          <dt>Deployer</dt>
          <dd>
            <code>{deployer}</code>
          </dd>
          <dt>Kind</dt>
          <dd>{[kind, ...tags].join(' · ')}</dd>
          <dt>Receipt</dt>
          <dd>
            <code>{id}</code>
          </dd>
        </dl>
        <div class="prose" dangerouslySetInnerHTML={{ __html: renderMarkdown(body) }} />
        <p>
          <a href={PATH}>All receipts</a>
        </p>
      </article>
    ),
  });
}

/** @internal The page of a receipt that is not published, or could not be read. */
export function receiptMissing(facts: PageFacts, reason: string | null): string {
  return page({
    ...facts,
    title: TITLE,
    current: PATH,
    children: (
      <>
        <h1>{reason === null ? 'No such receipt' : TITLE}</h1>
        <p class="lead">
          {reason === null
            ? 'No published receipt has this name. It may have been withdrawn.'
            : `The receipts could not be read: ${reason}`}
        </p>
        <p>
          <a href={PATH}>All receipts</a>
        </p>
      </>
    ),
  });
}

const ENTRIES_MAX = 50;

/**
 * The feed of receipts, newest first. `now` (Unix seconds) dates a feed without any.
 * @internal
 */
export function receiptsFeedOf(receipts: readonly Receipt[], simulated: boolean, now: number) {
  const entries = receipts
    .slice(0, ENTRIES_MAX)
    .map(({ id, slug, title, date, description, subject }) => ({
      id,
      title,
      updated: Number(parseIsoDate(date)),
      link: { type: 'text/html', href: `${PATH}/${slug}` },
      text: `${description}\n${subject}`,
    }));
  const [newest] = entries;
  return {
    title: simulated ? `Simulated: ${TITLE}` : TITLE,
    updated: newest === undefined ? now : newest.updated,
    self: receiptsFeed.path,
    page: PATH,
    entries,
  };
}
