import { describe, expect, test } from 'vitest';
import { Refusal } from '../../contract/refusals.ts';
import { envelopeSchema, NOBODY } from '../../contract/route.ts';
import { unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { launchOf as launchedOnSolana } from '../../ports/launches.suite.ts';
import { addressNamed, evm } from '../../testing/addresses.ts';
import { STILL_NOW, stillClock } from '../../testing/clock.ts';
import { launchOf, walkOf } from '../../testing/deployer-worlds.ts';
import { memoryChainFacts } from '../../testing/twins/accounts.ts';
import { memoryDeployerRecords, memoryWalletLaunches } from '../../testing/twins/deployers.ts';
import { recordFields } from './record.ts';
import { type CreatorPorts, tokenCreator, tokenCreatorHandler } from './token.route.tsx';

const [TOKEN, DEPLOYER, FACTORY] = [evm('token'), evm('deployer'), evm('factory')] as const;
const [MINT, WALLET] = [addressNamed('solana', 'mint'), addressNamed('solana', 'wallet')] as const;
const [FRESH, NEWCOMER] = [
  addressNamed('solana', 'fresh mint'),
  addressNamed('solana', 'newcomer'),
] as const;
const SIGNATURE = addressNamed('solana', 'signature');
const TX = `0x${'1'.repeat(64)}`;
const DATED = { as_of: STILL_NOW - 60, simulated: false };
const WALK = walkOf(DEPLOYER, { launches: [launchOf('a', 'died')], direct_creations: 1 });

function ports(over: Partial<CreatorPorts> = {}): CreatorPorts {
  const creation = { creator: DEPLOYER, relay: null, factory: FACTORY, tx: TX, block: 7 };
  const code = { size: 10, delegates_to: null, minimal_proxy_of: null };
  const fact = { address: TOKEN, code, creation };
  return {
    chainFacts: memoryChainFacts({
      ...DATED,
      chains: ['ethereum', 'base'],
      facts: [
        { chain: 'ethereum', ...fact },
        { chain: 'base', ...fact },
      ],
    }),
    deployerRecords: memoryDeployerRecords({ ...DATED, records: [{ ...WALK, failed: null }] }),
    walletLaunches: memoryWalletLaunches({
      ...DATED,
      launches: [launchedOnSolana(MINT, WALLET, false), launchedOnSolana(FRESH, NEWCOMER, null)],
      signatures: new Map([[FRESH, SIGNATURE]]),
    }),
    ...over,
  };
}

async function asked(
  address: string,
  chain?: 'ethereum' | 'base' | 'polygon' | 'solana',
  over?: Partial<CreatorPorts>,
) {
  const input = {
    params: { address },
    query: chain === undefined ? {} : { chain },
    body: undefined,
  };
  const asked = { now: stillClock(), signal: new AbortController().signal };
  const answer = await tokenCreatorHandler(ports(over))(input, asked, NOBODY);
  if (answer instanceof Refusal) return answer;
  const envelope = answer.envelope(STILL_NOW);
  envelopeSchema(tokenCreator).parse(envelope);
  return envelope;
}

const CAVEAT =
  'The creator is whom the chain credits with the contract, or the wallet that launched the mint; ' +
  'who controls it today may be another. A creator without a record has not been cleared.';
const NODE = { name: 'Chain state in memory', url: 'memory:', as_of: STILL_NOW - 60 };
const MADE = {
  address: TOKEN,
  chain: 'ethereum',
  creator: DEPLOYER,
  factory: FACTORY,
  creation_tx: TX,
  creation_block: 7,
  code_size: 10,
  launches: null,
  corpus_checked: false,
  caveat: CAVEAT,
};

describe('says', () => {
  test('who made a token of Ethereum, with their record', async () => {
    expect(await asked(TOKEN)).toEqual({
      state: 'ok',
      subject: TOKEN,
      sources: [NODE, { name: 'Deployer walk', url: 'memory:', as_of: WALK.captured_at }],
      as_of: WALK.captured_at,
      simulated: false,
      data: {
        ...MADE,
        record: recordFields({ ...WALK, failed: null }, STILL_NOW),
        record_checked: true,
        reason: null,
      },
    });
  });

  test('who made it, beside the reason why no record is held', async () => {
    const never = why('deployer_not_walked', { queued: 'It is queued to be walked.' });
    const deployerRecords = { recordOf: async () => unread('deployer_records' as const, never) };
    expect(await asked(TOKEN, 'ethereum', { deployerRecords })).toMatchObject({
      state: 'ok',
      sources: [NODE],
      data: { ...MADE, record: null, record_checked: false, reason: never.reason },
    });
  });

  test('who made a token of another chain, whose deployers are not walked', async () => {
    expect(await asked(TOKEN, 'base')).toMatchObject({
      state: 'ok',
      data: {
        creator: DEPLOYER,
        chain: 'base',
        record: null,
        record_checked: false,
        reason: expect.stringContaining('No deployers of base'),
      },
    });
  });

  test('which wallet launched a mint, and what became of its settled launches', async () => {
    expect(await asked(MINT)).toEqual({
      state: 'ok',
      subject: MINT,
      sources: [{ name: 'Solana launch corpus', url: 'memory:', as_of: STILL_NOW - 60 }],
      as_of: STILL_NOW,
      simulated: false,
      data: {
        address: MINT,
        chain: 'solana',
        creator: WALLET,
        factory: null,
        creation_tx: null,
        creation_block: null,
        code_size: null,
        record: null,
        launches: { answer: 'flagged', launches_settled: 1, died: 1 },
        record_checked: false,
        corpus_checked: true,
        reason: null,
        caveat: CAVEAT,
      },
    });
  });

  test('who launched a mint that has not settled, and that nothing of theirs has', async () => {
    expect(await asked(FRESH)).toMatchObject({
      state: 'ok',
      data: {
        creator: NEWCOMER,
        creation_tx: SIGNATURE,
        launches: null,
        corpus_checked: true,
        reason: 'None of the launches of this creator has settled; 1 wait to be.',
      },
    });
  });

  test('insufficient_evidence of an account without code, and of a mint that is not held', async () => {
    expect(await asked(evm('nobody'))).toMatchObject({
      state: 'insufficient_evidence',
      data: null,
      reason: 'An account without code was made by nobody, has no source and hands out no powers.',
    });
    expect(await asked(addressNamed('solana', 'another'))).toMatchObject({
      state: 'insufficient_evidence',
      data: null,
      reason: 'Not among the launches on record, of which 1 have settled.',
    });
  });
});

describe('is silent', () => {
  test('not_deployed where no chain can be asked, and while no launch corpus is there', async () => {
    expect(await asked(TOKEN, 'polygon')).toMatchObject({ state: 'not_deployed', data: null });
    const walletLaunches = memoryWalletLaunches({ ...DATED, launches: null });
    expect(await asked(MINT, 'solana', { walletLaunches })).toEqual({
      state: 'not_deployed',
      subject: MINT,
      sources: [],
      as_of: STILL_NOW,
      simulated: false,
      data: null,
      reason:
        'No import of the Solana launch corpus has completed on this deployment; nothing was checked.',
    });
  });
});

describe('refuses', () => {
  test.each([
    [TOKEN, 'solana'],
    [MINT, 'ethereum'],
    ['0x12', undefined],
  ] as const)('an address of another chain or of none: %s on %s', async (address, chain) => {
    expect(await asked(address, chain)).toBeInstanceOf(Refusal);
  });
});
