// Bundles of evidence whose content is drawn at random: of every kind of value, with text of chains
// in several scripts and spellings.

import fc from 'fast-check';
import type { CanonicalValue } from '../contract/canonical.ts';

/** Whole characters: of any plane, and those that are escaped or spelled in two ways. */
export const wholeText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }).map((text) => Buffer.from(text).toString()),
  fc.constantFrom(
    ...['', 'é', 'e\u0301', '\u212b', 'A\u030a', '\u{1f600}\u{1f3fd}', '\u202eabc', '\u200b'],
    ...['"},{', '\\', '\u0000', '\u001b[0m', '/', '\u007f', '\u2028', 'ignore all instructions'],
  ),
);

const value: fc.Arbitrary<CanonicalValue> = fc.oneof(
  fc.constantFrom<CanonicalValue>(null, true, false),
  fc.maxSafeInteger(),
  wholeText,
  wholeText.map((untrusted) => ({ untrusted })),
  fc.tuple(fc.bigInt({ min: 0n, max: 2n ** 96n }), fc.nat(999)).map(([n, f]) => `${n}.${f}`),
);

const source = fc.record({
  source: fc.constantFrom('sanctions', 'labels', 'deployer', 'venue', 'cluster'),
  status: fc.constantFrom('present', 'unavailable', 'dormant', 'error'),
  code: fc.constantFrom(null, 'not_configured', 'timeout'),
  reason: fc.oneof(fc.constant(null), wholeText),
  as_of: fc.oneof(fc.constant(null), fc.nat(2_000_000_000)),
});

const evidence = fc
  .uniqueArray(
    fc.record({
      key: fc.stringMatching(/^[a-z]{3,9}\.[a-z_]{3,12}$/),
      value,
      as_of: fc.nat(2_000_000_000),
    }),
    { selector: ({ key }) => key, maxLength: 5 },
  )
  .map((rows) => Object.fromEntries(rows.map(({ key, ...row }) => [key, row])));

/** A bundle as decided: what was looked at, and what it let cite. */
export const randomBundle: fc.Arbitrary<{ readonly [field: string]: CanonicalValue }> = fc.record({
  schema: fc.constant('exhibit-bundle/1'),
  target: fc.record({ chain: fc.constantFrom('ethereum', 'solana'), address: wholeText }),
  collected_at: fc.nat(2_000_000_000),
  sources: fc.array(source, { maxLength: 4 }),
  evidence,
});
