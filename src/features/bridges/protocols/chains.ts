// The names of chains that a protocol numbers in a way of its own: a chain that is served here has
// its name, any other of EIP-155 is eip155:ID, so that one chain is written one way whichever
// protocol names it. Numbers: LayerZero's and Wormhole's own documents.

import { chainById } from '../../../chain/chain.ts';

/** A chain of EIP-155 as answers name it. */
export function evmChain(id: number | bigint): string {
  const chain = chainById(Number(id));
  return chain === null ? `eip155:${id}` : chain.name;
}

/** LayerZero's numbers of the first version by EIP-155 id; the second version's are 30,000 more. */
const LAYERZERO_V1: ReadonlyMap<number, number> = new Map([
  [101, 1],
  [102, 56],
  [106, 43_114],
  [109, 137],
  [110, 42_161],
  [111, 10],
  [112, 250],
  [116, 1_666_600_000],
  [125, 42_220],
  [126, 1_284],
  [145, 100],
  [150, 8_217],
  [151, 1_088],
  [153, 1_116],
  [158, 1_101],
  [165, 324],
  [167, 1_285],
  [177, 2_222],
  [181, 5_000],
  [183, 59_144],
  [184, 8_453],
  [195, 7_777_777],
  [214, 534_352],
  [243, 81_457],
  [255, 252],
  [260, 34_443],
  [332, 146],
  [362, 80_094],
  [367, 999],
]);
const EID_FROM = 30_000;
const SOLANA_EIDS: readonly number[] = [168, EID_FROM + 168];

/** The chain of a LayerZero number, of either version. */
export function layerZeroChain(id: number | bigint): string {
  const own = Number(id);
  if (SOLANA_EIDS.includes(own)) return 'solana';
  const known = LAYERZERO_V1.get(own >= EID_FROM ? own - EID_FROM : own);
  return known === undefined ? `layerzero:${own}` : evmChain(known);
}

/** LayerZero's number of a chain, of a version; `null` where none is known. */
export function layerZeroNumber(chainId: number, version: 1 | 2): number | null {
  for (const [number, id] of LAYERZERO_V1) {
    if (id === chainId) return version === 2 ? number + EID_FROM : number;
  }
  return null;
}

/** Wormhole's numbers by EIP-155 id. */
const WORMHOLE: ReadonlyMap<number, number> = new Map([
  [2, 1],
  [4, 56],
  [5, 137],
  [6, 43_114],
  [10, 250],
  [13, 8_217],
  [14, 42_220],
  [16, 1_284],
  [23, 42_161],
  [24, 10],
  [25, 100],
  [30, 8_453],
  [34, 534_352],
  [35, 5_000],
  [36, 81_457],
  [38, 59_144],
  [39, 80_094],
  [44, 130],
  [45, 480],
  [47, 999],
  [52, 146],
]);
const WORMHOLE_SOLANA = 1;

export function wormholeChain(id: number | bigint): string {
  if (Number(id) === WORMHOLE_SOLANA) return 'solana';
  const known = WORMHOLE.get(Number(id));
  return known === undefined ? `wormhole:${id}` : evmChain(known);
}

/** Wormhole's number of a chain of EIP-155; `null` where none is known. */
export function wormholeNumber(chainId: number): number | null {
  for (const [number, id] of WORMHOLE) if (id === chainId) return number;
  return null;
}

/** Circle's numbers of domains by EIP-155 id. */
const CIRCLE: ReadonlyMap<number, number> = new Map([
  [0, 1],
  [1, 43_114],
  [2, 10],
  [3, 42_161],
  [6, 8_453],
  [7, 137],
]);
const CIRCLE_SOLANA = 5;

/** The chain of a domain of Circle's transfers. */
export function circleChain(domain: number | bigint): string {
  if (Number(domain) === CIRCLE_SOLANA) return 'solana';
  const known = CIRCLE.get(Number(domain));
  return known === undefined ? `cctp:${domain}` : evmChain(known);
}
