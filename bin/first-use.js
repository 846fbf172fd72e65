// Answers one question: is this clone installed and built; if not, does that first.
// It knows no command of the service: it hands the arguments on to dist/exhibit.js.
'use strict';

const { spawn } = require('node:child_process');
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { parseArgs } = require('node:util');
const { withLock } = require('./lock.js');

const ROOT = path.resolve(__dirname, '..');
const LOCK = at('.exhibit-setup.lock');
const DIST = at('dist');
/** The program in one file, as bundle.mjs makes it. */
const PROGRAM = at('dist/exhibit.js');
const BUILT = at('dist/.built');
/** Beside dist: what is built finds the files of the project from there as well. */
const NEXT = at('.dist-next');
const INSTALLED = at('node_modules/.exhibit-installed');
const PROGRESS_MS = 15_000;
const OUTPUT_CHARS_MAX = 4_000;

function at(name) {
  return path.join(ROOT, name);
}

function say(line) {
  process.stderr.write(`exhibit: ${line}\n`);
}

/** Where the output of a program goes: standard output is a command's own, never the set-up's. */
const OUTPUT = { shown: [1, 2], aside: [2, 2], kept: ['pipe', 'pipe'] };

/** Runs a program to its end and gives its status, and its output where that is kept. */
function program(file, args, { output: to = 'shown', env = process.env } = {}) {
  return new Promise((done) => {
    const child = spawn(file, args, { cwd: ROOT, stdio: ['ignore', ...OUTPUT[to]], env });
    let output = '';
    const keep = (bytes) => {
      output = (output + bytes).slice(0, OUTPUT_CHARS_MAX);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    const pass = (signal) => child.kill(signal);
    process.once('SIGINT', pass).once('SIGTERM', pass);
    child.once('error', (fault) => done({ status: 1, output: fault.message }));
    child.once('close', (status) => {
      process.off('SIGINT', pass).off('SIGTERM', pass);
      done({ status: status === null ? 1 : status, output });
    });
  });
}

const node = (args, how) => program(process.execPath, args, how);
const tsc = (project, ...more) => [
  at('node_modules/typescript/bin/tsc'),
  '-p',
  at(project),
  ...more,
];
/** What runs needs no more: `npm run check` and the suite look at the types. */
const UNCHECKED = ['--noCheck', '--declaration', 'false', '--sourceMap', 'false'];

async function timed(what, step) {
  const began = Date.now();
  const seconds = () => Math.round((Date.now() - began) / 1000);
  say(`${what} …`);
  const timer = setInterval(() => say(`still ${what} (${seconds()} s)`), PROGRESS_MS);
  const result = await step().finally(() => clearInterval(timer));
  if (result.status === 0) say(`done ${what} (${seconds()} s)`);
  return result;
}

// --- the dependencies -----------------------------------------------------------------------

function lockFileHash() {
  return createHash('sha256')
    .update(fs.readFileSync(at('package-lock.json')))
    .digest('hex');
}

// npm writes its own record into node_modules last, so that one newer than the lock file means a
// whole install, even one made by hand.
function installNeeded() {
  const stamp = textOf(INSTALLED);
  if (stamp !== null) return stamp !== lockFileHash();
  const record = timeOf(at('node_modules/.package-lock.json'));
  if (record === null || record < timeOf(at('package-lock.json'))) return true;
  fs.writeFileSync(INSTALLED, lockFileHash());
  return false;
}

async function install() {
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund'];
  const result = await timed('installing the dependencies', () =>
    program('npm', [...args, '--loglevel=error'], { output: 'kept' }),
  );
  if (result.status !== 0) {
    say('the dependencies could not be installed; npm says:');
    process.stderr.write(`${withoutHosts(result.output)}\n`);
    process.exit(1);
  }
  fs.writeFileSync(INSTALLED, lockFileHash());
}

/** The text without addresses of servers: which registry is used is nobody else's business. */
function withoutHosts(text) {
  const hosts = new Set([...text.matchAll(/https?:\/\/([^\s/"':]+)/g)].map((match) => match[1]));
  const plain = [...hosts].reduce((shorter, host) => shorter.replaceAll(host, 'REGISTRY'), text);
  return plain
    .replaceAll(/https?:\/\/[^\s"']+/g, '(the registry)')
    .replaceAll(/\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT) \S+/g, '$1')
    .trim();
}

// --- the build ------------------------------------------------------------------------------

function* filesUnder(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const inner = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* filesUnder(inner);
    else if (entry.isFile()) yield inner;
  }
}

/** One text for all that a build reads: names, sizes and times. */
function sourceMark() {
  const hash = createHash('sha256');
  const names = ['tsconfig.json', 'tsconfig.build.json', 'package-lock.json', 'bin/bundle.mjs'];
  const settings = names.map(at);
  for (const file of [...settings, ...[...filesUnder(at('src'))].sort()]) {
    const { size, mtimeMs } = fs.statSync(file);
    hash.update(`${file}\n${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

function buildNeeded() {
  return textOf(BUILT) !== sourceMark() || !fs.existsSync(PROGRAM);
}

async function build() {
  const mark = sourceMark();
  fs.rmSync(BUILT, { force: true });
  fs.rmSync(NEXT, { recursive: true, force: true });
  const project = tsc('tsconfig.build.json', ...UNCHECKED, '--outDir', NEXT);
  const aside = { output: 'aside' };
  const result = await timed('building', async () => {
    const made = await node(project, aside);
    return made.status === 0 ? node([at('bin/bundle.mjs'), NEXT], aside) : made;
  });
  if (result.status !== 0) {
    say('the build failed');
    process.exit(1);
  }
  takeOver();
  fs.writeFileSync(BUILT, mark);
}

// A file that runs elsewhere is replaced whole or not touched: what did not change stays, and
// nobody reads half of one that did. What has no source any more goes.
function takeOver() {
  const names = new Set();
  for (const file of filesUnder(NEXT)) {
    const name = path.relative(NEXT, file);
    names.add(stemOf(name));
    const target = path.join(DIST, name);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    const same = fs.existsSync(target) && fs.readFileSync(target).equals(fs.readFileSync(file));
    if (!same) fs.renameSync(file, target);
  }
  fs.rmSync(NEXT, { recursive: true, force: true });
  for (const file of filesUnder(DIST)) {
    const name = path.relative(DIST, file);
    if (!name.startsWith('.') && !names.has(stemOf(name))) fs.rmSync(file);
  }
}

const stemOf = (name) => name.replace(/(\.d\.ts|\.js\.map|\.js)$/, '');

function textOf(file) {
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : null;
}

function timeOf(file) {
  return fs.existsSync(file) ? fs.statSync(file).mtimeMs : null;
}

/** Installs and builds where needed; two starts at once take turns. */
async function setUp() {
  const isClone = fs.existsSync(at('src')) && fs.existsSync(at('package-lock.json'));
  if (!isClone || !(installNeeded() || buildNeeded())) return;
  await withLock(LOCK, say, async () => {
    if (installNeeded()) await install();
    if (buildNeeded()) await build();
  });
}

// --- what a developer types -----------------------------------------------------------------

const vitest = (args, env) =>
  node([at('node_modules/vitest/vitest.mjs'), 'run', ...args], { env: { ...process.env, ...env } });

async function test(args) {
  return (await vitest(args, {})).status;
}

/** What a change has to pass before it is shown to anybody, within a minute: all, or the parts named. */
async function check(names) {
  const parts = {
    types: () => node(tsc('tsconfig.json')),
    lint: () => node([at('node_modules/@biomejs/biome/bin/biome'), 'check', ROOT]),
    unit: () => vitest([], { EXHIBIT_TEST_ONLY: 'unit' }),
  };
  const unknown = names.find((name) => !Object.hasOwn(parts, name));
  if (unknown !== undefined) {
    say(`check: "${unknown}" is none of its parts: ${Object.keys(parts).join(', ')}`);
    return 2;
  }
  const failed = [];
  for (const name of names.length > 0 ? names : Object.keys(parts)) {
    if ((await parts[name]()).status !== 0) failed.push(name);
    // What follows would say little of code whose types are wrong.
    if (failed.includes('types')) break;
  }
  say(failed.length === 0 ? 'check passed' : `check failed: ${failed.join(', ')}`);
  return failed.length === 0 ? 0 : 1;
}

/** The requests of a round of src/generated-memory.test.ts, as that file has them. */
const ROUND_REQUESTS = 2_000;

// Hostile input, as much as the arguments say: the suite tries a little of it, from the same seeds.
// Each processor asks its own rounds of requests over ports in memory; then the rest is tried.
async function fuzz(args) {
  const option = (byDefault) => ({ type: 'string', default: byDefault });
  const { values } = parseArgs({
    args,
    options: {
      requests: option('100000'),
      served: option('5000'),
      inputs: option('100000'),
      seed: option('1'),
    },
  });
  const wrong = Object.entries(values).find(([, text]) => !/^[1-9]\d{0,8}$/.test(text));
  if (wrong !== undefined) {
    say(`fuzz: --${wrong[0]} expects a whole number from 1, not "${wrong[1]}"`);
    return 2;
  }
  const { requests, served, inputs, seed } = values;
  const tests = (names, settings) => {
    const env = Object.entries({ SEED: seed, ...settings });
    const named = env.map(([name, text]) => [`EXHIBIT_TEST_${name}`, text]);
    return vitest(
      names.map((name) => `src/${name}.test.ts`),
      Object.fromEntries(named),
    );
  };
  const rounds = Math.ceil(Number(requests) / ROUND_REQUESTS);
  const processes = Math.min(os.availableParallelism(), rounds);
  const upTo = (nth) => Math.floor((rounds * nth) / processes);
  const asked = await Promise.all(
    Array.from({ length: processes }, (_, nth) =>
      tests(['generated-memory'], { ROUNDS: `${upTo(nth) + 1}-${upTo(nth + 1)}` }),
    ),
  );
  const rest = ['hostile-bytes', 'sources/adapters', 'generated-requests'];
  asked.push(await tests(rest, { REQUESTS: served, INPUTS: inputs }));
  return Math.max(...asked.map(({ status }) => status));
}

// The benches are built beside dist; their imports of src lead to dist itself, but for what the
// build leaves out, as the worlds of the tests. The first argument may name one of them;
// bench/main.ts is the one that is meant where none is named.
async function bench(args) {
  const named = args.length > 0 && !args[0].startsWith('-');
  const name = named ? args[0] : 'main';
  const isHelp = args.includes('--help');
  if (isHelp || !isBench(name)) {
    const names = fs.readdirSync(at('bench')).filter((file) => file.endsWith('.ts'));
    const list = names.map((file) => file.slice(0, -3)).join(', ');
    say(
      `${isHelp ? 'usage: npm run bench [-- NAME OPTIONS]' : 'no such bench'}; there are: ${list}`,
    );
    return isHelp ? 0 : 2;
  }
  const folder = at('dist/.bench');
  fs.rmSync(folder, { recursive: true, force: true });
  const result = await timed('building the benches', () =>
    node(tsc('tsconfig.bench.json', ...UNCHECKED)),
  );
  if (result.status !== 0) return 1;
  for (const built of fs.readdirSync(DIST).filter((one) => one !== '.bench')) {
    fs.rmSync(path.join(folder, 'src', built), { recursive: true, force: true });
    fs.symlinkSync(path.join(DIST, built), path.join(folder, 'src', built));
  }
  const file = path.join(folder, `bench/${name}.js`);
  return (await node([file, ...args.slice(named ? 1 : 0)])).status;
}

const isBench = (name) => /^[a-z0-9-]+$/.test(name) && fs.existsSync(at(`bench/${name}.ts`));

const FOR_DEVELOPERS = { test, check, fuzz, bench, build: async () => 0 };

/** Sets up, then does what the arguments ask. */
async function run(argv) {
  const [command, ...rest] = argv.filter((argument, i) => !(i === 0 && argument === '--dev'));
  await setUp();
  if (command !== undefined && Object.hasOwn(FOR_DEVELOPERS, command)) {
    process.exitCode = await FOR_DEVELOPERS[command](rest);
    return;
  }
  process.argv = [process.execPath, PROGRAM, ...(command === undefined ? [] : [command]), ...rest];
  await import(pathToFileURL(PROGRAM).href);
}

exports.run = (argv) =>
  run(argv).catch((fault) => {
    say(fault instanceof Error ? fault.message : 'could not start');
    process.exitCode = 1;
  });
