// Answers one question: what surrounds every page. No inline style or script, nothing from
// elsewhere.

import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';

/** The facts that every page shows. */
export type PageFacts = { readonly simulated: boolean; readonly version: string };

type LayoutProps = PageFacts & {
  readonly title: string;
  readonly current: string;
  readonly children: ComponentChildren;
};

const LINKS = [
  ['/', 'Overview'],
  ['/registry/bridges', 'Bridges'],
  ['/docs', 'API reference'],
] as const;

function Layout({ title, current, simulated, version, children }: LayoutProps) {
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
          <p class="simulated" role="note">
            <strong>Simulated.</strong> Everything served here is made up. Nothing on this page says
            anything about a real address.
          </p>
        )}
        <header class="top">
          <a class="mark" href="/">
            Exhibit
          </a>
          <nav aria-label="Pages">
            {LINKS.map(([href, name]) => (
              <a key={href} href={href} {...(href === current ? { 'aria-current': 'page' } : {})}>
                {name}
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

/** A whole page as text. */
export function page(props: LayoutProps): string {
  return `<!doctype html>${renderToString(<Layout {...props} />)}`;
}
