// Which addresses belong to a chain itself, or to nobody? A table of facts, one row one source.
// It refuses to list contracts that people use as counterparties, however large they are
// (Ethereum's staking deposit contract is an ordinary hub): only what a chain puts there by its
// own rules, and burn addresses nobody holds a key to.

/** Single addresses: EVM ones in lower case, the others in the case of their chain. */
export const SYSTEM_ADDRESSES: ReadonlySet<string> = new Set([
  // Burn addresses: nobody can have made a key for such digits. 0x…dead lies in the low range.
  '0xdead000000000000000042069420694206942069', // the SHIB burn of May 2021
  '0xdeaddeaddeaddeaddeaddeaddeaddeaddeaddead', // a hex word, repeated
  '1111111111111111111114oLvT2', // the P2PKH form of 20 zero bytes
  '1BitcoinEaterAddressDontSendf59kuE', // en.bitcoin.it/wiki/Proof_of_burn
  // No account, but written where one is expected: the placeholder of a chain's own coin.
  '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee', // ERC-7528

  // Ethereum, and every chain that follows its rules.
  '0xfffffffffffffffffffffffffffffffffffffffe', // EIP-4788, EIP-2935 SYSTEM_ADDRESS; also Bor's
  '0x000f3df6d732807ef1319fb7b8bb8522d0beac02', // EIP-4788 BEACON_ROOTS_ADDRESS
  '0x0000f90827f1c53a10cb7a02335b175320002935', // EIP-2935 HISTORY_STORAGE_ADDRESS
  '0x00000961ef480eb55e80d19ad83579a64c007002', // EIP-7002 WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS
  '0x0000bbddc7ce488642fb579f8b00f3a590007251', // EIP-7251 CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS

  // Arbitrum. Precompiles 0x64 to 0x73, 0xc8, 0xc9 and 0xff lie in the low range.
  '0x00000000000000000000000000000000000a4b05', // OffchainLabs/go-ethereum ArbosAddress
  '0xa4b05fffffffffffffffffffffffffffffffffff', // OffchainLabs/go-ethereum ArbosStateAddress
  '0xa4b000000000000000000073657175656e636572', // OffchainLabs/nitro BatchPosterAddress

  // OP stack (Base). Its predeploys are a range below.
  '0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001', // specs.optimism.io deposits: L1 attributes
  '0xdeaddeaddeaddeaddeaddeaddeaddeaddead0000', // specs.optimism.io predeploys: LegacyERC20ETH

  // HyperEVM. Read precompiles from 0x800 lie in the low range.
  '0x2222222222222222222222222222222222222222', // hyperliquid docs, "HyperCore <> HyperEVM"
  '0x3333333333333333333333333333333333333333', // hyperliquid docs, CoreWriter

  // Tron.
  'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb', // tronprotocol/java-tron: 0x41 and 20 zero bytes
  'TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy', // tronprotocol/java-tron config.conf: Blackhole

  // Solana: programs and accounts of the runtime, anza-xyz/solana-sdk sdk-ids/src/lib.rs.
  '11111111111111111111111111111111', // system program
  '1nc1nerator11111111111111111111111111111111',
  'AddressLookupTab1e1111111111111111111111111',
  'BPFLoader1111111111111111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'ComputeBudget111111111111111111111111111111',
  'Config1111111111111111111111111111111111111',
  'Ed25519SigVerify111111111111111111111111111',
  'Feature111111111111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'LoaderV411111111111111111111111111111111111',
  'NativeLoader1111111111111111111111111111111',
  'Secp256r1SigVerify1111111111111111111111111',
  'Stake11111111111111111111111111111111111111',
  'StakeConfig11111111111111111111111111111111',
  'Sysvar1111111111111111111111111111111111111', // owner of the sysvars
  'Sysvar1nstructions1111111111111111111111111',
  'SysvarC1ock11111111111111111111111111111111',
  'SysvarEpochRewards1111111111111111111111111',
  'SysvarEpochSchedu1e111111111111111111111111',
  'SysvarFees111111111111111111111111111111111',
  'SysvarLastRestartS1ot1111111111111111111111',
  'SysvarRecentB1ockHashes11111111111111111111',
  'SysvarRent111111111111111111111111111111111',
  'SysvarRewards111111111111111111111111111111',
  'SysvarS1otHashes111111111111111111111111111',
  'SysvarS1otHistory11111111111111111111111111',
  'SysvarStakeHistory1111111111111111111111111',
  'Vote111111111111111111111111111111111111111',
  'ZkE1Gama1Proof11111111111111111111111111111',
  'ZkTokenProof1111111111111111111111111111111',
  // Solana: the shared token programs, solana-program/token, token-2022,
  // associated-token-account and memo.
  'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
]);

/** EVM ranges: a prefix in lower case, and what follows it up to 40 hex characters is any. */
export const SYSTEM_PREFIXES: readonly string[] = [
  // 0x0…0000 to 0x0…ffff: the null address, precompiles of every chain (EIP-1352), 0x…dead,
  // BSC's system contracts 0x1000 to 0x3000 (bnb-chain/bsc systemcontracts), Polygon's validator
  // and state contracts 0x1000, 0x1001 and coin 0x1010 (maticnetwork/genesis-contracts).
  `0x${'0'.repeat(36)}`,
  // specs.optimism.io predeploys: 0x4200…0000 to 0x4200…ffff.
  `0x42${'0'.repeat(34)}`,
  // ethereum-optimism/optimism predeploys.go: the code behind them, 0xc0d3…0000 to 0xc0d3…ffff.
  `0x${'c0d3'.repeat(9)}`,
  // hyperliquid docs, "HyperCore <> HyperEVM": 0x20, zeros and a token index of 64 bits.
  `0x20${'0'.repeat(22)}`,
];
