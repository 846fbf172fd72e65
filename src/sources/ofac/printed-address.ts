// Answers one question: which addresses does a printed value hold, however it is printed.
// A value keeps its letters: only white space around it and invisible characters are stripped.

import { parseKnownAddress } from '../../chain/address.ts';

/** Format and control characters and others that nothing shows; white space is not among them. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]|[^\P{Cc}\s]/gu;
const LABEL_WORDS = /digital\s*currency/i;
/** Runs of letters and digits, alone and with a prefix as Bitcoin Cash prints it. */
const RUNS = [/[0-9A-Za-z]+/g, /[0-9A-Za-z]+:[0-9A-Za-z]+/g];
/** An EVM address in any neighbourhood; the prefix may have been put in capitals. */
const EVM_WITHIN = /0[xX]([0-9a-fA-F]{40})(?![0-9a-fA-F])/g;
/** No address with a checksum is shorter. */
const LONG_RUN = /[0-9A-Za-z]{25}/;

/** A printed value without the white space around it and without invisible characters. */
export function printedValue(text: string): string {
  return text.replace(INVISIBLE, '').trim();
}

/** The addresses of a known form inside a value that is none itself, in the order of the value. */
export function addressesWithin(
  value: string,
  isKnownForm: (address: string) => boolean,
): readonly string[] {
  const joined = value.replace(/\s+/g, '');
  const evm = [...joined.matchAll(EVM_WITHIN)].map(([, digits]) => `0x${digits}`);
  const runs = RUNS.flatMap((run) => [...value.matchAll(run)].map(([found]) => found));
  const held = new Set([joined, ...evm, ...runs].filter(isKnownForm));
  held.delete(value);
  return [...held];
}

/** Whether a text that should hold no address names or is one; Solana's form has no checksum. */
export function holdsAddress(text: string): boolean {
  if (LABEL_WORDS.test(text)) return true;
  if (!LONG_RUN.test(text)) return false;
  return addressesWithin(` ${printedValue(text)} `, isUnmistakable).length > 0;
}

function isUnmistakable(text: string): boolean {
  const known = parseKnownAddress(text);
  return known !== null && known.kind !== 'solana';
}
