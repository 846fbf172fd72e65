// Signatures of RFC 8032 hold by its letter, and nothing else does.

import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { expect, test } from 'vitest';
import { parseBase64Url } from './bytes.ts';
import { verifyEd25519 } from './ed25519.ts';

/** RFC 8032, section 7.1: secret, public key, message, signature. */
const VECTORS = [
  [
    '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    '',
    'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155' +
      '5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  ],
  [
    '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
    '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    '72',
    '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da' +
      '085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  ],
  [
    'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
    'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
    'af82',
    '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac' +
      '18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
  ],
  [
    '833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42',
    'ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf',
    'ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a' +
      '2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f',
    'dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b589' +
      '09351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704',
  ],
] as const;
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

const bytesOf = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'));

test.each(VECTORS)(
  'the vector of the secret %s holds, and is what this machine signs',
  (...hex) => {
    const [secret, publicKey, message, signature] = hex.map(bytesOf);
    if (!secret || !publicKey || !message || !signature) throw new Error('a vector has four parts');
    expect(verifyEd25519(signature, message, publicKey)).toBe(true);
    const key = createPrivateKey({
      key: Buffer.concat([PKCS8, secret]),
      format: 'der',
      type: 'pkcs8',
    });
    expect(Uint8Array.from(sign(null, message, key))).toEqual(signature);
    const { x } = createPublicKey(key).export({ format: 'jwk' });
    expect(parseBase64Url(String(x))).toEqual(publicKey);
    for (let at = 0; at < signature.length; at += 1) {
      const changed = signature.map((byte, i) => (i === at ? byte ^ 1 : byte));
      expect(verifyEd25519(changed, message, publicKey), `byte ${at}`).toBe(false);
    }
    expect(verifyEd25519(signature, Uint8Array.of(...message, 0), publicKey)).toBe(false);
  },
);

test('the same signature with the group order added to its second half is another encoding', () => {
  const [, publicKey, message, signature] = VECTORS[1].map(bytesOf);
  if (!publicKey || !message || !signature) throw new Error('a vector has four parts');
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  const half = Buffer.from(signature.subarray(32)).reverse().toString('hex');
  const more = (BigInt(`0x${half}`) + order).toString(16).padStart(64, '0');
  const forged = Buffer.concat([signature.subarray(0, 32), Buffer.from(more, 'hex').reverse()]);
  expect(verifyEd25519(Uint8Array.from(forged), message, publicKey)).toBe(false);
});

test('bytes of another length, or that are no point, are no key and no signature', () => {
  const [, publicKey, message, signature] = VECTORS[0].map(bytesOf);
  if (!publicKey || !message || !signature) throw new Error('a vector has four parts');
  expect(verifyEd25519(signature.subarray(1), message, publicKey)).toBe(false);
  expect(verifyEd25519(signature, message, publicKey.subarray(1))).toBe(false);
  expect(verifyEd25519(signature, message, new Uint8Array(32).fill(0xff))).toBe(false);
  expect(verifyEd25519(new Uint8Array(), message, new Uint8Array())).toBe(false);
});
