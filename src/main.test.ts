import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { createStoresIn } from './testing/fresh-warehouse.ts';
import { MAIN, onlySettings, startProgram } from './testing/program.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 });

type Environment = { readonly [name: string]: string };

const exhibit = (cwd: string, line: string, env: Environment = {}) =>
  startProgram(line.split(' '), { cwd, env }).ended;

/** The files of the built program that some load as they begin, with their texts. */
function textsLoaded(names: readonly string[]): Map<string, string> {
  const texts = new Map<string, string>();
  const next = [...names];
  for (let name = next.pop(); name !== undefined; name = next.pop()) {
    if (texts.has(name)) continue;
    const text = readFileSync(join(dirname(MAIN), name), 'utf8');
    texts.set(name, text);
    next.push(
      ...[...text.matchAll(/^(?:im|ex)port .*"\.\/(.+)";$/gm)].map(([, from]) => String(from)),
    );
  }
  return texts;
}

describe('settings and words', () => {
  let cwd: string;
  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), 'exhibit-main-'));
  });
  afterEach(() => rmSync(cwd, { recursive: true, force: true }));

  test.each(['up', 'start', 'serve', 'work', 'members list', 'doctor'])(
    'a bad setting stops `%s` with one line for each problem, and leaves nothing behind',
    async (line) => {
      const env = { EXHIBIT_PORT: '80a', EXHIBIT_SDN_UR: 'x' };
      const said = await exhibit(cwd, line, env);
      expect(said.status).toBe(2);
      expect(said.err.trim().split('\n')).toEqual([
        'EXHIBIT_SDN_UR: no such setting; did you mean EXHIBIT_SDN_URL?',
        'EXHIBIT_PORT: expected a port, a whole number from 0 to 65535',
      ]);
      expect(existsSync(join(cwd, 'data'))).toBe(false);
    },
  );

  test.each([
    ['venu:html', 'names no provider; there are chats, publisher, rpc, explorer, '],
    ['venue:htm', 'names no fault of venue; there are rate-limited, html, wrong-shape, '],
  ])('a fault that the simulated world does not know stops its start: %s', async (fault, says) => {
    await createStoresIn(join(cwd, 'data/simulated'));
    const env = { EXHIBIT_PORT: '0', EXHIBIT_WORLD_FAULTS: `explorer:html,${fault}` };
    const said = await exhibit(cwd, 'start', env);
    expect(said.status).toBe(2);
    expect(said.err).toContain(`EXHIBIT_WORLD_FAULTS: ${fault} ${says}`);
  });

  test('the help, and what a running service answers, load no feature', () => {
    const first = readFileSync(MAIN, 'utf8');
    const named = (part: string) =>
      [...first.matchAll(new RegExp(`exhibit-${part}\\d*\\.js`, 'g'))].map(([name]) => name);
    const called = [...named('commands'), ...named('operate')];
    expect(new Set(called).size).toBe(3);
    const loaded = textsLoaded(['exhibit.js', ...called]);
    const declaring = [...loaded].filter(([, text]) => text.includes('evidenceRoute('));
    expect(declaring.map(([name]) => name)).toEqual([]);
    const served = textsLoaded(named('run'));
    expect([...served.values()].join('')).toContain('evidenceRoute(');
  });

  test('a command ends quietly where nobody reads its output any more', () => {
    const line = '{ "$0" "$1" --help; echo "status $?" >&2; } | true';
    const shell = ['-c', line, process.execPath, MAIN];
    const said = spawnSync('sh', shell, { cwd, env: onlySettings(), encoding: 'utf8' });
    expect(said.stderr).toBe('status 0\n');
  });

  test('.env is read, and the environment wins', async () => {
    writeFileSync(
      join(cwd, '.env'),
      'EXHIBIT_PORT=9001\nEXHIBIT_HOST="::1"\n# a comment\nOTHER=1\n',
    );
    const said = await exhibit(cwd, 'config --json', { EXHIBIT_PORT: '9002' });
    const shown = z.record(
      z.string(),
      z.object({ value: z.string().nullable(), from: z.string() }),
    );
    const settings = shown.parse(JSON.parse(said.out));
    expect(settings['EXHIBIT_PORT']).toEqual({ value: '9002', from: 'set' });
    expect(settings['EXHIBIT_HOST']).toEqual({ value: '::1', from: 'set' });
  });

  test('words that are no command, or not its words, are bad usage', async () => {
    const near = await exhibit(cwd, 'kyes create');
    expect(near).toMatchObject({ status: 2, out: '' });
    expect(near.err).toContain('Did you mean exhibit keys create?');
    expect((await exhibit(cwd, 'keys')).err).toContain(
      'keys create, keys list, keys usage, keys revoke',
    );
    expect((await exhibit(cwd, 'up --port 1')).status).toBe(2);
  });

  test('help needs no settings and goes to standard output', async () => {
    const env = { EXHIBIT_PORT: 'x' };
    const said = await exhibit(cwd, 'keys create --help', env);
    expect(said).toMatchObject({ status: 0, err: '' });
    expect(said.out).toContain('example:\n  exhibit keys create');
    expect((await exhibit(cwd, '--help', env)).out).toContain('members add');
  });
});

