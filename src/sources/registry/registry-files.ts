// The tables of reviewed facts that come with the product. A file is used whole or not at all: one
// row that is wrong, no row, or another digest than SHA256SUMS says leaves its table unread. What a
// table says is as old as its oldest review.

import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import {
  checksumAddress,
  isSystemAddress,
  parseAddress,
  parseEvmAddress,
} from '../../chain/address.ts';
import { CHAIN_NAMES, type EvmChainName, isEvmChain, parseChain } from '../../chain/chain.ts';
import { parseIsoDate } from '../../chain/time.ts';
import { collect } from '../../evidence/measure.ts';
import { map, type Reading, read, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type {
  FreezingToken,
  IssuerFreezesPort,
  MixerContract,
  MixerLookUp,
  MixerRegistry,
  Permit2,
  Relays,
} from '../../ports/accounts.ts';
import type {
  BridgeRegistry,
  BridgeRegistryPort,
  RegistryTable,
  ValidatedRows,
} from '../../ports/bridges.ts';
import type { Launchpads } from '../../ports/deployers.ts';
import type { EstablishedTokens, EstablishedTokensPort } from '../../ports/rug-model.ts';
import type {
  ExchangeLabel,
  ExchangeLabels,
  LabelLookUp,
  ShippedLabels,
  TableIndex,
  TableLine,
} from '../../ports/tables.ts';
import { csvLines, csvTable } from '../files/csv.ts';
import { HASH_CHARS_SHOWN } from '../files/table-source.ts';
import { FileFault } from '../files/text-lines.ts';
import { attempt } from '../http/provider.ts';

type Path = string | URL;
type File = { readonly sha256: string; readonly lines: readonly TableLine[] };

/** The contents of a file: its value, its name as a source, and the day of each of its rows. */
type Table<T> = {
  readonly value: T;
  readonly name: string;
  readonly url: string;
  /** Days as ISO 8601, the oldest of which is the age of all. */
  readonly days: readonly string[];
};

/** Names the files of its folder by their SHA-256, as `sha256sum` writes it. */
const DIGESTS = 'SHA256SUMS';

/** Throws `FileFault` for a file cut where a row ends: no rule of its rows could tell. */
async function checkDigest(path: Path, sha256: string): Promise<void> {
  const place = path instanceof URL ? fileURLToPath(path) : path;
  const digests = await attempt(Error, () => readFile(join(dirname(place), DIGESTS), 'utf8'));
  const line = `${sha256}  ${basename(place)}`;
  if (digests instanceof Error || !digests.split('\n').includes(line)) {
    throw new FileFault(`it is not the file that ${DIGESTS} names`);
  }
}

/**
 * The table of a file, read at the first question and kept. What was not read may be there the next
 * time. `whyUnread` is told the fault of the file, or `null` where it holds no row.
 */
export function registryFile<T, P extends string>(
  port: P,
  path: Path,
  tableIn: (file: File) => Table<T>,
  whyUnread: (fault: string | null) => Why,
): () => Promise<Reading<T, P>> {
  const load = async (): Promise<Reading<T, P>> => {
    try {
      const file = await csvTable(path);
      const { value, name, url, days } = tableIn(file);
      if (days.length === 0) return unread(port, whyUnread(null));
      // Last, so that a wrong row is named by its line.
      await checkDigest(path, file.sha256);
      const as_of = Math.min(...days.map((day) => Number(parseIsoDate(day))));
      const source = { name, url, as_of, kind: 'table', simulated: false } as const;
      return read<T, P>(value, { port, source });
    } catch (error) {
      const isToldFault = error instanceof FileFault || error instanceof RangeError;
      if (!isToldFault && !(error instanceof Error && 'code' in error)) throw error;
      return unread(port, whyUnread(isToldFault ? error.message : 'its file cannot be read'));
    }
  };
  let kept: Promise<Reading<T, P>> | null = null;
  return async () => {
    if (kept === null) kept = load();
    const table = await kept;
    if (!table.checked) kept = null;
    return table;
  };
}

export function whyTableUnread(what: string): (fault: string | null) => Why {
  return (fault) => why('store_unreadable', { what, fault: fault ?? 'it holds no row' });
}

type Rows<R> = {
  readonly heading: string;
  /** The row that cells hold, or what is wrong with them. */
  readonly row: (cells: readonly string[]) => R | string;
  /** The key that only one row may have. */
  readonly key?: (row: R) => string;
};

/** The rows of a file's lines. Throws `FileFault`, with its line, at the first that is wrong. */
function rowsIn<R extends object>(
  { heading, row, key }: Rows<R>,
  [first, ...lines]: readonly TableLine[],
): R[] {
  if (first?.cells.join() !== heading) throw new FileFault('line 1: not the heading');
  const met = new Set<string>();
  return lines.map(({ line, cells }) => {
    const one = row(cells);
    if (typeof one === 'string') throw new FileFault(`line ${line}: ${one}`);
    if (key === undefined) return one;
    if (met.has(key(one))) {
      throw new FileFault(`line ${line}: an earlier row has the same contract`);
    }
    met.add(key(one));
    return one;
  });
}

/** Cells under a schema, or the number of the first that is wrong. */
function cellsIn<T>(schema: z.ZodType<T>, cells: readonly string[]): T | string {
  const parsed = schema.safeParse(cells);
  return parsed.success ? parsed.data : String(parsed.error.issues[0]?.path[0]);
}

const words = z.string().min(1);
const link = z.url({ protocol: /^https$/ });
const anyText = z.string();

/** An EVM address as it is published, with the checksum that shows that no character is wrong. */
function publishedAddress(text: string): string | null {
  const address = parseEvmAddress(text);
  return address === null || checksumAddress(address) !== text ? null : address;
}

const NO_CHECKSUM = 'not an address with its checksum';
const NO_REVIEW = 'no day of review';

function publishedContract(
  chainName: string,
  text: string,
): { chain: EvmChainName; address: string } | string {
  const chain = parseChain(chainName);
  if (chain === null || !isEvmChain(chain)) return 'no EVM chain';
  const address = publishedAddress(text);
  return address === null ? NO_CHECKSUM : { chain, address };
}

function contractKey({ chain, address }: { chain: string; address: string }): string {
  return `${chain} ${address}`;
}

// --- mixers

const mixerCells = z.tuple([
  ...([words, anyText, anyText, z.enum(['pool', 'router']), words] as const),
  ...([z.string().regex(/^\d*$/), words, link, anyText, anyText] as const),
]);

const MIXERS: Rows<MixerContract> = {
  heading:
    'protocol,chain,address,role,name,valid_from_block,source,source_url,second_source,reviewed',
  key: contractKey,
  row: (cells) => {
    const known = cellsIn(mixerCells, cells);
    if (typeof known === 'string') return known;
    const [protocol, chain, text, role, name, from, source, source_url, second, reviewed] = known;
    const contract = publishedContract(chain, text);
    if (typeof contract === 'string') return contract;
    if (isSystemAddress(contract.address)) return 'an address of the chain itself';
    if (parseIsoDate(reviewed) === null) return NO_REVIEW;
    const valid_from_block = from === '' ? null : Number(from);
    const second_source = second === '' ? null : second;
    const row = { protocol, ...contract, role, name, valid_from_block };
    return { ...row, source, source_url, second_source, reviewed };
  },
};

/** The rows of the text of a file of mixers. Throws `FileFault` at the first that is wrong. */
export function mixerRows(text: string): MixerContract[] {
  return rowsIn(MIXERS, csvLines(text));
}

/** The name of the table of mixers as a source. */
export const MIXERS_TITLE = 'Mixer registry';

/** Those of the addresses that rows name. */
export function mixersAmong(
  rows: readonly MixerContract[],
  addresses: readonly string[],
): MixerLookUp {
  const wanted = new Set(addresses);
  const found = new Map<string, MixerContract[]>();
  for (const row of rows) if (wanted.has(row.address)) collect(found, row.address, row);
  return { table_rows: rows.length, found };
}

export function mixerRegistryFile(path: Path): MixerRegistry {
  const table = registryFile(
    'mixer_registry',
    path,
    ({ sha256, lines }) => {
      const rows = rowsIn(MIXERS, lines);
      const hash = sha256.slice(0, HASH_CHARS_SHOWN);
      const name = `${MIXERS_TITLE}: ${rows.length} rows, sha256 ${hash}`;
      const days = rows.map(({ reviewed }) => reviewed);
      return { value: rows, name, url: `urn:sha256:${sha256}`, days };
    },
    whyTableUnread('The mixer registry'),
  );
  return {
    lookUp: async (addresses) => map(await table(), (rows) => mixersAmong(rows, addresses)),
  };
}

// --- issuers that can freeze

const EVENT = /^[A-Za-z]+\(address (indexed )?account\)$/;
const issuerCells = z.tuple([
  ...([words, words, anyText, anyText, z.string().regex(/^[A-Za-z]+\(address\)$/)] as const),
  ...([anyText, words, link, words, anyText] as const),
]);

const ISSUERS: Rows<FreezingToken> = {
  heading: 'issuer,symbol,chain,address,asks,logs,source,source_url,second_source,reviewed',
  key: contractKey,
  row: (cells) => {
    const known = cellsIn(issuerCells, cells);
    if (typeof known === 'string') return known;
    const [issuer, symbol, chain, text, asks, events, source, source_url, second_source, reviewed] =
      known;
    const logs = events.split('|');
    if (!logs.every((one) => EVENT.test(one))) return 'no events';
    const contract = publishedContract(chain, text);
    if (typeof contract === 'string') return contract;
    if (parseIsoDate(reviewed) === null) return NO_REVIEW;
    const token = { issuer, symbol, ...contract, asks, logs };
    return { ...token, source, source_url, second_source, reviewed };
  },
};

/** The tokens of a file whose issuer can freeze them at an address. */
export function freezingTokensFile(
  path: Path,
): () => Promise<Reading<readonly FreezingToken[], IssuerFreezesPort>> {
  return registryFile(
    'issuer_freezes',
    path,
    ({ sha256, lines }): Table<readonly FreezingToken[]> => {
      const rows = rowsIn(ISSUERS, lines);
      const name = `Registry of issuers: ${rows.length} rows`;
      const days = rows.map(({ reviewed }) => reviewed);
      return { value: rows, name, url: `urn:sha256:${sha256}`, days };
    },
    whyTableUnread('The registry of issuers'),
  );
}

// --- Permit2 and the relays, which stand at one address on every chain that is served

const anywhereCells = z.tuple([words, anyText, words, link, words, anyText]);

type AnywhereRow = { readonly name: string; readonly address: string; readonly reviewed: string };

const ANYWHERE: Rows<AnywhereRow> = {
  heading: 'name,address,source,source_url,second_source,reviewed',
  key: ({ address }) => address,
  row: (cells) => {
    const known = cellsIn(anywhereCells, cells);
    if (typeof known === 'string') return known;
    const [name, text, , , , reviewed] = known;
    const address = publishedAddress(text);
    if (address === null) return NO_CHECKSUM;
    return parseIsoDate(reviewed) === null ? NO_REVIEW : { name, address, reviewed };
  },
};

export function relaysFile(path: Path): Relays {
  return registryFile(
    'chain_facts',
    path,
    ({ sha256, lines }): Table<ReadonlyMap<string, string>> => {
      const rows = rowsIn(ANYWHERE, lines);
      return {
        value: new Map(rows.map(({ name, address }) => [address, name])),
        name: `Registry of relays: ${rows.length} rows`,
        url: `urn:sha256:${sha256}`,
        days: rows.map(({ reviewed }) => reviewed),
      };
    },
    whyTableUnread('The registry of relays'),
  );
}

/** The addresses of Permit2 of a file. */
export function permit2File(path: Path): Permit2 {
  return registryFile(
    'token_approvals',
    path,
    ({ sha256, lines }): Table<readonly string[]> => {
      const rows = rowsIn(ANYWHERE, lines);
      return {
        value: rows.map(({ address }) => address),
        name: `Registry of Permit2: ${rows.length} rows`,
        url: `urn:sha256:${sha256}`,
        days: rows.map(({ reviewed }) => reviewed),
      };
    },
    whyTableUnread('The registry of Permit2'),
  );
}

// --- launchpads

const launchpadCells = z.tuple([words, z.literal('ethereum'), anyText, words, link, anyText]);

const LAUNCHPADS: Rows<{ readonly address: string; readonly reviewed: string }> = {
  heading: 'name,chain,address,source,source_url,reviewed',
  row: (cells) => {
    const parsed = launchpadCells.safeParse(cells);
    const address = parsed.success ? publishedAddress(parsed.data[2]) : null;
    const reviewed = parsed.success ? parsed.data[5] : '';
    if (address === null || parseIsoDate(reviewed) === null) {
      return 'not a reviewed contract of Ethereum with its checksum';
    }
    return { address, reviewed };
  },
};

/** The contracts of public launchpads of a file. */
export function launchpadRegistry(path: Path): Launchpads {
  const table = registryFile(
    'launchpads',
    path,
    ({ lines }) => {
      const rows = rowsIn(LAUNCHPADS, lines);
      return {
        value: new Set(rows.map(({ address }) => address)),
        name: 'Launchpad registry',
        url: 'registry:',
        days: rows.map(({ reviewed }) => reviewed),
      };
    },
    whyTableUnread('The launchpad registry'),
  );
  return {
    among: async (contracts) =>
      map(await table(), (known) => new Set(contracts.filter((one) => known.has(one)))),
  };
}

// --- established tokens

const tokenCells = z.tuple([words, z.enum(CHAIN_NAMES), anyText, words, link, anyText]);

const ESTABLISHED: Rows<{ readonly token: string; readonly reviewed: string }> = {
  heading: 'symbol,chain,address,source,source_url,reviewed',
  row: (cells) => {
    const parsed = tokenCells.safeParse(cells);
    if (parsed.success && parseIsoDate(parsed.data[5]) !== null) {
      const [, chain, text, , , reviewed] = parsed.data;
      const known = parseAddress(text);
      const kind = isEvmChain(chain) ? 'evm' : chain;
      const isAsPublished = parseEvmAddress(text) === null || publishedAddress(text) !== null;
      if (known?.kind === kind && isAsPublished) {
        return { token: tokenKey(chain, known.address), reviewed };
      }
    }
    return 'not a reviewed token of a chain, as its chain writes it';
  },
};

function tokenKey(chain: string, token: string): string {
  return `${chain} ${token}`;
}

/** The tokens of a file's lines. Throws `FileFault`, with its line, at the first wrong one. */
export function establishedRows(lines: readonly TableLine[]): ReadonlySet<string> {
  return new Set(rowsIn(ESTABLISHED, lines).map(({ token }) => token));
}

export function establishedTokens(path: Path): EstablishedTokens {
  const table = registryFile<ReadonlySet<string>, EstablishedTokensPort>(
    'established_tokens',
    path,
    ({ lines }) => {
      const rows = rowsIn(ESTABLISHED, lines);
      return {
        value: new Set(rows.map(({ token }) => token)),
        name: 'Established tokens',
        url: 'registry:',
        days: rows.map(({ reviewed }) => reviewed),
      };
    },
    whyTableUnread('The list of established tokens'),
  );
  return {
    among: async (tokens) =>
      map(
        await table(),
        (known) => new Set(tokens.filter(({ chain, token }) => known.has(tokenKey(chain, token)))),
      ),
  };
}

// --- bridges, whose rows have rules of their own

/** Throws `FileFault` at the first refused row: what it says of its contract is not known. */
function refuse([wrong]: readonly { readonly line: number; readonly reason: string }[]): void {
  if (wrong !== undefined) throw new FileFault(`line ${wrong.line}: ${wrong.reason}`);
}

/** The name of the table as a source, and the page on which it is published. */
export const REGISTRY_TITLE = 'Registry of bridge contracts';
const REGISTRY_PAGE = '/registry/bridges';

/** The contracts of bridges of a file. `validate` throws `RangeError` for what is no such table. */
export function fileBridgeRegistry(
  path: Path,
  validate: (lines: readonly TableLine[]) => ValidatedRows,
): BridgeRegistry {
  const table = registryFile<RegistryTable, BridgeRegistryPort>(
    'bridge_registry',
    path,
    ({ sha256, lines }) => {
      const { rows, refused } = validate(lines);
      refuse(refused);
      const days = rows.map(({ reviewed }) => reviewed).sort();
      const reviewed = String(days.at(-1));
      const value = { id: sha256, rows, reviewed, refused: refused.length };
      return { value, name: REGISTRY_TITLE, url: REGISTRY_PAGE, days };
    },
    (fault) =>
      fault === null
        ? why('table_never_imported', { what: 'the table of bridge contracts' })
        : why('file_unreadable', { fault }),
  );
  return { table };
}

// --- wallets of exchanges, whose rows have rules of their own too

const LABELS_TITLE = 'Exchange wallet table that comes with the product';

/** The validation and storage of rows. `validate` throws `RangeError` for an invalid table. */
type LabelRules = {
  readonly validate: (lines: readonly TableLine[]) => ShippedLabels;
  readonly index: (imports: readonly []) => TableIndex<ExchangeLabel, LabelLookUp>;
};

/** The wallets of exchanges of a file. */
export function labelsFile(path: Path, { validate, index }: LabelRules): ExchangeLabels {
  const table = registryFile(
    'exchange_labels',
    path,
    ({ sha256, lines }) => {
      const { rows, refused } = validate(lines);
      refuse(refused);
      const held = index([]);
      for (const { reviewed: _, ...row } of rows) held.add(row);
      const [reviewed] = rows.map((row) => row.reviewed).sort();
      const hash = sha256.slice(0, HASH_CHARS_SHOWN);
      return {
        value: { held, count: rows.length },
        name: `${LABELS_TITLE}: ${rows.length} rows, reviewed ${reviewed}, sha256 ${hash}`,
        url: `urn:sha256:${sha256}`,
        // A row is as old as what its source says; the review renews nothing of that.
        days: rows.map(({ first_seen }) => first_seen),
      };
    },
    whyTableUnread(LABELS_TITLE),
  );
  return {
    lookUp: async (addresses) =>
      map(await table(), ({ held, count }) => held.answer(count, addresses)),
  };
}
