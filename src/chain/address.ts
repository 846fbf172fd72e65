// The only file that makes an address out of a string: the branded types cannot be had elsewhere.
// It trims nothing and repairs nothing. A text that it cannot name is null, never a guess.

import { base58xrp, hex } from '@scure/base';
import {
  CASHADDR_PREFIX,
  CASHADDR_VERSION,
  type CoinForm,
  checkedBase58,
  checkedPayload,
  encodeBase58check,
  encodeCashaddr,
  encodeWitness,
  HASH_FORMS,
  type Holder,
  hashAddress,
  isBech32,
  MONERO_VERSION,
  moneroAddress,
  moneroPayload,
  parseCashaddr,
  parseCoinAddress,
  parseWitness,
  RIPPLE_VERSION,
  readBase58,
  WITNESS_CHAINS,
  type Witness,
  withChecksum,
} from './coin-address.ts';
import { keccak256 } from './digest.ts';

declare const kindOf: unique symbol;
type Branded<Kind extends string> = string & { readonly [kindOf]: Kind };

/** `0x` and 40 hex characters in lower case. */
export type EvmAddress = Branded<'evm'>;
/** Base58 of exactly 32 bytes; its case is part of it. */
export type SolanaAddress = Branded<'solana'>;
/** Main-network base58check (P2PKH, P2SH), or bech32 and bech32m in lower case. */
export type BitcoinAddress = Branded<'bitcoin'>;
/** Base58check with version 0x41: `T` and 33 characters. */
export type TronAddress = Branded<'tron'>;

/** An address together with its kind. */
export type ParsedAddress =
  | { kind: 'evm'; address: EvmAddress }
  | { kind: 'solana'; address: SolanaAddress }
  | { kind: 'bitcoin'; address: BitcoinAddress }
  | { kind: 'tron'; address: TronAddress };
/** The four kinds of address that are recognised. */
export type AddressKind = ParsedAddress['kind'];

const EVM_CHARS = 42;
const HEX_FROM = 2;
const CODE_0 = 48;
const CODE_LOWER_X = 120;
const ASCII_CODES = 128;
const HEX_PLAIN = 1;
const HEX_UPPER = 2;

// The class of each ASCII code: 0 is no hex digit. A table is twice as fast as comparisons here.
const HEX_CLASS = new Uint8Array(ASCII_CODES);
for (const digit of '0123456789abcdef') HEX_CLASS[digit.charCodeAt(0)] = HEX_PLAIN;
for (const digit of 'ABCDEF') HEX_CLASS[digit.charCodeAt(0)] = HEX_UPPER;

/**
 * An EVM address in lower case, or null. Case is not checked (a wrong EIP-55 checksum passes);
 * the prefix is `0x`, never `0X`. A loop over codes, because a bulk screen calls it for each item.
 */
export function parseEvmAddress(text: string): EvmAddress | null {
  if (text.length !== EVM_CHARS) return null;
  if (text.charCodeAt(0) !== CODE_0 || text.charCodeAt(1) !== CODE_LOWER_X) return null;
  let classes = 0;
  for (let i = HEX_FROM; i < EVM_CHARS; i++) {
    const hexClass = HEX_CLASS[text.charCodeAt(i)];
    if (hexClass === undefined || hexClass === 0) return null;
    classes |= hexClass;
  }
  return (classes === HEX_PLAIN ? text : text.toLowerCase()) as EvmAddress;
}

const BASE58_PATTERN = /^[1-9A-HJ-NP-Za-km-z]{25,44}$/;
const BASE58CHECK_BYTES = 25;
const SOLANA_BYTES = 32;
/** The version byte of Tron's addresses. */
export const TRON_VERSION = 0x41;

/** Characters of a whole key, and letters among them, from which on their case says something. */
const KEY_CHARS_MIN = 40;
const KEY_LETTERS_MIN = 16;

/**
 * Whether a text has one letter case, but for one letter at most: of the keys of 32 bytes one in a
 * thousand million is written so. Cash addresses, bech32 in capitals and Solana addresses whose
 * case was lost are, also with a slip.
 */
