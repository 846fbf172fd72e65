// Which tokens are established by review, by the registry's file?
// A file with one row that is wrong is not used at all: it is the project's own, and reviewed.

import { z } from 'zod';
import { checksumAddress, parseAddress, parseEvmAddress } from '../../chain/address.ts';
import { CHAIN_NAMES, isEvmChain } from '../../chain/chain.ts';
import { parseIsoDate } from '../../chain/time.ts';
import { map, type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  EstablishedTokens,
  EstablishedTokensPort,
} from '../../ports/flags/established-tokens.ts';
import type { TableLine } from '../../ports/tables/table-import.ts';
import { csvTable } from '../files/csv.ts';
import { FileFault } from '../files/fault.ts';

const PORT = 'established_tokens';
const HEADING = 'symbol,chain,address,source,source_url,reviewed';
const row = z.tuple([
  z.string().min(1),
  z.enum(CHAIN_NAMES),
  z.string(),
  z.string().min(1),
  z.url({ protocol: /^https$/ }),
  z.string(),
]);

type Listed = Reading<ReadonlySet<string>, EstablishedTokensPort>;

/** The tokens of the file's lines. Throws `FileFault`, with its line, at the first wrong one. */
export function establishedRows([heading, ...lines]: readonly TableLine[]): ReadonlySet<string> {
  if (heading?.cells.join() !== HEADING) throw new FileFault('line 1: not the heading');
  return new Set(lines.map(({ line, cells }) => tokenIn(line, cells)));
}

function tokenIn(line: number, cells: readonly string[]): string {
  const parsed = row.safeParse(cells);
  if (parsed.success && parseIsoDate(parsed.data[5]) !== null) {
    const [, chain, written] = parsed.data;
    const known = parseAddress(written);
    const kind = isEvmChain(chain) ? 'evm' : chain;
    if (known?.kind === kind && isAsPublished(written)) return keyOf(chain, known.address);
  }
  throw new FileFault(`line ${line}: not a reviewed token of a chain, as its chain writes it`);
}

/** An address of an EVM chain has its checksum, which shows that no character was mistaken. */
function isAsPublished(written: string): boolean {
  const evm = parseEvmAddress(written);
  return evm === null || checksumAddress(evm) === written;
}

function keyOf(chain: string, token: string): string {
  return `${chain} ${token}`;
}

/** The list of a file, read once. A file that cannot be used leaves it unread. */
export function establishedTokens(path: string | URL, now: () => number): EstablishedTokens {
  let loading: Promise<Listed> | null = null;
  return {
    among: async (tokens) => {
      if (loading === null) loading = loaded(path, now());
      return map(await loading, (listed) => {
        return new Set(tokens.filter(({ chain, token }) => listed.has(keyOf(chain, token))));
      });
    },
  };
}

async function loaded(path: string | URL, as_of: number): Promise<Listed> {
  try {
    const { lines } = await csvTable(path);
    const source = { name: 'Established tokens', url: 'registry:', as_of } as const;
    return read(establishedRows(lines), {
      port: PORT,
      source: { ...source, kind: 'table', simulated: false },
    });
  } catch (error) {
    const isTold = error instanceof FileFault;
    if (!isTold && !(error instanceof Error && 'code' in error)) throw error;
    const fault = isTold ? error.message : 'its file cannot be read';
    return unread(PORT, why('store_unreadable', { what: 'The list of established tokens', fault }));
  }
}
