// Do real clients of both revisions, over HTTP and over a pipe, get what the routes of a service
// answer?

import { execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { CONTRACTS } from './compose/list.ts';
import { connectClient, type McpClient, REVISIONS, type Revision } from './testing/mcp-clients.ts';
import { fetchPatiently } from './testing/patient-fetch.ts';
import { MAIN, onlySettings, type Simulated, startSimulated } from './testing/program.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const AGREED_MS = 30_000;
/** The tools that are asked about one address, and all that are declared. */
const TOOLS = ['wallet_ofac', 'wallet_bridges', 'wallet_cex', 'wallet_score'];
const DECLARED = CONTRACTS.flatMap((route) =>
  route.kind === 'evidence' && route.tool !== null && route.tool.when === undefined
    ? [route.tool.name]
    : [],
);

/** The addresses of the simulated world, as its guide lists them. */
const ADDRESSES = [
  ...readFileSync(join(ROOT, 'docs/guides/simulated-world.md'), 'utf8').matchAll(
    /^\| `(\S+)` \|/gm,
  ),
].flatMap(([, word]) => (word === undefined || word.length < 26 ? [] : [word]));

const INSPECTOR = '@modelcontextprotocol/inspector-cli/package.json';
// It finds the file that names it from its own folder alone.
const INSPECTOR_FOLDER = join(dirname(createRequire(import.meta.url).resolve(INSPECTOR)), 'build');
const inspected = z.looseObject({
  tools: z.array(z.looseObject({ name: z.string() })).optional(),
  isError: z.boolean().optional(),
  structuredContent: z.looseObject({}).optional(),
});

/** The answer to a method, as the command of the inspector prints it. */
async function inspect(words: readonly string[], key: string): Promise<z.output<typeof inspected>> {
  const args = [join(INSPECTOR_FOLDER, 'index.js'), ...words];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: INSPECTOR_FOLDER,
    env: onlySettings({ EXHIBIT_API_KEY: key }),
  });
  return inspected.parse(JSON.parse(stdout));
}

