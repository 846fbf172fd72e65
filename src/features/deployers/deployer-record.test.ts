import { describe, expect, test } from 'vitest';
import { Refusal } from '../../contract/refusals.ts';
import { envelopeSchema, NOBODY } from '../../contract/route.ts';

import { unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { CommittedRecord } from '../../ports/deployers.ts';
import { evm } from '../../testing/addresses.ts';
import { STILL_NOW, stillClock } from '../../testing/clock.ts';
import { launchOf, walkOf } from '../../testing/deployer-worlds.ts';
import { memoryDeployerRecords } from '../../testing/twins/deployers.ts';
import {
  type DeployerPorts,
  deployerRecord,
  deployerRecordHandler,
} from './deployer-record.route.tsx';

const DEPLOYER = evm('deployer');
const FACTORY = evm('factory');
const CAPTURED = STILL_NOW - 3_600;

async function asked(
  deployerRecords: DeployerPorts['deployerRecords'],
  params: { chain?: string; address?: string } = {},
) {
  const input = {
    params: { chain: 'ethereum', address: DEPLOYER, ...params },
    query: {},
    body: undefined,
  };
  const asked = { now: stillClock(), signal: new AbortController().signal };
  const answer = await deployerRecordHandler({ deployerRecords })(input, asked, NOBODY);
  if (answer instanceof Refusal) return answer;
  const envelope = answer.envelope(STILL_NOW);
  envelopeSchema(deployerRecord).parse(envelope);
  return envelope;
}

function holding(...records: CommittedRecord[]): DeployerPorts['deployerRecords'] {
  return memoryDeployerRecords({ records, simulated: false, as_of: CAPTURED });
}

const SOURCE = { name: 'Deployer walk', url: 'memory:', as_of: CAPTURED };

const LAUNCHED = { created_at: STILL_NOW - 172_800, observed_age_days: 1.96 };
const SEEN = { transfers_observed: 3, transfers_truncated: false, via: null };
const MIXED = {
  state: 'ok',
  subject: DEPLOYER,
  sources: [SOURCE],
  as_of: CAPTURED,
  simulated: false,
  data: {
    address: DEPLOYER,
    chain: 'ethereum',
    state: 'mixed',
    calibrated: false,
    listed_launches: 2,
    died: 1,
    survived: 1,
    never_listed: 1,
    death_rate: 0.5,
    launches: [
      {
        address: evm('live'),
        outcome: 'live',
        ...LAUNCHED,
        liquidity_usd: 5_000,
        volume_usd_24h: 12.5,
        ...SEEN,
      },
      {
        address: evm('dead'),
        outcome: 'died',
        ...LAUNCHED,
        liquidity_usd: 10,
        volume_usd_24h: null,
        ...SEEN,
        transfers_truncated: true,
        via: `factory:${FACTORY}`,
      },
      {
        address: evm('unlisted'),
        outcome: 'never_listed',
        ...LAUNCHED,
        liquidity_usd: null,
        volume_usd_24h: null,
        ...SEEN,
        transfers_observed: 0,
      },
      {
        address: evm('unchecked'),
        outcome: 'unchecked',
        ...LAUNCHED,
        liquidity_usd: null,
        volume_usd_24h: null,
        transfers_observed: null,
        transfers_truncated: null,
        via: null,
      },
    ],
    finding:
      'At least 1 of 2 listed launches now below 1,000 USD of pooled liquidity; 1 still above ' +
      'it. 1 further launch never listed: in no rate. 1 launch could not be checked: ' +
      'in no rate, and no death. 1 contract could not be determined, which is not a ' +
      'finding. Not everything was read: counts are a floor, not a total. It was captured 60 ' +
      'minutes ago.',
    coverage: {
      captured_at: CAPTURED,
      direct_creations: 5,
      factories_walked: 1,
      factory_depth: 1,
      truncated: true,
      truncated_factories: [FACTORY],
      contracts_examined: 8,
      skipped: [
        { address: FACTORY, reason: 'not_an_erc20' },
        { address: evm('mismatch'), reason: 'attribution_mismatch' },
        { address: evm('reverted'), reason: 'reverted_creation' },
        { address: evm('undetermined'), reason: 'undetermined' },
      ],
      unchecked: 1,
      providers: ['Explorer https://explorer.example', 'Node https://node.example'],
    },
    caveat:
      'What was observed when it was captured, not a rating: nothing here is scored, and a ' +
      'record without a death is no clearance. Attributed are contracts that the address ' +
      'made itself and those of one level of factories that it made; launches through a ' +
      'public launchpad are not. Liquidity is what the venue reports over the pools of a ' +
      'token, which can be inflated.',
  },
};

describe('says', () => {
  test('a mixed record, with each launch and everything that was skipped', async () => {
    const walk = walkOf(DEPLOYER, {
      launches: [
        launchOf('live', 'live', { liquidity_usd: 5_000, volume_usd_24h: 12.5 }),
        launchOf('dead', 'died', { factory: FACTORY, transfers_truncated: true }),
        launchOf('unlisted', 'never_listed', { transfers_observed: 0 }),
        launchOf('unchecked', 'unchecked', {
          transfers_observed: null,
          transfers_truncated: null,
        }),
      ],
      skipped: [
        { address: FACTORY, reason: 'not_an_erc20' },
        { address: evm('mismatch'), reason: 'attribution_mismatch' },
        { address: evm('reverted'), reason: 'reverted_creation' },
        { address: evm('undetermined'), reason: 'undetermined' },
      ],
      direct_creations: 5,
      factories_walked: 1,
      truncated: true,
      truncated_factories: [FACTORY],
      providers: ['Explorer https://explorer.example', 'Node https://node.example'],
    });
    expect(await asked(holding({ ...walk, failed: null }))).toEqual(MIXED);
  });

  test.each([
    ['all_died', 'died', 1, 1],
    ['no_listed_launch', 'never_listed', 0, null],
    ['unchecked', 'unchecked', 0, null],
  ] as const)('%s', async (state, outcome, died, death_rate) => {
    const walk = walkOf(DEPLOYER, { launches: [launchOf('a', outcome)], direct_creations: 1 });
    expect(await asked(holding({ ...walk, failed: null }))).toMatchObject({
      state: 'ok',
      data: { state, died, death_rate, survived: 0, listed_launches: died },
    });
  });

  test('no_record where the walk attributes nothing, and why', async () => {
    expect(await asked(holding())).toEqual({
      state: 'insufficient_evidence',
      subject: DEPLOYER,
      sources: [SOURCE],
      as_of: CAPTURED,
      simulated: false,
      data: null,
      reason:
        'no_record: the walk of 2026-09-24T11:00:00.000Z attributes no token launch to this ' +
        'address. No creation by it was met.',
    });
    const walk = walkOf(DEPLOYER, {
      skipped: [
        { address: evm('a'), reason: 'attribution_mismatch' },
        { address: evm('b'), reason: 'reverted_creation' },
      ],
    });
    expect(await asked(holding({ ...walk, failed: null }))).toMatchObject({
      state: 'insufficient_evidence',
      data: null,
      reason:
        'no_record: the walk of 2026-09-24T11:00:00.000Z attributes no token launch to this ' +
        'address. Skipped: 1 attribution_mismatch, 1 reverted_creation.',
    });
  });

  test('an address in any letter case is that address', async () => {
    const walk = walkOf(DEPLOYER, { launches: [launchOf('a', 'live')], direct_creations: 1 });
    const upper = `0x${DEPLOYER.slice(2).toUpperCase()}`;
    const answer = await asked(holding({ ...walk, failed: null }), { address: upper });
    expect(answer).toMatchObject({ state: 'ok', subject: DEPLOYER });
  });
});

describe('is silent', () => {
  const never = why('deployer_not_walked', { queued: 'It is queued to be walked.' });

  test('not_deployed where the address was never walked, with that reason', async () => {
    const silent = { recordOf: async () => unread('deployer_records' as const, never) };
    expect(await asked(silent)).toEqual({
      state: 'not_deployed',
      subject: DEPLOYER,
      sources: [],
      as_of: STILL_NOW,
      simulated: false,
      data: null,
      reason:
        'The launches of this address were never walked to their end. It is queued to be walked.',
    });
  });

  test.each([
    ['base', 'the free plan of its explorer answers no contract and transaction lists'],
    ['arbitrum', 'what runs before and after a transaction shows in no trace or receipt'],
    ['solana', 'its launches have no creating account; they are read from a corpus by signer'],
    ['dogechain', 'no source of its contract creations has been reviewed'],
  ])('not_supported on %s, where nothing was asked', async (chain, refusal) => {
    const never: DeployerPorts['deployerRecords'] = {
      recordOf: async () => {
        throw new Error('asked');
      },
    };
    const address = chain === 'base' ? `0x${DEPLOYER.slice(2).toUpperCase()}` : DEPLOYER;
    expect(await asked(never, { chain, address })).toEqual({
      state: 'not_supported',
      subject: DEPLOYER,
      sources: [],
      as_of: STILL_NOW,
      simulated: false,
      data: null,
      reason: `No deployers of ${chain}: ${refusal}; nothing was checked, and so nothing was found.`,
    });
  });
});

describe('refuses', () => {
  test.each([['0x12'], ['FWZedVtyKQtP4CXhT7XDnLidRADrJknmZGA2qNjpTPg8']])(
    'what is no Ethereum address: %s',
    async (address) => {
      expect(await asked(holding(), { address })).toBeInstanceOf(Refusal);
    },
  );
});
