// Nobody learns from a refusal that a route is gone: its notice is long, and stands in every place.

import { expect, test } from 'vitest';
import { z } from 'zod';
import { openapiDocument } from './openapi.ts';
import { deprecationHeaders, plainRoute } from './route.ts';

const NOTICE = { since: '2027-01-01', sunset: '2027-06-30', instead: 'Ask /new.' };

test('a notice is 180 days or longer, between days that there are', () => {
  expect(deprecationHeaders(NOTICE)).toEqual({
    Deprecation: '@1798761600',
    Sunset: 'Wed, 30 Jun 2027 00:00:00 GMT',
    Link: '</docs/reference/versioning>; rel="deprecation"; type="text/html"',
  });
  const short = { since: '2027-01-01', sunset: '2027-06-29', instead: 'Ask /new.' };
  expect(() => deprecationHeaders(short)).toThrow('180 days');
  const never = { since: '2027-02-30', sunset: '2028-01-01', instead: 'Ask /new.' };
  expect(() => deprecationHeaders(never)).toThrow('no calendar');
});

test('the document of the API marks the route, and says what to ask in its place', () => {
  const declared = {
    surface: 'web',
    method: 'GET',
    summary: 'What was.',
    access: 'open',
    responses: { 200: z.strictObject({}) },
  } as const;
  const routes = [
    plainRoute({ name: 'old', path: '/old', ...declared, deprecated: NOTICE }),
    plainRoute({ name: 'new', path: '/new', ...declared }),
  ];
  const about = { title: 'T', version: '1', description: 'D', serverUrl: 'https://t.example' };
  const { paths } = openapiDocument(routes, about);
  expect(paths['/old']?.['get']).toMatchObject({
    deprecated: true,
    summary: 'What was. Deprecated since 2027-01-01, answered until 2027-06-30. Ask /new.',
  });
  expect(paths['/new']?.['get']).not.toHaveProperty('deprecated');
});
