import markdownIt from 'markdown-it';
import { listOrNone } from '../evidence/measure.ts';
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

// Markdown is CommonMark with tables: its own HTML is shown as text, links lead to web pages and
// places of ours alone, and no picture is fetched from anywhere.

const markdown = markdownIt('default', { html: false, linkify: false, typographer: false });
const LINKED = /^(?:https?:\/\/|mailto:|\/(?!\/)|#)/i;
const RELATIVE = /^(?:\.{1,2}\/)*[\w-]/;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
markdown.validateLink = (url) => LINKED.test(url) || (RELATIVE.test(url) && !SCHEME.test(url));
markdown.disable('image');

/** A line in which a generated document names its maker to whoever edits it. */
const NOTE_OF_MAKER = /^<!-- [^\n]* -->$/gm;

/** What scrolls by itself, also by keyboard, as `Scroll` draws it. */
const SCROLL_BEGIN =
  '<div class="scroll" role="group" aria-label="A table that may scroll" tabindex="0">';

/** Where a link within a folder of documents leads; `null`: to nothing that is served. */
export type LinkTo = (relative: string) => string | null;

/**
 * HTML of a text whose own HTML is not trusted. Its highest headings, of the level `highest`, are
 * below h1. A link to a neighbour in a folder leads where `linkTo` says; else its words stand there
 * without a link.
 */
export function renderMarkdown(
  text: string,
  linkTo: LinkTo = () => null,
  highest: 1 | 2 = 1,
): string {
  const tokens = markdown.parse(text.replaceAll(NOTE_OF_MAKER, ''), {});
  for (const { children } of tokens) {
    let open: { hidden: boolean } | null = null;
    for (const token of listOrNone(children)) {
      if (token.type === 'link_open') {
        const href = String(token.attrGet('href'));
        const target = LINKED.test(href) ? href : linkTo(href);
        if (target !== null) token.attrSet('href', target);
        token.hidden = target === null;
        open = token;
      } else if (token.type === 'link_close') {
        token.hidden = open?.hidden === true;
      }
    }
  }
  const html = markdown.renderer
    .render(tokens, markdown.options, {})
    .replaceAll('<table>', `${SCROLL_BEGIN}<table>`)
    .replaceAll('</table>', '</table></div>');
  return html.replaceAll(/<(\/?)h([1-5])>/g, (_, end: string, level: string) => {
    return `<${end}h${Number(level) + 2 - highest}>`;
  });
}
