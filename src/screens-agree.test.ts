// Does every output of a screen say of an address, table by table, what the screen of that address
// alone says? The bulk answer, the command's table, lines and file, the record and its page, the
// look, the dossier and the Solana deployer route, over every form of address and every state of
// every table.

import { hash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { otherForms, parseKnownAddress } from './chain/address.ts';
import { DAY_S } from './chain/time.ts';
import { mountedPage } from './compose/documents.ts';
import type { AnyFeature } from './compose/feature.ts';
import { FEATURES } from './compose/list.ts';
import { parseConfig } from './config.ts';
import { Reply } from './contract/answer.ts';
import { NOBODY } from './contract/route.ts';
import { why } from './evidence/reasons.ts';
import { recordPage } from './features/records/record-pages.route.tsx';
import { viewRecord } from './features/records/records.route.ts';
import { sanctionsCheck } from './features/sanctions/check.command.ts';
import { walletOfac } from './features/sanctions/wallet-ofac.route.ts';
import { bulkWalletScreen } from './features/screening/bulk-wallet-screen.route.ts';
import { lookCommand } from './features/screening/look.command.ts';
import { screenCommand } from './features/screening/screen.command.ts';
import { type TableName, UNASKED } from './features/screening/shapes.ts';
import { addressReader } from './testing/address-records.ts';
import { addressNamed, EVERY_FORM, evm } from './testing/addresses.ts';
import { STILL_NOW } from './testing/clock.ts';
import { ran } from './testing/recording-io.ts';
import { type RouteServer, startRouteServer } from './testing/route-server.ts';
import { TEST_SERVICE } from './testing/service.ts';
import { linesOf } from './testing/silence-pages.ts';
import type { SilencePorts } from './testing/silence-ports.ts';
import { memoryWalletLaunches } from './testing/twins/deployers.ts';
import { memoryLaunchCorpus } from './testing/twins/launches.ts';
import { silentPorts } from './testing/twins/ports.ts';
import { entryOf, memorySanctionsList } from './testing/twins/sanctions.ts';
import { labelOf, memoryTables, OTHER_LIST, otherEntryOf } from './testing/twins/tables.ts';
import { wholePageOf } from './testing/whole-page.ts';
import { WORLDS } from './testing/worlds.ts';

const SILENT = silentPorts(why('store_unreadable', { what: 'The store', fault: 'no answer' }));
const DATED = { as_of: STILL_NOW, simulated: false };
const FACTS = { simulated: false, version: '0', links: [], explorers: new Map() };

/** The words of the five columns about one address. */
type Words = {
  readonly sanctions: string;
  readonly forms: string;
  readonly others: string;
  readonly exchange: string;
  readonly launches: string;
};
type Subject = {
  readonly text: string;
  readonly kind: string;
  /** The other forms of it that a list may hold. */
  readonly forms: readonly string[];
};
type State = {
  readonly name: string;
  readonly ports: (subjects: readonly Subject[]) => Partial<SilencePorts>;
  readonly says: (subject: Subject) => Partial<Words>;
};

const SUBJECTS = Object.values(EVERY_FORM).map((text): Subject => {
  const known = parseKnownAddress(text);
  if (known === null) throw new Error(`test: ${text} is of no known form`);
  return { text, kind: known.kind, forms: otherForms(known).map(({ address }) => address) };
});

const LIST = { publishedS: STILL_NOW - 60, addresses: [] as string[] };

function listOf({ publishedS, addresses }: typeof LIST): Partial<SilencePorts> {
  const entries = [evm('listed elsewhere'), ...addresses].map(entryOf);
  const publications = [{ published: '2026-09-23', checked_at: publishedS, entries }];
  const maxAgeS = 2 * DAY_S;
  return {
    sanctionsList: memorySanctionsList({
      publications,
      maxAgeS,
      simulated: false,
      now: () => STILL_NOW,
    }),
  };
}

type Elsewhere = {
  readonly addresses: readonly string[];
  readonly ended_at?: string;
  readonly entity?: null;
  readonly lost?: number;
};

function othersOf({ addresses, lost, ...entry }: Elsewhere): Partial<SilencePorts> {
  const entries = addresses.map((address) => ({ ...otherEntryOf(address), ...entry }));
  const held = [otherEntryOf(evm('listed elsewhere')), ...entries];
  const counted = lost === undefined ? {} : { lost: new Map([[OTHER_LIST, lost]]) };
  const otherLists = { ...DATED, names: [OTHER_LIST], entries: held, ...counted };
  return { otherLists: memoryTables({ labels: { ...DATED, labels: [] }, otherLists }).otherLists };
}

/** The launches of these wallets and of somebody else; `null`: none was ever imported. */
function launchesOf(wallets: readonly string[] | null): Partial<SilencePorts> {
  const elsewhere = addressNamed('solana', 'launcher elsewhere');
  const launches =
    wallets === null
      ? null
      : [elsewhere, ...wallets].map((text) => ({
          mint: addressNamed('solana', `mint of ${text}`),
          deployer: text,
          launched_at: STILL_NOW - 9 * DAY_S,
          listed_after_window: false,
          last_checked_at: STILL_NOW,
          settled: true,
        }));
  const held = { ...DATED, launches };
  return { launchCorpus: memoryLaunchCorpus(held), walletLaunches: memoryWalletLaunches(held) };
}

const NEVER = memoryTables({ labels: { ...DATED, labels: null } });
const texts = (subjects: readonly Subject[]) => subjects.map(({ text }) => text);
// Several of the addresses are forms of one key: a list that holds one holds a form of others.
const HELD = new Set(texts(SUBJECTS.filter((_, at) => at % 2 === 0)));
const isHeld = ({ text }: Subject) => HELD.has(text);
const isFormHeld = ({ forms }: Subject) => forms.some((one) => HELD.has(one));
const isLabelled = ({ kind }: Subject) => kind !== 'other';
const isLauncher = ({ kind }: Subject) => kind === 'solana';
const OLD_S = STILL_NOW - 9 * DAY_S;
const ENDED = { ended_at: '2026-01-01' };

function heldAs(of: Subject, own: string, form: string): Partial<Words> {
  if (isHeld(of)) return { others: own };
  return isFormHeld(of) ? { others: form } : {};
}

const UNREAD_LIST = { sanctions: 'not checked', forms: 'not checked' };
const STATES: readonly State[] = [
  { name: 'all are read and hold nothing', ports: () => ({}), says: () => ({}) },
  {
    name: 'the list was never imported',
    ports: () => ({
      sanctionsList: memorySanctionsList({
        publications: [],
        maxAgeS: DAY_S,
        simulated: false,
        now: () => STILL_NOW,
      }),
    }),
    says: () => UNREAD_LIST,
  },
  {
    name: 'the list holds some',
    ports: () => listOf({ ...LIST, addresses: [...HELD] }),
    says: (of) => ({
      ...(isHeld(of) ? { sanctions: 'LISTED' } : {}),
      ...(isFormHeld(of) ? { forms: 'LISTED' } : {}),
    }),
  },
  {
    name: 'the list is stale',
    ports: () => listOf({ ...LIST, publishedS: OLD_S }),
    says: () => UNREAD_LIST,
  },
  {
    name: 'the list is stale and holds some',
    ports: () => listOf({ publishedS: OLD_S, addresses: [...HELD] }),
    says: (of) => ({
      sanctions: isHeld(of) ? 'LISTED' : 'not checked',
      forms: isFormHeld(of) ? 'LISTED' : 'not checked',
    }),
  },
  {
    name: 'the list is unreadable',
    ports: () => ({ sanctionsList: SILENT.sanctionsList }),
    says: () => UNREAD_LIST,
  },
  {
    name: 'no other list was ever imported',
    ports: () => ({ otherLists: NEVER.otherLists }),
    says: () => ({ others: 'not checked' }),
  },
  {
    name: 'another list holds some',
    ports: () => othersOf({ addresses: [...HELD] }),
    says: (of) => heldAs(of, 'LISTED', 'FORM LISTED'),
  },
  {
    name: 'the entries of some on another list ended',
    ports: () => othersOf({ addresses: [...HELD], ...ENDED }),
    says: (of) => heldAs(of, 'ended', 'ended'),
  },
  {
    name: 'entries that name nobody ended',
    ports: () => othersOf({ addresses: [...HELD], entity: null, ...ENDED }),
    says: (of) => heldAs(of, 'ended', 'ended'),
  },
  {
    name: 'rows of another list were refused',
    ports: () => othersOf({ addresses: [], lost: 1 }),
    says: () => ({ others: 'not checked' }),
  },
  {
    name: 'rows of another list were refused that holds some',
    ports: () => othersOf({ addresses: [...HELD], lost: 1 }),
    says: (of) => ({ others: 'not checked', ...heldAs(of, 'LISTED', 'FORM LISTED') }),
  },
  {
    name: 'the other lists are unreadable',
    ports: () => ({ otherLists: SILENT.otherLists }),
    says: () => ({ others: 'not checked' }),
  },
  {
    name: 'no label was ever imported',
    ports: () => ({ exchangeLabels: NEVER.exchangeLabels }),
    says: (of) => (isLabelled(of) ? { exchange: 'not checked' } : {}),
  },
  {
    name: 'a label is held of it',
    ports: (all) => {
      const labels = all.map(({ text }) => labelOf(text, 'Exemplar'));
      return { exchangeLabels: memoryTables({ labels: { ...DATED, labels } }).exchangeLabels };
    },
    says: (of) => (isLabelled(of) ? { exchange: 'record' } : {}),
  },
  {
    name: 'the labels are unreadable',
    ports: () => ({ exchangeLabels: SILENT.exchangeLabels }),
    says: (of) => (isLabelled(of) ? { exchange: 'not checked' } : {}),
  },
  {
    name: 'no launch was ever imported',
    ports: () => launchesOf(null),
    says: (of) => (isLauncher(of) ? { launches: 'not checked' } : {}),
  },
  {
    name: 'it launched',
    ports: (all) => launchesOf(texts(all)),
    says: (of) => (isLauncher(of) ? { launches: 'record' } : {}),
  },
  {
    name: 'the launches are unreadable',
    ports: () => ({ launchCorpus: SILENT.launchCorpus, walletLaunches: SILENT.walletLaunches }),
    says: (of) => (isLauncher(of) ? { launches: 'not checked' } : {}),
  },
];

/** The words of an address in a state. Only a form that a table cannot hold does not apply. */
function wordsOf(subject: Subject, { says }: State): Words {
  const { kind } = subject;
  return {
    sanctions: 'no record',
    forms: 'no record',
    others: 'no record',
    exchange: kind === 'other' ? 'does not apply' : 'no record',
    launches: kind === 'solana' ? 'no record' : 'does not apply',
    ...says(subject),
  };
}

let ports: object;
let server: RouteServer;
let cwd: string;

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'exhibit-agree-'));
  server = await startRouteServer(
    () => ports,
    () => STILL_NOW,
  );
});
afterAll(async () => {
  await server.close();
  rmSync(cwd, { recursive: true, force: true });
});

