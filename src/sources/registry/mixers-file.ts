// Which contracts of mixers does the registry's file name, row by row?
// A file with one row that is wrong is not used at all: it is the project's own, and reviewed.

import { z } from 'zod';
import { checksumAddress, isSystemAddress, parseEvmAddress } from '../../chain/address.ts';
import { isEvmChain, parseChain } from '../../chain/chain.ts';
import { parseIsoDate } from '../../chain/time.ts';
import { unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { MixerContract, MixerRegistry } from '../../ports/accounts/mixer-registry.ts';
import type { TableLine } from '../../ports/tables/table-import.ts';
import { csvLines, csvTable } from '../files/csv.ts';
import { FileFault } from '../files/fault.ts';
import { MIXERS_TITLE, memoryMixerRegistry } from './mixers-held.ts';

const HEADING =
  'protocol,chain,address,role,name,valid_from_block,source,source_url,second_source,reviewed';
const HASH_CHARS_SHOWN = 12;

const row = z.tuple([
  z.string().min(1),
  z.string(),
  z.string(),
  z.enum(['pool', 'router']),
  z.string().min(1),
  z.string().regex(/^\d*$/),
  z.string().min(1),
  z.url({ protocol: /^https$/ }),
  z.string(),
  z.string(),
]);

/** The rows of the file's text. Throws `FileFault`, with its line, at the first that is wrong. */
export function mixerRows(text: string): MixerContract[] {
  return validated(csvLines(text));
}

function validated([heading, ...lines]: readonly TableLine[]): MixerContract[] {
  if (heading?.cells.join() !== HEADING) throw new FileFault('line 1: not the heading');
  const met = new Set<string>();
  return lines.map(({ line, cells }) => {
    const one = mixerRow(cells);
    if (typeof one === 'string') throw new FileFault(`line ${line}: ${one}`);
    const key = `${one.chain} ${one.address}`;
    if (met.has(key)) throw new FileFault(`line ${line}: an earlier row has the same contract`);
    met.add(key);
    return one;
  });
}

/** The row, or what is wrong with it. */
function mixerRow(cells: readonly string[]): MixerContract | string {
  const parsed = row.safeParse(cells);
  if (!parsed.success) return String(parsed.error.issues[0]?.path[0]);
  const [protocol, chainName, written, role, name, from, source, source_url, second, reviewed] =
    parsed.data;
  const chain = parseChain(chainName);
  if (chain === null || !isEvmChain(chain)) return 'no EVM chain';
  const address = parseEvmAddress(written);
  if (address === null || checksumAddress(address) !== written) {
    return 'not an address with its checksum';
  }
  if (isSystemAddress(address)) return 'an address of the chain itself';
  if (parseIsoDate(reviewed) === null) return 'no day of review';
  return {
    protocol,
    chain,
    address,
    role,
    name,
    source,
    source_url,
    reviewed,
    valid_from_block: from === '' ? null : Number(from),
    second_source: second === '' ? null : second,
  };
}

/** The registry of a file, read once. A file that cannot be used leaves the registry unread. */
export function mixerRegistryFile(path: string | URL): MixerRegistry {
  let loading: Promise<MixerRegistry> | null = null;
  return {
    lookUp: async (addresses) => {
      if (loading === null) loading = loaded(path);
      return (await loading).lookUp(addresses);
    },
  };
}

async function loaded(path: string | URL): Promise<MixerRegistry> {
  try {
    const { sha256, lines } = await csvTable(path);
    const rows = validated(lines);
    const reviews = rows.map(({ reviewed }) => Number(parseIsoDate(reviewed)));
    const hash = sha256.slice(0, HASH_CHARS_SHOWN);
    const name = `${MIXERS_TITLE}: ${rows.length} rows, sha256 ${hash}`;
    const about = { name, url: `urn:sha256:${sha256}` };
    return memoryMixerRegistry({ rows, as_of: Math.min(...reviews), simulated: false }, about);
  } catch (error) {
    const isTold = error instanceof FileFault;
    if (!isTold && !(error instanceof Error && 'code' in error)) throw error;
    const fault = isTold ? error.message : 'its file cannot be read';
    const facts = { what: 'The mixer registry', fault };
    const silent = unread('mixer_registry', why('store_unreadable', facts));
    return { lookUp: async () => silent };
  }
}
