// Do programs that others generate from the document compile, and ask every route? Generated are
// the types of openapi-typescript with the client of openapi-fetch, and the client of hey-api.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { OpenapiDocument, Operation } from './contract/openapi.ts';
import { expectedStatus } from './testing/asked-routes.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

// The generators ask for TypeScript by its name, and know the one that was written in itself.
const HOOK = `export async function resolve(name, context, next) {
  return next(name === 'typescript' ? 'typescript-5' : name, context);
}`;
const WITH_TYPESCRIPT_5 = `data:text/javascript,${encodeURIComponent(
  `import { register } from 'node:module';
register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(HOOK)}));`,
)}`;

const GENERATE = `
import { writeFileSync } from 'node:fs';
import { createClient } from '@hey-api/openapi-ts';
import openapiTypes, { astToString } from 'openapi-typescript';
const types = await openapiTypes(new URL('openapi.json', import.meta.url));
writeFileSync('types.ts', astToString(types));
await createClient({
  input: './openapi.json',
  output: { path: './hey', importFileExtension: '.js' },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
  logs: { level: 'silent' },
});
`;

const SETTINGS = {
  compilerOptions: {
    strict: true,
    noEmitOnError: true,
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable'],
    module: 'nodenext',
    moduleResolution: 'nodenext',
    types: [],
    outDir: 'out',
    rootDir: '.',
  },
  files: ['types.ts', 'fetch.ts', 'hey.ts', 'hey/sdk.gen.ts'],
};

type Called = {
  readonly path: string;
  readonly method: string;
  readonly one: Operation;
  readonly input: Inputs;
};
type Inputs = {
  readonly path: { readonly [name: string]: unknown };
  readonly query: { readonly [name: string]: unknown };
  readonly body: unknown;
};

/** What each route is asked: the examples that the document gives of what it needs. */
function callsOf({ paths }: OpenapiDocument): readonly Called[] {
  return Object.entries(paths).flatMap(([path, methods]) => {
    // A stream does not end, and clients of another kind read it.
    const asked = Object.entries(methods).filter(([, one]) => !isStream(one));
    return asked.map(([method, one]) => ({
      path,
      method,
      one,
      input: {
        path: examplesIn(one, 'path'),
        query: examplesIn(one, 'query'),
        body: one.requestBody?.content['application/json']?.example,
      },
    }));
  });
}

function isStream({ responses }: Operation): boolean {
  const events = Object.keys({ ...responses['200']?.content }).includes('text/event-stream');
  return events || '101' in responses;
}

function isJson({ responses }: Operation): boolean {
  return Object.keys({ ...responses['200']?.content }).every((type) => /[/+]json\b/.test(type));
}

function examplesIn({ parameters }: Operation, where: string) {
  const all = parameters === undefined ? [] : parameters;
  return Object.fromEntries(
    all.flatMap((p) => (p.in === where && p.required ? [[p.name, p.example] as const] : [])),
  );
}

const HEAD = `
declare const process: { readonly env: { readonly [name: string]: string | undefined } };
declare const console: { log: (text: string) => void };
const { BASE_URL: baseUrl = '', MEMBER = '', PARTNER = '', TOKEN = '' } = process.env;
const as = (key: string) => ({ headers: { authorization: 'Bearer ' + key } });
const said: { [name: string]: number } = {};
`;
const TAIL = '\nconsole.log(JSON.stringify(said));\n';

function keyOf({ one }: Called): string {
  const ways = one.security.flatMap(Object.keys);
  if (ways.includes('partner')) return 'PARTNER';
  return ways.includes('token') ? 'TOKEN' : 'MEMBER';
}

const text = (value: unknown) => JSON.stringify(value);
const isFull = (fields: object) => Object.keys(fields).length > 0;

function programOfFetch(calls: readonly Called[]): string {
  const lines = calls.map((call) => {
    const { path, method, one, input } = call;
    const parts = [
      isFull(input.path) ? `path: ${text(input.path)}` : null,
      isFull(input.query) ? `query: ${text(input.query)}` : null,
    ].filter((part) => part !== null);
    const params = parts.length === 0 ? '' : `params: { ${parts.join(', ')} }, `;
    const body = input.body === undefined ? '' : `body: ${text(input.body)}, `;
    const parse = isJson(one) ? '' : "parseAs: 'arrayBuffer', ";
    const options = `{ ${params}${body}${parse}...as(${keyOf(call)}) }`;
    return `said['${one.operationId}'] = (await client.${method.toUpperCase()}('${path}', ${options})).response.status;`;
  });
  return `import createClient from 'openapi-fetch';
import type { components, paths } from './types.js';
${HEAD}
const client = createClient<paths>({ baseUrl });
type Answer = components['schemas']['WalletOfacAnswer'];
export function sanctioned(answer: Answer): boolean | null {
  return answer.state === 'ok' ? answer.data.sanctioned : null;
}
${lines.join('\n')}${TAIL}`;
}

