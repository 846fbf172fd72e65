// The last nonce and size that this machine sent, in a file of its own: a control store that was
// put back to an earlier state lies behind it.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { AnchorChain, LastSentFile } from '../../ports/anchoring.ts';
import { writeWhole } from '../../sources/files/write-whole.ts';
import { jsonIn } from '../../sources/http/fetch.ts';

const lastSent = z.strictObject({
  chain_id: z.int(),
  contract: z.string(),
  sender: z.string(),
  nonce: z.int().nonnegative(),
  size: z.int().positive(),
});

/** The file in the data directory. What it tells of another contract or key is not read. */
export function lastSentFile(
  dataDir: string,
  place: Pick<AnchorChain, 'chain_id' | 'contract' | 'sender'>,
): LastSentFile {
  const { chain_id, contract, sender } = place;
  const path = join(dataDir, 'anchoring.json');
  return {
    read: async () => {
      const text = await readOrNull(path);
      if (text === null) return null;
      const { nonce, size, ...of } = lastSent.parse(jsonIn(text));
      const isOurs = of.chain_id === chain_id && of.contract === contract && of.sender === sender;
      return isOurs ? { nonce, size } : null;
    },
    write: (sent) => writeWhole(path, JSON.stringify({ chain_id, contract, sender, ...sent })),
  };
}

async function readOrNull(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return null;
    throw fault;
  }
}
