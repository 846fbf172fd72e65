// The flag screens for launches that are gone a day later; a wallet without it is not thereby good.

import { z } from 'zod';
import { parseAddress } from '../../chain/address.ts';
import { formatIsoDate, HOUR_S } from '../../chain/time.ts';
import { evidenceRoute, type Handler } from '../../contract/route.ts';
import {
  harmless,
  negative,
  oneOf,
  prose,
  rowFact,
  unixSeconds,
  words,
} from '../../contract/wire.ts';
import { claim } from '../../evidence/claim.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import { wilsonInterval } from '../../evidence/statistics.ts';
import {
  type Collection,
  type HoldOut,
  type Measured,
  WALLET_ENTRIES_MAX,
  type WalletLaunches,
  type WalletRecord,
} from '../../ports/deployers.ts';
import { LAUNCH_ANSWERS } from '../../ports/launches.ts';
import { LAUNCH_WINDOW_S, launchAnswer } from '../tables/launches.ts';

const LAUNCHES = { restsOn: ['wallet_launches'] } as const;

const settledLaunch = z.strictObject({
  mint: words(),
  launched_at: unixSeconds,
  settled_at: unixSeconds,
  listed_after_window: rowFact(z.boolean(), LAUNCHES),
  outcome: oneOf(['survived', 'died']),
});

const NEVER_EMPTY = 'an answer with data has a settled launch';

export const solanaDeployer = evidenceRoute({
  name: 'solana_deployer',
  surface: 'hosted',
  method: 'GET',
  path: '/api/v1/solana/deployer/{address}',
  summary: 'The settled launches of one Solana wallet, and whether all of them died.',
  access: 'analyst',
  params: z.strictObject({
    address: z
      .string()
      .regex(
        /^[1-9A-HJ-NP-Za-km-z]{32,44}$/,
        'expected 32 to 44 characters of base58; check its letter case',
      )
      .meta({ description: 'Base58, in its exact letter case.' }),
  }),
  data: z.strictObject({
    answer: oneOf(LAUNCH_ANSWERS).describe(
      'flagged: every settled launch has died; record: at least one survived. Died: once its ' +
        'window had passed a venue listed it on the curve of its launchpad at most, where it may ' +
        'still trade.',
    ),
    entries: rowFact(z.array(settledLaunch), LAUNCHES).describe(
      'The newest settled launches, up to 500.',
    ),
    count: z.int().positive().describe('Settled launches, those beyond the entries included.'),
    empty: harmless(z.literal(false), NEVER_EMPTY),
    empty_reason: harmless(z.null(), NEVER_EMPTY),
    window_hours: z.int().positive(),
    suppressed: negative(z.int().nonnegative(), LAUNCHES).describe(
      'Launches on record that have not settled.',
    ),
    caveat: prose().min(1),
  }),
  absences: ['insufficient_evidence', 'not_deployed'],
  tool: {
    name: 'deployer_record',
    when: {
      argument: 'chain',
      is: 'solana',
      means: '`ethereum` or `solana`; any other is not_supported.',
    },
    description:
      'Of a Solana wallet (chain `solana`): its settled launches, and whether all of them were ' +
      'gone a day later. A wallet without a record has not been cleared.',
  },
});

// The route reads the launches recorded here and nothing else; the address is taken letter by
// letter.

export type SolanaDeployerPorts = { readonly walletLaunches: WalletLaunches };

/** @internal The handler of the Solana deployer record. */
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
  if (waiting.length === 0) return why('no_record_settled', { launches });
  return why('no_record_waiting', { launches, waiting: String(waiting.length) });
}

// The caveat states how well the flag predicted later launches here, with denominators, the
// launches that were not collected, and that an unflagged wallet is not cleared.

/** The hold-out rates that the interface document publishes: a reference, measured elsewhere. */
export const PUBLISHED_RATES = { flagged: 0.008, rest: 0.0434 } as const;

/** @internal */
export function recordCaveat({ corpus, settled }: WalletRecord): string {
  const sentences = [
    'The launches that this deployment has on record, credited to the wallet that signed them; ' +
      'others of it may be missing, and a record that is not flagged is no clearance.',
    DIED_MEANS,
    'The flag says that a launch is likelier to be gone 24 hours later, and nothing else.',
    corpus.hold_out === null ? UNMEASURED : measurementText(corpus.hold_out),
    `Published reference, measured elsewhere: ${percent(PUBLISHED_RATES.flagged)} of flagged ` +
      `launches against ${percent(PUBLISHED_RATES.rest)} of the rest.`,
  ];
  if (corpus.collection !== null) sentences.push(collectionText(corpus.collection));
  if (settled > WALLET_ENTRIES_MAX) sentences.push(`The newest ${WALLET_ENTRIES_MAX} are shown.`);
  return sentences.join(' ');
}

const DIED_MEANS =
  'A launch died where a venue listed it on the curve of its launchpad at most once its window ' +
  'had passed: it may still trade there.';

const UNMEASURED = 'On the corpus of this deployment it has not been measured yet.';

function measurementText({ split, flagged, rest }: HoldOut): string {
  return (
    `On the corpus of this deployment, of the launches from ${split} on, held out, were still ` +
    `listed after their window: ${share(flagged)} of wallets flagged before, ${share(rest)} of ` +
    'all others.'
  );
}

/** @internal A share in words, with its denominator and its interval. */
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

function collectionText({ since, reached_at, gaps, missed_s }: Collection): string {
  const span = `Collected from ${formatIsoDate(since)} to ${formatIsoDate(reached_at)}`;
  if (gaps === 0) return `${span}.`;
  const hours = (missed_s / HOUR_S).toFixed(1);
  return `${span}, with ${gaps.toLocaleString('en')} gaps of ${hours} hours together.`;
}