function isOfOneCase(text: string): boolean {
  let [unpadded, letters, capitals] = [0, 0, 0];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code !== CODE_1) unpadded += 1;
    if (code >= CODE_UPPER_A) letters += 1;
    if (code >= CODE_UPPER_A && code <= CODE_UPPER_Z) capitals += 1;
  }
  if (unpadded < KEY_CHARS_MIN) return false;
  return letters >= KEY_LETTERS_MIN && (capitals <= 1 || capitals >= letters - 1);
}

// Base58 digits are figures and letters alone, the letters behind the figures.
const CODE_1 = 49;
const CODE_UPPER_A = 65;
const CODE_UPPER_Z = 90;

/**
 * The bytes decide: 25 with a checksum are Bitcoin's or Tron's, 32 are Solana's. Solana's have no
 * checksum, so a text that another form's checksum fits, or would fit but for a slip, is none of
 * them, whatever its bytes. The pattern bounds the length, since decoding is quadratic.
 */
function parseBase58(text: string): AddressWithHolder<ParsedAddress> | null {
  if (!BASE58_PATTERN.test(text)) return null;
  const bytes = readBase58(text);
  if (bytes.length === SOLANA_BYTES) {
    if (isOfOneCase(text) || isBech32(text)) return null;
    return { known: { kind: 'solana', address: text as SolanaAddress }, holder: NO_OTHER_FORM };
  }
  const payload = bytes.length === BASE58CHECK_BYTES ? checkedPayload(bytes) : null;
  if (payload === null) return null;
  const holder = hexText(payload.subarray(1));
  if (payload[0] === TRON_VERSION) {
    return { known: { kind: 'tron', address: text as TronAddress }, holder };
  }
  const form = hashAddress(text, payload)?.form;
  const ofBitcoin = form === 'bitcoin_p2pkh' || form === 'bitcoin_p2sh';
  return ofBitcoin ? { known: { kind: 'bitcoin', address: text as BitcoinAddress }, holder } : null;
}

/**
 * An address, and the hash or program that all forms of it share, in hex behind `0x`, so that an
 * EVM address is its own holder: two addresses that are forms of each other have one holder, and
 * two others may. `NO_OTHER_FORM`: it has none; `null`: another form of it has to be made to know.
 */
export type AddressWithHolder<K extends KnownAddress = KnownAddress> = {
  readonly known: K;
  readonly holder: string | null;
};

/** The holder of an address that has no other form. */
export const NO_OTHER_FORM = '';

const HEX_BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function hexText(bytes: Uint8Array): string {
  let text = '0x';
  for (const byte of bytes) text += HEX_BYTES[byte];
  return text;
}

/**
 * The address that a text is, with its kind; null where it is none of the four. EVM and bech32
 * addresses come back in lower case, all others exactly as they are. Nothing is trimmed.
 */
export function parseAddress(text: string): ParsedAddress | null {
  const held = parseHeld(text);
  return held === null ? null : held.known;
}

function parseHeld(text: string): AddressWithHolder<ParsedAddress> | null {
  const evm = parseEvmAddress(text);
  if (evm !== null) return { known: { kind: 'evm', address: evm }, holder: evm };
  const witness = parseWitness(text);
  if (witness?.chain !== 'bitcoin') return parseBase58(text);
  const known = { kind: 'bitcoin', address: text.toLowerCase() as BitcoinAddress } as const;
  return { known, holder: hexText(witness.witness.program) };
}

/** An address of one of the four kinds, or one of another chain that is screened by the list. */
export type KnownAddress = ParsedAddress | { kind: 'other'; address: string };

/** The address that a text is by any form whose checksum is known; null for any other text. */
export function parseKnownAddress(text: string): KnownAddress | null {
  const held = parseWithHolder(text);
  return held === null ? null : held.known;
}

/** The same, with the holder of the address. */
export function parseWithHolder(text: string): AddressWithHolder | null {
  const held = parseHeld(text);
  if (held !== null) return held;
  const coin = parseCoinAddress(text);
  if (coin === null) return null;
  const known = { kind: 'other', address: coin.address } as const;
  if (coin.form === 'monero_integrated') return { known, holder: null };
  const { holder } = coin;
  if (holder === null) return { known, holder: NO_OTHER_FORM };
  const bytes = holder.of === 'witness' ? holder.witness.program : holder.hash;
  return { known, holder: hexText(bytes) };
}

