// The list of watched addresses says of each part what was found and what was not read, and nothing
// found of what was read alone; pages of it are one list, and a failed page is none.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { parseConfig } from '../../config.ts';
import { evm } from '../../testing/addresses.ts';
import { ran } from '../../testing/recording-io.ts';
import { startStandIn } from '../../world/stand-in.ts';
import { WATCHLIST_COMMANDS } from './watchlist.command.ts';

type Page = { readonly status: number; readonly body: object };
const LISTED = { source: 'OFAC', entity: 'DOE, John' };
const watchedWith = (id: string, parts: readonly object[]) => {
  return { id, address: evm(id), added_at: '2026-11-20T00:00:00.000Z', parts };
};

let pages: { [after: string]: Page };
let server: Awaited<ReturnType<typeof startStandIn>>;

beforeEach(async () => {
  server = await startStandIn((request, response) => {
    const after = new URL(String(request.url), 'http://of.invalid').searchParams.get('after');
    const said = pages[after === null ? '' : after];
    if (said === undefined) return false;
    response.writeHead(said.status).end(JSON.stringify(said.body));
    return true;
  });
});
afterEach(() => server.close());

const list = (json = '') => {
  const services = { started: parseConfig({}, { cwd: '/nowhere' }) };
  const line = `watchlist list --base-url ${server.origin} --key sc_key ${json}`;
  return ran(line, WATCHLIST_COMMANDS, services);
};
const whole = (watched: readonly object[], next_after: string | null = null): Page => {
  return { status: 200, body: { watched, next_after } };
};

test.each([
  ['found, and read to its end', [LISTED], null, 'Sanctions list: OFAC: DOE, John'],
  [
    'found before a look that stopped early',
    [LISTED],
    'The list was cut.',
    'Sanctions list: OFAC: DOE, John, not read: The list was cut.',
  ],
  ['not read', null, 'No list.', 'Sanctions list: not read: No list.'],
  [
    'empty, of a look that stopped early',
    [],
    'It was cut.',
    'Sanctions list: not read: It was cut.',
  ],
  ['never known', null, null, 'Sanctions list: not known'],
  ['empty, and read to its end', [], null, 'Sanctions list: nothing found'],
])('a part that was %s', async (_, found, not_read, says) => {
  pages = { '': whole([watchedWith('wat_1', [{ part: 'sanctions_list', found, not_read }])]) };
  const said = await list();
  expect(said.status).toBe(0);
  expect(said.lines.join('\n')).toContain(says);
});

test('parts that end with a full stop stand as one text', async () => {
  const unread = (part: string) => ({ part, found: null, not_read: 'No list.' });
  pages = { '': whole([watchedWith('wat_1', [unread('sanctions_list'), unread('hops')])]) };
  const said = (await list()).lines.join('\n');
  expect(said).toContain(
    'Sanctions list: not read: No list; Two hops of transfers: not read: No list.',
  );
});

test('a part of a newer service has its name in answers', async () => {
  const newer = { part: 'newer_part', found: null, not_read: 'No list.' };
  pages = { '': whole([watchedWith('wat_1', [newer])]) };
  expect((await list()).lines.join('\n')).toContain('newer_part: not read: No list.');
});

test('an address that nobody screened yet has nothing found', async () => {
  pages = { '': whole([watchedWith('wat_1', [])]) };
  expect((await list()).lines.join('\n')).toContain('not screened yet');
});

test('all pages are one list', async () => {
  pages = {
    '': whole([watchedWith('wat_1', [])], 'wat_1'),
    wat_1: whole([watchedWith('wat_2', [])]),
  };
  const said = await list('--json');
  const ids = said.lines.map((line) => z.object({ id: z.string() }).parse(JSON.parse(line)).id);
  expect(ids).toEqual(['wat_1', 'wat_2']);
});

test('an empty list says so, and a list of which a page failed says nothing', async () => {
  pages = { '': whole([]) };
  expect((await list()).lines).toEqual([
    'Nothing is watched. exhibit watchlist add ADDRESS begins it.',
  ]);
  pages = {
    '': whole([watchedWith('wat_1', [])], 'wat_1'),
    wat_1: { status: 503, body: { error: 'The watchlist could not be read.' } },
  };
  const said = await list();
  expect([said.status, said.lines]).toEqual([3, []]);
  expect(said.errors.join()).toContain('The watchlist could not be read.');
});