/** The ports of a state, beside an empty world. */
function portsIn(state: State): object {
  const empty = WORLDS.find((one) => one.empty);
  if (empty === undefined) throw new Error('test: no world');
  const dated = { ...listOf(LIST), ...othersOf({ addresses: [] }), ...launchesOf([]) };
  return { ...empty.ports, ...dated, ...state.ports(SUBJECTS) };
}

async function bodyAt(path: string, sent?: object): Promise<unknown> {
  const how = sent === undefined ? {} : { method: 'POST', body: JSON.stringify(sent) };
  const said = await fetch(server.base + path, how);
  const body: unknown = await said.json();
  return body;
}

function asking(line: string, how: { readonly width?: number } = {}): ReturnType<typeof ran> {
  const services = { started: parseConfig({}, { cwd }), ...addressReader };
  const words = `${line} --base-url ${server.base} --key k`;
  return ran(words, [lookCommand, screenCommand], services, { cwd, ...how });
}

const answered = z.object({
  state: z.string(),
  reason: z.string().optional(),
  data: z.unknown(),
  sources: z.array(z.object({ name: z.string(), url: z.string(), as_of: z.number() })),
});

/** The words of a bulk result, by its typed fields alone. */
const WORD = { not_asked: 'not asked', does_not_apply: 'does not apply' } as const;
type BulkResult = z.output<typeof bulkWalletScreen.data>['results'][number];

