// What do the events of Celer's cBridge say: its pool, its vaults, its pegged tokens, its proxies
// of Circle's transfers? What providers add, and what a pool gives back, is no bridging.

import {
  account,
  type Bridged,
  type EventLayout,
  evmChain,
  type LogContext,
  paidIn,
  uint,
  word,
} from './layout.ts';

const PROTOCOL = 'celer';

/** Where an event of this protocol keeps what it says, by the place of its words. */
type Places = {
  readonly user: number;
  readonly asset: number;
  readonly amount: number;
  readonly id: number | null;
  readonly chain: number | null;
};

function told(context: LogContext, direction: 'out' | 'in', at: Places): Bridged {
  const { log, chainId } = context;
  const other = at.chain === null ? null : chainAt(uint(word(log, at.chain)));
  const own = evmChain(chainId);
  return {
    direction,
    contract: log.address,
    user: account(word(log, at.user)),
    asset: account(word(log, at.asset)),
    amount: uint(word(log, at.amount)),
    message_id: at.id === null ? null : `0x${word(log, at.id)}`,
    origin: direction === 'out' ? own : other,
    destination: direction === 'out' ? other : own,
  };
}

/** A mint without a deposit behind it names no chain. */
function chainAt(id: bigint): string | null {
  return id === 0n ? null : evmChain(id);
}

function layout(
  version: string,
  signature: string,
  direction: 'out' | 'in',
  at: Places,
  kind: EventLayout['kind'] = 'bridge',
): EventLayout {
  return {
    protocol: PROTOCOL,
    version,
    signature,
    topics: 1,
    kind,
    unique: kind === 'bridge',
    read: (context) => told(context, direction, at),
  };
}

/** A proxy of Circle's transfers tells neither its token nor an id of its own. */
function proxied(version: string, last: string): EventLayout {
  return {
    protocol: PROTOCOL,
    version,
    topics: 1,
    kind: 'bridge',
    unique: true,
    signature: `Deposited(address,bytes32,uint64,uint256,uint256,${last})`,
    read: (context) => {
      const { log, chainId } = context;
      const amount = uint(word(log, 3));
      const moved = paidIn(context, log.address, amount);
      return {
        direction: 'out',
        user: account(word(log, 0)),
        amount,
        contract: log.address,
        asset: moved === null ? null : moved.token,
        message_id: null,
        origin: evmChain(chainId),
        destination: chainAt(uint(word(log, 2))),
      };
    },
  };
}

const PEG = { user: 2, asset: 1, amount: 3 };
const VAULT = { user: 1, asset: 2, amount: 3 };

/** The layouts of Celer's cBridge. */
export const CELER: readonly EventLayout[] = [
  layout('pool v2', 'Send(bytes32,address,address,address,uint256,uint64,uint64,uint32)', 'out', {
    user: 1,
    asset: 3,
    amount: 4,
    id: 0,
    chain: 5,
  }),
  layout('pool v2', 'Relay(bytes32,address,address,address,uint256,uint64,bytes32)', 'in', {
    user: 2,
    asset: 3,
    amount: 4,
    id: 6,
    chain: 5,
  }),
  layout('vault v1', 'Deposited(bytes32,address,address,uint256,uint64,address)', 'out', {
    ...VAULT,
    id: 0,
    chain: 4,
  }),
  layout('vault v2', 'Deposited(bytes32,address,address,uint256,uint64,address,uint64)', 'out', {
    ...VAULT,
    id: 0,
    chain: 4,
  }),
  layout('vault', 'Withdrawn(bytes32,address,address,uint256,uint64,bytes32,address)', 'in', {
    ...VAULT,
    id: 5,
    chain: 4,
  }),
  layout('pegged', 'Mint(bytes32,address,address,uint256,uint64,bytes32,address)', 'in', {
    ...PEG,
    id: 5,
    chain: 4,
  }),
  layout('pegged v1', 'Burn(bytes32,address,address,uint256,address)', 'out', {
    ...PEG,
    id: 0,
    chain: null,
  }),
  layout('pegged v2', 'Burn(bytes32,address,address,uint256,uint64,address,uint64)', 'out', {
    ...PEG,
    id: 0,
    chain: 4,
  }),
  proxied('Circle proxy v1', 'uint256,uint64'),
  proxied('Circle proxy v2', 'uint256,uint32'),
  layout(
    'pool v2',
    'LiquidityAdded(uint64,address,address,uint256)',
    'out',
    { user: 1, asset: 2, amount: 3, id: null, chain: null },
    'liquidity',
  ),
  layout(
    'pool v2',
    'WithdrawDone(bytes32,uint64,address,address,uint256,bytes32)',
    'in',
    { user: 2, asset: 3, amount: 4, id: null, chain: null },
    'liquidity',
  ),
];
