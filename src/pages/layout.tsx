// The layout of every page, and pages with a single message. No inline style or script, no external
// resource.

import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { Refusal, RefusalCode } from '../contract/refusals.ts';
import { type ExplorerPages, Explorers } from './explorer.tsx';

/** Pages that belong together in the navigation. */
export type PageGroup = {
  readonly group: string;
  readonly pages: readonly { readonly path: string; readonly link: string }[];
};

/** The facts that every page shows. */
export type PageFacts = {
  readonly simulated: boolean;
  readonly version: string;
  /** The pages of the navigation by group, in order. */
  readonly links: readonly PageGroup[];
  /** The explorers that are linked, by chain. */
  readonly explorers: ExplorerPages;
};

type LayoutProps = PageFacts & {
  readonly title: string;
  readonly current: string;
  readonly children: ComponentChildren;
};

function Layout(props: LayoutProps) {
  const { title, current, simulated, version, links, children } = props;
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} · Exhibit`}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/assets/exhibit.css" />
        <script async src="/assets/exhibit.js" />
      </head>
      <body>
        <a class="skip" href="#content">
          Skip to the content
        </a>
        {simulated && (
          <aside class="simulated" aria-label="Simulated">
            <strong>Simulated.</strong> Everything served here is made up. Nothing on this page says
            anything about a real address.
          </aside>
        )}
        <header class="top">
          <a class="mark" href="/">
            Exhibit
          </a>
          {current !== '/' && <SearchInHeader />}
          <button class="plain menu" type="button" popovertarget="pages">
            Pages
          </button>
          {/* Where the page is narrow, the button opens it; else it stands there. */}
          <nav id="pages" aria-label="Pages" popover="auto">
            {links.map(({ group, pages }, at) => (
              <div key={group}>
                <span id={`pages-${at}`}>{group}</span>
                <ul aria-labelledby={`pages-${at}`}>
                  {pages.map(({ path, link }) => (
                    <li key={path}>
                      <a href={path} {...(path === current ? { 'aria-current': 'page' } : {})}>
                        {link}
                      </a>
                    </li>
                  ))}
                </ul>
              </div>
            ))}
          </nav>
        </header>
        <main id="content">{children}</main>
        <footer>
          <p>
            A record of what was observed. Nothing here is investment, legal or tax advice, or a
            recommendation to transact. Version {version}.
          </p>
        </footer>
      </body>
    </html>
  );
}

function SearchInHeader() {
  return (
    <search>
      <form class="seek" action="/search" method="get">
        <label class="hidden" for="seek">
          Search for an address
        </label>
        <input
          id="seek"
          name="q"
          type="search"
          required
          maxLength={300}
          spellcheck={false}
          autocomplete="off"
          placeholder="Search for an address"
        />
        <button class="plain" type="submit">
          Search
        </button>
      </form>
    </search>
  );
}

/** A whole page as text. */
export function page(props: LayoutProps): string {
  return `<!doctype html>${piece(props, <Layout {...props} />)}`;
}

/** A piece of a page as text. */
export function piece({ explorers }: Pick<PageFacts, 'explorers'>, children: ComponentChildren) {
  return renderToString(<Explorers.Provider value={explorers}>{children}</Explorers.Provider>);
}

/** Nothing that is drawn holds it: a text from outside has no such character. */
const CUT = '\u0000';

/**
 * A page that begins before all of it is read. `children` is the frame, a shadow tree with slots;
 * `first` fills what is there at once, and each piece that follows before `end` its own slots.
 */
export function pageInPieces({
  children,
  first,
  ...props
}: LayoutProps & { readonly first: ComponentChildren }): { beginning: string; end: string } {
  const whole = page({
    ...props,
    children: (
      <div class="frame">
        {children}
        {first}
        {CUT}
      </div>
    ),
  });
  const [beginning, end, ...more] = whole.split(CUT);
  if (beginning === undefined || end === undefined || more.length > 0) {
    throw new Error('page: it has no one place for its pieces');
  }
  return { beginning, end };
}

/** The message, a link onwards, and the page's place in the navigation. */
export type PageMessage = {
  readonly title: string;
  readonly why: string;
  readonly current: string;
  readonly back: { readonly path: string; readonly text: string };
};

export function messagePage(facts: PageFacts, { title, why, current, back }: PageMessage): string {
  return page({
    ...facts,
    title,
    current,
    children: (
      <>
        <h1>{title}</h1>
        <p class="lead">{why}</p>
        <p>
          <a class="button" href={back.path}>
            {back.text}
          </a>
        </p>
      </>
    ),
  });
}

/** The title of each refusal, and the advice to the reader. */
const TOLD: { readonly [code in RefusalCode]: { readonly title: string; readonly next: string } } =
  {
    bad_input: {
      title: 'Not as expected',
      next: 'Go back, correct what is named above, and send it again.',
    },
    unauthorized: { title: 'Not signed in', next: 'Sign in, then open this page again.' },
    credential: { title: 'This key opens nothing', next: 'See which plan the page needs.' },
    wrong_origin: { title: 'Not from here', next: 'Open the page by its own address.' },
    foreign_form: {
      title: 'Not a form of this service',
      next: 'Nothing was done. Open the page again and send the form from there.',
    },
    too_slow: { title: 'Not all of it came', next: 'Load the page again.' },
    not_found: { title: 'No such page', next: 'The pages stand in the navigation above.' },
    wrong_method: { title: 'Not like this', next: 'Open the page by its address.' },
    body_too_large: { title: 'Too large', next: 'Go back and send less at once.' },
    wrong_content_type: { title: 'Not a form', next: 'Open the page and send its own form.' },
    head_too_large: { title: 'Too much to read', next: 'Clear what is stored for this site.' },
    upgrade_required: {
      title: 'A stream, and no page',
      next: 'A program reads it as a WebSocket, or as server-sent events.',
    },
    at_capacity: { title: 'Too many streams', next: 'Close one, or wait a few seconds.' },
    quota: { title: 'Allowance used up', next: 'Wait for the time that is named above.' },
    fault: {
      title: 'A fault of the service',
      next: 'Try again. If it stays, give the operator the id above.',
    },
    overloaded: { title: 'Busy', next: 'Wait a second and load the page again.' },
  };

/** The page of a refusal. It repeats nothing of what was sent. */
export function refusalPage(facts: PageFacts, refusal: Refusal): string {
  const { title, next } = TOLD[refusal.code];
  return page({
    ...facts,
    title,
    current: '',
    children: (
      <>
        <h1>{title}</h1>
        <p class="lead">{refusalSentence(refusal)}</p>
        <p>{next}</p>
        {refusal.code === 'unauthorized' && (
          <p>
            <a class="button" href="/activate">
              Sign in
            </a>
          </p>
        )}
        <p class="quiet">Status {refusal.status}.</p>
      </>
    ),
  });
}

export function refusalSentence({ code, body }: Refusal): string {
  const { error, reason, request_id } = Object(body);
  if (code === 'fault') return `${error} ${request_id}`;
  return String(REASONED.has(code) ? reason : error);
}

/** Refusals whose sentence is their reason: what they say as their error is a word for programs. */
const REASONED: ReadonlySet<RefusalCode> = new Set([
  'unauthorized',
  'upgrade_required',
  'at_capacity',
]);

/** The search box; `value` is what was searched for before. */
export function Search({ value }: { value?: string }) {
  return (
    <search>
      <form class="search seek" action="/search" method="get">
        <label for="q">An address, of whichever chain</label>
        <input
          id="q"
          name="q"
          type="search"
          required
          maxLength={300}
          spellcheck={false}
          autocapitalize="off"
          autocomplete="off"
          placeholder="0x…, or of Solana, Bitcoin, Tron"
          {...(value === undefined ? {} : { value })}
        />
        <button type="submit">Open its dossier</button>
      </form>
    </search>
  );
}