/** Tron's own spelling of an account: its version and the hash, as `otherForms` writes it. */
const TRON_HEX = /^41([0-9a-f]{40})$/;

/** The holders of listed texts, each with the text that has it; `null`: several texts have it. */
export type Holders = ReadonlyMap<string, string | null>;

/**
 * Adds the holder of a listed text, as `matchKey` gives it. An address whose holder is not among
 * those of all listed texts, or has no text but the address, has no other form among them. An
 * account of Monero has none: whoever has it as another form has the holder `null`.
 */
export function addHolder(holders: Map<string, string | null>, key: string): void {
  const add = (holder: string) => {
    const known = holders.get(holder);
    holders.set(holder, known === undefined || known === key ? key : null);
  };
  const tron = TRON_HEX.exec(key)?.[1];
  if (tron !== undefined) add(`0x${tron}`);
  const holder = parseWithHolder(key)?.holder;
  if (holder !== undefined && holder !== null && holder !== NO_OTHER_FORM) add(holder);
}

const CODE_LOWER_A = 97;
const ASCII_CASE = 32;
const NIBBLE_UPPER_FROM = 8;

/** The address in EIP-55 letter case. */
export function checksumAddress(address: EvmAddress): string {
  const hash = keccak256(address.slice(HEX_FROM));
  const codes = [CODE_0, CODE_LOWER_X];
  for (let i = HEX_FROM; i < EVM_CHARS; i++) {
    const digit = i - HEX_FROM;
    // Of each byte the high half comes first.
    const nibble = (Number(hash[digit >> 1]) >>> ((digit & 1) === 0 ? 4 : 0)) & 0xf;
    const code = address.charCodeAt(i);
    const raised = nibble >= NIBBLE_UPPER_FROM && code >= CODE_LOWER_A;
    codes.push(raised ? code - ASCII_CASE : code);
  }
  return String.fromCharCode(...codes);
}

/** Base58 as long as a cut key, or as short as two of them: no word, and no file. */
const KEY_LIKE_PATTERN = /^[1-9A-HJ-NP-Za-km-z]{20,88}$/;

/**
 * The likely mistake in a text that is no address: `solana_letter_case` for base58 that is no key
 * of 32 bytes, as after a loss of letter case or of characters. A bech32 address of a chain that is
 * not screened is none of these: it has one case too.
 */
export function describeMisform(text: string): 'form_not_recognised' | 'solana_letter_case' {
  const isKeyLike = KEY_LIKE_PATTERN.test(text) && parseKnownAddress(text) === null;
  return isKeyLike && !isBech32(text) ? 'solana_letter_case' : 'form_not_recognised';
}

const LOWER_CASE_PATTERN = /[a-z]/;
const UPPER_CASE_PATTERN = /[A-Z]/;

/**
 * The key under which a listed string and a query are compared: EVM addresses in lower case, and
 * so a bech32 or bech32m string of any chain that is all in upper case, and a cash address, which
 * also loses its prefix; everything else exactly as it is, bech32 in mixed case included, which is
 * malformed.
 */
export function matchKey(text: string): string {
  const evm = parseEvmAddress(text);
  if (evm !== null) return evm;
  const upper = !LOWER_CASE_PATTERN.test(text) && UPPER_CASE_PATTERN.test(text);
  if (upper && isBech32(text)) return text.toLowerCase();
  if (!upper && !text.startsWith(CASHADDR_PREFIX)) return text;
  const cash = parseCashaddr(text);
  return cash === null ? text : cash.address;
}

/**
 * Whether an address is a chain's own or nobody's: never a node, a counterparty, a cluster
 * member, a funder or the subject of a label. EVM addresses in any case; the rest exactly.
 */
export function isSystemAddress(address: string): boolean {
  const evm = parseEvmAddress(address);
  if (evm === null) return SYSTEM_ADDRESSES.has(address);
  return SYSTEM_PREFIXES.some((prefix) => evm.startsWith(prefix)) || SYSTEM_ADDRESSES.has(evm);
}

