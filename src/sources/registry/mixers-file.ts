// Which contracts of mixers does the registry's file name, row by row?
// A file with one row that is wrong is not used at all: it is the project's own, and reviewed.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { checksumAddress, isSystemAddress, parseEvmAddress } from '../../chain/address.ts';
import { isEvmChain, parseChain } from '../../chain/chain.ts';
import { parseIsoDate } from '../../chain/time.ts';
import { unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { MixerContract, MixerRegistry } from '../../ports/accounts/mixer-registry.ts';
import { MIXERS_TITLE, memoryMixerRegistry } from './mixers-held.ts';

const HEADING =
  'protocol,chain,address,role,name,valid_from_block,source,source_url,second_source,reviewed';
const FILE_BYTES_MAX = 1024 * 1024;
const HASH_CHARS_SHOWN = 12;

/** A row of the file is not what it should be. `line` counts from 1, the heading included. */
export class MixerRowFault extends Error {
  constructor(line: number, what: string) {
    super(`line ${line}: ${what}`);
    this.name = 'MixerRowFault';
  }
}

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

/** The rows of the file's text. Throws `MixerRowFault` at the first that is wrong. */
export function mixerRows(text: string): MixerContract[] {
  const [heading, ...lines] = text.trimEnd().split('\n');
  if (heading !== HEADING) throw new MixerRowFault(1, 'not the heading');
  const met = new Set<string>();
  return lines.map((line, i) => {
    const at = i + 2;
    const one = mixerRow(line, at);
    const key = `${one.chain} ${one.address}`;
    if (met.has(key)) throw new MixerRowFault(at, 'an earlier row has the same contract');
    met.add(key);
    return one;
  });
}

function mixerRow(line: string, at: number): MixerContract {
  const parsed = row.safeParse(line.split(','));
  if (!parsed.success) throw new MixerRowFault(at, String(parsed.error.issues[0]?.path[0]));
  const [protocol, chainName, written, role, name, from, source, source_url, second, reviewed] =
    parsed.data;
  const chain = parseChain(chainName);
  if (chain === null || !isEvmChain(chain)) throw new MixerRowFault(at, 'no EVM chain');
  const address = parseEvmAddress(written);
  if (address === null || checksumAddress(address) !== written) {
    throw new MixerRowFault(at, 'not an address with its checksum');
  }
  if (isSystemAddress(address)) throw new MixerRowFault(at, 'an address of the chain itself');
  if (parseIsoDate(reviewed) === null) throw new MixerRowFault(at, 'no day of review');
  return {
    ...{ protocol, chain, address, role, name, source, source_url, reviewed },
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
    const bytes = await readFile(path);
    if (bytes.length > FILE_BYTES_MAX) throw new MixerRowFault(1, 'the file is too large');
    const rows = mixerRows(bytes.toString('utf8'));
    const reviews = rows.map(({ reviewed }) => Number(parseIsoDate(reviewed)));
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const hash = sha256.slice(0, HASH_CHARS_SHOWN);
    const name = `${MIXERS_TITLE}: ${rows.length} rows, sha256 ${hash}`;
    const about = { name, url: `urn:sha256:${sha256}` };
    return memoryMixerRegistry({ rows, as_of: Math.min(...reviews), simulated: false }, about);
  } catch (error) {
    const fault = error instanceof MixerRowFault ? error.message : 'its file cannot be read';
    if (!(error instanceof MixerRowFault) && !isFileError(error)) throw error;
    const silent = unread(
      'mixer_registry',
      why('store_unreadable', {
        what: 'The mixer registry',
        fault,
      }),
    );
    return { lookUp: async () => silent };
  }
}

function isFileError(error: unknown): boolean {
  return error instanceof Error && 'code' in error;
}
