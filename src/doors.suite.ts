// Does every door give the same answer, and does the client do so from a program of its own?
// The doors are the web server, the client, MCP, the partner scan and `exhibit look`.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { parseAddress } from './chain/address.ts';
import { createClient } from './client/client.ts';
import { ROUTES } from './client/routes.ts';
import { parseConfig } from './config.ts';
import { lookCommand } from './features/screening/look.command.ts';
import { expectedStatus } from './testing/asked-routes.ts';
import { connectClient, type McpClient } from './testing/mcp-clients.ts';
import { fetchPatiently, isOverload, SENDINGS_MAX } from './testing/patient-fetch.ts';
import { onlySettings, runPrinting, type Simulated } from './testing/program.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'exhibit-doors-'));
const LISTED = '0x64144967c175997fc8526ba694021ae36965331c';

let url: string;
let tools: McpClient;
let keys: { readonly member: string; readonly partner: string; readonly token: string };

/** The standard output of a program, which must end with status 0. */
async function output(file: string, args: string[], more: object): Promise<string> {
  const child = spawn(file, args, { cwd: home, env: onlySettings({ ...more }), stdio: 'pipe' });
  let out = '';
  let err = '';
  child.stdout.on('data', (bytes) => {
    out += String(bytes);
  });
  child.stderr.on('data', (bytes) => {
    err += String(bytes);
  });
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`${args[0]} ended ${status}: ${err}`);
  return out;
}

/** The addresses that the guide of the simulated world names. */
function addresses(): string[] {
  const guide = readFileSync(join(ROOT, 'docs/guides/simulated-world.md'), 'utf8');
  const [, table] = guide.split('## Addresses for each answer');
  const [rows] = String(table).split('\n\n`not_deployed`');
  const named = [...String(rows).matchAll(/`([0-9A-Za-z]{26,100})`/g)].map(([, text]) => text);
  return [...new Set(named.map(String))];
}

const SECTIONS = [
  ['ofac', 'wallet_ofac'],
  ['exchange', 'wallet_cex'],
  ['bridges', 'wallet_bridges'],
  ['evidence', 'wallet_score'],
  ['deployer', 'deployer_record'],
] as const;
type Texts = { readonly [door: string]: string };

const post = (body: object): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

async function httpText(path: string, key: string, init: RequestInit = {}): Promise<string> {
  const headers = { ...init.headers, authorization: `Bearer ${key}` };
  return (await fetchPatiently(url + path, { ...init, headers })).text();
}

/** An answer of the client, or the body of its refusal, as text. */
async function saidBy(call: Promise<unknown>): Promise<string> {
  return JSON.stringify(await call.catch((refusal: { body: unknown }) => refusal.body));
}

/** The content of a scan's section, or its refusal of the address. */
function sectionOf(scan: string, section: string): string {
  const parsed: unknown = JSON.parse(scan);
  const { data } = Object(parsed);
  if (data === undefined) throw new Error(`the scan was refused: ${scan}`);
  const { sections, refused } = data;
  if (section in sections) return JSON.stringify(sections[section]);
  const { error } = refused.find((one: { section: string }) => one.section === section);
  return JSON.stringify({ error });
}

const OTHER_DOORS = ['scan', 'client', 'mcp'] as const;

