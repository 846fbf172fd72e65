// The script of the page agrees with the service's own hashes and its strict parser, with which it
// shares no line, whatever it is given.

import { createContext, runInContext } from 'node:vm';
import { expect, test } from 'vitest';
import { hashBundle, hashCall } from '../../chain/call-hash.ts';
import { hashLeaf, hashNode } from '../../chain/merkle-tree.ts';
import { parseCanonical, writeCanonical } from '../../contract/canonical.ts';
import { lotteryOf } from '../../testing/lottery.ts';
import { CHECK_SCRIPT } from './check-script.ts';

type Script = {
  readonly keccak: (bytes: Uint8Array) => Uint8Array;
  readonly hex: (bytes: Uint8Array) => string;
  readonly callHash: (signal: object) => string;
  readonly read: (bytes: Uint8Array) => { readonly isCanonical: boolean };
  readonly leadsToRoot: (proof: object, call_hash: string) => Promise<boolean>;
};

const context = createContext({ TextEncoder, TextDecoder, crypto: globalThis.crypto });
runInContext(CHECK_SCRIPT, context);
const script = runInContext('exhibitSignals', context) as Script;

const TEXTS = ['', 'a', 'é', 'e\u0301', '😀', '"\\\u0000\u001f\u2028', 'x'.repeat(4_000)];

test('Keccak-256 is that of the service at every border of a block', () => {
  for (const size of [0, 1, 31, 32, 135, 136, 137, 271, 272, 1_000]) {
    const bytes = Uint8Array.from({ length: size }, (_, at) => (at * 7 + size) % 256);
    expect(script.hex(script.keccak(bytes)), `${size} bytes`).toBe(hashBundle(bytes));
  }
});

test('the call hash is that of the service, whatever texts a signal holds', () => {
  const draw = lotteryOf(7);
  const pick = () => draw.oneOf(TEXTS);
  for (let round = 0; round < 60; round += 1) {
    const shared = {
      version: pick(),
      verdict: pick(),
      reasoning: pick(),
      evidence_used: Array.from({ length: draw.below(4) }, pick),
      evidence_hash: hashBundle(Uint8Array.of(round)),
      prompt_version: pick(),
      model: pick(),
      run_id: pick(),
      generated_at_unix: draw.below(2_000_000_000),
    };
    const confidence_millionths = draw.below(1_000_001);
    const [chain, target] = [pick(), pick()];
    const shown = {
      ...shared,
      target: { chain, address: target },
      confidence: confidence_millionths / 1_000_000,
    };
    expect(script.callHash(shown)).toBe(
      hashCall({ ...shared, chain, target, confidence_millionths }),
    );
  }
});

const WRITTEN = writeCanonical({ a: 1, b: ['é', { c: null, d: '😀' }], e: true });

const DOCUMENTS: readonly (readonly [name: string, bytes: Uint8Array])[] = [
  ['canonical bytes', WRITTEN],
  ['nothing', new Uint8Array()],
  ...(
    [
      ['a line end behind the value', '{"a":1}\n'],
      ['a space', '{"a": 1}'],
      ['keys in another order', '{"b":1,"a":1}'],
      ['two equal keys', '{"a":1,"a":1}'],
      ['a fraction', '{"a":1.0}'],
      ['an exponent', '{"a":1e3}'],
      ['an integer that is not safe', '{"a":9007199254740992}'],
      ['another escape', '{"a":"\\u00e9"}'],
      ['half of a character', '{"a":"\\ud800"}'],
      ['a byte order mark', '\ufeff{"a":1}'],
      ['minus zero', '{"a":-0}'],
      ['nine levels', `${'['.repeat(9)}${']'.repeat(9)}`],
      ['eight levels', `${'['.repeat(8)}${']'.repeat(8)}`],
      ['a key of the prototype', '{"__proto__":1}'],
    ] as const
  ).map(([name, text]) => [name, new TextEncoder().encode(text)] as const),
];

test.each(DOCUMENTS)('%s is to the script what it is to the strict parser', (_, bytes) => {
  let isCanonical = false;
  try {
    ({ isCanonical } = script.read(bytes));
  } catch {
    // What no parser reads is not canonical either.
  }
  expect(isCanonical).toBe(parseCanonical(bytes).ok);
});

test('each other byte of a bundle is refused by both, or read the same by both', () => {
  for (let at = 0; at < WRITTEN.length; at += 1) {
    const changed = Uint8Array.from(WRITTEN);
    changed[at] = (Number(changed[at]) + 1) % 256;
    let isCanonical = false;
    try {
      ({ isCanonical } = script.read(changed));
    } catch {
      // As above.
    }
    expect(isCanonical, `byte ${at}`).toBe(parseCanonical(changed).ok);
    expect(script.hex(script.keccak(changed))).not.toBe(hashBundle(WRITTEN));
  }
});

test('a proof leads to its root, and to no other', async () => {
  const call_hash = hashBundle(Uint8Array.of(1));
  const leaf = hashLeaf(Uint8Array.from([1, ...Buffer.from(call_hash.slice('0x'.length), 'hex')]));
  const sibling = hashLeaf(Uint8Array.of(2));
  const third = hashLeaf(Uint8Array.of(3));
  const left = hashNode(sibling, leaf);
  const root = script.hex(hashNode(left, third));
  const proof = { index: 1, size: 3, root, proof: [sibling, third].map(script.hex) };
  expect(await script.leadsToRoot(proof, call_hash)).toBe(true);
  expect(await script.leadsToRoot({ ...proof, index: 0 }, call_hash)).toBe(false);
  expect(await script.leadsToRoot({ ...proof, proof: [script.hex(sibling)] }, call_hash)).toBe(
    false,
  );
  expect(await script.leadsToRoot(proof, hashBundle(Uint8Array.of(2)))).toBe(false);
});
