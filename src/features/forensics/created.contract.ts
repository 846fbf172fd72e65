// Declares what became of the contracts that an address made, by the record that a walk committed.

import { z } from 'zod';
import { checked, isoTime, negative, oneOf, prose, words } from '../../contract/wire.ts';

const RECORDS = { restsOn: ['deployer_records'] } as const;
const count = negative(z.int().nonnegative().nullable(), RECORDS);

const launch = z.strictObject({
  address: words(),
  outcome: oneOf(['live', 'died', 'never_listed', 'unchecked']),
  created_at: isoTime,
});

/** `checked: false`: no walk of the address was committed, or none could be read. */
export const created = z.strictObject({
  checked: checked(RECORDS),
  reason: prose().nullable(),
  captured_at: isoTime.nullable(),
  contracts: count,
  died: count,
  survived: count,
  never_listed: count,
  unchecked: count,
  /** Whether something was left out, so that every count is a floor. */
  truncated: negative(z.boolean().nullable(), RECORDS),
  /** Those that died first, then the newest; null where none is told. */
  launches: z.array(launch).min(1).nullable(),
});