// Addresses that belong to a chain itself, or to nobody: only what a chain puts there by its own
// rules, and burn addresses that nobody holds a key to. Contracts that people use as counterparties
// are left out, however large they are (Ethereum's staking deposit contract is an ordinary hub).

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

// Other spellings of the same key or account. Only what follows from the address alone is told: no
// form is guessed from history.

/**
 * `same_account`: the same account of the same chain. `same_key`: the account that the same key, or
 * the same script, controls elsewhere.
 */
export const FORM_RELATIONS = ['same_key', 'same_account'] as const;

/** Another spelling of an address. */
export type EquivalentForm = {
  form: 'eip55' | 'tron_base58' | 'evm_hex' | 'tron_hex' | CoinForm;
  address: string;
  relation: (typeof FORM_RELATIONS)[number];
};

/** The other spellings under which a list may hold the same key or account. */
export function equivalentForms(known: KnownAddress): EquivalentForm[] {
  const others = otherForms(known);
  if (known.kind !== 'evm') return others;
  const address = checksumAddress(known.address);
  return [{ form: 'eip55', address, relation: 'same_account' }, ...others];
}

/** The same, but for those that compare as the address itself does. */
export function otherForms({ kind, address }: KnownAddress): EquivalentForm[] {
  switch (kind) {
    case 'evm': {
      const tron = encodeBase58check([TRON_VERSION], hex.decode(address.slice(PREFIX_CHARS)));
      return [{ form: 'tron_base58', address: tron, relation: 'same_key' }];
    }
    case 'tron': {
      const whole = checkedBase58(address);
      if (whole === null) throw new Error('equivalent form: a Tron address without its checksum');
      return [
        { form: 'evm_hex', address: `0x${hex.encode(whole.subarray(1))}`, relation: 'same_key' },
        { form: 'tron_hex', address: hex.encode(whole), relation: 'same_account' },
      ];
    }
    case 'solana':
      return [];
    default:
      return formsOfCoin(address);
  }
}

const PREFIX_CHARS = '0x'.length;

/** The forms of Bitcoin and its kin; none for a text that is of no known form. */
function formsOfCoin(text: string): EquivalentForm[] {
  const coin = parseCoinAddress(text);
  if (coin === null) return [];
  if (coin.form === 'monero_integrated') return [withoutPaymentId(coin.address)];
  if (coin.holder === null) return [];
  return formsOfHolder(coin.holder).filter(({ address }) => address !== coin.address);
}

/** Every address that pays one holder. */
function formsOfHolder(holder: Holder): EquivalentForm[] {
  if (holder.of === 'witness') return witnessForms(holder.witness);
  const { of, hash } = holder;
  // The long hash of a script is Bitcoin Cash's alone.
  if (hash.length !== HASH_BYTES) return [];
  const forms: EquivalentForm[] = HASH_FORMS.filter((one) => one.of === of).map(
    ({ form, version }) => sameKey(form, encodeBase58check(version, hash)),
  );
  const cash = CASHADDR_VERSION[of === 'key_hash' ? 'p2pkh' : 'p2sh'];
  forms.push(sameKey('cashaddr', encodeCashaddr(cash, hash)));
  if (of === 'script_hash') return forms;
  const ripple = base58xrp.encode(withChecksum(RIPPLE_VERSION, hash));
  return [...forms, sameKey('ripple', ripple), ...witnessForms({ version: 0, program: hash })];
}

const HASH_BYTES = 20;

function witnessForms(witness: Witness): EquivalentForm[] {
  return WITNESS_CHAINS.map((chain) => sameKey(`${chain}_segwit`, encodeWitness(chain, witness)));
}

function sameKey(form: CoinForm, address: string): EquivalentForm {
  return { form, address, relation: 'same_key' };
}

const MONERO_KEYS_BYTES = 64;

/** An integrated address is an account's address with a payment's number behind its keys. */
function withoutPaymentId(text: string): EquivalentForm {
  const payload = moneroPayload(text);
  if (payload === null) throw new Error('equivalent form: a Monero address without its checksum');
  const account = Uint8Array.of(MONERO_VERSION, ...payload.subarray(1, 1 + MONERO_KEYS_BYTES));
  return { form: 'monero', address: moneroAddress(account), relation: 'same_account' };
}
