// Which addresses of a file, one a line, are on the published sanctions list?
//   API_KEY=… node examples/screen-file.ts FILE
// Writes one line for each, and ends with 3 where any of them could not be checked.

import { readFileSync } from 'node:fs';
import { ask, valueAt } from './ask.ts';
import { unchecked, type Verdict, verdictOfResult } from './verdict.ts';

/** The most addresses that one question takes. */
const AT_ONCE = 500;

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('which file?');

const lines = readFileSync(file, 'utf8').split('\n');
const addresses = lines.map((line) => line.trim()).filter((line) => line !== '');
let uncheckedCount = 0;
for (let from = 0; from < addresses.length; from += AT_ONCE) {
  const some = addresses.slice(from, from + AT_ONCE);
  const verdicts = await screened(some);
  for (const [i, { word, why }] of verdicts.entries()) {
    console.log(`${some[i]}: ${word} (${why})`);
    if (word === 'could not check') uncheckedCount += 1;
  }
}
console.log(`${addresses.length} addresses, ${uncheckedCount} could not be checked`);
if (uncheckedCount > 0) process.exitCode = 3;

/** A verdict for each address, in their order. */
async function screened(some: readonly string[]): Promise<Verdict[]> {
  if (some.length === 0) return [];
  const asked = await ask('/api/v1/bulk/wallet-screen', { addresses: some });
  if (!asked.ok) return afterRefusal(some, asked.reason);
  const results = valueAt(valueAt(asked.body, 'data'), 'results');
  if (!Array.isArray(results) || results.length !== some.length) {
    return some.map(() => unchecked('the answer has no result for each address'));
  }
  return results.map(verdictOfResult);
}

// One address of no known form refuses the whole question, and is named by its place in it. It is
// set aside and the others are asked again.
async function afterRefusal(some: readonly string[], reason: string): Promise<Verdict[]> {
  const place = /^400: addresses\[(\d+)\]/.exec(reason)?.[1];
  if (place === undefined) return some.map(() => unchecked(reason));
  const at = Number(place);
  const others = await screened(some.toSpliced(at, 1));
  return others.toSpliced(at, 0, unchecked(reason));
}