/** The answers of the routes by HTTP and by another door, asked one right after another. */
async function byRoute(address: string): Promise<Texts> {
  const door = OTHER_DOORS[Number.parseInt(address.slice(-2), 36) % OTHER_DOORS.length];
  const client = createClient({ baseUrl: url, key: keys.member });
  const scan =
    door === 'scan'
      ? await httpText(`/api/v1/scan/${address}`, keys.partner, { method: 'POST' })
      : '';
  const isSolana = parseAddress(address)?.kind === 'solana';
  const chain = isSolana ? 'solana' : 'ethereum';
  const clientSays = (route: (typeof SECTIONS)[number][1]) => {
    if (route !== 'deployer_record') return client[route]({ address });
    return isSolana
      ? client.solana_deployer({ address })
      : client.deployer_record({ chain, address });
  };
  const otherSays = async (section: string, route: (typeof SECTIONS)[number][1]) => {
    if (door === 'scan') return sectionOf(scan, section);
    if (door === 'client') return saidBy(clientSays(route));
    const question = route === 'deployer_record' ? { chain, address } : { address };
    return String((await tools.call(route, question)).content.at(-1)?.text);
  };
  const pathOf = (route: (typeof SECTIONS)[number][1]) => {
    const { path } = ROUTES[isSolana && route === 'deployer_record' ? 'solana_deployer' : route];
    return path.replace('{chain}', chain).replace('{address}', address);
  };
  // A scan says of a refused section its words alone: its one input is the address.
  const wordsOf = (text: string) => {
    const said: unknown = JSON.parse(text);
    const { error } = Object(said);
    return door === 'scan' && error !== undefined ? JSON.stringify({ error }) : text;
  };
  const texts = SECTIONS.map(async ([section, route]) => [
    [`${door}, ${section}`, await otherSays(section, route)],
    [`http, ${section}`, wordsOf(await httpText(pathOf(route), keys.member))],
  ]);
  return Object.fromEntries((await Promise.all(texts)).flat());
}

const { signal } = new AbortController();
const QUIET = { json: true, colour: false, cwd: home, signal };

async function byLook(address: string): Promise<Texts> {
  const lines: string[] = [];
  const io = { out: (line: string) => lines.push(line), err: () => undefined, ...QUIET };
  const started = parseConfig({}, { cwd: home });
  const parts = ['--part', 'ofac', '--part', 'screen'];
  const words = [address, ...parts, '--base-url', url, '--key', keys.member];
  await lookCommand.run(words, io, { started });
  const looked: unknown = JSON.parse(lines.join('\n'));
  const { ofac, screen } = Object(looked);
  const body = { addresses: [address] };
  const member = createClient({ baseUrl: url, key: keys.member });
  const path = ROUTES.wallet_ofac.path.replace('{address}', address);
  return {
    'http, ofac': await httpText(path, keys.member),
    'look, ofac': String(JSON.stringify(ofac)),
    'http, screen': await httpText(ROUTES.bulk_wallet_screen.path, keys.member, post(body)),
    'client, screen': await saidBy(member.bulk_wallet_screen({ body })),
    'look, screen': String(JSON.stringify(screen)),
  };
}

/**
 * Unix times of this hour are those of the asking, which each door does at a moment of its own, and
 * so are the newest blocks: a source that an answer read in two seconds stands there twice. How
 * many addresses were not read for one reason, and how many for another, moves on.
 */
function timeless(text: string): string {
  const recentS = Date.now() / 1_000 - 3_600;
  return text
    .replaceAll(/\b\d{10}\b/g, (digits) => (Number(digits) > recentS ? 'now' : digits))
    .replaceAll(/\(and \d+ more like it\)/g, '(and more like it)')
    .replaceAll(/"(from|to|from_block|to_block)":\d{6,}/g, '"$1":"a block"')
    .replaceAll(/"sources":\[([^\]]*)\]/g, (_, sources: string) => {
      return `"sources":[${[...new Set(sources.split(/(?<=\}),/))].join()}]`;
    });
}

/** A second, a block or a first live read may fall between two doors: then they are asked anew. */
const ATTEMPTS = 6;
/** So are they where a door passes on that the service is overloaded, which is no attempt. */
const COME_AGAIN_MS = 1_000;
const isBusy = (text: string) => isOverload(402, text) || /try again in a second/.test(text);

async function agreed(ask: () => Promise<Texts>): Promise<Texts> {
  let texts: Texts = {};
  for (let attempt = 0, waits = 0; attempt < ATTEMPTS; attempt += 1) {
    texts = Object.fromEntries(
      Object.entries(await ask()).map(([door, text]) => [door, timeless(text)]),
    );
    if (waits < SENDINGS_MAX && Object.values(texts).some(isBusy)) {
      attempt -= 1;
      waits += 1;
      await wait(COME_AGAIN_MS);
      continue;
    }
    const kinds = new Set(Object.keys(texts).map((door) => door.split(', ')[1]));
    const distinct = new Set(Object.values(texts));
    if (distinct.size === kinds.size) return texts;
  }
  return texts;
}

