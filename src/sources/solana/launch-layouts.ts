// Which instructions launch a token on Solana, and where in them stand its mint and its signer?
// pump.fun: `idl/pump.json` of pump-fun/pump-public-docs. Raydium and Meteora: the decoders of
// sevenlabs-hq/carbon, made from the programs' own IDLs. A discriminator of eight bytes is the
// beginning of SHA-256 of `global:NAME` (Anchor); Raydium's AMM v4 has a tag of one byte.

/** A program's instruction that launches a token. Places count from 0 in the instruction's list. */
export type LaunchLayout = {
  readonly program: string;
  /** The instruction as records name it. */
  readonly made_by: string;
  /** How its data begins, in hex. */
  readonly begins: string;
  /** Its data is no shorter than this, in bytes. */
  readonly bytesMin: number;
  /** Where the mint stands, or the mints of both sides of a pool. */
  readonly mints: readonly [number] | readonly [number, number];
  readonly signer: number;
  /** A pool can be made of any token, a launchpad makes the token itself. */
  readonly makes: 'token' | 'pool';
};

const PUMP = '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P';
const RAYDIUM_V4 = '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8';
const RAYDIUM_CPMM = 'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C';
const RAYDIUM_CLMM = 'CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK';
const RAYDIUM_LAUNCHLAB = 'LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj';
const METEORA_DLMM = 'LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo';
const METEORA_DAMM_V2 = 'cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG';
const METEORA_DBC = 'dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN';
const METEORA_POOLS = 'Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB';

type Rest = Pick<LaunchLayout, 'mints' | 'signer'>;

function anchor(makes: 'token' | 'pool', program: string, venue: string) {
  return (instruction: string, begins: string, { mints, signer }: Rest): LaunchLayout => {
    return {
      program,
      made_by: `${venue}.${instruction}`,
      begins,
      bytesMin: 8,
      mints,
      signer,
      makes,
    };
  };
}

const pump = anchor('token', PUMP, 'pump');
const cpmm = anchor('pool', RAYDIUM_CPMM, 'raydium_cpmm');
const clmm = anchor('pool', RAYDIUM_CLMM, 'raydium_clmm');
const launchlab = anchor('token', RAYDIUM_LAUNCHLAB, 'raydium_launchlab');
const dlmm = anchor('pool', METEORA_DLMM, 'meteora_dlmm');
const damm = anchor('pool', METEORA_DAMM_V2, 'meteora_damm_v2');
const dbc = anchor('token', METEORA_DBC, 'meteora_dbc');
const pools = anchor('pool', METEORA_POOLS, 'meteora_pools');

/** Every instruction that is read as a launch. */
export const LAUNCH_LAYOUTS: readonly LaunchLayout[] = [
  pump('create', '181ec828051c0777', { mints: [0], signer: 7 }),
  pump('create_v2', 'd6904cec5f8b31b4', { mints: [0], signer: 5 }),
  {
    program: RAYDIUM_V4,
    made_by: 'raydium_v4.initialize2',
    begins: '01',
    bytesMin: 26,
    mints: [8, 9],
    signer: 17,
    makes: 'pool',
  },
  cpmm('initialize', 'afaf6d1f0d989bed', { mints: [4, 5], signer: 0 }),
  cpmm('initialize_with_permission', '3f37fe4131b25979', { mints: [5, 6], signer: 0 }),
  clmm('create_pool', 'e992d18ecf6840bc', { mints: [3, 4], signer: 0 }),
  launchlab('initialize', 'afaf6d1f0d989bed', { mints: [6], signer: 0 }),
  launchlab('initialize_v2', '4399af27da102620', { mints: [6], signer: 0 }),
  launchlab('initialize_with_token_2022', '25be7ede2c9aab11', { mints: [6], signer: 0 }),
  dlmm('initialize_lb_pair', '2d9aedd2dd0fa65c', { mints: [2, 3], signer: 8 }),
  dlmm('initialize_lb_pair2', '493b2478ed536cc6', { mints: [2, 3], signer: 8 }),
  dlmm('initialize_customizable_permissionless_lb_pair', '2e2729876fb7c840', {
    mints: [2, 3],
    signer: 8,
  }),
  dlmm('initialize_customizable_permissionless_lb_pair2', 'f349817e3313f16b', {
    mints: [2, 3],
    signer: 8,
  }),
  damm('initialize_pool', '5fb40aac54aee828', { mints: [8, 9], signer: 3 }),
  damm('initialize_customizable_pool', '14a1f118bdddb402', { mints: [7, 8], signer: 3 }),
  damm('initialize_pool_with_dynamic_config', '955248c5fdfc440f', { mints: [9, 10], signer: 3 }),
  dbc('initialize_virtual_pool_with_spl_token', '8c55d7b06636684f', { mints: [3], signer: 10 }),
  dbc('initialize_virtual_pool_with_token2022', 'a976334e916edc9b', { mints: [3], signer: 8 }),
  pools('initialize_permissionless_pool', '76ad299dad486167', { mints: [2, 3], signer: 17 }),
  pools('initialize_permissionless_pool_with_fee_tier', '06874493e552a971', {
    mints: [2, 3],
    signer: 17,
  }),
  pools('initialize_permissionless_constant_product_pool_with_config', '07a68aabceabecf4', {
    mints: [3, 4],
    signer: 18,
  }),
  pools('initialize_permissionless_constant_product_pool_with_config2', '3095dc823d0b09b2', {
    mints: [3, 4],
    signer: 18,
  }),
  pools('initialize_customizable_permissionless_constant_product_pool', '9118acc2db7d03be', {
    mints: [2, 3],
    signer: 17,
  }),
];

/**
 * The accounts whose transactions are listed. One that stands in launches alone is far cheaper than
 * its program: pump.fun's mint authority, and the accounts that take Raydium's fee for a new pool.
 */
export const WATCHED_ACCOUNTS = [
  'TSLvdd1pWpHVjahSpsvCXUbgwsL3JAcvokwaKt1eokM',
  '7YttLkHDoNj9wyDur5pM1ejNaAvT9X4eqaYcHQqtj2G5',
  'DNXgeM9EiiaAbaWvwjHj9fQQLAX5ZsfHyvmYUNRAdNC8',
  RAYDIUM_LAUNCHLAB,
  METEORA_DBC,
  METEORA_DAMM_V2,
  METEORA_DLMM,
  METEORA_POOLS,
  RAYDIUM_CLMM,
] as const;

/** What pools are priced in: wrapped SOL, USDC, USDT and USD1. */
export const QUOTE_MINTS: ReadonlySet<string> = new Set([
  'So11111111111111111111111111111111111111112',
  'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
  'USD1ttGY1N17NEEHLmELoaybftRBUSErhqYiQzvEmuB',
]);
