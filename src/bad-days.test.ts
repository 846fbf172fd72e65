// Whoever follows docs/guides/bad-days.md beside a running service finds each command, and what
// it is said to do has happened.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { freePort } from './testing/free-port.ts';
import { createControlIn } from './testing/postgres.ts';
import { MAIN, onlySettings, type Program, startProgram, untilSaid } from './testing/program.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
const GUIDE = readFileSync(new URL('../docs/guides/bad-days.md', import.meta.url), 'utf8');
const home = mkdtempSync(join(tmpdir(), 'exhibit-bad-days-'));
let service: Program;
let settings: { readonly [name: string]: string };

beforeAll(async () => {
  const bin = join(home, 'exhibit');
  writeFileSync(bin, `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
  chmodSync(bin, 0o755);
  await createControlIn(join(home, 'data'));
  settings = {
    EXHIBIT_PORT: String(await freePort()),
    EXHIBIT_SDN_URL: `file://${home}/no-list.xml`,
    EXHIBIT_LOG_ORIGIN: 'log.example',
  };
  service = startProgram(['up'], { cwd: home, env: settings });
  await untilSaid(service, 'Serving http');
});
afterAll(async () => {
  service.child.kill('SIGTERM');
  await service.ended;
  rmSync(home, { recursive: true, force: true });
});

/** The sections of the guide with what stands in their shell blocks. */
const sections = GUIDE.split(/^## /m)
  .slice(1)
  .map((text) => {
    const lines = [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block).join('');
    return [String(text.split('\n')[0]), lines] as const;
  });

/** What a shell prints that is given the lines of a section. */
async function typed(lines: string): Promise<{ readonly out: string; readonly err: string }> {
  const port = String(settings['EXHIBIT_PORT']);
  const shell = spawn('bash', ['-c', lines.replaceAll(':8080/', `:${port}/`)], {
    cwd: home,
    env: { ...onlySettings(settings), PATH: `${home}:${process.env['PATH']}` },
  });
  let [out, err] = ['', ''];
  shell.stdout.on('data', (bytes) => {
    out += String(bytes);
  });
  shell.stderr.on('data', (bytes) => {
    err += String(bytes);
  });
  await once(shell, 'close');
  return { out, err };
}

const PROMISED: { readonly [section: string]: readonly RegExp[] } = {
  Upgrade: [/up to date/, /ok +control store/],
  Restore: [/ok +control store/, /restored from the copy of yesterday|log\.example/],
  'Lose a key': [/"received": ?true|received/, /leaked/, /compromised/],
};

test('each section of the guide is promised something', () => {
  expect(sections.map(([title]) => title)).toEqual(Object.keys(PROMISED));
});

test.each(sections)('%s', async (title, lines) => {
  const { out, err } = await typed(lines);
  for (const promise of PROMISED[title] ?? []) expect(out + err).toMatch(promise);
  expect(err).not.toMatch(/There is no such command|Usage:|unbound|not found/);
});
