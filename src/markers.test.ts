// A credential in a setting is never shown: markers in the user info, path and query of every URL
// and in every secret are nowhere in what a running service says, logs or prints.

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { get as ask } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { SETTINGS } from './config/settings.ts';
import { freePort } from './testing/free-port.ts';
import { createStoresIn } from './testing/fresh-warehouse.ts';
import { type Program, startProgram, untilSaid } from './testing/program.ts';
import { startPublisher } from './world/publisher.ts';

vi.setConfig({ testTimeout: 300_000 });
const MARK = 'm4rk3r';
const URL_MARKED = (host: string) =>
  `http://${MARK}user:${MARK}pass@${host}/${MARK}path?${MARK}=${MARK}query`;
/** A verifier key is public, and is shown. */
const WITNESS_KEY = 'witness.example+4ac50073+BAcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH';
const directory = mkdtempSync(join(tmpdir(), 'exhibit-markers-'));
const programs: Program[] = [];
afterAll(() => {
  for (const { child } of programs) child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

/** Every setting that holds a URL or a secret, marked; what opens a store apart. */
/** A private key, which takes hex digits alone. */
const MARKED_KEY = `0x${Buffer.from(MARK).toString('hex').padEnd(64, '1')}`;

function marked(port: number, opsPort: number): { [name: string]: string } {
  const env: { [name: string]: string } = {};
  const taken = ['EXHIBIT_DATABASE_URL', 'EXHIBIT_WAREHOUSE_URL'];
  for (const [name, setting] of Object.entries(SETTINGS)) {
    if (taken.includes(name) || name === 'EXHIBIT_PUBLIC_URL') continue;
    const isStream = name.endsWith('_STREAM_URL');
    const url = URL_MARKED(`127.0.0.1:${port}`);
    if (setting.reader.showing === 'origin') env[name] = isStream ? url.replace('http', 'ws') : url;
    if (setting.reader.showing === 'nothing') env[name] = `${MARK}-secret-of-thirty-two-characters`;
  }
  return {
    ...env,
    EXHIBIT_INTELLIGENCE_TOKENS: `pro:${MARK}-token-of-many-characters`,
    EXHIBIT_PAYMENT_WEBHOOK_SECRET: `ws_${MARK}-secret-of-many-characters`,
    EXHIBIT_LOG_ORIGIN: 'log.example',
    EXHIBIT_LOG_WITNESSES: `${URL_MARKED(`127.0.0.1:${port}`)}#${WITNESS_KEY}`,
    EXHIBIT_ANCHOR_CONTRACT: `0x${'ab'.repeat(20)}`,
    EXHIBIT_ANCHOR_KEY: MARKED_KEY,
    EXHIBIT_GOPLUS_KEY: `${MARK}-application:${MARK}-secret`,
    EXHIBIT_ANALYST_MODEL: 'model-1',
    EXHIBIT_ANALYST_PRICE: '0.15:0.60',
    EXHIBIT_DATA_DIR: directory,
    EXHIBIT_PORT: '0',
    EXHIBIT_OPS_PORT: String(opsPort),
  };
}

function exhibit(words: string[], env: { [name: string]: string }): Program {
  const program = startProgram(words, { cwd: directory, env });
  programs.push(program);
  return program;
}

/** All that a program said on either of its outputs. */
const saidBy = (program: Program) => program.out() + program.err();

async function get(url: string, headers: { [name: string]: string } = {}) {
  const [answer] = await once(ask(url, { headers }), 'response');
  let text = JSON.stringify(answer.headers);
  for await (const piece of answer) text += String(piece);
  return { status: Number(answer.statusCode), text };
}

test('markers in every URL and secret are in no answer, page, metric, log line or command', async () => {
  const publisher = await startPublisher({ now: () => Math.floor(Date.now() / 1000) });
  const port = Number(new URL(publisher.origin).port);
  const opsPort = await freePort();
  const env = marked(port, opsPort);
  await createStoresIn(directory);
  const service = exhibit(['up'], env);
  await untilSaid(service, 'Pages to open');
  await untilSaid(service, 'sanctions list:');
  const base = /Serving (http:\/\/\S+)/.exec(saidBy(service))?.[1];
  const ops = `http://127.0.0.1:${opsPort}`;
  const admin = { authorization: `Bearer ${env['EXHIBIT_ADMIN_TOKEN']}` };
  const told: string[] = [];
  for (const path of ['/', '/docs', '/openapi.json', '/health', '/ready', '/nothing']) {
    told.push((await get(base + path)).text);
  }
  for (const path of ['/ready', '/metrics']) {
    const opened = await get(base + path, admin);
    expect(opened.status).toBe(200);
    told.push(opened.text, (await get(ops + path)).text);
  }
  const created = exhibit(
    ['members', 'add', '--plan', 'desk', '--id', 'mem_marker', '--json'],
    env,
  );
  expect((await created.ended).status).toBe(0);
  const made = exhibit(['keys', 'create', '--membership', 'mem_marker', '--json'], env);
  const key: unknown = JSON.parse((await made.ended).out);
  const held = typeof key === 'object' && key !== null && 'key' in key ? String(key.key) : '';
  const bearer = { authorization: `Bearer ${held}` };
  const ofac = await get(`${base}/api/v1/wallet/0x${'2'.repeat(40)}/ofac`, bearer);
  expect(ofac.status).toBe(200);
  told.push(ofac.text);
  for (const words of [
    ['config'],
    ['config', '--json'],
    ['doctor'],
    ['sanctions', 'status'],
    ['sanctions', 'refresh'],
  ]) {
    const run = exhibit(words, env);
    await run.ended;
    told.push(saidBy(run));
  }
  service.child.kill('SIGTERM');
  expect((await service.ended).status).toBe(0);
  told.push(saidBy(service));
  await publisher.close();
  expect(publisher.requests.some(({ path }) => path.includes(MARK))).toBe(true);
  for (const text of told) {
    expect(text).not.toContain(MARK);
    expect(text).not.toContain(MARKED_KEY.slice(2));
  }
  const all = told.join('\n');
  expect(all).toContain(`http://127.0.0.1:${port}`);
});

test('a store that cannot be reached is named by neither its password nor its path', async () => {
  const place = `127.0.0.1:1/${MARK}path?application_name=${MARK}`;
  const postgres = `postgresql://${MARK}user:${MARK}pass@${place}`;
  const env = {
    EXHIBIT_DATA_DIR: join(directory, 'other'),
    EXHIBIT_DATABASE_URL: postgres,
    EXHIBIT_WAREHOUSE_URL: URL_MARKED('127.0.0.1:1'),
    EXHIBIT_SECRET: `${MARK}-secret-of-thirty-two-characters`,
  };
  const run = exhibit(['members', 'list'], env);
  expect((await run.ended).status).not.toBe(0);
  expect(saidBy(run)).not.toContain(MARK);
  expect(saidBy(run).length).toBeGreaterThan(10);
});
