// The list of records says that none was made only where it was read to its end.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseConfig } from '../../config.ts';
import { evm } from '../../testing/addresses.ts';
import { ran } from '../../testing/recording-io.ts';
import { startStandIn } from '../../world/stand-in.ts';
import { RECORD_COMMANDS } from './records.command.ts';

let said: { readonly status: number; readonly body: object };
let server: Awaited<ReturnType<typeof startStandIn>>;

beforeEach(async () => {
  server = await startStandIn((_, response) => {
    response.writeHead(said.status).end(JSON.stringify(said.body));
    return true;
  });
});
afterEach(() => server.close());

const run = (words: string) => {
  const services = { started: parseConfig({}, { cwd: '/nowhere' }) };
  return ran(`${words} --base-url ${server.origin} --key sc_key`, RECORD_COMMANDS, services);
};
const RECORD = {
  id: 'scr_1',
  made_at: '2026-11-20T00:00:00.000Z',
  route: 'wallet_ofac',
  addresses: [evm('a')],
  on: '2026-11-19',
  state: 'ok',
  answer_sha256: 'a'.repeat(64),
};

test('records stand in a table, each with what was asked', async () => {
  said = { status: 200, body: { records: [RECORD], whole: true, reason: null } };
  const { status, lines } = await run('records list');
  expect([status, lines.length]).toEqual([0, 2]);
  expect(lines[1]).toContain(`${evm('a')} on 2026-11-19`);
});

test('a whole list of none says that none was made', async () => {
  said = { status: 200, body: { records: [], whole: true, reason: null } };
  expect((await run('records list')).lines).toEqual([
    'None was made. exhibit records make ADDRESS does.',
  ]);
});

test.each([[[]], [[RECORD]]])(
  'a cut list says why, and never that none was made',
  async (records) => {
    said = { status: 200, body: { records, whole: false, reason: 'The newest 100 are listed.' } };
    const { lines, errors } = await run('records list');
    expect(lines.join()).not.toContain('None was made');
    expect(errors).toEqual(['Not all are listed: The newest 100 are listed.']);
  },
);

test('a list that could not be read exits 3 and says nothing', async () => {
  said = { status: 503, body: { error: 'The records could not be read.' } };
  const { status, lines, errors } = await run('records list');
  expect([status, lines]).toEqual([3, []]);
  expect(errors.join()).toContain('The records could not be read.');
});

test('an unknown record names the next step', async () => {
  said = { status: 404, body: { error: 'This membership has no such record.' } };
  const { status, errors } = await run('records show scr_9');
  expect([status, errors.join()]).toEqual([1, expect.stringContaining('exhibit records list')]);
});

test('a record names each table with its source, which two tables may share', async () => {
  const imported = { source: 'ours', sha256: 'b'.repeat(64), imported_at: RECORD.made_at };
  const { addresses, on, route, ...made } = RECORD;
  const whole = {
    ...made,
    kept_until: RECORD.made_at,
    key_id: 'key_1',
    asked: { route, addresses, on, tables: null },
    list: null,
    list_reason: 'No list.',
    tables: ['launches', 'exchange_labels'].map((table) => ({ table, ...imported })),
    code_version: '0.0.0',
    answer: '{}',
    caveats: [],
    not_read: [],
  };
  said = { status: 200, body: whole };
  const { lines } = await run('records show scr_1');
  expect(lines.join('\n')).toMatch(
    /launches: ours, imported[\s\S]*exchange_labels: ours, imported/,
  );
});
