// Answers GET /api/v1/solana/deployer/{address}: what became of what a Solana wallet launched.
// It asks what is recorded here and nothing else; the address is taken letter by letter.

import { parseAddress } from '../../chain/address.ts';
import { HOUR_S } from '../../chain/time.ts';
import type { Handler } from '../../contract/route.ts';
import { claim } from '../../evidence/claim.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { WalletLaunches, WalletRecord } from '../../ports/launches/wallet-launches.ts';
import { LAUNCH_WINDOW_S, launchAnswer } from '../tables/launches.ts';
import { recordCaveat } from './caveat.ts';
import { solanaDeployer } from './solana-deployer.contract.ts';

/** The ports of the route. */
export type SolanaDeployerPorts = { readonly walletLaunches: WalletLaunches };

/** The handler of the Solana deployer record. */
export function solanaDeployerHandler({
  walletLaunches,
}: SolanaDeployerPorts): Handler<typeof solanaDeployer> {
  return async ({ params: { address } }) => {
    const subject = address;
    const reading = await walletLaunches.of(address);
    if (!reading.checked) return solanaDeployer.absent.not_deployed({ subject, silent: reading });
    const { settled, died, entries } = reading.value;
    if (settled === 0) {
      const reason = noRecord(address, reading.value);
      const consulted = [reading] as const;
      return solanaDeployer.absent.insufficient_evidence({ subject, why: reason, consulted });
    }
    return solanaDeployer.ok({
      subject,
      data: {
        answer: launchAnswer({ deployer: address, launches_settled: settled, died }),
        entries: entries.map((one) => {
          return { ...one, outcome: one.listed_after_window ? 'survived' : 'died' };
        }),
        count: settled,
        empty: false,
        empty_reason: null,
        window_hours: LAUNCH_WINDOW_S / HOUR_S,
        suppressed: claim(reading, ({ waiting }) => waiting.length),
        caveat: recordCaveat(reading.value),
      },
    });
  };
}

function noRecord(address: string, { corpus, waiting }: WalletRecord): Why {
  const launches = corpus.settled_launches.toLocaleString('en');
  if (parseAddress(address)?.kind !== 'solana') return why('no_record_misread', { launches });
  const unsettled =
    waiting.length === 0 ? '' : ` ${waiting.length} of its launches wait to be settled.`;
  return why('no_record_settled', { launches, unsettled });
}
