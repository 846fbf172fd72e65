// What must be said beside the launches of a Solana wallet?
// What the flag was worth here, on launches that came later, with its denominators; what was not
// collected; and that a wallet which is not flagged has not been cleared.

import { formatIsoDate, HOUR_S } from '../../chain/time.ts';
import { wilsonInterval } from '../../evidence/measure.ts';
import {
  type Collection,
  ENTRIES_MAX,
  type HoldOut,
  type Measured,
  type WalletRecord,
} from '../../ports/launches/wallet-launches.ts';

/** The hold-out rates that the interface document publishes: a reference, measured elsewhere. */
export const PUBLISHED_RATES = { flagged: 0.008, rest: 0.0434 } as const;

/** The caveat of a record. */
export function recordCaveat({ corpus, settled }: WalletRecord): string {
  const sentences = [
    'The launches that this deployment has on record, credited to the wallet that signed them; ' +
      'others of it may be missing, and a record that is not flagged is no clearance.',
    'The flag says that a launch is likelier to be gone 24 hours later, and nothing else.',
    corpus.hold_out === null ? UNMEASURED : measuredHere(corpus.hold_out),
    `Published reference, measured elsewhere: ${percent(PUBLISHED_RATES.flagged)} of flagged ` +
      `launches against ${percent(PUBLISHED_RATES.rest)} of the rest.`,
  ];
  if (corpus.collection !== null) sentences.push(collected(corpus.collection));
  if (settled > ENTRIES_MAX) sentences.push(`The newest ${ENTRIES_MAX} are shown.`);
  return sentences.join(' ');
}

const UNMEASURED = 'On the corpus of this deployment it has not been measured yet.';

function measuredHere({ split, flagged, rest }: HoldOut): string {
  return (
    `On the corpus of this deployment, of the launches from ${split} on, held out, were still ` +
    `listed after their window: ${share(flagged)} of wallets flagged before, ${share(rest)} of ` +
    'all others.'
  );
}

/** A share in words, with its denominator and its interval. */
export function share({ launches, listed }: Measured): string {
  const interval = wilsonInterval(listed, launches);
  if (interval === null) return '0 of 0 (unmeasured)';
  const { low, high } = interval;
  const of = `${listed.toLocaleString('en')} of ${launches.toLocaleString('en')}`;
  return `${of} (${percent(listed / launches)}, 95% interval ${percent(low)} to ${percent(high)})`;
}

const PERCENT = 100;

function percent(part: number): string {
  return `${(part * PERCENT).toFixed(2)}%`;
}

function collected({ since, reached_at, gaps, missed_s }: Collection): string {
  const span = `Collected from ${formatIsoDate(since)} to ${formatIsoDate(reached_at)}`;
  if (gaps === 0) return `${span}.`;
  const hours = (missed_s / HOUR_S).toFixed(1);
  return `${span}, with ${gaps.toLocaleString('en')} gaps of ${hours} hours together.`;
}
