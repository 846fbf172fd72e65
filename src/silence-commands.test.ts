// Does a command say "nothing there", or exit as if it had looked, where nothing was looked at?
// Commands that tell of addresses, over a service whose ports fall silent in the empty world.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXIT } from './command/command.ts';
import { CONTRACTS, handlerOf } from './compose/list.ts';
import { parseConfig } from './config.ts';
import { Answer, Reply } from './contract/answer.ts';
import { Refusal } from './contract/refusals.ts';
import { NOBODY } from './contract/route.ts';
import { sanctionsCheck } from './features/sanctions/check.command.ts';
import { lookCommand } from './features/screening/look.command.ts';
import { LOOK_PARTS } from './features/screening/look-parts.command.ts';
import { screenCommand } from './features/screening/screen.command.ts';
import { addressReader } from './testing/address-records.ts';
import { addressNamed } from './testing/addresses.ts';
import { ran } from './testing/recording-io.ts';
import { TEST_SERVICE } from './testing/service.ts';
import type { MakeHandler } from './testing/silence-made.ts';
import { type PortName, type SilencePorts, spoiledPorts } from './testing/silence-ports.ts';
import { WORLDS } from './testing/worlds.ts';

const EMPTY = WORLDS.find(({ empty }) => empty);

/** The words of a command for an absence, and the ports behind them. */
const PHRASES: readonly (readonly [RegExp, readonly PortName[]])[] = [
  [/^sanctions +no record|not on the list|\b0 on the sanctions list/gm, ['sanctionsList']],
  [/^other forms +no record/gm, ['sanctionsList']],
  [/^other list +no record/gm, ['otherLists']],
  [/^0x\w+\s+no\b/gm, ['sanctionsList']],
  [/no path found/g, ['sanctionsList', 'transferHistory']],
  [/^exchange +no record/gm, ['exchangeLabels']],
  [/^launches +no record/gm, ['launchCorpus']],
  [/^label +no label/gm, ['exchangeLabels']],
  [/^finding +none/gm, ['transferHistory', 'sanctionsList', 'flaggedAddresses', 'exchangeLabels']],
  [/^exchanges +no transfer/gm, ['exchangeLabels', 'transferHistory']],
  [/^bridges, \w+ +no transfer/gm, ['bridgeRegistry', 'transferHistory']],
  [/^entity +no other/gm, ['entityTies']],
];

let ports: SilencePorts;
let server: Server;
let cwd: string;

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'exhibit-silence-'));
  server = createServer((request, response) => {
    served(request).then(
      ({ status, bytes }) => response.writeHead(status).end(bytes),
      (fault: unknown) => response.writeHead(500).end(JSON.stringify({ error: String(fault) })),
    );
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  rmSync(cwd, { recursive: true, force: true });
});

/** The answer of a path's route over the current ports. */
async function served(
  request: IncomingMessage,
): Promise<{ status: number; bytes: Buffer | string }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const url = new URL(String(request.url), 'http://service');
  const [route, params] = routeAt(url.pathname);
  if (EMPTY === undefined) throw new Error('test: no world');
  const input = {
    params: route.params.parse(params),
    query: route.query.parse(Object.fromEntries(url.searchParams)),
    body: route.body?.parse(JSON.parse(Buffer.concat(chunks).toString())),
  };
  const given = { ...ports, service: TEST_SERVICE };
  const handle = handlerOf(route.name, given) as ReturnType<MakeHandler>;
  const asked = { now: () => EMPTY.now, signal: new AbortController().signal };
  const answer: unknown = await handle(input, asked, NOBODY);
  if (answer instanceof Refusal) return { status: 400, bytes: JSON.stringify(answer.body) };
  if (answer instanceof Answer) return { status: 200, bytes: answer.bytes(EMPTY.now) };
  if (answer instanceof Reply) return { status: answer.status, bytes: JSON.stringify(answer.body) };
  throw new Error('test: no answer');
}

/** The route at a path, with the values of its parameters. */
function routeAt(path: string): [(typeof CONTRACTS)[number], { [name: string]: string }] {
  for (const route of CONTRACTS) {
    const pattern = route.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
    const found = new RegExp(`^${pattern}$`).exec(path);
    if (found !== null) return [route, { ...found.groups }];
  }
  throw new Error(`test: no route at ${path}`);
}

type Said = { readonly status: number; readonly text: string };

/** The parts of a look whose sources the empty world holds in full. */
const PARTS = ['ofac', 'screen', ...Object.keys(LOOK_PARTS)].filter((part) => part !== 'bridges');

