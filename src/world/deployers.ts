// Deployers of tokens on the simulated Ethereum, one for each state of a record. The explorer, the
// node and the venue agree about their contracts.

import { createHash } from 'node:crypto';
import type { ExplorerRow } from './chain-types.ts';
import { type EvmLaunch, evmLaunchAt, evmLaunchPools } from './evm-launches.ts';
import { WORLD_SEED } from './listed-parties.ts';
import { inventAddress } from './made-up-address.ts';
import type { WorldPool } from './venue-api.ts';

function makeUp(name: string): string {
  return inventAddress(WORLD_SEED, 'evm', name);
}

/** The deployers that the documentation names. */
export const SANDBOX_DEPLOYERS = {
  /** Every listed launch has died. */
  allDied: makeUp('sandbox deployer all died'),
  /** One launch lives, one that its factory made has died; the rest are no tokens. */
  mixed: makeUp('sandbox deployer mixed'),
  /** Launched tokens that no venue lists. */
  unlisted: makeUp('sandbox deployer unlisted'),
  /** Made no contract. */
  none: makeUp('sandbox deployer none'),
  /** Made a token, and nobody has walked it yet. */
  unwalked: makeUp('sandbox deployer unwalked'),
} as const;

type WorldContract = {
  readonly address: string;
  readonly maker: string;
  readonly factory: string | null;
  readonly kind: 'erc20' | 'nft' | 'code' | 'reverted';
  readonly pools: readonly WorldPool[];
  /** How many transfers of it there are, where it is a token. */
  readonly transfers: number;
};

type Facts = Partial<Pick<WorldContract, 'factory' | 'kind' | 'pools' | 'transfers'>>;

function contract(name: string, maker: string, facts: Facts = {}): WorldContract {
  const bare = { factory: null, kind: 'erc20', pools: [], transfers: 3 } as const;
  return { address: makeUp(name), maker, ...bare, ...facts };
}

function pool(liquidityUsd: number, volumeUsd24h: number): WorldPool[] {
  return [{ side: 'base', liquidityUsd, volumeUsd24h }];
}

const { allDied, mixed, unlisted, unwalked } = SANDBOX_DEPLOYERS;
const FACTORY = makeUp('sandbox factory');

/** Every contract that a deployer of the sandbox made, oldest first. */
export const WORLD_CONTRACTS: readonly WorldContract[] = [
  contract('sandbox rug 1', allDied, { pools: pool(12.5, 0) }),
  contract('sandbox rug 2', allDied, { pools: pool(0, 0), transfers: 40 }),
  contract('sandbox rug 3', allDied, { pools: pool(310.4, 25), transfers: 12 }),
  contract('sandbox survivor', mixed, { pools: pool(250_000, 18_500.25), transfers: 60 }),
  contract('sandbox router', mixed, { kind: 'code' }),
  contract('sandbox nft', mixed, { kind: 'nft' }),
  contract('sandbox reverted', mixed, { kind: 'reverted' }),
  { ...contract('sandbox factory', mixed, { kind: 'code' }), address: FACTORY },
  contract('sandbox factory rug', mixed, { factory: FACTORY, pools: pool(4, 0) }),
  contract('sandbox unlisted 1', unlisted),
  contract('sandbox unlisted 2', unlisted, { transfers: 0 }),
  contract('sandbox unwalked token', unwalked, { pools: pool(9_000, 100) }),
];

const BY_ADDRESS = new Map(WORLD_CONTRACTS.map((one) => [one.address, one]));

/** The pools of a token at the simulated venue at a time. */
export function worldPoolsOf(chain: string, token: string, now: number): readonly WorldPool[] {
  if (chain !== 'ethereum') return [];
  const launch = evmLaunchAt(token);
  if (launch !== undefined) return evmLaunchPools(launch, now);
  const found = BY_ADDRESS.get(token);
  return found === undefined ? [] : found.pools;
}

const CODE = `0x60806040${'5b'.repeat(40)}`;
const WORD_CHARS = 64;

/** The code of a contract of a deployer; `null` for any other address. */
export function deployedCode(address: string): string | null {
  if (evmLaunchAt(address.toLowerCase()) !== undefined) return CODE;
  const found = BY_ADDRESS.get(address.toLowerCase());
  return found === undefined || found.kind === 'reverted' ? null : CODE;
}

