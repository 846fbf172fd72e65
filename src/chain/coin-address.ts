// Is this text an address of a chain that the list knows and that is not walked, by which form?
// Bitcoin's own forms are here too, because its kin took them over with other version bytes. Each
// form is known by its own checksum; nothing is trimmed or repaired.

import { base58xmr, base58xrp } from '@scure/base';
import { checkedBase58, checkedPayload } from './base58check.ts';
import { parseCashaddr } from './cashaddr.ts';
import { keccak256 } from './digest.ts';
import { isSapling, parseWitness, type Witness, type WitnessChain } from './segwit.ts';

/** Whom an address pays: the same hash or program is the same holder on every chain that has it. */
export type Holder =
  | { readonly of: 'key_hash' | 'script_hash'; readonly hash: Uint8Array }
  | { readonly of: 'witness'; readonly witness: Witness };

/** The forms in base58 whose body is a hash of 20 bytes: version bytes, and what is hashed. */
export const HASH_FORMS = [
  { form: 'bitcoin_p2pkh', version: [0x00], of: 'key_hash' },
  { form: 'bitcoin_p2sh', version: [0x05], of: 'script_hash' },
  { form: 'litecoin_p2pkh', version: [0x30], of: 'key_hash' },
  { form: 'litecoin_p2sh', version: [0x32], of: 'script_hash' },
  // Verge writes its key hashes as Dogecoin does, and its script hashes otherwise.
  { form: 'dogecoin_p2pkh', version: [0x1e], of: 'key_hash' },
  { form: 'dogecoin_p2sh', version: [0x16], of: 'script_hash' },
  { form: 'verge_p2sh', version: [0x21], of: 'script_hash' },
  { form: 'dash_p2pkh', version: [0x4c], of: 'key_hash' },
  { form: 'dash_p2sh', version: [0x10], of: 'script_hash' },
  { form: 'bitcoin_gold_p2pkh', version: [0x26], of: 'key_hash' },
  { form: 'bitcoin_gold_p2sh', version: [0x17], of: 'script_hash' },
  { form: 'zcash_p2pkh', version: [0x1c, 0xb8], of: 'key_hash' },
  { form: 'zcash_p2sh', version: [0x1c, 0xbd], of: 'script_hash' },
] as const;

/** A form of address, by chain and output. */
export type CoinForm =
  | (typeof HASH_FORMS)[number]['form']
  | `${WitnessChain}_segwit`
  | 'cashaddr'
  | 'ripple'
  | 'monero'
  | 'monero_integrated'
  | 'zcash_sprout'
  | 'zcash_sapling';

/** An address as it is compared, its form, and whom it pays where another form can say so too. */
export type CoinAddress = {
  readonly form: CoinForm;
  readonly address: string;
  readonly holder: Holder | null;
};

const HASH_BYTES = 20;
const SHORT_PATTERN = /^[1-9A-HJ-NP-Za-km-z]{25,36}$/;

/** The address whose payload this is: a version of one or two bytes and a hash of 20. */
export function hashAddress(text: string, payload: Uint8Array): CoinAddress | null {
  const versionBytes = payload.length - HASH_BYTES;
  const known = HASH_FORMS.find(
    ({ version }) =>
      version.length === versionBytes && version.every((byte, i) => payload[i] === byte),
  );
  if (known === undefined) return null;
  const hash = payload.subarray(versionBytes);
  return { form: known.form, address: text, holder: { of: known.of, hash } };
}

function parseHashForm(text: string): CoinAddress | null {
  if (!SHORT_PATTERN.test(text)) return null;
  const payload = checkedBase58(text);
  return payload === null ? null : hashAddress(text, payload);
}

const RIPPLE_PATTERN = /^r[1-9A-HJ-NP-Za-km-z]{24,34}$/;
/** The version of an account's address (XRPL, "Base58 Encodings"). */
export const RIPPLE_VERSION = [0x00] as const;

