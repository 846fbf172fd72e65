import { z } from 'zod';
import { oneOf, type RestsOn, rowFact, sharedShape } from '../../contract/wire.ts';
import { LAUNCH_ANSWERS } from '../../ports/launches.ts';

/** The counts of a wallet's settled launches, where there are some, as a port tells of them. */
export function launchesOfWallet<const P extends string>(rests: RestsOn<P>) {
  return sharedShape(
    'LaunchesOfWallet',
    z.strictObject({
      answer: oneOf(LAUNCH_ANSWERS),
      launches_settled: z.int().positive(),
      died: rowFact(z.int().nonnegative(), rests),
    }),
  );
}
