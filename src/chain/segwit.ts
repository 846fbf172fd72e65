// Is this text an address in bech32 or bech32m, and which program does it name on which chain?
// Rules: BIP-141, BIP-173, BIP-350. A text in upper case is the same address, as QR codes have it;
// one in mixed case is malformed.

import { bech32, bech32m } from '@scure/base';

/** The prefixes of the chains whose addresses name a witness program. */
const WITNESS_PREFIXES = { bitcoin: 'bc', litecoin: 'ltc', bitcoin_gold: 'btg' } as const;
/** A chain whose addresses name a witness program. */
export type WitnessChain = keyof typeof WITNESS_PREFIXES;
/** All of them. */
export const WITNESS_CHAINS = [
  'bitcoin',
  'litecoin',
  'bitcoin_gold',
] as const satisfies readonly WitnessChain[];

/** A witness program: its version, and 2 to 40 bytes. */
export type Witness = { readonly version: number; readonly program: Uint8Array };

const SEGWIT_CHARS_MAX = 90;
const WITNESS_VERSION_MAX = 16;
const PROGRAM_BYTES_MIN = 2;
const PROGRAM_BYTES_MAX = 40;
const V0_PROGRAM_BYTES = [20, 32];

const WITNESS_BEGINNING = /^(?:(?:bc|ltc|btg)1|(?:BC|LTC|BTG)1)/;
/**
 * A main-network witness address: version 0 in bech32 with 20 or 32 bytes, versions 1 to 16 in
 * bech32m with 2 to 40. Null for any other text.
 */
export function parseWitness(text: string): { chain: WitnessChain; witness: Witness } | null {
  if (!WITNESS_BEGINNING.test(text)) return null;
  const plain = bech32.decodeUnsafe(text, SEGWIT_CHARS_MAX);
  const decoded = plain === undefined ? bech32m.decodeUnsafe(text, SEGWIT_CHARS_MAX) : plain;
  if (decoded === undefined) return null;
  const chain = WITNESS_CHAINS.find((one) => WITNESS_PREFIXES[one] === decoded.prefix);
  const [version, ...words] = decoded.words;
  if (chain === undefined || version === undefined || version > WITNESS_VERSION_MAX) return null;
  if ((version === 0) !== (plain !== undefined)) return null;
  const program = bech32.fromWordsUnsafe(words);
  if (!(program instanceof Uint8Array)) return null;
  const { length } = program;
  if (length < PROGRAM_BYTES_MIN || length > PROGRAM_BYTES_MAX) return null;
  if (version === 0 && !V0_PROGRAM_BYTES.includes(length)) return null;
  return { chain, witness: { version, program } };
}

/** The address of a witness program on a chain, in lower case. */
export function encodeWitness(chain: WitnessChain, { version, program }: Witness): string {
  const code = version === 0 ? bech32 : bech32m;
  return code.encode(WITNESS_PREFIXES[chain], [version, ...code.toWords(program)]);
}

const SAPLING_PREFIX = 'zs';
const SAPLING_BYTES = 43;

/** Whether a text is a shielded address of Zcash's Sapling (bech32, 43 bytes; ZIP-32). */
export function isSapling(text: string): boolean {
  const decoded = bech32.decodeUnsafe(text, SEGWIT_CHARS_MAX);
  if (decoded === undefined || decoded.prefix !== SAPLING_PREFIX) return false;
  const bytes = bech32.fromWordsUnsafe(decoded.words);
  return bytes instanceof Uint8Array && bytes.length === SAPLING_BYTES;
}

// The bech32 code is defined up to this length. Addresses of other chains (Cardano, Zcash) are
// longer than the 90 characters that BIP-173 allows Bitcoin's.
const BECH32_CHARS_MAX = 1023;
const BOTH_CASES = /[a-z].*[A-Z]|[A-Z].*[a-z]/;

/** Whether the checksum of bech32 or bech32m fits a text, under whatever prefix. */
export function isBech32(text: string): boolean {
  if (text.length > BECH32_CHARS_MAX || !text.includes('1') || BOTH_CASES.test(text)) return false;
  return (
    bech32.decodeUnsafe(text, BECH32_CHARS_MAX) !== undefined ||
    bech32m.decodeUnsafe(text, BECH32_CHARS_MAX) !== undefined
  );
}