/** How many addresses are asked about at a time. */
const TOGETHER = 4;

/** The texts of every address that the guide names: what differed is asked for anew. */
async function ofEach(ask: (address: string) => Promise<Texts>): Promise<Map<string, Texts>> {
  const left = addresses();
  const found = new Map<string, Texts>();
  const work = async () => {
    for (let address = left.pop(); address !== undefined; address = left.pop()) {
      const asked = address;
      found.set(asked, await agreed(() => ask(asked)));
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, work));
  return found;
}

/** Holds the text of each door against that of the web server. */
function expectSame(found: ReadonlyMap<string, Texts>): void {
  for (const [address, texts] of found) {
    for (const [door, text] of Object.entries(texts)) {
      const http = texts[`http, ${door.split(', ')[1]}`];
      expect({ address, door, text }).toEqual({ address, door, text: http });
    }
  }
}

const PROGRAM = `
import { type Client, createClient, ExhibitRefusal } from 'exhibit/client';
import { followStream } from 'exhibit/client/stream';

declare const process: { readonly env: { readonly [name: string]: string | undefined } };
const { BASE_URL = '', MEMBER = '', PARTNER = '', TOKEN = '', QUESTIONS = '' } = process.env;
const busy = { baseUrl: BASE_URL, retriesMax: 5, timeoutMs: 60_000 };
const member = createClient({ ...busy, key: MEMBER, token: TOKEN });
const partner = createClient({ ...busy, key: PARTNER });
const print = (what: unknown) => console.log(JSON.stringify(what));

const questions = JSON.parse(QUESTIONS) as { readonly [name: string]: object };
for (const [name, question] of Object.entries(questions)) {
  const client = name === 'partner_scan' ? partner : member;
  const ask = client[name as keyof Client] as (question: object) => Promise<object>;
  print({ name, ...(await ask(question)) });
}

const answer = await member.wallet_ofac({ address: '${LISTED}' });
if (answer.state === 'ok') print({ sanctioned: answer.data.sanctioned });
const refused = await partner.wallet_ofac({ address: '${LISTED}' }).catch((why: unknown) => why);
if (refused instanceof ExhibitRefusal) print({ refused: refused.status, body: refused.body });

type Flag = { readonly type: 'flag'; readonly seq: number };
const stream = { path: '/ws/none', eventsPath: '/sse/none' };
for await (const item of followStream<Flag>({ baseUrl: BASE_URL, token: TOKEN, stream })) {
  if (item.kind === 'stopped') print({ stopped: item.status });
}
`;

const LIE = `
import { createClient } from 'exhibit/client';

const client = createClient({ baseUrl: 'http://127.0.0.1' });
const answer = await client.wallet_ofac({ address: '${LISTED}' });
if (answer.data?.sanctioned !== true) console.log('nothing there');
`;

const NO_SIGNAL = `sig_${'0'.repeat(32)}`;

/** The requests for routes that need more than an address. */
const OWN_QUESTIONS: { readonly [N in keyof typeof ROUTES]?: object } = {
  bulk_wallet_screen: { body: { addresses: [LISTED] } },
  connect_integration: {
    chat_platform: 'discord',
    body: { webhook_id: '123456789012345678', webhook_token: 'd'.repeat(68) },
  },
  deployer_record: { address: LISTED, chain: 'ethereum' },
  edge_rules: { rule: 'asset = BTC' },
  leaked_key: { body: { key: 'a text that is no key of this service' } },
  log_checkpoint: { log: 1 },
  log_end: { log: 1 },
  log_proof: { leaf: '0' },
  log_tile: { log: 1, tile: '0/000.p/1' },
  ml_rank: { pair: 'BTC' },
  partner_scan: { address: LISTED, body: { sections: ['ofac'] } },
  record_bulk_screen: { body: { addresses: [LISTED] } },
  record_screen: { body: { address: LISTED } },
  remove_integration: { id: 'int_1' },
  rug_model_card: { version: 'rug-2-000000000000' },
  screen_record: { id: 'scr_unknown' },
  screen_replay: { id: 'scr_unknown' },
  signal: { id: NO_SIGNAL },
  signal_evidence: { id: NO_SIGNAL },
  signal_verification: { id: NO_SIGNAL },
  solana_deployer: { address: 'NXwt11psf5yJvnrrbhLGTP6nRa8xuKD1RMHesUtETfS' },
  test_integration: { id: 'int_1' },
  unwatch_address: { id: 'wch_unknown' },
  wallet_bridges: { address: LISTED, chain: 'base' },
  watch_address: { body: { address: LISTED } },
};

