import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Config, parseConfig } from '../config.ts';
import { ran } from '../testing/recording-io.ts';
import { configCommand } from './config.ts';
import { type CheckResult, type DoctorCheck, doctorCommand } from './doctor.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'exhibit-doctor-'));
});
afterEach(() => {
  rmSync(cwd, { recursive: true, force: true });
});

function configOf(env: { readonly [name: string]: string }): Config {
  const parsed = parseConfig(env, { cwd });
  if (!parsed.ok) throw new Error(parsed.problems.join('; '));
  return parsed.config;
}

const finds = (state: CheckResult['state']): DoctorCheck => ({
  name: 'control store',
  look: async () => ({ state, says: `it is ${state}` }),
});
const ABSENT = [
  { name: 'explorer', state: 'absent', says: 'without EXHIBIT_X: not_deployed' },
] as const;
const doctor = (checks: readonly DoctorCheck[], env = {}, line = 'doctor') =>
  ran(line, [doctorCommand], { config: configOf(env), checks, absences: ABSENT });

describe('doctor', () => {
  test.each([
    ['ok', 0],
    ['warning', 0],
    ['absent', 0],
    ['failed', 1],
    ['unchecked', 3],
  ] as const)('a dependency that is %s makes the exit status %d', async (state, status) => {
    const said = await doctor([finds(state)]);
    expect(said.status).toBe(status);
    expect(said.lines.join('\n')).toContain(`it is ${state}`);
  });

  test('a check that throws has failed, and the others are still shown', async () => {
    const throws: DoctorCheck = {
      name: 'warehouse',
      look: async () => {
        throw new Error('connection refused');
      },
    };
    const said = await doctor([throws, finds('ok')], {}, 'doctor --json');
    expect(said.status).toBe(1);
    expect(said.lines).toContain(
      '{"name":"warehouse","state":"failed","says":"connection refused"}',
    );
    expect(said.lines).toContain('{"name":"control store","state":"ok","says":"it is ok"}');
  });

  test('a source that is not set is shown with what is answered without it', async () => {
    const { status, lines } = await doctor([]);
    expect(status).toBe(0);
    expect(lines.join('\n')).toMatch(/absent +explorer +without EXHIBIT_X: not_deployed/);
  });
});

describe('config', () => {
  const config = (env: { readonly [name: string]: string }, line: string) =>
    ran(line, [configCommand], { configured: parseConfig(env, { cwd }) });

  test('secrets are masked and a URL is its scheme and host', async () => {
    const env = {
      EXHIBIT_ADMIN_TOKEN: 'M4RKER-of-an-operator',
      EXHIBIT_RPC_BASE: 'https://M4RKER@rpc.example/M4RKER?k=M4RKER',
    };
    for (const line of ['config', 'config --json']) {
      const said = await config(env, line);
      expect(said.status).toBe(0);
      expect(said.lines.join('\n')).not.toContain('M4RKER');
      expect(said.lines.join('\n')).toContain('https://rpc.example');
      expect(said.lines.join('\n')).toContain('[secret]');
    }
  });

  test('a bad configuration has one line for each problem and exits 2', async () => {
    const said = await config({ EXHIBIT_PORT: 'x', EXHIBIT_HOTS: 'y' }, 'config');
    expect(said).toMatchObject({ status: 2, lines: [] });
    expect(said.errors).toHaveLength(2);
  });

  test('the reference is printed whatever is set', async () => {
    const said = await config({ EXHIBIT_PORT: 'x' }, 'config --reference');
    expect(said.status).toBe(0);
    expect(said.lines[0]).toBe('# Configuration');
  });
});
