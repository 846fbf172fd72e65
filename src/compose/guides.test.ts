// Every guide that is served leads somewhere: as a page, as Markdown, and in the list for models.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { toolsOf } from '../mcp/tools.ts';
import { createTestHttp } from '../testing/http-server.ts';
import { TEST_SERVICE } from '../testing/service.ts';
import { pageFacts, webDocuments } from './documents.ts';
import { guideLink, servedGuides } from './guides.ts';
import { CONTRACTS } from './list.ts';

const GUIDES = servedGuides();
let base = '';

const app = createTestHttp({
  mounted: webDocuments({
    routes: TEST_SERVICE.routes,
    facts: pageFacts({ simulate: false, explorerLinks: null }),
    given: {
      service: TEST_SERVICE,
      deployerRecords: {},
      members: { plans: [], signIn: {}, settings: {} },
      chats: {},
    },
    sources: [],
    base: () => base,
  }),
  refusalPage: () => '',
  sessions: { authenticate: async () => ({ outcome: 'none', reason: 'Nobody.' }) },
  now: () => 1_780_000_000,
});
beforeAll(async () => {
  base = await app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => app.close());

/** The body of an answer, or `null` where there is none. */
async function bodyOf(path: string): Promise<string | null> {
  const response = await fetch(base + path);
  return response.status === 200 ? response.text() : null;
}

test('each has a title and a sentence that says what it is about', () => {
  expect(GUIDES.length).toBeGreaterThan(20);
  for (const { path, title, says } of GUIDES) {
    expect({ path, title }).toEqual({ path, title: expect.stringMatching(/^[^#\n]{4,80}$/) });
    expect({ path, says }).toEqual({ path, says: expect.stringMatching(/^[A-Z`*].{15,}\.$/) });
  }
});

test('each page links to pages that are there, and to its own Markdown', async () => {
  for (const { path, text } of GUIDES) {
    const html = String(await bodyOf(`/docs/${path}`));
    expect(html).toContain(`href="/docs/${path}.md"`);
    expect(await bodyOf(`/docs/${path}.md`)).toBe(text);
    const article = html.slice(html.indexOf('<article'));
    for (const [, href = ''] of article.matchAll(/href="(\/docs\/[^"#]*)/g)) {
      expect({ path, href, there: (await bodyOf(href)) !== null }).toEqual({
        path,
        href,
        there: true,
      });
    }
  }
});

/** What a shell has, and the key that the start puts there. */
const SET = new Set(['HOME', 'PATH', 'PWD', 'EXHIBIT_API_KEY']);

test('no command of a guide uses a variable that nothing set before it', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const texts = [{ path: 'README', text: readme }, ...GUIDES];
  const unset = texts.flatMap(({ path, text }) => {
    const blocks = [...text.matchAll(/```(?:sh|bash)?\n(.*?)```/gs)].map(([, block]) => block);
    const commands = blocks.join('\n');
    return [...commands.matchAll(/\$\{?([A-Z][A-Z_]+)/g)]
      .filter(({ 1: name = '', index }) => {
        return !SET.has(name) && !commands.slice(0, index).includes(`${name}=`);
      })
      .map(([, name]) => `${path}: ${name}`);
  });
  expect(unset).toEqual([]);
});

test('each file and folder that CONTRIBUTING names is there', () => {
  const root = new URL('../../', import.meta.url);
  const text = readFileSync(new URL('CONTRIBUTING.md', root), 'utf8');
  const named = [...text.matchAll(/`((?:src|docs|deploy|bench|bin|migrations)\/[\w./-]+)`/g)];
  const paths = [...new Set(named.map(([, path]) => String(path)))];
  expect(paths.length).toBeGreaterThan(50);
  expect(paths.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
});

test('a link to what is not served is no link, and keeps its words', () => {
  const from = GUIDES.find(({ path }) => path === 'guides/deployers');
  if (from === undefined) throw new Error('there is no guide of deployer records');
  expect(guideLink(GUIDES, from, '../concepts/bridges.md#message-ids')).toBe(
    '/docs/concepts/bridges#message-ids',
  );
  expect(guideLink(GUIDES, from, '../decisions/0066-what-a-deployer-record-says.md')).toBe(null);
  expect(guideLink(GUIDES, from, '../../../etc/passwd')).toBe(null);
});

test('llms.txt names each of them and the API, by addresses that answer', async () => {
  const text = String(await bodyOf('/llms.txt'));
  expect(text).toMatch(/^# Exhibit\n\n> Evidence about blockchain addresses/);
  const links = [...text.matchAll(/\]\((\S+)\)/g)].map(([, link]) => String(link));
  expect(links).toHaveLength(GUIDES.length + 1);
  for (const link of links) {
    expect(link.startsWith(`${base}/`)).toBe(true);
    expect({ link, there: (await bodyOf(link.slice(base.length))) !== null }).toEqual({
      link,
      there: true,
    });
  }
});

test('docs/guides/mcp.md names each tool with its arguments and routes, and no other', async () => {
  const file = fileURLToPath(new URL('../../docs/guides/mcp.md', import.meta.url));
  const rows = [...toolsOf(CONTRACTS)].map(([name, { listed, routes }]) => {
    const paths = routes.map(({ path }) => `\`${path}\``).join(', ');
    return `| \`${name}\` | ${argumentsIn(listed.inputSchema)} | ${paths} |\n`;
  });
  const head = '| tool | arguments | route |\n| --- | --- | --- |\n';
  const [before = '', after = ''] = readFileSync(file, 'utf8').split(head);
  const rest = after.replace(/^(\|.*\n)+/, '');
  await expect(before + head + rows.join('') + rest).toMatchFileSnapshot(file);
});

const inputSchema = z.looseObject({
  properties: z.record(
    z.string(),
    z.looseObject({ enum: z.array(z.string()).optional(), description: z.string().optional() }),
  ),
  required: z.array(z.string()).optional(),
});

/** The arguments of a tool as its guide tells them. */
function argumentsIn(schema: unknown): string {
  const { properties, required = [] } = inputSchema.parse(schema);
  const told = Object.entries(properties).map(
    ([name, { enum: words, default: initial, description }]) => {
      const initialText = initial === undefined ? 'optional' : `default \`${String(initial)}\``;
      const facts = [
        ...(description?.startsWith('`') === true ? [description.replace(/\.$/, '')] : []),
        ...(words === undefined ? [] : [words.map((word) => `\`${word}\``).join(', ')]),
        ...(required.includes(name) ? [] : [initialText]),
      ];
      return `\`${name}\`${facts.length === 0 ? '' : ` (${facts.join('; ')})`}`;
    },
  );
  return told.join(', ');
}
