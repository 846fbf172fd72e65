// Which addresses have published tables taken for bridges that are tokens or pools?
// A table of facts, so that such a row is refused without a node: each chain's main bridged tokens
// by their explorers, Hop's tokens and pools by hop-protocol/hop sdk/src/addresses/mainnet.ts.

import type { BridgeChain } from '../../ports/bridges/bridge-registry.ts';

type ByChain = { readonly [C in BridgeChain]?: readonly string[] };

const TOKENS: ByChain = {
  ethereum: [
    '0x2260fac5e5542a773aa44fbcfedf7c193bc2c599',
    '0x6b175474e89094c44da98b954eedeac495271d0f',
    '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
    '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
    '0xdac17f958d2ee523a2206206994597c13d831ec7',
  ],
  arbitrum: [
    '0x0ce6c85cf43553de10fc56ceca0aef6ff0dd444d',
    '0x12e59c59d282d2c00f3166915bed6dc2f5e2b5c7',
    '0x46ae9bab8cea96610807a275ebd36f8e916b5c61',
    '0x588bae9c85a605a7f14e551d144279984469423b',
    '0x82af49447d8a07e3bd95bd0d56f35241523fbab1',
    '0xaf88d065e77c8cc2239327c5edb3a432268e5831',
    '0xb76e673ebc922b1e8f10303d0d513a9e710f5c4c',
    '0xc5102fe9359fd9a28f877a67e36b0f050d81a3cc',
    '0xda10009cbd5d07dd0cecc66161fc93d7c9000da1',
    '0xda7c0de432a9346bb6e96ac74e3b61a36d8a77eb',
    '0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9',
    '0xff970a61a04b1ca14834a43f5de4533ebddb5cc8',
  ],
  base: [
    '0x74fa978eaffa312bc92e76df40fcc1bfe7637aeb',
    '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
    '0xc1985d7a3429cdc85e59e2e4fcc805b857e6ee2e',
    '0xc5102fe9359fd9a28f877a67e36b0f050d81a3cc',
    '0xd9aaec86b65d86f6a7b5b1b0c42ffa531710b6ca',
  ],
  bsc: [
    '0x2170ed0880ac9a755fd29b2688956bd959f933f8',
    '0x55d398326f99059ff775485246999027b3197955',
    '0x8ac76a51cc950d9822d68b83fe1ad97b32cd580d',
    '0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c',
  ],
  polygon: [
    '0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270',
    '0x1fdeaf938267ca43388ed1fdb879eaf91e920c7a',
    '0x2791bca1f2de4661ed88a30c99a7a9449aa84174',
    '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359',
    '0x712f0cf37bdb8299d0666727f73a5caba7c1c24c',
    '0x7ceb23fd6bc0add59e62ac25578270cff1b9f619',
    '0x8f3cf7ad23cd3cadbd9735aff958023239c6a063',
    '0x9ec9551d4a1a1593b0ee8124d98590cc71b3b09d',
    '0x9f93aca246f457916e49ec923b8ed099e313f763',
    '0xb8901acb165ed027e32754e0ffe830802919727f',
    '0xc2132d05d31c914a87c6611c10748aeb04b58e8f',
    '0xc5102fe9359fd9a28f877a67e36b0f050d81a3cc',
  ],
};

const POOLS: ByChain = {
  arbitrum: [
    '0x0ded0d521ac7b0d312871d18ea4fde79f03ee7ca',
    '0x10541b07d8ad2647dc6cd67abd4c03575dade261',
    '0x18f7402b673ba6fb5ea4b95768aabb8aad7ef18a',
    '0x652d27c0f72771ce5c76fd400edd61b406ac6d97',
    '0xa5a33ab9063395a90ccbea2d86a62eccf27b5742',
    '0xffe42d3ba79ee5ee74a999cad0c60ef1153f0b82',
  ],
  base: [
    '0x022c5ce6f1add7423268d41e08df521d5527c2a0',
    '0x0ce6c85cf43553de10fc56ceca0aef6ff0dd444d',
  ],
  polygon: [
    '0x25fb92e505f752f730cad0bd4fa17ece4a384266',
    '0x266e2dc3c4c59e42aa07afee5b09e964cffe6778',
    '0x3d4cc8a61c7528fd86c55cfe061a78dcba48edd1',
    '0x5c32143c8b198f392d01f8446b754c181224ac26',
    '0xb2f7d27b21a69a033f85c42d5eb079043baadc81',
  ],
};

/** Whether an address (in lower case) is known for a token or for a pool of that chain. */
export function knownForeign(
  chain: BridgeChain,
  address: string,
): 'token_contract' | 'amm_pool' | null {
  if (TOKENS[chain]?.includes(address) === true) return 'token_contract';
  return POOLS[chain]?.includes(address) === true ? 'amm_pool' : null;
}
