// The state of one account on a simulated chain's node. Coins and nonces follow from the chain's
// transactions; two simulated contracts have code.

import type { WorldChains } from './chain-types.ts';
import { deployedAnswer, deployedCode, deployedCreations } from './deployers.ts';
import { WORLD_SEED } from './listed-parties.ts';
import { inventAddress } from './made-up-address.ts';

function makeUp(name: string): string {
  return inventAddress(WORLD_SEED, 'evm', name);
}

/** The addresses of the forensic record that the documentation names. */
export const SANDBOX_SCORED = {
  /** Funded by the listed sandbox address, and paid a mixer and a flagged address. */
  scored: makeUp('sandbox scored'),
  /** A proxy whose admin and owner may change it. */
  proxy: makeUp('sandbox proxy'),
  /** Flagged by the sandbox table, which names it as the maker of the proxy. */
  flagged: makeUp('sandbox flagged'),
} as const;

/** A contract of Ethereum that the registry of mixers names. */
export const WORLD_MIXER = '0x47ce0c6ed5b0ce3d3a51fdb1c52dc66a7c3c2936';

/** Tokens of Ethereum whose issuers hold the flagged address frozen, and nobody else. */
const ISSUERS: ReadonlySet<string> = new Set([
  '0xdac17f958d2ee523a2206206994597c13d831ec7',
  '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
  '0x1abaea1f7c830bd89acc67ec4af516284b1bc33c',
  '0x8e870d67f660d95d5be530380d0ec0bd388289e1',
  '0x6c3ea9036406852006290770bedfcaba0e23a0e8',
]);
const PROXY_CODE = `0x60806040${'5b'.repeat(60)}`;
const SLOTS: ReadonlyMap<string, string> = new Map([
  [
    '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc',
    makeUp('sandbox implementation'),
  ],
  ['0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103', SANDBOX_SCORED.flagged],
]);
const OWNER = '0x8da5cb5b';
const PROXY_CREATION_TX = `0x${'5a'.repeat(32)}`;

/** Which account of which chain is asked about; addresses in any letter case. */
type Account = {
  readonly chains: WorldChains;
  readonly chainId: number;
  readonly address: string;
};

export function codeAt({ address }: Account): string {
  if (address.toLowerCase() === SANDBOX_SCORED.proxy) return PROXY_CODE;
  const deployed = deployedCode(address);
  return deployed === null ? '0x' : deployed;
}

/** How many transactions an account signed. */
export function nonceAt({ chains, chainId, address }: Account): number {
  const own = address.toLowerCase();
  const rows = chains.rowsOf(chainId, own);
  return rows.filter(({ kind, from }) => kind === 'native' && from === own).length;
}

/** The coins that an account received less those that it sent, in wei; never below zero. */
export function balanceAt({ chains, chainId, address }: Account): bigint {
  const own = address.toLowerCase();
  let balance = 0n;
  for (const { kind, from, to, value, success } of chains.rowsOf(chainId, own)) {
    if (kind === 'token' || success === false || from === to) continue;
    balance += to === own ? value : -value;
  }
  return balance < 0n ? 0n : balance;
}

/** A word of an account's storage. */
export function storageAt(account: Account, slot: string): string {
  const held = codeAt(account) === '0x' ? undefined : SLOTS.get(slot.toLowerCase());
  return word(held === undefined ? '0x0' : held);
}

/** The answer of an account to a call; `null` for a refused call. */
export function answerCall(account: Account, data: string): string | null {
  const asked = data.toLowerCase();
  if (ISSUERS.has(account.address.toLowerCase())) {
    return word(asked.endsWith(SANDBOX_SCORED.flagged.slice(2)) ? '0x1' : '0x0');
  }
  if (codeAt(account) === '0x') return '0x';
  if (deployedCode(account.address) !== null) return deployedAnswer(account.address, data);
  return asked === OWNER ? word(SANDBOX_SCORED.flagged) : null;
}

function word(value: string): string {
  return `0x${value.slice(2).padStart(64, '0')}`;
}

/** The answer of an explorer about contracts; `null` for an action about something else. */
export function contractAnswer(action: string, params: URLSearchParams): object | null {
  if (action === 'getsourcecode') {
    const unverified = { SourceCode: '', ABI: 'Contract source code not verified' };
    return { status: '1', message: 'OK', result: [{ ...unverified, ContractName: '' }] };
  }
  if (action !== 'getcontractcreation') return null;
  const asked = String(params.get('contractaddresses')).toLowerCase().split(',');
  const { proxy, flagged } = SANDBOX_SCORED;
  const own = { contractAddress: proxy, contractCreator: flagged, contractFactory: '' };
  const told = asked.includes(proxy) ? [{ ...own, txHash: PROXY_CREATION_TX }] : [];
  const result = [...told, ...deployedCreations(asked)];
  if (result.length === 0) return { status: '0', message: 'No data found', result: null };
  return { status: '1', message: 'OK', result };
}

/** The table of flagged addresses of the simulated world as CSV, with a header. */
export function worldFlaggedCsv(): string {
  const { flagged, proxy } = SANDBOX_SCORED;
  return [
    'address,tag,category,chain,is_contract,creator,creation_tx,first_seen',
    `${flagged},Fake_Phishing_Sandbox,phish-hack,ethereum,false,,,2026-01-15`,
    `${proxy},Sandbox Drainer,exploit,ethereum,true,${flagged},${PROXY_CREATION_TX},2026-01-16`,
    '',
  ].join('\n');
}
