// Answers one question: what surrounds every page. No inline style or script, nothing from
// elsewhere.

import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';

/** What every page is told. */
export type PageFacts = {
  readonly simulated: boolean;
  readonly version: string;
  /** The pages of the navigation, in order. */
  readonly links: readonly { readonly path: string; readonly link: string }[];
};

type LayoutProps = PageFacts & {
  readonly title: string;
  readonly current: string;
  readonly children: ComponentChildren;
};

function Layout({ title, current, simulated, version, links, children }: LayoutProps) {
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} · Exhibit`}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/assets/exhibit.css" />
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
          <nav aria-label="Pages">
            {links.map(({ path, link }) => (
              <a key={path} href={path} {...(path === current ? { 'aria-current': 'page' } : {})}>
                {link}
              </a>
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
  return `<!doctype html>${renderToString(<Layout {...props} />)}`;
}
