// The documents of `docs/` that the service serves: those for its users and operators. What only
// its makers read (decisions, mutations) stays out.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

/** A served document. `path` has no slash before it and no ending: `guides/lists`. */
export type Guide = {
  readonly path: string;
  readonly section: string;
  readonly title: string;
  /** Its first sentence, on one line. */
  readonly says: string;
  /** The whole text as Markdown. Its first line is its title. */
  readonly text: string;
};

const DOCS = new URL('../../docs/', import.meta.url);
const CHANGELOG = new URL('../../CHANGELOG.md', import.meta.url);

/** The paths that are served, by the section under which they are listed. */
const SECTIONS: readonly { readonly section: string; readonly paths: () => readonly string[] }[] = [
  { section: 'Start', paths: () => ['start'] },
  { section: 'Guides', paths: () => pathsIn('guides') },
  { section: 'Concepts', paths: () => pathsIn('concepts') },
  {
    section: 'Reference',
    paths: () => [...pathsIn('reference'), 'security', 'performance', 'changelog'],
  },
];

/** The documents in the order in which they are listed; what was not shipped is left out. */
export function servedGuides(): readonly Guide[] {
  return SECTIONS.flatMap(({ section, paths }) =>
    paths().flatMap((path) => {
      const file = path === 'changelog' ? CHANGELOG : new URL(`${path}.md`, DOCS);
      return existsSync(file) ? [guideOf(path, section, readFileSync(file, 'utf8'))] : [];
    }),
  );
}

/** Where a link in a document leads, among those that are served: a path, or `null`. */
export function guideLink(guides: readonly Guide[], from: Guide, relative: string): string | null {
  const [file, ...part] = relative.split('#');
  const joined = posix.join(posix.dirname(from.path), String(file)).replace(/\.md$/, '');
  const path = joined === '../CHANGELOG' ? 'changelog' : joined;
  if (!guides.some((guide) => guide.path === path)) return null;
  return ['/docs/', path, ...part.map((name) => `#${name}`)].join('');
}

function pathsIn(folder: string): readonly string[] {
  const at = new URL(`${folder}/`, DOCS);
  if (!existsSync(at)) return [];
  const names = readdirSync(at).filter((name) => name.endsWith('.md'));
  return names.sort().map((name) => `${folder}/${name.replace(/\.md$/, '')}`);
}

function guideOf(path: string, section: string, text: string): Guide {
  const [heading, ...paragraphs] = text.split(/\n{2,}/);
  const title = String(heading).replace(/^#\s*/, '');
  const said = paragraphs.find((paragraph) => /^[A-Z`*]/.test(paragraph));
  return { path, section, title, says: firstSentence(said === undefined ? title : said), text };
}

function firstSentence(paragraph: string): string {
  const line = paragraph.replaceAll('\n', ' ').replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1');
  return line.replace(/^(.*?)[.:](?:\s.*|$)/, '$1.');
}
