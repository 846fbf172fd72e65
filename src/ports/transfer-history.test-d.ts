// Uses of raw history that must not compile: an answer is never made from the history of a store or
// a provider, whatever it looks like.

import { type Claim, claim } from '../evidence/claim.ts';
import { all, mintAs, type Partly, type Read, type Reading } from '../evidence/reading.ts';
import type {
  CoveredNeighbourhood,
  Neighbourhood,
  RawHistory,
  TransferHistory,
} from './history.ts';

declare const raw: RawHistory;
declare const covered: TransferHistory;
declare const rawRead: Read<CoveredNeighbourhood, 'raw_history'>;
declare const rawReading: Reading<CoveredNeighbourhood, 'raw_history'>;
declare const coveredReading: Partly<CoveredNeighbourhood, 'transfer_history'>;

type OnHistory = Claim<boolean, boolean | null, 'transfer_history'>;

const hasNone = ({ counterparties }: Neighbourhood) => counterparties.length === 0;

/** Uses that must compile. */
export function truths(): unknown[] {
  return [
    claim(coveredReading, hasNone, () => null) satisfies OnHistory,
    covered.neighbourhoods satisfies TransferHistory['neighbourhoods'],
  ];
}

/** An adapter that answers for what another read answers for its own port, and for no other. */
export function mintedAnew(): unknown[] {
  // @ts-expect-error the type that is expected adds no port
  const wider: Reading<Neighbourhood, 'transfer_history' | 'list'> = mintAs(
    'transfer_history',
    rawReading,
  );
  return [
    wider,
    mintAs('transfer_history', rawReading) satisfies Reading<Neighbourhood, 'transfer_history'>,
    // @ts-expect-error a reading of another port stays one
    mintAs('list', rawReading) satisfies Reading<Neighbourhood, 'transfer_history'>,
    // @ts-expect-error what may be a part does not become whole
    mintAs('transfer_history', coveredReading) satisfies Reading<Neighbourhood, 'transfer_history'>,
  ];
}

/** Raw history does not stand where history is needed: not the port, not a reading, not a claim. */
export function rawAsCovered(): unknown[] {
  return [
    // @ts-expect-error a store is no history to answer from
    raw satisfies TransferHistory,
    // @ts-expect-error nor is it with the chains of one
    { ...covered, neighbourhoods: raw.neighbourhoods } satisfies TransferHistory,
    // @ts-expect-error a raw reading came to its end, and says nothing of what is not held
    rawRead satisfies Read<Neighbourhood, 'transfer_history'>,
    // @ts-expect-error nor does one that may be unread
    rawReading satisfies Reading<Neighbourhood, 'transfer_history'>,
    // @ts-expect-error a claim on a raw reading rests on raw history
    claim(rawRead, hasNone) satisfies OnHistory,
    // @ts-expect-error joined with a covered one it is raw for all it says
    all([coveredReading, rawReading]),
  ];
}