const COMMANDS: { readonly [name: string]: (address: string) => ReturnType<typeof ran> } = {
  look: (address) => asking(`look ${address} ${PARTS.map((part) => `--part ${part}`).join(' ')}`),
  // The registry of the world holds no row for three chains: the bridges there are not checked.
  'look --part bridges': (address) => asking(`look ${address} --part bridges`),
  screen: (address) => {
    writeFileSync(join(cwd, 'f.csv'), `address\n${address}\n`);
    return asking('screen f.csv');
  },
  'sanctions check': (address) => checking(address),
  'sanctions check --file': (address) => {
    writeFileSync(join(cwd, 'f.csv'), `address\n${address}\n`);
    return checking('--file f.csv');
  },
};

function checking(words: string): ReturnType<typeof ran> {
  const { sanctionsList: list, otherLists: others } = ports;
  const unasked = () => {
    throw new Error('test: no file of the list is asked');
  };
  const files = { reader: unasked, gate: { absolute: unasked }, lookUpIn: unasked };
  const given = { poll: async () => undefined, simulated: false, ...addressReader };
  const sanctions = { list, store: { inForce: unasked, entries: unasked }, ...files, ...given };
  const otherLists = { ...others, poll: async () => undefined, now: () => Number(EMPTY?.now) };
  return ran(`sanctions check ${words}`, [sanctionsCheck], { sanctions, otherLists }, { cwd });
}

function asking(line: string): ReturnType<typeof ran> {
  const { port } = server.address() as AddressInfo;
  const services = { started: parseConfig({}, { cwd }), ...addressReader };
  const words = `${line} --base-url http://127.0.0.1:${port} --key k`;
  return ran(words, [lookCommand, screenCommand], services, { cwd });
}

/** The output of a command while these ports are silent. */
async function said(command: string, address: string, silent: readonly string[]): Promise<Said> {
  const run = COMMANDS[command];
  if (run === undefined || EMPTY === undefined) throw new Error('test: no command');
  ports = spoiledPorts(EMPTY.ports, ({ port }) => (silent.includes(port) ? 'silent' : null));
  const { status, lines, errors } = await run(address);
  return { status, text: [...lines, ...errors].join('\n') };
}

const ASKED: readonly (readonly [command: string, form: 'evm' | 'solana', PortName])[] = [
  ...['look', 'screen'].flatMap((command) => [
    [command, 'evm', 'sanctionsList'] as const,
    [command, 'evm', 'exchangeLabels'] as const,
    [command, 'solana', 'launchCorpus'] as const,
    [command, 'evm', 'otherLists'] as const,
  ]),
  ['look', 'evm', 'transferHistory'],
  ['look', 'evm', 'flaggedAddresses'],
  ['look --part bridges', 'evm', 'bridgeRegistry'],
  ['look --part bridges', 'evm', 'transferHistory'],
  ['look', 'evm', 'entityTies'],
  ['look', 'evm', 'deployerRecords'],
  ['sanctions check', 'evm', 'sanctionsList'],
  ['sanctions check --file', 'evm', 'sanctionsList'],
  ['sanctions check', 'evm', 'otherLists'],
  ['sanctions check --file', 'evm', 'otherLists'],
];

describe('commands over a silent port', () => {
  test.each(Object.keys(COMMANDS))('%s denies where all was read', async (name) => {
    const whole = await said(name, addressNamed('evm', 'stranger'), []);
    expect(whole.status).toBe(name === 'look --part bridges' ? EXIT.couldNotCheck : EXIT.done);
    expect(PHRASES.some(([phrase]) => whole.text.match(phrase) !== null)).toBe(true);
  });

  test.each(ASKED)('%s of %s without %s exits 3 and denies nothing on it', async (...asked) => {
    const [command, form, port] = asked;
    const address = addressNamed(form, 'stranger');
    const whole = await said(command, address, []);
    const cut = await said(command, address, [port]);
    expect(cut.status).toBe(EXIT.couldNotCheck);
    for (const [phrase, rests] of PHRASES) {
      if (!rests.includes(port)) continue;
      const before = whole.text.match(phrase);
      const times = cut.text.match(phrase);
      // One phrase may stand for several ports: the one that fell silent says it no more.
      const most = before !== null && phrase.source === 'no path found' ? before.length - 1 : 0;
      expect(times === null ? 0 : times.length, cut.text).toBeLessThanOrEqual(Math.max(most, 0));
    }
  });
});