function parseRipple(text: string): CoinAddress | null {
  if (!RIPPLE_PATTERN.test(text)) return null;
  const payload = checkedPayload(base58xrp.decode(text));
  if (payload === null || payload.length !== RIPPLE_VERSION.length + HASH_BYTES) return null;
  if (payload[0] !== RIPPLE_VERSION[0]) return null;
  return { form: 'ripple', address: text, holder: { of: 'key_hash', hash: payload.subarray(1) } };
}

/** The version of an account's own address on Monero's main network. */
export const MONERO_VERSION = 18;
const MONERO_PATTERN = /^[48](?:[1-9A-HJ-NP-Za-km-z]{94}|[1-9A-HJ-NP-Za-km-z]{105})$/;
const MONERO_CHECKSUM_BYTES = 4;
/** Version bytes of Monero's main network, and the bytes of each address without its checksum. */
const MONERO_FORMS = [
  { form: 'monero', version: MONERO_VERSION, bytes: 65 },
  // A subaddress.
  { form: 'monero', version: 42, bytes: 65 },
  { form: 'monero_integrated', version: 19, bytes: 73 },
] as const;

/** The payload of a Monero address whose checksum (Keccak-256) fits, or null. */
export function moneroPayload(text: string): Uint8Array | null {
  if (!MONERO_PATTERN.test(text)) return null;
  let bytes: Uint8Array;
  try {
    bytes = base58xmr.decode(text);
  } catch {
    // A block of eleven characters may hold more than its eight bytes.
    return null;
  }
  const end = bytes.length - MONERO_CHECKSUM_BYTES;
  const sum = keccak256(bytes.subarray(0, end));
  for (let i = 0; i < MONERO_CHECKSUM_BYTES; i++) {
    if (sum[i] !== bytes[end + i]) return null;
  }
  return bytes.subarray(0, end);
}

/** The address of a payload, with its checksum. */
export function moneroAddress(payload: Uint8Array): string {
  const sum = keccak256(payload).subarray(0, MONERO_CHECKSUM_BYTES);
  return base58xmr.encode(Uint8Array.of(...payload, ...sum));
}

function parseMonero(text: string): CoinAddress | null {
  const payload = moneroPayload(text);
  if (payload === null) return null;
  const known = MONERO_FORMS.find(
    ({ version, bytes }) => payload[0] === version && payload.length === bytes,
  );
  return known === undefined ? null : { form: known.form, address: text, holder: null };
}

const SPROUT_PATTERN = /^zc[1-9A-HJ-NP-Za-km-z]{93}$/;
const SPROUT_VERSION = [0x16, 0x9a] as const;
const SPROUT_BYTES = 66;

function parseShielded(text: string): CoinAddress | null {
  if (isSapling(text)) {
    return { form: 'zcash_sapling', address: text.toLowerCase(), holder: null };
  }
  if (!SPROUT_PATTERN.test(text)) return null;
  const payload = checkedBase58(text);
  if (payload === null || payload.length !== SPROUT_BYTES) return null;
  if (SPROUT_VERSION.some((byte, i) => payload[i] !== byte)) return null;
  return { form: 'zcash_sprout', address: text, holder: null };
}

function parseSegwit(text: string): CoinAddress | null {
  const parsed = parseWitness(text);
  if (parsed === null) return null;
  const { chain, witness } = parsed;
  const { version, program } = witness;
  const ofKey = version === 0 && program.length === HASH_BYTES;
  const holder: Holder = ofKey ? { of: 'key_hash', hash: program } : { of: 'witness', witness };
  return { form: `${chain}_segwit`, address: text.toLowerCase(), holder };
}

/** The address that a text is by one of these forms, or null. Cash addresses lose their prefix. */
export function parseCoinAddress(text: string): CoinAddress | null {
  const found = parseHashForm(text) ?? parseSegwit(text) ?? parseRipple(text);
  if (found !== null) return found;
  const cash = parseCashaddr(text);
  if (cash !== null) return { form: 'cashaddr', ...cash };
  return parseMonero(text) ?? parseShielded(text);
}
