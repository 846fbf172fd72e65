// Which rows of a table of bridge contracts may stand, and which contract is a bridge's at a block?
// It refuses whatever is nobody's, a chain's own, a token or a pool; that a second source repeats
// such an address confirms nothing.

import { checksumAddress, isSystemAddress, parseEvmAddress } from '../../chain/address.ts';
import type { ChainName } from '../../chain/chain.ts';
import { parseIsoDate } from '../../chain/time.ts';
import { collect, heldUnder } from '../../evidence/measure.ts';
import {
  BRIDGE_CHAINS,
  BRIDGE_PROTOCOLS,
  BRIDGE_ROLES,
  type BridgeChain,
  type RefusedRegistryRow,
  type RegistryRow,
  type RowRefusal,
  type ValidatedRows,
} from '../../ports/bridges/bridge-registry.ts';
import type { TableLine } from '../../ports/tables/table-import.ts';
import { knownForeign } from './foreign.ts';

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

/** The sentence of each refusal. */
export const REGISTRY_REFUSALS: Readonly<Record<RowRefusal, string>> = {
  unreadable_row: 'the row has not the columns of the table',
  bad_checksum: 'the address is none, or not in EIP-55 letter case',
  unknown_chain: `the chain is none of ${BRIDGE_CHAINS.join(', ')}`,
  unknown_protocol: `the protocol is none of the seven: ${BRIDGE_PROTOCOLS.join(', ')}`,
  unknown_role: `the role is none of ${BRIDGE_ROLES.join(', ')}`,
  system_address: 'the address is nobody’s, a precompile’s or the chain’s own',
  no_source: 'no source stands beside it, or one that is no page and no path',
  bad_review: 'the day of its review is no day',
  bad_block: 'the block from which it is valid is no block number',
  bad_chain_ids: 'the other chains are no EIP-155 ids with a space between',
  bad_text: 'a text is empty, too long, or has characters that cannot be shown',
  duplicate: 'an earlier row has the same chain, address and role',
  token_contract: 'the address is a token’s, which everybody who holds it deals with',
  amm_pool: 'the address is a pool’s of an automated market maker, where tokens are swapped',
  no_code: 'no contract stands at the address',
};

/** Validates the lines of a file. Throws `RangeError` where the file is no table of this kind. */
export function validateRegistry([heading, ...lines]: readonly TableLine[]): ValidatedRows {
  if (heading === undefined || heading.cells.join() !== REGISTRY_COLUMNS.join()) {
    throw new RangeError(`the columns are ${REGISTRY_COLUMNS.join(', ')}`);
  }
  const rows: RegistryRow[] = [];
  const refused: RefusedRegistryRow[] = [];
  const met = new Set<string>();
  for (const { line, cells } of lines) {
    const validated = validateRow(cells, met);
    if (typeof validated !== 'string') rows.push(validated);
    else refused.push(refusal(validated, line, cells));
  }
  return { rows, refused };
}

function refusal(code: RowRefusal, line: number, cells: readonly string[]): RefusedRegistryRow {
  const [chain, address] = cells;
  return {
    line,
    chain: chain === undefined ? '?' : chain,
    address: address === undefined ? '?' : address,
    code,
    reason: REGISTRY_REFUSALS[code],
  };
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
  const foreign = role === 'token' ? null : foreignKind(chain, address, String(name));
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

function foreignKind(chain: BridgeChain, address: string, name: string): RowRefusal | null {
  return knownForeign(chain, address) ?? kindByName(name);
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
  if (text === '') return NOWHERE;
  return /^\d{1,10}( \d{1,10})*$/.test(text) ? text.split(' ').map(Number) : null;
}

const NOWHERE: readonly number[] = [];

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

/** Puts the rows under their chains and addresses. */
export function registryIndex(rows: readonly RegistryRow[]): RegistryIndex {
  const byKey = new Map<string, RegistryRow[]>();
  for (const row of rows) collect(byKey, `${row.chain} ${row.address}`, row);
  return {
    at: (chain, address, block) =>
      heldUnder(byKey, `${chain} ${address}`).filter(
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
