// The hashes by which a signal is known: of its bundle, and of everything that it states. They are
// plain JavaScript, because a browser checks by the same file under a policy without WebAssembly.

import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';

/** Bytes as hex: `0x` and lower case. */
export type HexBytes = `0x${string}`;

/** Everything that a signal states, as it is hashed (EIP-712). */
export type SignalCall = {
  readonly version: string;
  readonly chain: string;
  readonly target: string;
  readonly verdict: string;
  /** 0 to 1,000,000. */
  readonly confidence_millionths: number;
  readonly reasoning: string;
  readonly evidence_used: readonly string[];
  /** 32 bytes. */
  readonly evidence_hash: HexBytes;
  readonly prompt_version: string;
  readonly model: string;
  readonly run_id: string;
  /** Unix seconds. */
  readonly generated_at_unix: number;
};

/** The encoded type of EIP-712: the fields in the order in which they are hashed. */
export const CALL_TYPE =
  'Call(string version,string chain,string target,string verdict,uint32 confidence_millionths,' +
  'string reasoning,string[] evidence_used,bytes32 evidence_hash,string prompt_version,' +
  'string model,string run_id,uint64 generated_at_unix)';

const TYPE_HASH = keccak_256(utf8ToBytes(CALL_TYPE));
const WORD_BYTES = 32;
const UINT32_MAX = 0xffff_ffff;
const LONE_SURROGATE = /\p{Cs}/u;
const BYTES32 = /^0x[0-9a-f]{64}$/;
const ID_DIGITS = 32;

/** Keccak-256 of published bytes: of a bundle, or of the status of a signal. */
export function hashBundle(bytes: Uint8Array): HexBytes {
  return `0x${bytesToHex(keccak_256(bytes))}`;
}

/**
 * `call_hash`: hashStruct of EIP-712 without a domain. Throws for a call that no contract could
 * hash, such as a text with half of a character.
 */
export function hashCall(call: SignalCall): HexBytes {
  const words = [
    TYPE_HASH,
    textWord(call.version),
    textWord(call.chain),
    textWord(call.target),
    textWord(call.verdict),
    uintWord(call.confidence_millionths, UINT32_MAX),
    textWord(call.reasoning),
    keccak_256(concatBytes(...call.evidence_used.map(textWord))),
    bytes32Word(call.evidence_hash),
    textWord(call.prompt_version),
    textWord(call.model),
    textWord(call.run_id),
    uintWord(call.generated_at_unix, Number.MAX_SAFE_INTEGER),
  ];
  return `0x${bytesToHex(keccak_256(concatBytes(...words)))}`;
}

/** The id of a signal: one id cannot name two contents. */
export function signalIdOf(call_hash: HexBytes): string {
  if (!BYTES32.test(call_hash)) throw new Error('call_hash: expected 32 bytes in lower-case hex');
  return `sig_${call_hash.slice(2, 2 + ID_DIGITS)}`;
}

// UTF-8 writes each half of a character as the same mark: two texts would have one hash.
function textWord(text: string): Uint8Array {
  if (LONE_SURROGATE.test(text)) throw new Error('call: a text holds a lone surrogate');
  return keccak_256(utf8ToBytes(text));
}

function uintWord(value: number, max: number): Uint8Array {
  if (!Number.isSafeInteger(value) || value < 0 || value > max) {
    throw new Error(`call: expected a whole number from 0 to ${max}`);
  }
  return hexToBytes(value.toString(16).padStart(2 * WORD_BYTES, '0'));
}

function bytes32Word(value: HexBytes): Uint8Array {
  if (!BYTES32.test(value)) throw new Error('call: expected 32 bytes in lower-case hex');
  return hexToBytes(value.slice(2));
}