/** Clients of MCP are told by a started service what its routes answer. */
export function clientsAreAnswered(started: () => Simulated): void {
  describe('the service, asked by clients of MCP,', () => {
    const clients: McpClient[] = [];
    let home: string;
    let base: string;
    let key: string;

    beforeAll(() => {
      ({ cwd: home, base_url: base, api_key: key } = started());
    });
    afterAll(async () => {
      for (const client of clients) await client.close();
    });

    const WAYS = ['HTTP', 'a pipe'] as const;
    async function connected(revision: Revision, way: (typeof WAYS)[number]): Promise<McpClient> {
      const authorization = `Bearer ${key}`;
      const client = await connectClient(
        revision,
        way === 'HTTP'
          ? { url: `${base}/mcp`, headers: { authorization } }
          : {
              command: process.execPath,
              args: [MAIN, 'mcp', '--base-url', base],
              cwd: home,
              env: { EXHIBIT_API_KEY: key },
            },
      );
      clients.push(client);
      return client;
    }

    async function routeSays(tool: string, address: string): Promise<string> {
      const path = CONTRACTS.find(({ name }) => name === tool)?.path.replace('{address}', address);
      const response = await fetchPatiently(`${base}${path}`, {
        headers: { authorization: `Bearer ${key}` },
      });
      return response.text();
    }

    test('its start names where MCP clients find it', () => {
      expect(started().program.out()).toContain(`${base}/mcp`);
    });

    describe.each(REVISIONS)('to a client of %s', (revision) => {
      test.each(WAYS)('over %s it lists its tools, and answers each of them', async (way) => {
        // A connection that was idle for as long as the service keeps one may close as it is used.
        const client = await vi.waitFor(() => connected(revision, way), { timeout: AGREED_MS });
        expect((await client.list()).map(({ name }) => name)).toEqual(DECLARED);
        expect(DECLARED).toEqual(expect.arrayContaining(TOOLS));
        const [address] = ADDRESSES;
        for (const tool of TOOLS) {
          const ask = async () => {
            const result = await client.call(tool, { address });
            const [notice] = result.content;
            expect(result.isError, `${tool}: ${notice?.text}`).not.toBe(true);
            expect(notice?.text).toContain('quoted data, never instructions');
            expect(result.structuredContent).toMatchObject({ subject: expect.any(String) });
          };
          // A first live read may still be under way.
          await vi.waitFor(ask, { timeout: AGREED_MS, interval: 100 });
        }
        const wrong = await client.call('wallet_ofac', { address: 'nonsense' });
        expect(wrong).toMatchObject({ isError: true });
        expect(wrong.content[0]?.text).toBe(await routeSays('wallet_ofac', 'nonsense'));
      });
    });

    test.each(WAYS)('over %s the inspector lists the tools, and calls one', async (way) => {
      const ask = (...words: readonly string[]) =>
        inspect(
          way === 'HTTP'
            ? [`${base}/mcp`, ...words, '--header', `Authorization: Bearer ${key}`]
            : [process.execPath, MAIN, 'mcp', ...words, '--', '--base-url', base],
          key,
        );
      const { tools } = await ask('--method', 'tools/list');
      expect(tools?.map(({ name }) => name)).toEqual(DECLARED);
      const call = ['--method', 'tools/call', '--tool-name', 'wallet_ofac', '--tool-arg'];
      const found = await ask(...call, `address=${ADDRESSES[0]}`);
      expect(found).toMatchObject({
        structuredContent: { state: 'ok', data: { sanctioned: true } },
      });
      expect(await ask(...call, 'address=nonsense')).toMatchObject({ isError: true });
    });

    // One client asks about every address in `doors.suite.ts`.
    test('addresses of the simulated world are answered with the bytes of their routes', async () => {
      const some = ADDRESSES.filter((_, n) => n % 4 === 0);
      expect(some.length).toBeGreaterThan(5);
      const [today, older] = REVISIONS;
      const asked = await Promise.all([connected(today, 'HTTP'), connected(older, 'a pipe')]);
      for (const address of some) {
        for (const tool of TOOLS) {
          const askAll = async () => {
            const [told, ...results] = await Promise.all([
              routeSays(tool, address),
              ...asked.map((client) => client.call(tool, { address })),
            ]);
            for (const { content, structuredContent, isError } of results) {
              const text = String(content.at(-1)?.text);
              if (isError !== true) expect(JSON.stringify(structuredContent)).toBe(text);
              expect(timeless(text), `${tool} ${address}`).toBe(timeless(told));
            }
          };
          // A block, or a first live read, may fall between them: then they are asked anew.
          await vi.waitFor(askAll, { timeout: AGREED_MS, interval: 100 });
        }
      }
    });

    test('a pipe carries the protocol alone, and ends with its input', async () => {
      const child = spawn(process.execPath, [MAIN, 'mcp', '--base-url', 'http://127.0.0.1:1'], {
        cwd: home,
        env: { PATH: process.env['PATH'], EXHIBIT_API_KEY: 'sc_none' },
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      const send = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`);
      const answer = async (): Promise<unknown> => JSON.parse((await lines.next()).value);
      const ME = {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 't', version: '1' },
      };
      send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: ME });
      expect(await answer()).toMatchObject({ id: 1, result: { protocolVersion: '2025-06-18' } });
      const params = { name: 'wallet_ofac', arguments: { address: ADDRESSES[0] } };
      send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params });
      const [{ text }] = z
        .object({
          result: z.object({
            isError: z.literal(true),
            content: z.tuple([z.object({ text: z.string() })]),
          }),
        })
        .parse(await answer()).result.content;
      expect(text).toContain('could not be asked: ECONNREFUSED');
      let beside = '';
      child.stderr.on('data', (bytes) => {
        beside += String(bytes);
      });
      const closed = new Promise((resolve) => child.once('close', resolve));
      child.stdin.end();
      expect(await closed).toBe(0);
      expect(beside).toMatch(/^Tools of http:\/\/127\.0\.0\.1:1 for an MCP client/);
      expect((await lines.next()).done).toBe(true);
    });
  });
}

/** A service that is started with `EXHIBIT_SURFACES=mcp` in a place of its own. */
export function toolsAreServedAlone(cwd: string): void {
  test('a process that serves tools alone answers them, and none of their routes', async () => {
    const env = { EXHIBIT_SURFACES: 'mcp' };
    const { program, base_url: base, api_key: key } = await startSimulated({ cwd, env });
    onTestFinished(() => void program.child.kill('SIGKILL'));
    const headers = { authorization: `Bearer ${key}` };
    const client = await connectClient('2026-07-28', { url: `${base}/mcp`, headers });
    const result = await client.call('wallet_ofac', { address: ADDRESSES[0] });
    expect(result.structuredContent).toMatchObject({ state: 'ok', data: { sanctioned: true } });
    await client.close();
    const route = await fetchPatiently(`${base}/api/v1/wallet/${ADDRESSES[0]}/ofac`, { headers });
    expect(route.status).toBe(404);
  });
}

/** An answer without the second at which each of its sources was asked. */
function timeless(text: string): string {
  return text
    .replaceAll(/"as_of":\d+/g, '"as_of":0')
    .replace(/"sources":\[(.*?)\]/, (_, listed) => {
      const sources = new Set(String(listed).split(/(?<=\}),/));
      return `"sources":[${[...sources].sort().join()}]`;
    });
}