const camel = (name: string) => name.replaceAll(/_(\w)/g, (_, one: string) => one.toUpperCase());

function programOfHey(calls: readonly Called[]): string {
  const names = calls.map(({ one }) => camel(one.operationId));
  const lines = calls.map((call, at) => {
    const { input, one } = call;
    const parts = [
      isFull(input.path) ? `path: ${text(input.path)}` : null,
      isFull(input.query) ? `query: ${text(input.query)}` : null,
      input.body === undefined ? null : `body: ${text(input.body)}`,
      `client, ...as(${keyOf(call)})`,
    ].filter((part) => part !== null);
    return `said['${one.operationId}'] = (await ${names[at]}({ ${parts.join(', ')} })).response?.status ?? 0;`;
  });
  return `import { createClient } from './hey/client/index.js';
import { ${names.join(', ')} } from './hey/sdk.gen.js';
import type { WalletOfacAnswer } from './hey/types.gen.js';
${HEAD}
const client = createClient({ baseUrl });
export function sanctioned(answer: WalletOfacAnswer): boolean | null {
  return answer.state === 'ok' ? answer.data.sanctioned : null;
}
${lines.join('\n')}${TAIL}`;
}

/** A started service, and the key of a partner. */
type Started = {
  readonly base_url: string;
  readonly api_key: string;
  readonly stream_token: string;
  readonly partner: string;
};

/** Programs made from the served document ask every route of a started service. */
export function programsAreMadeOf(started: () => Started): void {
  describe('programs that others generate from the document', () => {
    const home = mkdtempSync(join(tmpdir(), 'exhibit-openapi-'));
    let calls: readonly Called[];
    let settings: { readonly [name: string]: string };

    async function run(...words: readonly string[]): Promise<string> {
      const env = { PATH: String(process.env['PATH']), ...settings };
      const child = spawn(process.execPath, [...words], { cwd: home, env, stdio: 'pipe' });
      let out = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (bytes) => {
          out += String(bytes);
        });
      }
      const [status] = await once(child, 'close');
      if (status !== 0) throw new Error(`${words.at(-1)} ended ${status}: ${out.slice(0, 4_000)}`);
      return out;
    }

    beforeAll(async () => {
      const { base_url: BASE_URL, api_key: MEMBER, stream_token: TOKEN, partner } = started();
      settings = { BASE_URL, MEMBER, TOKEN, PARTNER: partner };
      symlinkSync(join(ROOT, 'node_modules'), join(home, 'node_modules'));
      const served = await (await fetch(`${BASE_URL}/openapi.json`)).text();
      const read: unknown = JSON.parse(served);
      calls = callsOf(read as OpenapiDocument);
      mkdirSync(join(home, 'hey'));
      const files = {
        'openapi.json': served,
        'package.json': '{"type":"module"}',
        'generate.mjs': GENERATE,
        'tsconfig.json': JSON.stringify(SETTINGS),
        'fetch.ts': programOfFetch(calls),
        'hey.ts': programOfHey(calls),
      };
      for (const [name, said] of Object.entries(files)) writeFileSync(join(home, name), said);
      await run('--import', WITH_TYPESCRIPT_5, 'generate.mjs');
      await run(TSC, '-p', '.');
    });
    afterAll(() => rmSync(home, { recursive: true, force: true }));

    test.each(['fetch', 'hey'])('compile strictly and ask every route: %s', async (program) => {
      const said = z
        .record(z.string(), z.number())
        .parse(JSON.parse(await run(`out/${program}.js`)));
      const expected = calls.map(
        ({ one: { operationId: name } }) =>
          [name, expectedStatus(name, Number(said[name]))] as const,
      );
      expect(calls.length).toBeGreaterThan(25);
      // Whoever asks second finds the address watched.
      const watched = program === 'hey' ? { watch_address: 200 } : {};
      // The example names no chat: which fields it needs follows from the platform.
      const unnamed = { connect_integration: 400 };
      expect(said).toEqual({ ...Object.fromEntries(expected), ...unnamed, ...watched });
    });

    test('have a name for every shape, and none that is any', () => {
      const types = readFileSync(join(home, 'hey/types.gen.ts'), 'utf8');
      for (const name of ['WalletOfacAnswer', 'WalletOfacData', 'NotDeployed', 'Source']) {
        expect(types).toContain(`export type ${name} = `);
      }
      expect(types).not.toMatch(/: any\b|<any>/);
    });
  });
}
