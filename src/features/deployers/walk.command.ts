// The command that walks deployers now, whether or not they were walked before. A failed walk exits
// 3: it found nothing, and stored nothing.

import { parseAddress } from '../../chain/address.ts';
import { atLeastOne, defineCommand, EXIT, type Io, UsageError } from '../../command/command.ts';
import { printJson } from '../../command/output.ts';
import type { DeployerWalk, WalkAndCommit } from '../../ports/deployers.ts';
import { recordFields, whyNoRecord } from './record.ts';

/** The dependencies of the command. */
export type WalkServices = { readonly deployers: { readonly walk: WalkAndCommit } };

/** How many addresses one run walks. */
const ADDRESSES_MAX = 100;

export const deployersWalk = defineCommand({
  name: 'deployers walk',
  summary: 'Walk what Ethereum addresses launched, and commit their records.',
  example: 'exhibit deployers walk 0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  arguments: { address: atLeastOne('ADDRESS', 'an Ethereum address; up to 100', evmAddress) },
  json: 'prints one record a line',
  notes: [
    'It needs an explorer (EXHIBIT_EXPLORER_URL, or EXHIBIT_BLOCKSCOUT_ETHEREUM); with a node',
    '(EXHIBIT_RPC_ETHEREUM) tokens are decided by its code and calls, with a venue',
    '(EXHIBIT_VENUE_URL) it is checked what became of them.',
    'Exit status 3: an address could not be walked. An earlier record of it is kept.',
  ],
  run: async ({ address: addresses }, io, { deployers }: WalkServices) => {
    if (addresses.length > ADDRESSES_MAX) {
      throw new UsageError(`Up to ${ADDRESSES_MAX} addresses are walked at once.`);
    }
    let unwalked = 0;
    for (const address of new Set(addresses)) {
      const end = await deployers.walk(address, io.signal);
      if (end.end === 'stopped') return EXIT.couldNotCheck;
      if (end.end === 'committed') show(io, end.walk);
      else {
        unwalked += 1;
        io.err(`${address}: not walked. ${end.why.reason}`);
        if (io.json) printJson(io, { address, walked: false, reason: end.why.reason });
      }
    }
    return unwalked === 0 ? EXIT.done : EXIT.couldNotCheck;
  },
});

function evmAddress(text: string): string {
  const parsed = parseAddress(text);
  if (parsed?.kind !== 'evm') throw new UsageError('ADDRESS takes Ethereum addresses (0x…).');
  return parsed.address;
}

function show(io: Io, walk: DeployerWalk): void {
  const record = recordFields({ ...walk, failed: null }, walk.captured_at);
  const { address, coverage, finding } = record;
  if (io.json) {
    printJson(io, { walked: true, ...record });
    return;
  }
  if (whyNoRecord({ ...walk, failed: null }) !== null) {
    io.out(`${address}: no_record, ${coverage.contracts_examined} contracts examined.`);
    return;
  }
  io.out(`${address}: ${record.state}. ${finding}`);
}