describe('a service and its operator', () => {
  const credentials = z.object({
    base_url: z.url(),
    api_key: z.string(),
    stream_token: z.string(),
    membership_id: z.string(),
    plan: z.literal('desk'),
    simulated: z.literal(true),
  });
  const created = z.strictObject({ key: z.string(), prefix: z.string(), expires_at: z.string() });
  const LISTED_STATUS = 200;
  const REFUSED_STATUS = 402;

  let cwd: string;
  let service: ChildProcess;
  // Standard output and errors together, in the order in which they were written.
  const output = () => readFileSync(join(cwd, 'said'), 'utf8');
  beforeAll(async () => {
    cwd = mkdtempSync(join(tmpdir(), 'exhibit-main-'));
    const said = openSync(join(cwd, 'said'), 'a');
    const env = {
      EXHIBIT_PORT: '0',
      EXHIBIT_DATA_DIR: join(cwd, 'data'),
      // Nobody asks here for signals and calls, which cost a first minute the most.
      EXHIBIT_SURFACES: 'hosted,integrations,mcp,web',
    };
    service = spawn(process.execPath, [MAIN, 'start'], {
      cwd,
      env: onlySettings(env),
      stdio: ['ignore', said, said],
    });
    const file = join(cwd, 'data/simulated/demo-credentials.json');
    await vi.waitFor(
      () => {
        if (service.exitCode !== null) throw new Error(`it ended: ${output()}`);
        expect(existsSync(file) && output().includes('Base URL')).toBe(true);
      },
      { timeout: 150_000, interval: 200 },
    );
  });
  afterAll(() => {
    service.kill('SIGKILL');
    rmSync(cwd, { recursive: true, force: true });
  });

  function demo() {
    const file = join(cwd, 'data/simulated/demo-credentials.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    return credentials.parse(JSON.parse(readFileSync(file, 'utf8')));
  }

  async function ofac(key: string): Promise<number> {
    const address = `0x${'1'.repeat(40)}`;
    const url = `${demo().base_url}/api/v1/wallet/${address}/ofac`;
    return new Promise((settle, refuse) => {
      get(url, { headers: { authorization: `Bearer ${key}` } }, (response) => {
        response.resume().once('end', () => settle(Number(response.statusCode)));
      }).once('error', refuse);
    });
  }

  test('its first line says that what it serves is simulated, before any line of the log', async () => {
    await vi.waitFor(() => expect(output()).toContain('"msg":'), { timeout: 60_000 });
    expect(output()).toMatch(/^SIMULATED: .*\n/);
    expect(output()).toContain(demo().api_key);
  });

  test('the command that it prints finds the demo key from a terminal that has set nothing', () => {
    const printed = /^ {2}(.*)bin\/exhibit (look .*)$/m.exec(output());
    const line = `${printed?.[1]}"$0" "$1" ${printed?.[2]}`;
    const shell = ['-c', line, process.execPath, MAIN];
    const place = { cwd: tmpdir(), env: onlySettings() };
    const said = spawnSync('sh', shell, { ...place, encoding: 'utf8' });
    expect(said.stderr).toBe('');
    expect(said.stdout).toContain('"sanctioned":true');
  });

  test('no command that it prints holds the key: the first takes it from the file that does', () => {
    const lines = output().split('\n');
    const key = demo().api_key;
    expect(lines.filter((line) => line.includes(key))).toEqual([`  API key        ${key}`]);
    const take = lines.find((line) => line.startsWith('  export EXHIBIT_API_KEY='));
    const shell = ['-c', `${take}; printf %s "$EXHIBIT_API_KEY"`];
    const said = spawnSync('sh', shell, { env: onlySettings(), encoding: 'utf8' });
    expect(said).toMatchObject({ stderr: '', stdout: key });
    expect(output()).toContain(`curl -s -H 'Authorization: Bearer '"$EXHIBIT_API_KEY"`);
  });

  test('a key made while it runs opens it; revoked, it opens nothing within 5 seconds', async () => {
    const { membership_id: id } = demo();
    const made = await exhibit(cwd, `keys create --membership ${id} --json`);
    expect(made.status).toBe(0);
    const { key, prefix } = created.parse(JSON.parse(made.out));
    expect(await ofac(key)).toBe(LISTED_STATUS);
    expect(await exhibit(cwd, `keys revoke ${prefix}`)).toMatchObject({ status: 0 });
    await vi.waitFor(async () => expect(await ofac(key)).toBe(REFUSED_STATUS), {
      timeout: 5_000,
      interval: 250,
    });
  });

  test('look and screen use its demo key', async () => {
    writeFileSync(join(cwd, 'f.csv'), `address\n0x${'1'.repeat(40)}\n`);
    const env = { EXHIBIT_PORT: '0' };
    const looked = await exhibit(cwd, `look 0x${'1'.repeat(40)}`, env);
    // Of made-up history nothing is denied, so that the walk could not check.
    expect(looked).toMatchObject({ status: 3 });
    expect(looked.out).toContain('"sanctioned":false');
    expect(await exhibit(cwd, 'screen f.csv', env)).toMatchObject({ status: 0 });
  });

  test('a second service on its directory does not start', async () => {
    const second = await exhibit(cwd, 'start', { EXHIBIT_PORT: '0' });
    expect(second.status).toBe(1);
    expect(second.err).toContain('owns');
  });

  test('a port that is taken is told with what to do, and the service that has it goes on', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'exhibit-main-'));
    try {
      await createStoresIn(join(elsewhere, 'data/simulated'));
      const second = await exhibit(elsewhere, 'start', {
        EXHIBIT_PORT: new URL(demo().base_url).port,
      });
      expect(second.status).toBe(1);
      expect(second.err).toContain('EADDRINUSE');
      expect(second.err).toContain(
        'Stop what listens there, or set EXHIBIT_PORT or EXHIBIT_OPS_PORT to another port.',
      );
    } finally {
      rmSync(elsewhere, { recursive: true, force: true });
    }
    expect(await ofac(demo().api_key)).toBe(LISTED_STATUS);
  });

  test('a signal stops it with status 0, and its stores open again for a command', async () => {
    const stopped = new Promise((settle) => service.once('close', settle));
    service.kill('SIGTERM');
    expect(await stopped).toBe(0);
    expect(existsSync(join(cwd, 'data/simulated/owner.sock'))).toBe(false);
    const listed = await exhibit(cwd, 'keys list --json', { EXHIBIT_SIMULATE: 'true' });
    expect(listed.status).toBe(0);
    expect(listed.out.trim().split('\n')).toHaveLength(2);
  });

  test('the simulated stores refuse to open live', async () => {
    const env = { EXHIBIT_DATA_DIR: join(cwd, 'data/simulated'), EXHIBIT_SIMULATE: 'false' };
    const said = await exhibit(cwd, 'keys list', env);
    expect(said).toMatchObject({ status: 3, out: '' });
    expect(said.err).toContain('could not be opened');
  });
});
