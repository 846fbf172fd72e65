// Answers one question: how does a person find and read a receipt.
// What is shown is published; of drafts a person learns that there are some, and no more.

import { type PageFacts, page } from '../../pages/layout.tsx';
import { renderMarkdown } from '../../pages/markdown.ts';
import type { ShownReceipt } from './receipts-index.contract.ts';

const PATH = '/receipts';
const TITLE = 'Receipts';

/** A page of the index: what was sought, and what of it is shown. */
export type ReceiptsShown = {
  readonly sought: string;
  readonly receipts: readonly ShownReceipt[];
  readonly total: number;
  readonly published: number;
  readonly withheld: number;
  /** The numbers of this page and of the last one, from 1. */
  readonly at: number;
  readonly last: number;
};

/** The index of receipts; `reason` stands where the folder could not be read. */
export function receiptsIndexPage(
  facts: PageFacts,
  shown: ReceiptsShown | { readonly reason: string },
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

function Index({ shown }: { shown: ReceiptsShown }) {
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
        <a href="/receipts.atom">/receipts.atom</a>
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

function Entry({ receipt }: { receipt: ShownReceipt }) {
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

function Pages({ shown: { sought, at, last } }: { shown: ReceiptsShown }) {
  if (last <= 1) return null;
  const linkTo = (number: number) => {
    const query = new URLSearchParams({ ...(sought === '' ? {} : { q: sought }) });
    query.set('page', String(number));
    return `${PATH}?${query}`;
  };
  return (
    <nav aria-label="Pages of receipts">
      {at > 1 && (
        <a rel="prev" href={linkTo(at - 1)}>
          Newer
        </a>
      )}
      <span class="quiet">
        Page {at} of {last}
      </span>{' '}
      {at < last && (
        <a rel="next" href={linkTo(at + 1)}>
          Older
        </a>
      )}
    </nav>
  );
}

/** One receipt, with its text as Markdown. */
export function receiptArticle(facts: PageFacts, receipt: ShownReceipt, body: string): string {
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

/** What stands where a receipt is not published, or could not be read. */
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
