// Is a signal known by the hash that a published standard gives it?

import fc from 'fast-check';
import * as Hash from 'ox/Hash';
import * as TypedData from 'ox/TypedData';
import { describe, expect, test } from 'vitest';
import { CALL_TYPE, hashBundle, hashCall, type SignalCall, signalIdOf } from './call-hash.ts';

const CALL: SignalCall = {
  version: '1',
  chain: 'ethereum',
  target: '0x00000000000000000000000000000000000000aa',
  verdict: 'avoid',
  confidence_millionths: 950_000,
  reasoning: 'The address is on the list. [sanctions.listed]',
  evidence_used: ['sanctions.listed'],
  evidence_hash: `0x${'ab'.repeat(32)}`,
  prompt_version: 'none',
  model: 'rules-1',
  run_id: 'run_1',
  generated_at_unix: 1_780_000_000,
};

const FIELDS = CALL_TYPE.slice('Call('.length, -1)
  .split(',')
  .map((field) => {
    const [type, name] = field.split(' ');
    return { type, name };
  }) as { type: string; name: string }[];

/** The hash as an independent library computes it from the type alone. */
const hashedByOx = (call: SignalCall) =>
  TypedData.hashStruct({
    types: { Call: FIELDS },
    primaryType: 'Call',
    data: { ...call, generated_at_unix: BigInt(call.generated_at_unix) },
  });

const whole = fc.string({ unit: 'binary' }).map((text) => Buffer.from(text).toString());
const texts = fc.oneof(
  whole,
  fc.constantFrom('', 'é', 'e\u0301', '\u{1f600}\u{1f3fd}', 'x'.repeat(4_000)),
);
const calls: fc.Arbitrary<SignalCall> = fc.record({
  version: texts,
  chain: texts,
  target: texts,
  verdict: texts,
  confidence_millionths: fc.oneof(fc.constantFrom(0, 1_000_000), fc.nat(1_000_000)),
  reasoning: texts,
  evidence_used: fc.array(texts, { maxLength: 12 }),
  evidence_hash: fc
    .uint8Array({ minLength: 32, maxLength: 32 })
    .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}` as const),
  prompt_version: texts,
  model: texts,
  run_id: texts,
  generated_at_unix: fc.nat(Number.MAX_SAFE_INTEGER),
});

const MAIL = {
  types: {
    EIP712Domain: [
      { name: 'name', type: 'string' },
      { name: 'version', type: 'string' },
      { name: 'chainId', type: 'uint256' },
      { name: 'verifyingContract', type: 'address' },
    ],
    Person: [
      { name: 'name', type: 'string' },
      { name: 'wallet', type: 'address' },
    ],
    Mail: [
      { name: 'from', type: 'Person' },
      { name: 'to', type: 'Person' },
      { name: 'contents', type: 'string' },
    ],
  },
  primaryType: 'Mail',
  domain: {
    name: 'Ether Mail',
    version: '1',
    chainId: 1n,
    verifyingContract: '0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC',
  },
  message: {
    from: { name: 'Cow', wallet: '0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826' },
    to: { name: 'Bob', wallet: '0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB' },
    contents: 'Hello, Bob!',
  },
} as const;

test('the library that hashes beside us gives the example of EIP-712 its published hashes', () => {
  const { types, primaryType, domain, message } = MAIL;
  expect(TypedData.hashStruct({ types, primaryType, data: message })).toBe(
    '0xc52c0ee5d84264471806290a3f2c4cecfc5490626bf912d01f240d7a274b371e',
  );
  expect(TypedData.hashDomain({ domain })).toBe(
    '0xf2cee375fa42b42143804025fc449deafd50cc031ca257e0b194a650a912090f',
  );
  expect(Hash.keccak256(TypedData.encode(MAIL))).toBe(
    '0xbe609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2',
  );
});

describe('call_hash', () => {
  test('is hashStruct of EIP-712 as a library computes it, whatever the texts', () => {
    fc.assert(
      fc.property(calls, (call) => {
        expect(hashCall(call)).toBe(hashedByOx(call));
      }),
    );
    const many = { ...CALL, evidence_used: Array.from({ length: 500 }, (_, i) => `key.${i}`) };
    expect(hashCall(many)).toBe(hashedByOx(many));
  });

  test('changes with each field, and with the order and the borders of the citations', () => {
    const changed: readonly Partial<SignalCall>[] = [
      { version: '2' },
      { chain: 'base' },
      { target: '0x00000000000000000000000000000000000000ab' },
      { verdict: 'no_opinion' },
      { confidence_millionths: 950_001 },
      { reasoning: `${CALL.reasoning} ` },
      { evidence_used: [] },
      { evidence_used: [''] },
      { evidence_used: ['sanctions', 'listed'] },
      { evidence_used: ['listed', 'sanctions'] },
      { evidence_hash: `0x${'ab'.repeat(31)}ac` },
      { prompt_version: '' },
      { model: 'rules-2' },
      { run_id: 'run_2' },
      { generated_at_unix: 1_780_000_001 },
    ];
    const hashes = changed.map((fields) => hashCall({ ...CALL, ...fields }));
    expect(new Set([...hashes, hashCall(CALL)]).size).toBe(changed.length + 1);
    expect(new Set(changed.flatMap(Object.keys))).toEqual(new Set(Object.keys(CALL)));
  });

  test('is of no call that a contract could not hash, or could hash as another', () => {
    const refused: readonly Partial<SignalCall>[] = [
      { reasoning: '\ud83d' },
      { evidence_used: ['\ude00'] },
      { confidence_millionths: 0.5 },
      { confidence_millionths: -1 },
      { confidence_millionths: 2 ** 32 },
      { generated_at_unix: 2 ** 53 },
      { evidence_hash: '0xab' },
      { evidence_hash: `0x${'AB'.repeat(32)}` },
    ];
    for (const fields of refused) expect(() => hashCall({ ...CALL, ...fields })).toThrow('call:');
  });

  test('gives the id of the signal', () => {
    const hash = `0x0123456789abcdef0123456789ABCDEF${'0'.repeat(32)}`.toLowerCase();
    expect(signalIdOf(hash as `0x${string}`)).toBe('sig_0123456789abcdef0123456789abcdef');
    expect(() => signalIdOf('0x01')).toThrow('call_hash:');
  });
});

test('the hash of a bundle is Keccak-256 of its bytes: of none, and of "abc"', () => {
  expect(hashBundle(new Uint8Array())).toBe(
    '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
  );
  expect(hashBundle(new TextEncoder().encode('abc'))).toBe(
    '0x4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45',
  );
});