function bulkWords(result: BulkResult): Words {
  const { checked, unasked, sanctions, equivalent_forms: forms, other_lists: lists } = result;
  const missOf = (table: TableName, isTold: boolean) => {
    const because = unasked[table];
    if (because !== null) return WORD[because];
    return checked[table] === true && isTold ? 'no record' : 'not checked';
  };
  const [one] = lists ?? [];
  const others =
    one === undefined || (one.listed === null && one.equivalent_forms === null)
      ? missOf('other_lists', false)
      : (one.listed === true && 'LISTED') ||
        (one.equivalent_forms !== null && one.equivalent_forms.length > 0 && 'FORM LISTED') ||
        (one.ended === true && 'ended') ||
        missOf('other_lists', true);
  return {
    sanctions: sanctions?.listed === true ? 'LISTED' : missOf('sanctions_list', sanctions !== null),
    forms: forms !== null && forms.length > 0 ? 'LISTED' : missOf('sanctions_list', forms !== null),
    others,
    exchange: result.exchange === null ? missOf('exchange_table', true) : 'record',
    launches: result.launches === null ? missOf('launch_corpus', true) : 'record',
  };
}

const attribution = z.union([
  z.object({ fields: z.array(z.object({ path: z.tuple([z.literal('address')]) })) }),
  z.object({
    state: z.enum(['ok', 'insufficient_evidence', 'not_deployed']),
    data: z.object({ labels: z.array(z.unknown()) }).nullable(),
  }),
]);
type Attribution = Extract<z.output<typeof attribution>, { state: string }>;
const EXCHANGE_WORDS: { readonly [S in Attribution['state']]: (of: Attribution) => string } = {
  ok: ({ data }) => (data !== null && data.labels.length > 0 ? 'record' : 'no record'),
  insufficient_evidence: () => 'no record',
  not_deployed: () => 'not checked',
};

