// Do the signatures of a Bitcoin input sign all inputs and all outputs of its transaction?
// The flag is the last byte of each signature (BIP 143, BIP 341; a Schnorr signature of 64 bytes
// signs everything). A source that leaves witnesses out does not tell, and is never taken to.

import type { BitcoinInput } from '../../ports/entities/bitcoin-blocks.ts';

const ALL = 0x01;
/** A DER signature is `30 LEN … FLAG`; LEN counts what lies between. */
const DER = { tag: 0x30, sizeMin: 9, sizeMax: 73, around: 3 } as const;
const SCHNORR = { plain: 64, flagged: 65 } as const;
const TAPROOT_PREFIX = 'bc1p';
const ANNEX_TAG = 0x50;
const PUSHDATA = { direct: 75, one: 76, two: 77 } as const;

/** How an input is signed. `script`: its scriptSig in hex; `witness`: `null`, not told. */
export function signedBy(
  owner: string | null,
  script: string,
  witness: readonly string[] | null,
): BitcoinInput['signed'] {
  const flags = pushesOf(Buffer.from(script, 'hex')).flatMap(derFlag);
  if (witness !== null) flags.push(...witnessFlags(owner, witness));
  if (flags.length === 0) return witness === null ? null : 'in_part';
  return flags.every((flag) => flag === ALL) ? 'whole' : 'in_part';
}

function witnessFlags(owner: string | null, witness: readonly string[]): number[] {
  const items = witness.map((item) => Buffer.from(item, 'hex'));
  if (owner?.startsWith(TAPROOT_PREFIX) !== true) return items.flatMap(derFlag);
  const hasAnnex = items.length > 1 && items.at(-1)?.[0] === ANNEX_TAG;
  const own = hasAnnex ? items.slice(0, -1) : items;
  // The last two of a script path are the script and its control block.
  return (own.length > 1 ? own.slice(0, -2) : own).flatMap(schnorrFlag);
}

function derFlag(item: Buffer): number[] {
  const { tag, sizeMin, sizeMax, around } = DER;
  const fits = item.length >= sizeMin && item.length <= sizeMax && item[0] === tag;
  const [flag] = item.subarray(-1);
  return fits && item[1] === item.length - around && flag !== undefined ? [flag] : [];
}

function schnorrFlag(item: Buffer): number[] {
  if (item.length === SCHNORR.plain) return [ALL];
  const [flag] = item.subarray(-1);
  return item.length === SCHNORR.flagged && flag !== undefined ? [flag] : [];
}

/** The data that a script pushes; a script that is cut ends the list. */
function pushesOf(script: Buffer): Buffer[] {
  const pushes: Buffer[] = [];
  for (let at = 0; at < script.length; ) {
    const code = script.readUInt8(at);
    at += 1;
    let size = code <= PUSHDATA.direct ? code : 0;
    if (code === PUSHDATA.one && at < script.length) {
      size = script.readUInt8(at);
      at += 1;
    } else if (code === PUSHDATA.two && at + 1 < script.length) {
      size = script.readUInt16LE(at);
      at += 2;
    }
    if (size > 0) pushes.push(script.subarray(at, at + size));
    at += size;
  }
  return pushes;
}
