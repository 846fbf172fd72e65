// Does a command say "nothing there", or exit as if it had looked, where nothing was looked at?
// Commands that tell of addresses, over a service whose ports fall silent in the empty world.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXIT } from './command/command.ts';
import { HELP_GROUPS } from './compose/commands.ts';
import { parseConfig } from './config.ts';
import { type EntityQuestion, entityCommands } from './features/entities/entity.command.ts';
import { answerTo } from './features/entities/feature.ts';
import { sanctionsCheck } from './features/sanctions/check.command.ts';
import { lookCommand } from './features/screening/look.command.ts';
import { LOOK_PARTS } from './features/screening/look-parts.command.ts';
import { screenCommand } from './features/screening/screen.command.ts';
import { addressReader } from './testing/address-records.ts';
import { addressNamed } from './testing/addresses.ts';
import { ran } from './testing/recording-io.ts';
import { type RouteServer, startRouteServer } from './testing/route-server.ts';
import { TEST_SERVICE } from './testing/service.ts';
import {
  type PortName,
  type SilencePorts,
  type Spoiled,
  type Spoiler,
  spoiledPorts,
} from './testing/silence-ports.ts';
import { RING_WORLDS, WORLDS } from './testing/worlds.ts';

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
  [/No labelled address was found in its cluster/g, ['entityClusters']],
  [/^confidence +none: the shape of no data/gm, ['entityTies']],
  [/^No chain of evidence between the two was found/gm, ['entityTies', 'transferHistory']],
];

let ports: SilencePorts;
let server: RouteServer;
let cwd: string;

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'exhibit-silence-'));
  server = await startRouteServer(
    () => ports,
    () => Number(EMPTY?.now),
  );
});
afterAll(async () => {
  await server.close();
  rmSync(cwd, { recursive: true, force: true });
});

type Said = { readonly status: number; readonly text: string };

/** The parts of a look whose sources the empty world holds in full. */
const PARTS = ['ofac', 'screen', ...Object.keys(LOOK_PARTS)].filter((part) => part !== 'bridges');

/** The exits of commands over the empty world that are no `done`. */
const EXITS: { readonly [name: string]: number } = {
  'look --part bridges': EXIT.couldNotCheck,
  'entity explain': EXIT.failed,
};

/** The commands that say of no address that nothing is there, by the reason. */
const DENIES_NOTHING: { readonly [reason: string]: readonly string[] } = {
  'They run the service, or say how it is set.': [
    ...['up', 'start', 'serve', 'work', 'config', 'doctor', 'migrate', 'completion'],
    'mcp',
  ],
  'They tell who may ask, and what was paid.': [
    ...['members add', 'members list', 'members deactivate', 'members link', 'members sessions'],
    ...['members sign-out', 'keys create', 'keys list', 'keys usage', 'keys revoke'],
    ...['payments list'],
    ...['tokens mint', 'tokens list', 'tokens revoke'],
  ],
  // As do those whose name ends with `import`.
  'They take in what others answer from, and tell what came in.': [
    ...['sanctions refresh', 'warehouse forget', 'warehouse follow', 'warehouse ring rebuild'],
    ...['warehouse ring fill', 'corpus settle', 'deployers walk'],
  ],
  'They tell what is held of whole lists, chains and models.': [
    ...['sanctions status', 'sanctions diff', 'sanctions export', 'registry check'],
    ...['warehouse status', 'warehouse ring status', 'corpus evaluate', 'watch', 'receipts check'],
    ...['model card', 'model publish', 'model evaluate', 'model train', 'series status'],
  ],
  'It prints each source with its gap, which the tests of its feature silence one by one.': [
    'evidence show',
  ],
  'It tells what this machine saw of the store, and takes the store as it is.': ['store restored'],
  'They follow, prove or restart the log, and tell what was sent of it.': [
    ...['log follow', 'log prove', 'log restart', 'anchoring status'],
  ],
  'They keep signing keys, and save what was answered byte for byte.': [
    ...['signing list', 'signing rotate', 'signing compromise', 'answer save', 'signals save'],
  ],
  'It tells one transaction, whose every source ends it where it is silent.': ['bridges explain'],
  'They check a policy of the caller, and decide by it over saved answers: `policy.test.ts`.': [
    ...['policy check', 'policy decide'],
  ],
  'It checks a saved file by its bytes, and says in words what could not be checked.': ['verify'],
  'They print a signal as its route answers it, which `silence.test.ts` asks.': [
    ...['signals emit', 'signals show', 'signals withdraw'],
  ],
  'It tells what an attempt came to, which the tests of its feature silence one by one.': [
    'traders analyse',
  ],
  'They take in and score calls of providers, and print what is kept of them or why it is not read.':
    [...['providers rules', 'providers score', 'providers explain']],
  'They print what the record of calls holds, or why it was not read.': [
    ...['calls list', 'calls show', 'calls versions', 'calls replay'],
    ...['rank train', 'rank evaluate', 'rank publish'],
  ],
  'They print what the routes of records and watchlists answer, which `silence.test.ts` asks.': [
    ...['records make', 'records list', 'records show', 'records print', 'records replay'],
    ...['watchlist list', 'watchlist add', 'watchlist remove', 'watchlist changes'],
  ],
};

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
  'entity show': (address) => asksEntity(`show ${address}`),
  'entity explain': (address) => asksEntity(`explain ${address} ${addressNamed('evm', 'other')}`),
};

