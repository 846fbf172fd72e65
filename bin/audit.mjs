// Looks for secrets in the whole history and asks the registry for known weaknesses of the locked
// packages. It says what it looked at, and what it could not ask is never told as "none".
//
//   node bin/audit.mjs secrets     exits 1 at a secret, 2 where the history is not whole
//   node bin/audit.mjs packages    exits 1 at a weakness of a package that is run, 0 where the
//                                 registry was asked, and 3 where it could not be

import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CHECKSUM_CHARS = 6;
const FOUND_MAX = 50;
const REGISTRY_MS = 30_000;

/** Whether a text of the form of our keys is one: its last six characters are a checksum. */
export function isOwnKey(text) {
  const body = text.slice(0, -CHECKSUM_CHARS);
  let rest = crc32(body);
  let sum = '';
  for (let i = 0; i < CHECKSUM_CHARS; i += 1) {
    sum = ALPHABET.charAt(rest % ALPHABET.length) + sum;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return sum === text.slice(-CHECKSUM_CHARS);
}

const always = () => true;
/** What a secret looks like; `holds` sorts out what merely has its form. */
const KINDS = [
  {
    name: 'key of this service',
    form: /\b(?:sct|scp|sc_pub|sc)_[0-9A-Za-z]{49}\b/g,
    holds: isOwnKey,
  },
  {
    name: 'private key',
    form: /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----(?:\\n|\s)*[0-9A-Za-z+/]{20,}/g,
    holds: always,
  },
  { name: 'private key', form: /^-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----$/g, holds: always },
  {
    name: 'GitHub token',
    form: /\b(?:gh[pousr]_[0-9A-Za-z]{36}|github_pat_\w{82})\b/g,
    holds: always,
  },
  { name: 'AWS key', form: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, holds: always },
  { name: 'Slack token', form: /\bxox[abprs]-[0-9]{10,}-[0-9A-Za-z-]{20,}\b/g, holds: always },
  { name: 'npm token', form: /\bnpm_[0-9A-Za-z]{36}\b/g, holds: always },
  { name: 'Google key', form: /\bAIza[0-9A-Za-z_-]{35}\b/g, holds: always },
  { name: 'Stripe key', form: /\b[rs]k_live_[0-9A-Za-z]{20,}\b/g, holds: always },
];

/** The kinds of secrets in a line; never the secrets. */
export function secretsIn(line) {
  return KINDS.flatMap(({ name, form, holds }) =>
    [...line.matchAll(form)].filter(([text]) => holds(text)).map(() => name),
  );
}

function git(...words) {
  const { status, stdout } = spawnSync('git', words, { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}

/** Reads every line that any commit added, and names commit, file and kind of what it finds. */
export async function scanHistory(cwd) {
  const words = ['log', '--all', '-p', '-U0', '--no-color', '--no-ext-diff', '--format=commit %H'];
  const child = spawn('git', words, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((done, failed) => child.once('close', done).once('error', failed));
  const found = [];
  let [commit, file, commits, lines] = ['', '', 0, 0];
  for await (const line of createInterface({ input: child.stdout, crlfDelay: Infinity })) {
    if (line.startsWith('commit ')) {
      commit = line.slice('commit '.length);
      commits += 1;
    } else if (line.startsWith('+++ ')) file = line.slice('+++ b/'.length);
    else if (line.startsWith('+')) {
      lines += 1;
      for (const kind of secretsIn(line.slice(1))) found.push({ commit, file, kind });
    }
  }
  const status = await ended;
  if (status !== 0) throw new Error(`git log ended with ${status}`);
  return { commits, lines, found };
}

async function auditSecrets() {
  if (git('rev-parse', '--is-shallow-repository') !== 'false') {
    console.error('audit: secrets: not looked at: this clone does not hold the whole history');
    return 2;
  }
  const { commits, lines, found } = await scanHistory(process.cwd());
  for (const { commit, file, kind } of found.slice(0, FOUND_MAX)) {
    console.error(`audit: secrets: a ${kind} in ${file} of ${commit.slice(0, 12)}`);
  }
  const sum = `${found.length} found in ${lines} added lines of ${commits} commits`;
  console.error(`audit: secrets: ${sum}`);
  return found.length === 0 && commits > 0 ? 0 : 1;
}

/** What `npm audit --json` said: counts by severity, or that it was not asked, and why. */
export function readAudit(text) {
  let said;
  try {
    said = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { asked: false, why: 'it gave no JSON' };
  }
  const counts = said?.metadata?.vulnerabilities;
  if (typeof counts?.total !== 'number' || said.error !== undefined) {
    const status = said?.statusCode;
    return {
      asked: false,
      why: status === undefined ? 'it gave no counts' : `it answered ${status}`,
    };
  }
  return { asked: true, counts };
}

function auditPackages() {
  const words = ['audit', '--json', '--omit=dev', '--package-lock-only'];
  const { stdout, error } = spawnSync('npm', words, { encoding: 'utf8', timeout: REGISTRY_MS });
  const said = error === undefined ? readAudit(stdout) : { asked: false, why: 'it did not answer' };
  if (!said.asked) {
    console.error(`audit: packages: NOT CHECKED: the registry told no weaknesses (${said.why})`);
    return 3;
  }
  const { total, critical, high, moderate, low, info } = said.counts;
  const parts = `critical ${critical}, high ${high}, moderate ${moderate}, low ${low}, info ${info}`;
  console.error(`audit: packages: ${total} known weaknesses of packages that are run (${parts})`);
  return critical + high > 0 ? 1 : 0;
}

if (process.argv[1]?.endsWith('audit.mjs')) {
  const [what] = process.argv.slice(2);
  if (what === 'secrets') process.exitCode = await auditSecrets();
  else if (what === 'packages') process.exitCode = auditPackages();
  else {
    console.error('usage: node bin/audit.mjs secrets|packages');
    process.exitCode = 64;
  }
}
