// Who is answered as the creator of a token, over explorers that name its factory too, through
// bundlers and relayers, and of a contract whose signer may be one of them?

import { describe, expect, test } from 'vitest';
import { Refusal } from './contract/refusals.ts';
import { envelopeSchema, NOBODY } from './contract/route.ts';
import { weaken } from './evidence/reading.ts';
import { why } from './evidence/reasons.ts';
import {
  type CreatorPorts,
  tokenCreator,
  tokenCreatorHandler,
} from './features/deployers/token.route.tsx';
import type { ChainFacts } from './ports/accounts.ts';
import { explorerFacts } from './sources/explorer/account-facts.ts';
import { explorerCreations } from './sources/explorer/deployer-creations.ts';
import { relaysFile } from './sources/registry/registry-files.ts';
import { cascadedFacts } from './stores/history/live-facts.ts';
import { evm } from './testing/addresses.ts';
import { STILL_NOW, stillClock } from './testing/clock.ts';
import {
  type ExplorerDialect as Dialect,
  startCreationExplorer as explorerOf,
  FACTORY,
  type CreationRow as Row,
  CREATOR as SIGNER,
  type SignedCreation as Signed,
  TOKEN,
  CREATION_TX as TX,
} from './testing/creation-explorer.ts';
import { launchOf, walkOf } from './testing/deployer-worlds.ts';
import { memoryChainFacts } from './testing/twins/accounts.ts';
import { memoryDeployerRecords, memoryWalletLaunches } from './testing/twins/deployers.ts';

const OTHER = evm('other');
const ENTRY_POINT = '0x0000000071727De22E5E9d8BAf0edAc6f37da032';
const FORWARDER = '0xd8253782c45a12053594b9deB72d8e8aB2Fca54c';
const DATED = { as_of: STILL_NOW - 60, simulated: false };
const SIGNAL = new AbortController().signal;
const relays = relaysFile(new URL('../registry/relays.csv', import.meta.url));

const HOW = { now: () => STILL_NOW, timeMs: 5_000, callsMax: 20, simulated: false };

async function creatorBy(chainFacts: ChainFacts) {
  const walk = walkOf(SIGNER, { launches: [launchOf('a', 'died')], direct_creations: 1 });
  const ports: CreatorPorts = {
    chainFacts,
    deployerRecords: memoryDeployerRecords({ ...DATED, records: [{ ...walk, failed: null }] }),
    walletLaunches: memoryWalletLaunches({ ...DATED, launches: [], signatures: new Map() }),
  };
  const asked = { now: stillClock(), signal: SIGNAL };
  const input = { params: { address: TOKEN }, query: {}, body: undefined };
  const answer = await tokenCreatorHandler(ports)(input, asked, NOBODY);
  if (answer instanceof Refusal) throw new Error('refused');
  const envelope = answer.envelope(STILL_NOW);
  envelopeSchema(tokenCreator).parse(envelope);
  return envelope;
}

async function creatorOver(dialect: Dialect, row: Row, signed: Signed) {
  const at = await explorerOf(dialect, row, signed);
  return creatorBy(explorerFacts({ chains: [at], relays, ...HOW }));
}

describe.each(['Etherscan', 'Blockscout'] as const)('over %s', (dialect) => {
  test.each([
    ['as the factory, which it names once', { contractCreator: FACTORY }],
    ['as the factory, which it names twice', named(FACTORY, FACTORY)],
    ['beside the factory', named(SIGNER, FACTORY)],
  ])('a creator that is told %s is who signed', async (_, row) => {
    const said = await creatorOver(dialect, row, { to: FACTORY });
    expect(said).toMatchObject({
      state: 'ok',
      data: { creator: SIGNER, factory: FACTORY, creation_tx: TX, record_checked: true },
    });
  });

  test('who made it without a factory has signed it', async () => {
    const said = await creatorOver(dialect, named(SIGNER, ''), { to: null });
    expect(said).toMatchObject({ data: { creator: SIGNER, factory: null } });
  });

  test.each([
    ['an entry point', { to: ENTRY_POINT }, 'ERC-4337 EntryPoint v0.7'],
    ['a bundler’s own contract', { to: OTHER, logs: [ENTRY_POINT] }, 'ERC-4337 EntryPoint v0.7'],
    ['a relayer’s forwarder', { to: FORWARDER }, 'Gelato Relay 1Balance ERC-2771'],
    [
      'an account that delegates',
      { to: FACTORY, delegated: FACTORY },
      'an account that delegates (EIP-7702)',
    ],
    [
      'an account that delegates and calls a factory',
      { to: OTHER, delegated: OTHER },
      'an account that delegates (EIP-7702)',
    ],
    [
      'an account that delegates and is called by a contract',
      { to: OTHER, delegated: FACTORY },
      'an account that delegates (EIP-7702)',
    ],
  ])('what was signed by way of %s is nobody’s, with the reason', async (_, signed, relay) => {
    const said = await creatorOver(dialect, named(SIGNER, FACTORY), signed);
    expect(said).toMatchObject({
      state: 'insufficient_evidence',
      data: null,
      reason: `It was made by way of ${relay} (${TX}): who signed that did so for somebody else.`,
    });
    const at = await explorerOf(dialect, named(SIGNER, FACTORY), signed);
    const makers = await explorerCreations({ at, ...HOW }, relays).makersOf([TOKEN], SIGNAL);
    expect(makers).toMatchObject({ value: new Map([[TOKEN, { signer: null }]]) });
  });

  test('who signs for an account of their own that delegates has signed', async () => {
    const own = { to: SIGNER, delegated: SIGNER };
    const said = await creatorOver(dialect, named(SIGNER, FACTORY), own);
    expect(said).toMatchObject({ state: 'ok', data: { creator: SIGNER } });
  });

  test('a transaction that is not told leaves it open who signed', async () => {
    const said = await creatorOver(dialect, named(FACTORY, FACTORY), null);
    expect(said).toMatchObject({ state: 'not_deployed', data: null });
  });
});

function named(contractCreator: string, contractFactory: string): Row {
  return { contractCreator, contractFactory };
}

describe('by blocks that are held alone', () => {
  const creation = { creator: SIGNER, relay: null, factory: FACTORY, tx: TX, block: 7 };
  const code = { size: 10, delegates_to: null, minimal_proxy_of: null };
  const facts = [{ chain: 'ethereum' as const, address: TOKEN, code, creation }];
  const memory = memoryChainFacts({ ...DATED, chains: ['ethereum'], facts });
  const held: ChainFacts = {
    ...memory,
    of: async (...asked) => {
      const told = await memory.of(...asked);
      return { ...told, creation: weaken(told.creation, why('creation_relay_unread')) };
    },
  };

  test('who signed is said with what was not read: whether it was for somebody else', async () => {
    expect(await creatorBy(held)).toMatchObject({
      data: {
        creator: SIGNER,
        reason: 'Whether the signer of its creation signed for somebody else was not read.',
      },
    });
  });

  test('an explorer that is set is asked for it', async () => {
    const at = await explorerOf('Etherscan', named(SIGNER, FACTORY), { to: ENTRY_POINT });
    const both = cascadedFacts([held, explorerFacts({ chains: [at], relays, ...HOW })]);
    expect(await creatorBy(both)).toMatchObject({ state: 'insufficient_evidence' });
  });
});
