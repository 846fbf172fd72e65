// The transfers of Circle (CCTP) that a contract of a protocol sent.
// Circle is none of the protocols: a message counts only where it names as its sender a contract
// of the registry on the chain that it came from, and where Circle's own messenger passed it on.

import { declaredEvent, packedFields } from '../../../chain/abi.ts';
import { CHAINS, type ChainName } from '../../../chain/chain.ts';
import {
  BRIDGE_CHAINS,
  type BridgeChain,
  type BridgeProtocol,
  type ReceiptFacts,
  type ReceiptLog,
} from '../../../ports/bridges.ts';
import { movesAssets, type RegistryIndex } from '../registry.ts';
import { circleChain } from './chains.ts';
import { account, type ReadEvent } from './layout.ts';

type Contracts = { readonly transmitter: string; readonly messenger: string };

/**
 * The contracts of its first version, whose messages have a number on both sides. As Circle's
 * documents (developers.circle.com/cctp/v1/evm-smart-contracts) and wormhole-foundation's
 * wormhole-sdk-ts (core/base/src/constants/contracts/circle.ts) agree on them.
 */
const CONTRACTS: ReadonlyMap<ChainName, Contracts> = new Map<BridgeChain, Contracts>([
  [
    'ethereum',
    {
      transmitter: '0x0a992d191deec32afe36203ad87d7d289a738f81',
      messenger: '0xbd3fa81b58ba92a82136038b25adec7066af3155',
    },
  ],
  [
    'arbitrum',
    {
      transmitter: '0xc30362313fbba5cf9163f0bb16a0e01f01a896ca',
      messenger: '0x19330d10d9cc8751218eaf51e8885d058642e08a',
    },
  ],
  [
    'base',
    {
      transmitter: '0xad09780d193884d503182ad4588450c416d6f9d4',
      messenger: '0x1682ae6375c4e4a97e4b583bc394c861a46d8962',
    },
  ],
  [
    'polygon',
    {
      transmitter: '0xf3be9355363857f3e001be68856a2f96b4c39ba9',
      messenger: '0x9daf8c91aefae50b9c0e69629d3f6ca40ca3b3fe',
    },
  ],
]);

const RECEIVED = declaredEvent([
  'event MessageReceived(address indexed caller, uint32 sourceDomain, uint64 indexed nonce,',
  'bytes32 sender, bytes messageBody)',
]);
const BURN = { version: 4, token: 32, recipient: 32, amount: 32, sender: 32 } as const;

const CARRIED = 'cctp:';

/** The id of both sides: the origin chain, and the number on that chain. */
export function circleId(chainId: number, nonce: bigint): string {
  return `${CARRIED}${chainId}/${nonce}`;
}

/** Where and under which topic an arrival of this id is logged; `null` where not by Circle. */
export function carrierOf(message_id: string | null, chain: ChainName) {
  if (message_id === null || !isCarried(message_id)) return null;
  const own = CONTRACTS.get(chain);
  return own === undefined
    ? 'none there'
    : { contracts: [own.transmitter], topics: [RECEIVED.topic] };
}

/** Whether Circle carries what has this id. */
export function isCarried(message_id: string): boolean {
  return message_id.startsWith(CARRIED);
}

/** Has Circle mint to its own contract, which logs the arrival under an id of its own. */
const TELLS_ITSELF: readonly BridgeProtocol[] = ['synapse'];

const LAYOUT = { event: 'MessageReceived', version: 'Circle v1', kind: 'bridge' } as const;

/**
 * The arrival that Circle carried for a contract of the registry, under the row of its sender,
 * placed at Circle's own contract; `null` for anything else.
 */
export function readCarried(
  log: ReceiptLog,
  { chain }: ReceiptFacts,
  registry: RegistryIndex,
): ReadEvent | null {
  const message = log.address === CONTRACTS.get(chain)?.transmitter ? RECEIVED.fieldsOf(log) : null;
  if (message === null) return null;
  const from = BRIDGE_CHAINS.find((one) => one === circleChain(message.sourceDomain));
  const here = BRIDGE_CHAINS.find((one) => one === chain);
  if (from === undefined || here === undefined) return null;
  // Anybody may send a message that reads like a burn: Circle's messenger alone sends a real one.
  if (account(message.sender) !== CONTRACTS.get(from)?.messenger) return null;
  const burn = packedFields(message.messageBody, BURN);
  const chainId = CHAINS[from].chain_id;
  if (burn === null || chainId === null) return null;
  const row = registry.at(from, account(burn.sender), Number.MAX_SAFE_INTEGER).find(movesAssets);
  if (row === undefined || TELLS_ITSELF.includes(row.protocol)) return null;
  const user = account(burn.recipient);
  const amount = BigInt(burn.amount);
  const facts = {
    direction: 'in',
    user,
    asset: null,
    amount,
    net: amount,
    contract: log.address,
    through: [],
    message_id: circleId(chainId, message.nonce),
    origin: from,
    destination: chain,
    promised: { recipient: user, asset: null, amount, deadline: null },
  } as const;
  const { address } = log;
  return { facts, row: { ...row, chain: here, address, valid_from_block: null }, layout: LAYOUT };
}
