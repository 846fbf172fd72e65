// Where does Permit2 stand, by the registry's file? At one address on every chain that is served.
// A file with a row that is wrong is not used at all: it is the project's own, and reviewed.

import { z } from 'zod';
import { checksumAddress, parseEvmAddress } from '../../chain/address.ts';
import { parseIsoDate } from '../../chain/time.ts';
import { read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Permit2 } from '../../ports/accounts/token-approvals.ts';
import { csvTable } from '../files/csv.ts';
import { FileFault } from '../files/fault.ts';

const PORT = 'token_approvals';
const HEADING = 'name,address,source,source_url,second_source,reviewed';

const row = z.tuple([
  z.string().min(1),
  z.string(),
  z.string().min(1),
  z.url({ protocol: /^https$/ }),
  z.string().min(1),
  z.string(),
]);

/** The addresses of a file, read once. A file that cannot be used leaves them unread. */
export function permit2File(path: string | URL): Permit2 {
  let loading: ReturnType<Permit2> | null = null;
  return () => {
    if (loading === null) loading = loaded(path);
    return loading;
  };
}

async function loaded(path: string | URL): ReturnType<Permit2> {
  try {
    const { sha256, lines } = await csvTable(path);
    const [heading, ...rows] = lines;
    if (heading?.cells.join() !== HEADING) throw new FileFault('line 1: not the heading');
    const told = rows.map(({ line, cells }) => rowIn(line, cells));
    const as_of = Math.min(...told.map(({ reviewed_at }) => reviewed_at));
    const name = `Registry of Permit2: ${told.length} rows`;
    const about = { name, url: `urn:sha256:${sha256}`, as_of, simulated: false } as const;
    const addresses = told.map(({ address }) => address);
    return read(addresses, { port: PORT, source: { ...about, kind: 'table' } });
  } catch (error) {
    const isTold = error instanceof FileFault;
    if (!isTold && !(error instanceof Error && 'code' in error)) throw error;
    const fault = isTold ? error.message : 'its file cannot be read';
    return unread(PORT, why('store_unreadable', { what: 'The registry of Permit2', fault }));
  }
}

function rowIn(line: number, cells: readonly string[]) {
  const parsed = row.safeParse(cells);
  if (!parsed.success) {
    throw new FileFault(`line ${line}: ${String(parsed.error.issues[0]?.path[0])}`);
  }
  const [, written, , , , reviewed] = parsed.data;
  const address = parseEvmAddress(written);
  if (address === null || checksumAddress(address) !== written) {
    throw new FileFault(`line ${line}: not an address with its checksum`);
  }
  const reviewed_at = parseIsoDate(reviewed);
  if (reviewed_at === null) throw new FileFault(`line ${line}: no day of review`);
  return { address, reviewed_at };
}