/** The requests for each route: its own, else one about a listed address where it takes one. */
const QUESTIONS = Object.fromEntries(
  Object.entries<{ readonly path: string }>(ROUTES).map(([name, { path }]) => {
    const plain = path.includes('{address}') ? { address: LISTED } : {};
    return [name, name in OWN_QUESTIONS ? OWN_QUESTIONS[name as keyof typeof ROUTES] : plain];
  }),
);

/** Each door of a started service says the same. */
export function doorsSayTheSame(started: () => Simulated): void {
  beforeAll(async () => {
    const { cwd, base_url, api_key, stream_token } = started();
    const words = ['keys', 'create', '--partner', 'acme', '--budget', '100000'];
    const place = { cwd, env: { EXHIBIT_SIMULATE: 'true' } };
    const { key: partner } = await runPrinting(z.object({ key: z.string() }), words, place);
    url = base_url;
    keys = { member: api_key, partner, token: stream_token };
    const headers = { authorization: `Bearer ${api_key}` };
    tools = await connectClient('2026-07-28', { url: `${url}/mcp`, headers });
  });
  afterAll(async () => {
    await tools.close();
    rmSync(home, { recursive: true, force: true });
  });

  describe('the same answer, byte for byte but for the time of asking', () => {
    test('of each route about every simulated address by HTTP, and by client, MCP or partner scan', async () => {
      const found = await ofEach(byRoute);
      expectSame(found);
      expect(found.size).toBeGreaterThan(25);
      const asked = [...found.values()].flatMap((one) => Object.entries(one));
      expect(asked).toHaveLength(found.size * 2 * SECTIONS.length);
      for (const door of OTHER_DOORS) {
        const answered = asked.filter(([by, text]) => {
          return by.startsWith(door) && text.startsWith('{"state":"ok"');
        });
        expect({ door, answered: answered.length > SECTIONS.length }).toEqual({
          door,
          answered: true,
        });
      }
    });

    test('of the list and the tables about every simulated address by `exhibit look` too', async () => {
      const found = await ofEach(byLook);
      expectSame(found);
      const texts = [...found.values()].flatMap((one) => Object.values(one));
      expect(texts).toHaveLength(found.size * 5);
    });
  });

  describe('the client in a program of its own', () => {
    const project = join(home, 'project');
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');

    // Offline: the archive, and the one package that it names.
    beforeAll(async () => {
      mkdirSync(project);
      const archive = await output(
        process.execPath,
        [join(ROOT, 'bin/pack-client.js'), project],
        {},
      );
      const dependencies = {
        exhibit: `file:${archive.trim()}`,
        zod: `file:${join(ROOT, 'node_modules/zod')}`,
      };
      const own = { private: true, type: 'module', dependencies };
      writeFileSync(join(project, 'package.json'), JSON.stringify(own));
      const install = ['--prefix', project, 'install', '--offline', '--no-audit', '--no-fund'];
      await output('npm', install, {});
    });

    // Every declaration is checked, in the language of a browser: no type of Node.js is there.
    const compilerOptions = {
      target: 'es2022',
      lib: ['es2022', 'dom'],
      module: 'nodenext',
      types: [],
      strict: true,
      skipLibCheck: false,
    };

    function compile(text: string) {
      const config = JSON.stringify({ compilerOptions, files: ['program.ts'] });
      writeFileSync(join(project, 'tsconfig.json'), config);
      writeFileSync(join(project, 'program.ts'), text);
      return spawnSync(process.execPath, [tsc, '-p', project], { encoding: 'utf8' });
    }

    test('installs nothing but itself and zod, and nothing of the service', () => {
      const installed = readdirSync(join(project, 'node_modules')).filter((one) => one[0] !== '.');
      expect(installed).toEqual(['exhibit', 'zod']);
      const client = join(project, 'node_modules/exhibit/dist');
      const files = readdirSync(client, { recursive: true, encoding: 'utf8' });
      const scripts = files.filter((file) => file.endsWith('.js'));
      const importsOf = (file: string): string[] =>
        [...readFileSync(join(client, file), 'utf8').matchAll(/from '([^']+)'/g)].map(([, to]) =>
          String(to).startsWith('.') ? join(dirname(file), String(to)) : String(to),
        );
      const reachedFrom = (first: string) => {
        const reached = new Set([first]);
        for (const file of reached) {
          if (scripts.includes(file)) for (const to of importsOf(file)) reached.add(to);
        }
        return [...reached].sort();
      };
      expect(reachedFrom('client/client.js')).toEqual(['client/client.js', 'client/routes.js']);
      expect(reachedFrom('client/stream.js')).toEqual(['client/stream.js']);
      const verifying = reachedFrom('client/verify.js');
      const foreign = verifying.filter((one) => !scripts.includes(one));
      expect(foreign).toEqual([
        '@noble/hashes/sha3.js',
        '@noble/hashes/utils.js',
        '@scure/base',
        'ox/Ed25519',
        'ox/Hash',
        'ox/Hex',
      ]);
      const entries = ['client', 'stream', 'signed', 'save-signal', 'verify', 'policy'].map(
        (name) => `client/${name}.js`,
      );
      const own = new Set(entries.flatMap(reachedFrom));
      expect(scripts.sort()).toEqual([...own].filter((one) => !foreign.includes(one)).sort());
    });

    test('verifies a saved file beside the packages that it names', async () => {
      for (const name of ['@noble', '@scure', 'ox']) {
        symlinkSync(join(ROOT, 'node_modules', name), join(project, 'node_modules', name));
      }
      const program = `
        import { readFileSync } from 'node:fs';
        import { verifySaved } from 'exhibit/client/verify';
        const [file, keys, checkpoint] = process.argv.slice(2).map((path) => readFileSync(path));
        const trust = { keys: String(keys), checkpoint: String(checkpoint), node: null, now: 0 };
        console.log((await verifySaved(file, trust)).outcome);`;
      writeFileSync(join(project, 'verify.js'), program);
      const files = ['signal.json', 'keys.json', 'checkpoint.txt'].map((name) =>
        join(ROOT, 'docs/reference/vectors', name),
      );
      const said = await output(process.execPath, [join(project, 'verify.js'), ...files], {});
      expect(said.trim()).toBe('verified');
    });

    test('asks every route of the service, with types that need no Node.js', async () => {
      expect(compile(PROGRAM)).toMatchObject({ status: 0, stdout: '' });
      const said = await output(process.execPath, [join(project, 'program.js')], {
        BASE_URL: url,
        MEMBER: keys.member,
        PARTNER: keys.partner,
        TOKEN: keys.token,
        QUESTIONS: JSON.stringify(QUESTIONS),
      });
      const lines = said.trim().split('\n');
      const answers = lines.map((line) =>
        z.record(z.string(), z.unknown()).parse(JSON.parse(line)),
      );
      const asked = answers.slice(0, -3);
      expect(asked.map(({ name }) => name)).toEqual(Object.keys(ROUTES));
      for (const { name, state, status, reason } of asked) {
        const { kind } = ROUTES[name as keyof typeof ROUTES];
        const isPlain = kind === 'plain';
        const isExpected = status === expectedStatus(String(name), Number(status));
        const said = isPlain ? isExpected : typeof state === 'string';
        expect({ name, reason, said }).toEqual({ name, reason, said: true });
      }
      expect(answers.at(-3)).toEqual({ sanctioned: true });
      const body = expect.objectContaining({ reason: 'unknown_membership' });
      expect(answers.at(-2)).toEqual({ refused: 402, body });
      // No stream is served here yet: the client says so, and does not ask again.
      expect(answers.at(-1)).toEqual({ stopped: 404 });
    });

    test('does not compile where data is read before the state was looked at', () => {
      const { status, stdout } = compile(LIE);
      expect(status).not.toBe(0);
      expect(stdout).toContain("Property 'data' does not exist on type 'Absent<\"not_deployed\">'");
    });
  });
}
