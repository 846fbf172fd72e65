// Compares the bulk screen of two builds: the same answers to the byte about drawn addresses of
// all forms. `npm run bench bulk-compare FOLDER [COUNT]`, FOLDER being the `dist` of another build.

import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { formsLottery } from '../src/testing/forms-lottery.ts';
import { lotteryOf } from '../src/testing/lottery.ts';

/** Of each build its own kind of holders. */
type FormsAmong = (holders: unknown) => readonly string[];
type LookUp = (addresses: readonly string[], formsAmong?: FormsAmong) => Promise<unknown>;
/** The modules of a build, as far as both builds have them. */
type Build = {
  readonly bulkWalletScreenHandler: (ports: object) => Handler;
  readonly listOfFile: (file: object, rules: object, now: () => number) => LookUp;
  readonly read: (value: unknown, origin: object) => unknown;
  readonly otherLists: { readonly index: (imports: readonly object[]) => Index };
};
type Handler = (
  input: { readonly body: { readonly addresses: readonly string[] } },
  context: object,
) => Promise<{ readonly envelope?: (now: number) => unknown }>;
type Index = {
  readonly add: (row: object) => void;
  readonly answer: (rows: number, addresses: readonly string[]) => unknown;
  readonly holders?: unknown;
};

const [, , before, counted] = process.argv;
if (before === undefined) throw new Error('usage: bulk-compare FOLDER [COUNT]');
const COUNT = counted === undefined ? 1_000_000 : Number(counted);
const BATCH = 500;
const GARBAGE_SHARE = 0.2;
const LISTED = 1_000;
const NOW = 1_790_251_200;
const SHA = 'a'.repeat(64);
const HERE = join(import.meta.dirname, '..', '..');

const lottery = lotteryOf(26);
const { listed, draw, drawGarbage } = formsLottery(lottery, LISTED);
const half = Math.floor(listed.length / 2);

function entryOf(address: string, i: number) {
  const party = { entity: `PARTY ${i}`, type: 'Entity', programs: ['CYBER2'], uid: String(i) };
  return { address, currency: 'XBT', ...party, remarks: null, listed_on: null, note: null };
}

const MODULES = [
  'features/screening/bulk-wallet-screen.route.js',
  'stores/snapshots/sanctions.js',
  'evidence/reading.js',
  'features/tables/other-lists.js',
];

async function loadBuild(folder: string): Promise<Build> {
  const parts = MODULES.map((path) => import(pathToFileURL(join(folder, path)).href));
  return Object.assign({}, ...(await Promise.all(parts))) as Build;
}

/** The bulk screen of a build, over a list and a list of another authority in memory. */
async function screenOf(
  folder: string,
): Promise<(addresses: readonly string[]) => Promise<object>> {
  const { bulkWalletScreenHandler, listOfFile, read, otherLists } = await loadBuild(folder);
  const source = { name: 'x', url: 'x:', as_of: NOW, kind: 'table', simulated: false };
  const own = listed.slice(0, half).map(entryOf);
  const file = { addresses: own, published: '2026-09-24', sha256: SHA, distinct_addresses: half };
  const told = { source: 'eu', as_of: NOW, dated_by: 'file', completed_at: NOW };
  const rows = listed.slice(half);
  const counts = { rows_accepted: rows.length, rows_lost: 0, sha256: SHA, source_url: null };
  const index = otherLists.index([{ ...told, ...counts, origin: 'observed' }]);
  for (const [i, address] of rows.entries()) {
    const named = { address, entity: `OTHER ${i}`, source: 'eu' };
    const unknown = { currency: null, entity_type: null, programs: null, entry_id: null };
    const undated = { source_url: null, listed_at: null, ended_at: null, note: null };
    index.add({ ...named, ...unknown, ...undated });
  }
  const emptyTable = (port: string) => ({
    lookUp: async () => read({ table_rows: 1, found: new Map() }, { port, source }),
  });
  const ask = bulkWalletScreenHandler({
    sanctionsList: { lookUp: listOfFile(file, { maxAgeS: null, simulated: false }, () => NOW) },
    otherLists: {
      lookUp: async (asked: readonly string[], formsAmong?: FormsAmong) => {
        const holders = index.holders === undefined ? null : index.holders;
        const all = formsAmong === undefined ? asked : [...asked, ...formsAmong(holders)];
        return read(index.answer(rows.length, all), { port: 'other_lists', source });
      },
    },
    exchangeLabels: emptyTable('exchange_labels'),
    launchCorpus: emptyTable('launch_corpus'),
  });
  const context = { now: () => NOW, signal: new AbortController().signal };
  return (addresses) => ask({ body: { addresses } }, context);
}

function textOf(answer: { readonly envelope?: (now: number) => unknown }): string {
  return JSON.stringify(answer.envelope === undefined ? answer : answer.envelope(NOW));
}

const [old, own] = [await screenOf(resolve(String(before))), await screenOf(HERE)];
/** Processor time, which is more reliable than the clock beside other programs. */
const spent = [0, 0];
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
let [asked, refused, held] = [0, 0, 0];
while (asked < COUNT) {
  const addresses = Array.from({ length: BATCH }, draw);
  if (lottery.happens(GARBAGE_SHARE)) addresses[lottery.below(BATCH)] = drawGarbage();
  const answers = [];
  for (const [i, screen] of [old, own].entries()) {
    const began = processorMs();
    const answer = await screen(addresses);
    spent[i] = Number(spent[i]) + processorMs() - began;
    answers.push(textOf(answer));
  }
  const [one, other] = answers;
  if (one !== other) {
    process.stdout.write(`${JSON.stringify(addresses)}\n${one}\n${other}\n`);
    throw new Error(`the answers about ${asked} to ${asked + BATCH} differ`);
  }
  asked += BATCH;
  if (one?.includes('"results"') !== true) refused += 1;
  else held += one.split('"state":"ok"').length - 1;
}
const rates = spent.map((ms) => Math.round((asked / ms) * 1_000));
process.stdout.write(
  `${asked} addresses, ${held} held, ${refused} requests refused: the same answers to the byte; ` +
    `addresses for each second of one processor: before ${rates[0]}, now ${rates[1]}\n`,
);
