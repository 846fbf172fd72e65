// The rules of the table of bridge contracts, and which of its contracts counts at a block.
// It refuses whatever is nobody's, a chain's own, a token or a pool; that a second source repeats
// such an address confirms nothing.

import { checksumAddress, isSystemAddress, parseEvmAddress } from '../../chain/address.ts';
import type { ChainName } from '../../chain/chain.ts';
import { parseIsoDate } from '../../chain/time.ts';
import { collect, rowsUnder } from '../../evidence/measure.ts';
import {
  BRIDGE_CHAINS,
  BRIDGE_PROTOCOLS,
  BRIDGE_ROLES,
  type BridgeChain,
  REGISTRY_REFUSALS,
  type RegistryRow,
  type RowRefusal,
  type ValidatedRows,
} from '../../ports/bridges.ts';
import type { RefusedLine, TableLine } from '../../ports/tables.ts';

/** The columns of the file, in their order. */
export const REGISTRY_COLUMNS = [
  'chain',
  'address',
  'protocol',
  'name',
  'role',
  'valid_from_block',
  'also_on',
  'sources',
  'reviewed',
  'note',
] as const;

const TEXT_CHARS_MAX = 200;
const SOURCE_CHARS_MAX = 300;
const SOURCES_MAX = 8;

/** Validates the lines of a file. Throws `RangeError` where the file is no table of this kind. */
export function validateRegistry([heading, ...lines]: readonly TableLine[]): ValidatedRows {
  if (heading === undefined || heading.cells.join() !== REGISTRY_COLUMNS.join()) {
    throw new RangeError(`the columns are ${REGISTRY_COLUMNS.join(', ')}`);
  }
  const rows: RegistryRow[] = [];
  const refused: RefusedLine[] = [];
  const met = new Set<string>();
  for (const { line, cells } of lines) {
    const validated = validateRow(cells, met);
    if (typeof validated === 'string') {
      const [chain = '?', address = '?'] = cells;
      const reason = REGISTRY_REFUSALS[validated];
      refused.push({ line, chain, address, code: validated, reason });
    } else rows.push(validated);
  }
  return { rows, refused };
}

function validateRow(cells: readonly string[], met: Set<string>): RegistryRow | RowRefusal {
  if (cells.length !== REGISTRY_COLUMNS.length) return 'unreadable_row';
  const [chainText, addressText, protocolText, name, roleText, ...last] = cells;
  const [blockText, elsewhereText, sourcesText, reviewed, noteText] = last;
  const chain = BRIDGE_CHAINS.find((one) => one === chainText);
  if (chain === undefined) return 'unknown_chain';
  const protocol = BRIDGE_PROTOCOLS.find((one) => one === protocolText);
  if (protocol === undefined) return 'unknown_protocol';
  const role = BRIDGE_ROLES.find((one) => one === roleText);
  if (role === undefined) return 'unknown_role';
  const address = parseEvmAddress(String(addressText));
  if (address === null) return 'bad_checksum';
  if (isSystemAddress(address)) return 'system_address';
  if (checksumAddress(address) !== addressText) return 'bad_checksum';
  const foreign =
    role === 'token' ? null : (knownForeign(chain, address) ?? kindByName(String(name)));
  if (foreign !== null) return foreign;
  const block = blockOf(String(blockText));
  if (block === 'bad_block') return block;
  const also_on = chainIdsOf(String(elsewhereText));
  if (also_on === null) return 'bad_chain_ids';
  const sources = sourcesOf(String(sourcesText));
  if (sources === null) return 'no_source';
  if (reviewed === undefined || parseIsoDate(reviewed) === null) return 'bad_review';
  if (!isShown(String(name)) || (noteText !== '' && !isShown(String(noteText)))) return 'bad_text';
  const key = [chain, address, role].join(' ');
  if (met.has(key)) return 'duplicate';
  met.add(key);
  const note = noteText === '' || noteText === undefined ? null : noteText;
  const facts = { chain, address, protocol, name: String(name), role, sources, reviewed, note };
  return { ...facts, valid_from_block: block, also_on };
}

const POOL_NAMES = /saddle.?swap|swap.?pool|\bamm\b(?! ?wrapper)|liquidity pool/i;
const TOKEN_NAMES = /canonical|bridge.?token|lp.?token|\btoken contract\b/i;

function kindByName(name: string): RowRefusal | null {
  if (POOL_NAMES.test(name)) return 'amm_pool';
  return TOKEN_NAMES.test(name) ? 'token_contract' : null;
}

function blockOf(text: string): number | null | 'bad_block' {
  if (text === '') return null;
  return /^\d{1,12}$/.test(text) ? Number(text) : 'bad_block';
}

/** EIP-155 ids, a space between; `null` for anything else. */
function chainIdsOf(text: string): readonly number[] | null {
  if (text === '') return [];
  return /^\d{1,10}( \d{1,10})*$/.test(text) ? text.split(' ').map(Number) : null;
}

const SOURCE = /^(https:\/\/[^\s]+|[a-z0-9@._-]+\/[^\s]+)( \([^()]+\))?$/i;

function sourcesOf(text: string): readonly string[] | null {
  const sources = text.split(';').map((one) => one.trim());
  const good = sources.every((one) => one.length <= SOURCE_CHARS_MAX && SOURCE.test(one));
  return good && sources.length <= SOURCES_MAX ? sources : null;
}

function isShown(text: string): boolean {
  return text.trim() !== '' && text.length <= TEXT_CHARS_MAX && !/\p{C}/u.test(text);
}

/** The table by chain and address. */
export type RegistryIndex = {
  /** The rows of a contract that count at a block, mostly none; several where it has roles. */
  readonly at: (chain: ChainName, address: string, block: number) => readonly RegistryRow[];
};

/** The index of some rows by their chains and addresses. */
export function registryIndex(rows: readonly RegistryRow[]): RegistryIndex {
  const byKey = new Map<string, RegistryRow[]>();
  for (const row of rows) collect(byKey, `${row.chain} ${row.address}`, row);
  return {
    at: (chain, address, block) =>
      rowsUnder(byKey, `${chain} ${address}`).filter(
        ({ valid_from_block: from }) => from === null || from <= block,
      ),
  };
}

/** Whether users bridge through a contract: not by its messages, and not as providers. */
export function movesAssets({ role }: RegistryRow): boolean {
  return role !== 'messaging' && role !== 'providers';
}

/** The family that a contract belongs to: its name without the asset in brackets. */
export function familyOf({ name }: Pick<RegistryRow, 'name'>): string {
  const at = name.indexOf(' (');
  return at < 0 ? name : name.slice(0, at);
}

// Addresses that published tables have taken for bridges, so that such a row is refused without a
// node: each chain's main bridged tokens by their explorers, Hop's tokens and pools by
// hop-protocol/hop sdk/src/addresses/mainnet.ts.
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

function knownForeign(chain: BridgeChain, address: string): 'token_contract' | 'amm_pool' | null {
  if (TOKENS[chain]?.includes(address) === true) return 'token_contract';
  return POOLS[chain]?.includes(address) === true ? 'amm_pool' : null;
}
