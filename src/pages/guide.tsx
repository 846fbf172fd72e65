// Answers one question: how does a person, or a program that reads for one, open a guide?

import { type PageFacts, page } from './layout.tsx';

type Listed = { readonly path: string; readonly section: string; readonly title: string };

/** A guide as a page. `html` is its text without its title. */
export function guidePage(
  facts: PageFacts,
  { path, title }: Listed,
  html: string,
  listed: readonly Listed[],
): string {
  const sections = [...new Set(listed.map(({ section }) => section))];
  return page({
    ...facts,
    title,
    current: '/docs/start',
    children: (
      <div class="guide">
        <nav class="contents" aria-label="Guides">
          {sections.map((section) => (
            <section key={section}>
              <h2>{section}</h2>
              <ul>
                {listed
                  .filter((one) => one.section === section)
                  .map((one) => (
                    <li key={one.path}>
                      <a
                        href={`/docs/${one.path}`}
                        {...(one.path === path ? { 'aria-current': 'page' } : {})}
                      >
                        {one.title}
                      </a>
                    </li>
                  ))}
              </ul>
            </section>
          ))}
        </nav>
        <article class="prose">
          <h1>{title}</h1>
          <div dangerouslySetInnerHTML={{ __html: html }} />
          <p class="quiet">
            As Markdown: <a href={`/docs/${path}.md`}>/docs/{path}.md</a>
          </p>
        </article>
      </div>
    ),
  });
}
