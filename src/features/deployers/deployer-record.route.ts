// Answers GET /api/v1/evm/deployer/{chain}/{address}: what became of what an address launched.
// It reads committed records alone. An address that was never walked is put into the queue.

import { parseAddress } from '../../chain/address.ts';
import { badInput } from '../../contract/refusals.ts';
import type { Handler } from '../../contract/route.ts';
import { why } from '../../evidence/reasons.ts';
import { DEPLOYER_CHAIN, type DeployerRecords } from '../../ports/launches/deployer-records.ts';
import { chainNotServed, noLaunchFound } from './absent.ts';
import { deployerRecord } from './deployer-record.contract.ts';
import { recordShown } from './record-shown.ts';

/** The ports of the route. */
export type DeployerPorts = { readonly deployerRecords: Pick<DeployerRecords, 'recordOf'> };

/** The handler of the deployer record. */
export function deployerRecordHandler({
  deployerRecords,
}: DeployerPorts): Handler<typeof deployerRecord> {
  return async ({ params: { chain, address } }) => {
    if (chain !== DEPLOYER_CHAIN) {
      return deployerRecord.absent.not_supported({ subject: address, why: chainNotServed(chain) });
    }
    const parsed = parseAddress(address);
    if (parsed?.kind !== 'evm') return badInput([why('form_not_recognised').reason]);
    const subject = parsed.address;
    const reading = await deployerRecords.recordOf(subject);
    if (!reading.checked) return deployerRecord.absent.not_deployed({ subject, silent: reading });
    if (reading.value.direct_creations === 0) {
      const reason = noLaunchFound(reading.value);
      return deployerRecord.absent.insufficient_evidence({
        subject,
        why: reason,
        consulted: [reading],
      });
    }
    return deployerRecord.ok({ subject, data: recordShown(reading) });
  };
}