const TOKEN_ANSWERS: readonly (readonly [selector: string, value: bigint])[] = [
  ['0x18160ddd', 10n ** 24n],
  ['0x313ce567', 18n],
  ['0x70a08231', 0n],
];

/** The answer of such a contract to a call; `null` for a refused call. */
export function deployedAnswer(address: string, data: string): string | null {
  const found = BY_ADDRESS.get(address.toLowerCase());
  const isToken = found?.kind === 'erc20' || evmLaunchAt(address.toLowerCase()) !== undefined;
  const said = TOKEN_ANSWERS.find(([selector]) => data.toLowerCase().startsWith(selector));
  if (!isToken || said === undefined) return null;
  return `0x${said[1].toString(16).padStart(WORD_CHARS, '0')}`;
}

type Draft = Omit<ExplorerRow, 'block'>;

function txOf(name: string): string {
  return `0x${createHash('sha256').update(`${WORLD_SEED}\ndeployers\n${name}`).digest('hex')}`;
}

/** The chain's rows of making these contracts, and moving their tokens. */
export function deployerRows(beginAt: number): Draft[] {
  return WORLD_CONTRACTS.flatMap((one, n) => {
    const { address, maker, factory, kind } = one;
    const at = beginAt + n * STEP_S;
    const tx = txOf(`creation ${n}`);
    const facts = { tx, at, value: 0n, token: null, success: kind !== 'reverted' } as const;
    const signed = { ...facts, kind: 'native', from: maker } as const;
    const creation: Draft[] =
      factory === null
        ? [{ ...signed, to: address, created: address }]
        : [
            { ...signed, to: factory },
            { ...facts, kind: 'internal', from: factory, to: address, created: address },
          ];
    const token = { address, symbol: `RUG${n}`, decimals: 18 };
    const moved = Array.from({ length: kind === 'erc20' ? one.transfers : 0 }, (_, i): Draft => {
      const to = makeUp(`sandbox holder ${n} ${i}`);
      const given = { kind: 'token', tx: txOf(`moved ${n} ${i}`), at: at + 1, token } as const;
      return { ...given, from: maker, to, value: 10n ** 18n, success: true };
    });
    return [...creation, ...moved];
  });
}

const STEP_S = 3_600;
/** The router of Uniswap V2 on Ethereum, through which liquidity is put in. */
const WORLD_ROUTER = '0x7a250d5630b4cf539739df2c5dacb4c659f2488d';

/** The chain's rows of a scheduled launch, and of the first transfer of its token. */
export function launchRows({ n, at, address, maker, tx, ...launch }: EvmLaunch): Draft[] {
  const token = { address, symbol: `NEW${n % 1_000}`, decimals: 18 };
  const to = makeUp(`holder of launch ${n}`);
  const facts = { at, success: true, from: maker } as const;
  return [
    { ...facts, kind: 'native', tx, to: address, value: 0n, token: null, created: address },
    {
      ...facts,
      kind: 'native',
      tx: launch.poolTx,
      to: WORLD_ROUTER,
      value: launch.poolWei,
      token: null,
    },
    { ...facts, kind: 'token', tx: txOf(`launch moved ${n}`), to, value: 10n ** 18n, token },
  ];
}

/** The signer and the callee of a creation's transaction; `null` for any other. */
export function signedCreation(tx: string): { from: string; to: string | null } | null {
  const one = WORLD_CONTRACTS.find((_, n) => txOf(`creation ${n}`) === tx);
  return one === undefined ? null : { from: one.maker, to: one.factory };
}

/** The explorer's creators of these contracts, in the form of `getcontractcreation`. */
export function deployedCreations(contracts: readonly string[]) {
  const launched = contracts.flatMap((contractAddress) => {
    const launch = evmLaunchAt(contractAddress);
    if (launch === undefined) return [];
    const { maker, tx } = launch;
    return [{ contractAddress, contractCreator: maker, contractFactory: '', txHash: tx }];
  });
  const sandbox = WORLD_CONTRACTS.flatMap((one, n) => {
    const told = contracts.includes(one.address) && one.kind !== 'reverted';
    if (!told) return [];
    const contractFactory = one.factory === null ? '' : one.factory;
    const txHash = txOf(`creation ${n}`);
    return [{ contractAddress: one.address, contractCreator: one.maker, contractFactory, txHash }];
  });
  return [...sandbox, ...launched];
}