/** The words of the screen of one address: the list's, and the exchange's. */
async function aloneWords(text: string): Promise<Partial<Words>> {
  const ofac = answered.parse(await bodyAt(`/api/v1/wallet/${text}/ofac`));
  const cex = attribution.parse(await bodyAt(`/api/v1/wallet/${text}/cex`));
  const exchange = 'fields' in cex ? 'does not apply' : EXCHANGE_WORDS[cex.state](cex);
  if (ofac.state !== 'ok') return { sanctions: 'not checked', exchange };
  const data = walletOfac.data.parse(ofac.data);
  const [one] = data.other_lists ?? [];
  const listed = data.equivalent_forms.filter(({ form }) => form !== 'eip55');
  return {
    sanctions: data.sanctioned ? 'LISTED' : 'no record',
    forms:
      (listed.some((each) => each.listed === true) && 'LISTED') ||
      (listed.some((each) => each.listed === null) && 'not checked') ||
      'no record',
    others:
      (one === undefined && 'not checked') ||
      (one?.listed === true && 'LISTED') ||
      (one?.equivalent_listed === true && 'FORM LISTED') ||
      (one?.listed === null && 'not checked') ||
      ([...(one?.matches ?? []), ...(one?.equivalent_matches ?? [])].length > 0 && 'ended') ||
      'no record',
    exchange,
  };
}

const CELL_WORD = /^(LISTED|FORM LISTED|ended|no record|not checked|not asked|does not apply)/;
/** The word with which a cell begins; `record` where it tells of what is held. */
function wordIn(cell: string | undefined): string {
  return CELL_WORD.exec(String(cell))?.[1] ?? 'record';
}

function factIn(lines: readonly string[], name: string): string {
  const found = lines.find((line) => new RegExp(`^${name}  +`).test(line));
  if (found === undefined) throw new Error(`test: no ${name} in ${lines.join('\n')}`);
  return wordIn(found.slice(name.length).trim());
}

/** The columns of a screen's file, by the names there. */
const COLUMNS = {
  sanctions: 'exhibit_sanctions',
  forms: 'exhibit_other_forms',
  others: 'exhibit_other_lists',
  exchange: 'exhibit_exchange',
  launches: 'exhibit_launches',
} as const;

function cellsOf(row: { readonly [column: string]: string }): Words {
  return wordsBy((name) => String(row[COLUMNS[name]]));
}

/** The titles of the table that a screen prints, in their order. */
const TITLES =
  'line|column|address|checked|state|sanctions|programmes|other forms|other lists|forms listed|lists|' +
  'exchange|launches|simulated|reason';
const SHOWN_AS = {
  sanctions: 'sanctions',
  forms: 'other forms',
  others: 'other lists',
  exchange: 'exchange',
  launches: 'launches',
} as const;

