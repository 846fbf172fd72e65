// Which contracts are public launchpads, by the registry's file?
// A file with one row that is wrong is not used at all: it is the project's own, and reviewed.

import { z } from 'zod';
import { checksumAddress, parseEvmAddress } from '../../chain/address.ts';
import { parseIsoDate } from '../../chain/time.ts';
import { type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Launchpads } from '../../ports/launches/deployer-walk.ts';
import type { TableLine } from '../../ports/tables/table-import.ts';
import { csvTable } from '../files/csv.ts';
import { FileFault } from '../files/fault.ts';

const PORT = 'launchpads';
const HEADING = 'name,chain,address,source,source_url,reviewed';
const row = z.tuple([
  z.string().min(1),
  z.literal('ethereum'),
  z.string(),
  z.string().min(1),
  z.url({ protocol: /^https$/ }),
  z.string(),
]);

/** The contracts of the file's lines. Throws `FileFault`, with its line, at the first wrong one. */
export function launchpadRows([heading, ...lines]: readonly TableLine[]): ReadonlySet<string> {
  if (heading?.cells.join() !== HEADING) throw new FileFault('line 1: not the heading');
  const contracts = new Set<string>();
  for (const { line, cells } of lines) {
    const parsed = row.safeParse(cells);
    const written = parsed.success ? parsed.data[2] : '';
    const address = parseEvmAddress(written);
    const day = parsed.success ? parseIsoDate(parsed.data[5]) : null;
    if (address === null || checksumAddress(address) !== written || day === null) {
      throw new FileFault(`line ${line}: not a reviewed contract of Ethereum with its checksum`);
    }
    contracts.add(address);
  }
  return contracts;
}

/** The registry of a file, read once. A file that cannot be used leaves it unread. */
export function launchpadRegistry(path: string | URL, now: () => number): Launchpads {
  let loading: Promise<Reading<ReadonlySet<string>, typeof PORT>> | null = null;
  return {
    among: async (contracts) => {
      if (loading === null) loading = loaded(path, now());
      const held = await loading;
      if (!held.checked) return held;
      const found = new Set(contracts.filter((one) => held.value.has(one)));
      return read<ReadonlySet<string>, typeof PORT>(found, { port: PORT, source: sourceAt(now()) });
    },
  };
}

function sourceAt(as_of: number) {
  return {
    name: 'Launchpad registry',
    url: 'registry:',
    as_of,
    kind: 'table',
    simulated: false,
  } as const;
}

async function loaded(
  path: string | URL,
  as_of: number,
): Promise<Reading<ReadonlySet<string>, typeof PORT>> {
  try {
    const { lines } = await csvTable(path);
    return read(launchpadRows(lines), { port: PORT, source: sourceAt(as_of) });
  } catch (error) {
    const isTold = error instanceof FileFault;
    if (!isTold && !(error instanceof Error && 'code' in error)) throw error;
    const fault = isTold ? error.message : 'its file cannot be read';
    return unread(PORT, why('store_unreadable', { what: 'The launchpad registry', fault }));
  }
}
