import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TIMEOUT_MS = 120_000;

test('every file has the types it says, and every lie of the type tests is refused', {
  timeout: TIMEOUT_MS,
}, () => {
  const tsc = spawnSync(
    process.execPath,
    ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json', '--listFilesOnly'],
    { cwd: ROOT, encoding: 'utf8', timeout: TIMEOUT_MS },
  );
  expect(tsc.stdout).toContain('.test-d.ts');
  const checked = spawnSync(
    process.execPath,
    ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json', '--pretty', 'false'],
    { cwd: ROOT, encoding: 'utf8', timeout: TIMEOUT_MS },
  );
  expect(checked.stdout).toBe('');
  expect(checked.status).toBe(0);
});