/** The words of the rows of a printed table, by address; each cell stands below its title. */
function tableWords([head = '', ...rows]: readonly string[]): ReadonlyMap<string, Words> {
  const starts = new Map<string, number>();
  let from = 0;
  for (const title of TITLES.split('|')) {
    const at = head.indexOf(title, from);
    if (at < 0) throw new Error(`test: no ${title} in ${head}`);
    starts.set(title, title === 'line' ? 0 : at);
    from = at + title.length;
  }
  const names = [...starts.keys()];
  return new Map(
    rows.map((row) => {
      const cellOf = (title: string) => {
        const next = starts.get(String(names[names.indexOf(title) + 1]));
        return row.slice(starts.get(title), next).trim();
      };
      return [cellOf('address'), wordsBy((name) => cellOf(SHOWN_AS[name]))];
    }),
  );
}

/** The words of what a narrow terminal prints: the facts of each row. */
function factWords(lines: readonly string[], text: string): Words {
  const at = lines.findIndex((line) => /^address {2,}/.test(line) && line.endsWith(` ${text}`));
  if (at < 0) throw new Error(`test: no ${text} in ${lines.join('\n')}`);
  const facts = lines.slice(at, lines.indexOf('', at));
  return wordsBy((name) => {
    const title = SHOWN_AS[name];
    const line = facts.find((one) => new RegExp(`^${title} {2,}`).test(one));
    return line === undefined ? '' : line.slice(title.length).trim();
  });
}

function wordsBy(cellOf: (name: keyof Words) => string): Words {
  return {
    sanctions: wordIn(cellOf('sanctions')),
    forms: wordIn(cellOf('forms')),
    others: wordIn(cellOf('others')),
    exchange: wordIn(cellOf('exchange')),
    launches: wordIn(cellOf('launches')),
  };
}

const LAUNCH_WORDS: { readonly [state: string]: string } = {
  ok: 'record',
  insufficient_evidence: 'no record',
  not_deployed: 'not checked',
};

/** The page of a record of an answer. */
function recordOf(route: 'wallet_ofac' | 'bulk_wallet_screen', body: unknown, text: string) {
  const { sources, ...kept } = answered.parse(body);
  const answer = JSON.stringify(kept);
  const record = viewRecord({
    id: 'scr_1',
    membership_id: 'mem_1',
    key_id: 'key_1',
    input:
      route === 'wallet_ofac'
        ? { route, address: text, on: null }
        : { route, addresses: texts(SUBJECTS), tables: null },
    versions: { list: { read: false, why: why('list_never_loaded', { detail: '' }) }, tables: [] },
    sources: sources.map((one) => ({ ...one, kind: 'table', simulated: false })),
    code_version: '0',
    state: 'ok',
    answer,
    answer_sha256: hash('sha256', answer),
    made_at: STILL_NOW,
    kept_until: STILL_NOW + 1,
  });
  const parsed =
    route === 'wallet_ofac'
      ? { route, data: walletOfac.data.parse(kept.data) }
      : { route, data: bulkWalletScreen.data.parse(kept.data) };
  return linesOf(recordPage(FACTS, { record, subject: text, answered: parsed, base: '' }));
}

/** The words of the rows of a bulk record's page, by address. */
function recordRows(lines: readonly string[]): ReadonlyMap<string, Words> {
  return new Map(
    lines.flatMap((line) => {
      const [address = '', state, sanctions, forms, others, exchange, launches] = line.split(' · ');
      if (!/^(ok|insufficient_evidence|not_deployed)$/.test(String(state))) return [];
      const elsewhere = String(others).replace(`${OTHER_LIST}: `, '');
      return [
        [
          address,
          {
            sanctions: wordIn(sanctions),
            forms: wordIn(forms),
            others: wordIn(elsewhere),
            exchange: wordIn(exchange),
            launches: wordIn(launches),
          },
        ] as const,
      ];
    }),
  );
}

