// The pages are whole, say what is simulated, and hold nothing inline that the policy would refuse.

import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openapiDocument } from '../contract/openapi.ts';
import { evidenceRoute, plainRoute } from '../contract/route.ts';
import { negative } from '../contract/wire.ts';
import { homePage } from './home.tsx';
import { operationPage, referencePage } from './reference.tsx';

const route = evidenceRoute({
  name: 'probe',
  surface: 'hosted',
  method: 'GET',
  path: '/api/v1/probe/{address}',
  summary: 'A route of the tests with <angle> brackets.',
  access: 'analyst',
  params: z.strictObject({ address: z.string() }),
  data: z.strictObject({
    listed: negative(z.boolean(), { restsOn: ['list'] }),
    caveat: z.string(),
  }),
  absences: ['not_deployed'],
  tool: null,
});
const openapi = openapiDocument([route], {
  title: 'Exhibit',
  version: '0.0.0',
  description: 'What was observed.',
  serverUrl: 'http://127.0.0.1:8080',
});
const EXAMPLE = { address: '0x00000000219ab540356cbb839cbe05303d7705fa', says: 'An example' };
const LINKS = [
  { group: 'Published', pages: [{ path: '/', link: 'Home' }] },
  { group: 'For programs', pages: [{ path: '/docs', link: 'API' }] },
];
const LIST = {
  title: 'Sanctions list',
  says: 'Whether an address stands on it',
  isHeld: true,
  as_of: 1_790_000_000,
  published: '2026-09-20',
  reason: null,
};
const CHECKED = { lists: [LIST], now: 1_790_000_000 + 7_200 };
const factsOf = (simulated: boolean) => ({
  simulated,
  version: '0.0.0',
  links: LINKS,
  explorers: new Map(),
});
const pages = (simulated: boolean) => [
  homePage(factsOf(simulated), CHECKED, [EXAMPLE]),
  referencePage(factsOf(simulated), openapi),
  String(operationPage(factsOf(simulated), openapi, 'probe')),
];

describe('every page', () => {
  test('is a whole document in a language, with a title and one main heading', () => {
    for (const page of pages(false)) {
      expect(page).toMatch(/^<!doctype html><html lang="en">/);
      expect(page.match(/<h1[ >]/g)).toHaveLength(1);
      expect(page).toMatch(/<title>[^<]+ · Exhibit<\/title>/);
    }
  });

  test('has nothing inline and nothing from another host', () => {
    for (const page of pages(true)) {
      expect(page).not.toMatch(/ style=| on\w+=|<script(?! async src="\/assets\/)|<style/);
      expect(page.match(/(?:src|href)="(?!\/|#|data:,)[^"]*"/g)).toBeNull();
    }
  });

  test('says what is simulated while it is, and only then', () => {
    for (const page of pages(true)) expect(page).toContain('<strong>Simulated.</strong>');
    for (const page of pages(false)) expect(page).not.toContain('Simulated.');
  });
});

test('the navigation names each group, marks the page that is open, and needs no script', () => {
  const [home = ''] = pages(false);
  expect(home).toMatch(/<button[^>]* popovertarget="pages"[^>]*>/);
  const nav = /<nav id="pages"[^>]* popover="auto"[^>]*>(.*?)<\/nav>/s.exec(home)?.[1] ?? '';
  for (const [at, name] of ['Published', 'For programs'].entries()) {
    expect(nav).toContain(
      `<span id="pages-${at}">${name}</span><ul aria-labelledby="pages-${at}">`,
    );
  }
  expect(nav.match(/aria-current="page"/g)).toHaveLength(1);
});

test('the first page leads with the search, then with each list and when it was checked', () => {
  const lists = [
    LIST,
    { ...LIST, title: 'Old list', isHeld: false, reason: 'It is too old.' },
    { ...LIST, title: 'Other lists', isHeld: false, as_of: null, reason: 'None was imported.' },
  ];
  const page = homePage(factsOf(false), { ...CHECKED, lists }, []);
  const main = page.slice(page.indexOf('<main'));
  expect(main.indexOf('<search>')).toBeLessThan(main.indexOf('What was last checked'));
  expect(main.indexOf('What was last checked')).toBeLessThan(main.indexOf('What else is here'));
  const rows = [...main.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/gs)];
  const words = rows.map(([, name, text = '']) => `${name}: ${text.replaceAll(/<[^>]*>/g, '')}`);
  const since = '2026-09-21 14:13 UTC 2 hours ago, published 2026-09-20.';
  expect(words).toEqual([
    `Sanctions list: ${since} Whether an address stands on it.`,
    `Old list: ${since} Whether an address stands on it: past its age. It is too old.`,
    'Other lists: Not checked. None was imported.',
  ]);
});

test('the reference says lengths and ranges in words, and shows each route’s own body', () => {
  const sent = plainRoute({
    name: 'sent',
    surface: 'web',
    method: 'POST',
    path: '/sent/{address}',
    summary: 'A route of the tests.',
    access: 'open',
    params: z.strictObject({ address: z.string().min(1).max(100) }),
    query: z.strictObject({ limit: z.int().min(1).max(50), note: z.string().optional() }),
    body: z.strictObject({
      sections: z
        .array(z.enum(['ofac', 'exchange']))
        .min(1)
        .max(5),
      share: z.number().min(0).optional(),
      code: z.string().length(6),
      whole: z.int(),
      above: z.int().positive(),
    }),
    responses: { 200: z.strictObject({ fine: z.boolean() }) },
  });
  const facts = { title: 'T', version: '0', description: 'D', serverUrl: 'http://h' };
  const page = operationPage(factsOf(false), openapiDocument([sent], facts), 'sent');
  for (const words of [
    'path, string of 1 to 100 characters',
    'query, integer from 1 to 50',
    'list (1 to 5 items) of &quot;ofac&quot;, &quot;exchange&quot;',
    'number of at least 0',
    'string of exactly 6 characters',
    '<td>integer</td>',
    'integer above 0',
    "curl -X POST 'http://h/sent/0x64144967c175997fc8526ba694021ae36965331c?limit=10'",
    "-d '{&quot;sections&quot;:[&quot;ofac&quot;],&quot;share&quot;:0,&quot;code&quot;:&quot;codexx&quot;",
  ]) {
    expect(page).toContain(words);
  }
});

test('the reference names each field, what a negative rests on, and escapes what it shows', () => {
  const [, reference, page] = pages(false);
  expect(reference).toContain('href="/docs/api/probe"');
  expect(operationPage(factsOf(false), openapi, 'no_such_route')).toBeNull();
  expect(page).toContain('/api/v1/probe/{address}');
  expect(page).toContain('data.listed');
  expect(page).toContain('&lt;angle>');
  expect(page).toMatch(/data\.listed<\/code><\/td><td>boolean<\/td><td>always<\/td><td>list<\/td>/);
});
