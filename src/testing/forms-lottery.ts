// Addresses of every form, drawn from a seed: some of a list, some that a listed one has as another
// form, some of nobody, and texts that are no address.

import { equivalentForms, type KnownAddress, parseKnownAddress } from '../chain/address.ts';
import { encodeBase58, encodeWitness } from '../chain/coin-address.ts';
import { EVERY_FORM } from './addresses.ts';
import type { Lottery } from './lottery.ts';

const BYTES = 32;
const LISTED_SHARE = 0.02;
const FORM_SHARE = 0.02;

/** Where a draw begins: accounts of EVM, hashes of Bitcoin and its kin, programs, keys. */
const KINDS = ['evm', 'evm', 'hash', 'script', 'program', 'solana'] as const;

export type FormsLottery = {
  /** Texts as a list prints them, of every form. */
  readonly listed: readonly string[];
  /** An address, which the list may hold, or hold in another form. */
  readonly draw: () => string;
  /** A text that is nearly an address, or none at all. */
  readonly drawGarbage: () => string;
};

export function formsLottery(lottery: Lottery, listedCount: number): FormsLottery {
  const bytesOf = (count: number) => Uint8Array.from({ length: count }, () => lottery.below(256));
  const drawKind = (): string => {
    const kind = lottery.oneOf(KINDS);
    const bytes = bytesOf(BYTES);
    const account = bytes.subarray(0, 20);
    if (kind === 'solana') return encodeBase58(bytes);
    if (kind === 'evm') return `0x${hexOf(account)}`;
    if (kind === 'hash') return encodeWitness('bitcoin', { version: 0, program: account });
    return encodeWitness('bitcoin', { version: kind === 'program' ? 1 : 0, program: bytes });
  };
  const drawForm = (text: string): string => {
    const known = parseKnownAddress(text);
    const forms = known === null ? [] : equivalentForms(known);
    return forms.length === 0 ? text : lottery.oneOf(forms).address;
  };
  const drawAny = (): string => {
    const text = drawKind();
    // Twice: the forms of a form are those that its own chain does not reach.
    return lottery.happens(0.5) ? drawForm(lottery.happens(0.3) ? drawForm(text) : text) : text;
  };
  const listed = [
    ...Object.values(EVERY_FORM),
    ...Array.from({ length: listedCount }, () => drawAny()),
  ];
  const draw = (): string => {
    const chance = lottery.share();
    if (chance < LISTED_SHARE) return lottery.oneOf(listed);
    const text = chance < LISTED_SHARE + FORM_SHARE ? drawForm(lottery.oneOf(listed)) : drawAny();
    // Tron's hex is a spelling that a list may print, and no address that is asked about.
    return parseKnownAddress(text) === null ? drawKind() : text;
  };
  const drawGarbage = (): string => {
    const text = drawAny();
    const at = lottery.below(text.length);
    const letter = lottery.oneOf(Array.from('01lIOabcXYZ:-'));
    return lottery.oneOf([
      text.slice(0, at) + letter + text.slice(at + 1),
      text.slice(0, at),
      text.toLowerCase(),
      text.toUpperCase(),
      hexOf(bytesOf(lottery.below(40))),
      '',
    ]);
  };
  return { listed, draw, drawGarbage };
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** The kinds of some texts, counted, to see that none is missing. */
export function countKinds(texts: readonly string[]): ReadonlyMap<KnownAddress['kind'], number> {
  const counts = new Map<KnownAddress['kind'], number>();
  for (const text of texts) {
    const known = parseKnownAddress(text);
    if (known !== null) counts.set(known.kind, Number(counts.get(known.kind) ?? 0) + 1);
  }
  return counts;
}
