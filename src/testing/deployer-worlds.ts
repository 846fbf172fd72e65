// Worlds in which an address has launched tokens.

import { listOrNone } from '../evidence/measure.ts';
import type { DeployerWalk, ObservedLaunch } from '../ports/deployers.ts';
import { evm } from './addresses.ts';
import { STILL_NOW } from './clock.ts';
import { HOUR_S, type Plan } from './planted.ts';
import { emptyWalk } from './twins/deployers.ts';

/** A launch of two days ago. */
export function launchOf(
  name: string,
  outcome: ObservedLaunch['outcome'],
  change: Partial<ObservedLaunch> = {},
): ObservedLaunch {
  const listed = outcome === 'live' || outcome === 'died';
  return {
    address: evm(name),
    created_at: STILL_NOW - 48 * HOUR_S,
    factory: null,
    outcome,
    liquidity_usd: listed ? 10 : null,
    volume_usd_24h: null,
    transfers_observed: 3,
    transfers_truncated: false,
    launched_with: { state: 'unknown', cause: 'unasked' },
    ...change,
  };
}

/** The liquidity of a launch, if it is known. */
export const LAUNCHED_WITH = {
  state: 'known',
  usd: '10000.5',
  pool: evm('pool'),
  coin: evm('coin'),
  amount: '2.5',
  tx: `0x${'2'.repeat(64)}`,
  at: STILL_NOW - 48 * HOUR_S,
  price: 'a source of prices',
} as const;

/** The walk of a deployer, captured an hour ago. */
export function walkOf(address: string, change: Partial<DeployerWalk>): DeployerWalk {
  return { ...emptyWalk(address, STILL_NOW - HOUR_S), ...change };
}

const DEPLOYER = evm('deployer');
const FACTORY = evm('factory');

/** The record's fields in the forensic record of the deployer. */
const SCORED = [
  ['died', 'created.died'],
  ['survived', 'created.survived'],
  ['never_listed', 'created.never_listed'],
  ['coverage.unchecked', 'created.unchecked'],
  ['coverage.truncated', 'created.truncated'],
  ['launches', 'created.contracts'],
] as const;

function plan(name: string, walk: Partial<DeployerWalk>, said: readonly string[]): Plan {
  return {
    name,
    about: DEPLOYER,
    subjects: [DEPLOYER],
    deployers: [{ ...walkOf(DEPLOYER, walk), failed: null }],
    contradicts: {
      deployer_record: said,
      wallet_score: SCORED.flatMap(([own, field]) => (said.includes(own) ? [field] : [])),
    },
  };
}

/** The worlds, and what may then not be said of the deployer. */
const OF_DEPLOYER: readonly Plan[] = [
  plan(
    'launched one that lives, one that died, and more',
    {
      launches: [
        launchOf('live', 'live', { liquidity_usd: 5_000 }),
        launchOf('dead', 'died', { factory: FACTORY }),
        launchOf('unlisted', 'never_listed'),
        launchOf('unchecked', 'unchecked'),
      ],
      skipped: [{ address: FACTORY, reason: 'not_an_erc20' }],
      direct_creations: 4,
      factories_walked: 1,
      truncated: true,
      truncated_factories: [FACTORY],
    },
    [
      ...['state', 'listed_launches', 'died', 'survived', 'never_listed', 'death_rate'],
      ...['factories_walked', 'truncated', 'truncated_factories'].map((name) => `coverage.${name}`),
      ...['coverage.skipped', 'coverage.unchecked'],
    ],
  ),
  plan(
    'launched one that lives, through a factory',
    { launches: [launchOf('live', 'live', { factory: FACTORY })], direct_creations: 1 },
    ['state', 'survived', 'listed_launches', 'launches'],
  ),
  plan(
    'made a contract that is no token, and one of which that is not known',
    {
      skipped: [
        { address: evm('router'), reason: 'not_an_erc20' },
        { address: evm('unread'), reason: 'undetermined' },
      ],
      direct_creations: 2,
    },
    ['state', 'coverage.skipped'],
  ),
  plan(
    'made a contract that is no token, and a launch that no venue lists',
    {
      launches: [launchOf('unlisted', 'never_listed')],
      skipped: [{ address: evm('router'), reason: 'not_an_erc20' }],
      direct_creations: 2,
    },
    ['coverage.skipped'],
  ),
  plan(
    'launched one that was never listed',
    { launches: [launchOf('unlisted', 'never_listed')], direct_creations: 1 },
    ['never_listed'],
  ),
];

const TOKEN = evm('launched token');
const CREATION = {
  creator: DEPLOYER,
  relay: null,
  factory: null,
  tx: `0x${'1'.repeat(64)}`,
  block: 7,
} as const;
const CODE = { size: 10, delegates_to: null, minimal_proxy_of: null } as const;

/** The same worlds, asked about a token that the deployer made. */
const OF_TOKEN = OF_DEPLOYER.map(
  (one): Plan => ({
    ...one,
    name: `a token of who ${one.name}`,
    about: TOKEN,
    subjects: [TOKEN],
    facts: [{ chain: 'ethereum', address: TOKEN, code: CODE, creation: CREATION }],
    contradicts: {
      token_creator: [
        ...listOrNone(one.contradicts['deployer_record']).map((place) => `record.${place}`),
      ],
    },
  }),
);

/** Every world in which an address has launched tokens. */
export const DEPLOYER_PLANS: readonly Plan[] = [...OF_DEPLOYER, ...OF_TOKEN];
