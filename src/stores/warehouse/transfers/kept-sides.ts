// Which sides are edges of a walk, as the engine counts them?
// The rule of `features/history/edge-rule.ts` for one address alone, in the columns of `sides`:
// what moved nothing, and what is worthless, counts only where the address may have signed it. So
// nobody makes an address a hub by logs in its name. An NFT counts where the address is known to
// have signed it.

import { CHAIN_NAMES, isEvmChain } from '../../../chain/chain.ts';

const byteOf = (column: string, at: string) => {
  return `reinterpretAsUInt8(substring(${column}, ${at}, 1))`;
};
const KIND = `bitAnd(${byteOf('id', '1')}, 7)`;
const IS_OUT = `${byteOf('id', '2')} = 1`;
const TX_LENGTH = byteOf('id', '3');
const TOKEN_LENGTH = byteOf('id', `4 + ${TX_LENGTH}`);
const TOKEN = `substring(id, 5 + ${TX_LENGTH}, ${TOKEN_LENGTH})`;
// The amount stands behind `n`, without its leading zeros: of nothing there is nothing.
const MOVED = `length(id) > 6 + ${TX_LENGTH} + ${TOKEN_LENGTH}`;

const NATIVE = 1;
const TOKEN_KIND = 3;
const NFT_KIND = 4;
const FAILED = 1;
const BY_SENDER = 1;
const BY_RECEIVER = 2;
const EVM = CHAIN_NAMES.filter(isEvmChain).map((chain) => `'${chain}'`);
// The sender of an EVM transaction's own value signed it.
const OWN_VALUE = `${KIND} = ${NATIVE} AND chain IN (${EVM.join(', ')})`;
const TOLD = byteOf('detail', '16');
const SIGNER = `if(${TOLD} = 0 AND ${OWN_VALUE}, ${BY_SENDER}, ${TOLD})`;
const HAS_SIGNED = `((${SIGNER} = ${BY_SENDER} AND ${IS_OUT})
  OR (${SIGNER} = ${BY_RECEIVER} AND NOT ${IS_OUT}))`;

// However long ago that was read: the fewer are counted, the fewer addresses are not walked past.
const WORTHLESS = `(${KIND} = ${TOKEN_KIND} AND (chain, ${TOKEN}) IN (
  SELECT chain, token FROM tokens FINAL WHERE has_market = 0))`;

/** Whether a row of `sides` or `tip_sides` is an edge of its address, failures left out. */
export const IS_KEPT = `(${byteOf('detail', '2')} != ${FAILED} AND (${HAS_SIGNED}
  OR (${KIND} != ${NFT_KIND} AND (${SIGNER} = 0
    OR (${MOVED} AND (${SIGNER} = ${BY_RECEIVER} OR NOT ${WORTHLESS}))))))`;
