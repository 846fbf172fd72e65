// Which tokens have an issuer that can freeze them at an address, by the registry's file?
// A file with one row that is wrong is not used at all: it is the project's own, and reviewed.

import { z } from 'zod';
import { checksumAddress, parseEvmAddress } from '../../chain/address.ts';
import { isEvmChain, parseChain } from '../../chain/chain.ts';
import { parseIsoDate } from '../../chain/time.ts';
import { type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { FreezingToken, IssuerFreezesPort } from '../../ports/accounts/issuer-freezes.ts';
import type { TableLine } from '../../ports/tables/table-import.ts';
import { csvTable } from '../files/csv.ts';
import { FileFault } from '../files/fault.ts';

const PORT = 'issuer_freezes';
const HEADING = 'issuer,symbol,chain,address,asks,logs,source,source_url,second_source,reviewed';
const EVENT = /^[A-Za-z]+\(address (indexed )?account\)$/;

const row = z.tuple([
  z.string().min(1),
  z.string().min(1),
  z.string(),
  z.string(),
  z.string().regex(/^[A-Za-z]+\(address\)$/),
  z.string(),
  z.string().min(1),
  z.url({ protocol: /^https$/ }),
  z.string().min(1),
  z.string(),
]);

type Tokens = Reading<readonly FreezingToken[], IssuerFreezesPort>;

/** The tokens of a file, read once. A file that cannot be used leaves them unread. */
export function freezingTokensFile(path: string | URL): () => Promise<Tokens> {
  let loading: Promise<Tokens> | null = null;
  return () => {
    if (loading === null) loading = loaded(path);
    return loading;
  };
}

async function loaded(path: string | URL): Promise<Tokens> {
  try {
    const { sha256, lines } = await csvTable(path);
    const tokens = freezingTokens(lines);
    const as_of = Math.min(...tokens.map(({ reviewed }) => Number(parseIsoDate(reviewed))));
    const name = `Registry of issuers: ${tokens.length} rows`;
    const about = { name, url: `urn:sha256:${sha256}`, as_of, simulated: false } as const;
    return read(tokens, { port: PORT, source: { ...about, kind: 'table' } });
  } catch (error) {
    const isTold = error instanceof FileFault;
    if (!isTold && !(error instanceof Error && 'code' in error)) throw error;
    const fault = isTold ? error.message : 'its file cannot be read';
    return unread(PORT, why('store_unreadable', { what: 'The registry of issuers', fault }));
  }
}

/** The tokens of the file's lines. Throws `FileFault`, with its line, at the first wrong one. */
export function freezingTokens([heading, ...lines]: readonly TableLine[]): FreezingToken[] {
  if (heading?.cells.join() !== HEADING) throw new FileFault('line 1: not the heading');
  const met = new Set<string>();
  return lines.map(({ line, cells }) => {
    const one = tokenIn(cells);
    if (typeof one === 'string') throw new FileFault(`line ${line}: ${one}`);
    const key = `${one.chain} ${one.address}`;
    if (met.has(key)) throw new FileFault(`line ${line}: an earlier row has the same contract`);
    met.add(key);
    return one;
  });
}

/** The row, or what is wrong with it. */
function tokenIn(cells: readonly string[]): FreezingToken | string {
  const parsed = row.safeParse(cells);
  if (!parsed.success) return String(parsed.error.issues[0]?.path[0]);
  const [issuer, symbol, chainName, written, asks, events, source, source_url, ...rest] =
    parsed.data;
  const [second_source, reviewed] = rest;
  const logs = events.split('|');
  if (!logs.every((one) => EVENT.test(one))) return 'no events';
  const chain = parseChain(chainName);
  if (chain === null || !isEvmChain(chain)) return 'no EVM chain';
  const address = parseEvmAddress(written);
  if (address === null || checksumAddress(address) !== written) {
    return 'not an address with its checksum';
  }
  if (parseIsoDate(reviewed) === null) return 'no day of review';
  const token = { issuer, symbol, chain, address, asks, logs };
  return { ...token, source, source_url, second_source, reviewed };
}
