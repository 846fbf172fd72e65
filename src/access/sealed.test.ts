// Does what is sealed open for this service and its owner's row alone?

import { expect, test } from 'vitest';
import { deriveSecrets, seal, unseal } from './secret.ts';

const OLD = 'the root secret before';
const NEW = 'the root secret of now';
const TEXT = '{"platform":"discord"}';

test('what is sealed opens again, and twice the same is sealed differently', () => {
  const secrets = deriveSecrets(NEW, null);
  const [one, other] = [seal(TEXT, 'int_1', secrets), seal(TEXT, 'int_1', secrets)];
  expect(unseal(one, 'int_1', secrets)).toBe(TEXT);
  expect(Buffer.from(one.bytes).equals(Buffer.from(other.bytes))).toBe(false);
  expect(Buffer.from(one.bytes).includes('discord')).toBe(false);
});

test('it opens under the secret before while that is set, and not without', () => {
  const sealed = seal(TEXT, 'int_1', deriveSecrets(OLD, null));
  expect(unseal(sealed, 'int_1', deriveSecrets(NEW, OLD))).toBe(TEXT);
  expect(unseal(sealed, 'int_1', deriveSecrets(NEW, null))).toBeNull();
});

test('it opens in no other row, and not with any bit changed', () => {
  const secrets = deriveSecrets(NEW, null);
  const sealed = seal(TEXT, 'int_1', secrets);
  expect(unseal(sealed, 'int_2', secrets)).toBeNull();
  for (let at = 0; at < sealed.bytes.length; at += 1) {
    const bytes = Uint8Array.from(sealed.bytes);
    bytes[at] = Number(bytes[at]) ^ 1;
    expect([at, unseal({ ...sealed, bytes }, 'int_1', secrets)]).toEqual([at, null]);
  }
  expect(unseal({ ...sealed, bytes: new Uint8Array(3) }, 'int_1', secrets)).toBeNull();
});
