// A run fails at once where named data is absent, so that a run cannot pass by leaving tests out.

import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { makeRunFolder } from './run-folder.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BUILD_TIMEOUT_MS = 300_000;

/**
 * Runs once before the suite: checks the named test data, builds what child processes run, and
 * gives every worker a place for temporary files. What it gives back runs once after the suite.
 */
export function setup(): () => void {
  requireNamedData(process.env['EXHIBIT_TEST_DATA']);
  if (process.env['EXHIBIT_TEST_ONLY'] !== 'unit') build();
  const folder = makeRunFolder();
  process.env['TMPDIR'] = folder.path;
  return () => folder.remove();
}

/** Throws where test data was named and is no folder. */
function requireNamedData(folder: string | undefined): void {
  if (folder === undefined || folder === '') return;
  if (existsSync(folder) && statSync(folder).isDirectory()) return;
  throw new Error('EXHIBIT_TEST_DATA names a folder that is not there');
}

// Workers and child processes run from dist. It is built without a look at the types: those are a
// test of their own.
function build(): void {
  const built = spawnSync(process.execPath, [`${ROOT}bin/exhibit`, 'build'], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: BUILD_TIMEOUT_MS,
  });
  if (built.status !== 0) throw new Error('the build failed');
}
