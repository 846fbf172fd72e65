// A surface that is asked for by name starts where somebody can come in, and the start text names
// nothing that is not served.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { createStoresIn } from './testing/fresh-warehouse.ts';
import { type Program, startProgram, untilSaid } from './testing/program.ts';

vi.setConfig({ testTimeout: 240_000 });
const cwd = mkdtempSync(join(tmpdir(), 'exhibit-surface-'));
const env = {
  EXHIBIT_DATA_DIR: cwd,
  EXHIBIT_SURFACES: 'intelligence',
  EXHIBIT_SDN_URL: 'http://127.0.0.1:9/',
  EXHIBIT_PORT: '0',
};
const programs: Program[] = [];
afterAll(() => {
  for (const { child } of programs) child.kill('SIGKILL');
  rmSync(cwd, { recursive: true, force: true });
});

function start(words: readonly string[]): Program {
  const program = startProgram(words, { cwd, env });
  programs.push(program);
  return program;
}

test('the intelligence service does not start without a token, and starts with one', async () => {
  await createStoresIn(cwd);
  const without = await start(['up']).ended;
  expect(without.status).toBe(1);
  expect(without.err).toContain('EXHIBIT_SURFACES: intelligence has no token');
  expect((await start(['tokens', 'mint', '--tier', 'free']).ended).status).toBe(0);
  const service = start(['up']);
  await untilSaid(service, 'Data directory');
  const url = /Serving (http:\/\/\S+)/.exec(service.out() + service.err())?.[1];
  expect((await fetch(`${url}/api/leaderboard/rugs`)).status).toBe(401);
  expect((await fetch(`${url}/`)).status).toBe(404);
  expect(service.out()).not.toContain('Pages to open');
  expect(service.out()).not.toContain('For MCP clients');
});