/** A command on entities, as the process that owns the stores runs it. */
function asksEntity(words: string): ReturnType<typeof ran> {
  const unasked = () => {
    throw new Error('test: nothing is imported');
  };
  const fresh = { now: () => Number(EMPTY?.now), tipMaxAgeS: TEST_SERVICE.tipMaxAgeS };
  const ask = (question: EntityQuestion) => answerTo(question, ports, fresh);
  const entity = { ask, importFiles: unasked, importNode: null };
  return ran(`entity ${words}`, entityCommands, { entity }, { cwd });
}

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
  const services = { started: parseConfig({}, { cwd }), ...addressReader };
  const words = `${line} --base-url ${server.base} --key k`;
  return ran(words, [lookCommand, screenCommand], services, { cwd });
}

/** The output of a command over spoiled ports; `log` is what it asked of them. */
async function said(
  command: string,
  address: string,
  spoiler: Spoiler,
  log: Spoiled[] = [],
): Promise<Said> {
  const run = COMMANDS[command];
  if (run === undefined || EMPTY === undefined) throw new Error('test: no command');
  ports = spoiledPorts(EMPTY.ports, spoiler, log);
  const { status, lines, errors } = await run(address);
  return { status, text: [...lines, ...errors].join('\n') };
}

function timesIn({ text }: Said, phrase: RegExp): number {
  return [...text.matchAll(phrase)].length;
}

/**
 * Ports without which a look is no less whole: a walk asks the histories where the ring is silent,
 * and an unread cluster is told in the reason of a part that is no finding either way.
 */
const SAID_WITHOUT: readonly PortName[] = ['counterpartyRing', 'entityClusters'];

/** What a command still denies on a weak port, and an exit as if it had looked. */
function leaksOf(port: PortName, whole: Said, weak: Said): readonly string[] {
  const isDone = SAID_WITHOUT.includes(port) || weak.status === EXIT.couldNotCheck;
  const exits = isDone ? [] : [`exits ${weak.status}`];
  const denied = PHRASES.flatMap(([phrase, rests]) => {
    if (!rests.includes(port)) return [];
    // Two parts look for a path: the one that asks this port says it no more.
    const isShared = phrase.source === 'no path found';
    const most = isShared ? Math.max(timesIn(whole, phrase) - 1, 0) : 0;
    return timesIn(weak, phrase) > most ? [`denied: ${phrase.source}`] : [];
  });
  return [...exits, ...denied];
}

/** The commands that look at an address, by the name that each is declared under. */
const DRAWN = ['look', 'screen', 'sanctions check', 'entity show', 'entity explain'];

describe('commands over a silent port', () => {
  test.each(Object.keys(COMMANDS))('%s denies where all was read', async (name) => {
    const whole = await said(name, addressNamed('evm', 'stranger'), () => null);
    expect(whole.status).toBe(EXITS[name] === undefined ? EXIT.done : EXITS[name]);
    expect(PHRASES.some(([phrase]) => timesIn(whole, phrase) > 0)).toBe(true);
  });

  test.each(Object.keys(COMMANDS))('%s denies nothing on what was not read', async (name) => {
    const leaks: string[] = [];
    let cells = 0;
    for (const form of ['evm', 'solana'] as const) {
      const address = addressNamed(form, 'stranger');
      const log: Spoiled[] = [];
      const whole = await said(name, address, () => null, log);
      for (const port of new Set(log.map(({ told }) => told.port))) {
        for (const fault of ['silent', 'truncated', 'stale'] as const) {
          const spoiler: Spoiler = (told) =>
            told.port === port && told.faults.includes(fault) ? fault : null;
          if (!log.some(({ told }) => spoiler(told) === fault)) continue;
          cells += 1;
          const weak = await said(name, address, spoiler);
          for (const leak of leaksOf(port, whole, weak)) {
            leaks.push(`${form} | ${fault}: ${port} | ${leak}`);
          }
        }
      }
    }
    console.info(`${name}: ${cells} cells, ${leaks.length} denials`);
    expect(leaks).toEqual([]);
    expect(cells).toMatchSnapshot();
  });

  test('a look beside a hub denies a path only where the ring is whole', async () => {
    const [address = ''] = RING_WORLDS.flatMap(({ subjects }) => subjects);
    const told: (readonly [boolean, boolean])[] = [];
    for (const world of RING_WORLDS) {
      ports = world.ports;
      const { lines } = await asking(`look ${address} --part ofac`);
      const text = lines.join('\n');
      told.push([/no path found/.test(text), /not checked: hub_unread/.test(text)]);
    }
    expect(told).toEqual([
      [false, true],
      [false, true],
      [true, false],
    ]);
  });

  test('a command that is declared is run here, or says why it denies nothing', () => {
    const declared = HELP_GROUPS.flatMap(({ commands }) => commands.map(({ name }) => name));
    const told = Object.values(DENIES_NOTHING).flat();
    const others = declared.filter((name) => !name.endsWith(' import'));
    expect([...DRAWN, ...told].toSorted()).toEqual(others.toSorted());
  });
});