/** The words of the page of one record: the list's. */
function recordWords(lines: readonly string[]): Partial<Words> {
  const has = (pattern: RegExp) => lines.some((line) => pattern.test(line));
  const at = lines.findIndex((line) =>
    /^(another-authority|Lists of other authorities)$/.test(line),
  );
  const others = String(lines[at + 1]);
  return {
    sanctions: has(/^Listed as .*entry/) ? 'LISTED' : 'no record',
    forms:
      (has(/^Listed in another form \(/) && 'LISTED') ||
      (has(/^Other forms of it: not checked/) && 'not checked') ||
      'no record',
    others:
      (/^Listed as/.test(others) && 'LISTED') ||
      (/^Listed in another form:/.test(others) && 'FORM LISTED') ||
      (/^Its entry had ended/.test(others) && 'ended') ||
      (/^Not among its entries/.test(others) && 'no record') ||
      (/^Not checked:/.test(others) && 'not checked') ||
      others,
  };
}

/** The words of the dossier's part about lists. */
async function dossierWords(text: string): Promise<Pick<Words, 'sanctions' | 'others'>> {
  const page = (FEATURES as readonly AnyFeature[])
    .flatMap(({ pages }) => pages)
    .find(({ route }) => route.name === 'dossier_part_page');
  if (page === undefined) throw new Error('test: no page of a part');
  const members = { reading: async () => ({ may: true, pay: async () => null }) };
  const { handle } = mountedPage(page, { ...ports, service: TEST_SERVICE, members }, FACTS);
  const input = { params: { address: text, part: 'lists' }, query: {}, body: undefined };
  const asked = { now: () => STILL_NOW, signal: new AbortController().signal };
  const said = await handle(input, asked, NOBODY);
  if (!(said instanceof Reply)) throw new Error('test: no page');
  const lines = linesOf(await wholePageOf(said));
  const has = (pattern: RegExp) => lines.some((line) => pattern.test(line));
  return {
    sanctions:
      (has(/^Listed: /) && 'LISTED') ||
      (has(/^(No entry on the .* published|Another form of it is listed: )/) && 'no record') ||
      'not checked',
    others:
      (has(/^Listed on another-authority\./) && 'LISTED') ||
      (has(/^Another form of it is listed on another-authority\./) && 'FORM LISTED') ||
      (has(/^Its entry has ended on another-authority\./) && 'ended') ||
      (has(/^No entry on another-authority\./) && 'no record') ||
      'not checked',
  };
}

async function checkedLines(): Promise<readonly string[]> {
  const { sanctionsList: list, otherLists: others } = ports as SilencePorts;
  const unasked = () => {
    throw new Error('test: no file of the list is asked');
  };
  const files = { reader: unasked, gate: { absolute: unasked }, lookUpIn: unasked };
  const given = { poll: async () => undefined, simulated: false, ...addressReader };
  const sanctions = { list, store: { inForce: unasked, entries: unasked }, ...files, ...given };
  const otherLists = { ...others, poll: async () => undefined, now: () => STILL_NOW };
  const line = 'sanctions check --file f.csv';
  return (await ran(line, [sanctionsCheck], { sanctions, otherLists }, { cwd })).lines;
}

function checkWords(lines: readonly string[], text: string): Partial<Words> {
  const line = String(lines.find((one) => one.includes(text))).trim();
  const [, , , listed, , , , others] = line.split(/ {2,}/);
  return {
    sanctions: wordIn(String(listed).replace('not on the list', 'no record')),
    others: wordIn(String(others).replace(/^not on /, 'no record: ')),
  };
}

type Said = { readonly [output: string]: { readonly [text: string]: Partial<Words> } };

/** Each output that says another word than was expected, with the address and the column. */
function differences(said: Said, expected: Said): readonly string[] {
  return Object.entries(said).flatMap(([output, of]) =>
    Object.entries(of).flatMap(([text, words]) =>
      (Object.keys(words) as (keyof Words)[]).flatMap((column) => {
        const wanted = expected[output]?.[text]?.[column];
        const word = words[column];
        return word === wanted ? [] : [`${output} ${column} of ${text}: ${word}, not ${wanted}`];
      }),
    ),
  );
}

/** Narrower than the table, and wider than the longest address with its title. */
const NARROW = 140;

test.each(STATES.map((state) => [state.name, state] as const))('%s', async (_, state) => {
  ports = portsIn(state);
  const said: { [output: string]: { [text: string]: Partial<Words> } } = {};
  const tell = (output: string, text: string, words: Partial<Words>) => {
    said[output] = { ...said[output], [text]: words };
  };
  const bulk = await bodyAt('/api/v1/bulk/wallet-screen', { addresses: texts(SUBJECTS) });
  const { results } = bulkWalletScreen.data.parse(answered.parse(bulk).data);
  const rows = recordRows(recordOf('bulk_wallet_screen', bulk, 'all'));
  writeFileSync(join(cwd, 'f.csv'), `address\n${texts(SUBJECTS).join('\n')}\n`);
  rmSync(join(cwd, 'o.csv'), { force: true });
  await asking('screen f.csv --out o.csv');
  const csv = readFileSync(join(cwd, 'o.csv'), 'utf8');
  const file = z
    .array(z.record(z.string(), z.string()))
    .parse(parse(csv, { columns: true, bom: true, relax_quotes: true }));
  const json = (await asking('screen f.csv --json')).lines;
  const table = tableWords((await asking('screen f.csv')).lines);
  const narrow = (await asking('screen f.csv', { width: NARROW })).lines;
  const checked = await checkedLines();
  for (const [at, subject] of SUBJECTS.entries()) {
    const { text } = subject;
    const result = results[at];
    const row = file[at];
    if (result === undefined || row === undefined) throw new Error('test: a row is missing');
    tell('bulk', text, bulkWords(result));
    tell('file', text, cellsOf(row));
    const printed = table.get(text);
    if (printed === undefined) throw new Error(`test: ${text} is not in the table`);
    tell('table', text, printed);
    tell('facts', text, factWords(narrow, text));
    if (subject.kind === 'solana') {
      const launched = await bodyAt(`/api/v1/solana/deployer/${text}`);
      const { state: said } = answered.parse(launched);
      tell('deployer', text, { launches: LAUNCH_WORDS[said] ?? said });
    }
    tell(
      'json',
      text,
      bulkWords(
        bulkWalletScreen.data.shape.results.element.strip().parse(JSON.parse(String(json[at]))),
      ),
    );
    tell('record', text, rows.get(result.address) ?? {});
    tell('check', text, checkWords(checked, text));
    const look = (await asking(`look ${text} --part ofac --part screen`)).lines;
    tell('look', text, {
      forms: factIn(look, 'other forms'),
      exchange: factIn(look, 'exchange'),
      launches: factIn(look, 'launches'),
      ...(look.some((line) => line.startsWith('other list '))
        ? { others: factIn(look, 'other list') }
        : {}),
    });
    const alone = await bodyAt(`/api/v1/wallet/${text}/ofac`);
    tell('alone', text, await aloneWords(text));
    const isAnswered = answered.parse(alone).state === 'ok';
    const drawn = await dossierWords(text);
    tell('dossier', text, isAnswered ? drawn : { sanctions: drawn.sanctions });
    if (isAnswered) {
      tell('record of one', text, recordWords(recordOf('wallet_ofac', alone, text)));
    }
  }
  // Of an address without another form the screen of it alone has nothing to say there.
  const isOfForms = ({ forms }: Subject, output: string) =>
    forms.length > 0 || !['alone', 'record of one'].includes(output);
  const expected = Object.fromEntries(
    Object.entries(said).map(([output, of]) => [
      output,
      Object.fromEntries(
        SUBJECTS.flatMap((subject) => {
          const words = wordsOf(subject, state);
          const told = of[subject.text];
          if (told === undefined) return [];
          const columns = Object.keys(told) as (keyof Words)[];
          const wanted = columns.map((one) => {
            const isSaid = one !== 'forms' || isOfForms(subject, output);
            return [one, isSaid ? words[one] : told[one]];
          });
          return [[subject.text, Object.fromEntries(wanted)]];
        }),
      ),
    ]),
  );
  expect(differences(said, expected)).toEqual([]);
});

test('a question that names one table says of the others that nobody asked', async () => {
  const [all] = STATES;
  if (all === undefined) throw new Error('test: no state');
  ports = portsIn(all);
  const asked = { addresses: texts(SUBJECTS), tables: ['sanctions_list'] };
  const bulk = await bodyAt('/api/v1/bulk/wallet-screen', asked);
  const { results } = bulkWalletScreen.data.parse(answered.parse(bulk).data);
  for (const [at, { kind }] of SUBJECTS.entries()) {
    const [none, left] = UNASKED;
    expect(results[at]?.unasked).toEqual({
      sanctions_list: null,
      other_lists: left,
      exchange_table: kind === 'other' ? none : left,
      launch_corpus: kind === 'solana' ? left : none,
    });
  }
});
