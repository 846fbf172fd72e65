// Are bytes the same once they travelled as text, and is a text of another form refused?

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { base64Text, parseBase64, parseBase64Url } from './bytes.ts';

test('base64 has one form, and every bytes come back out of it', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const text = base64Text(bytes);
      expect(text).toBe(Buffer.from(bytes).toString('base64'));
      expect(parseBase64(text)).toEqual(bytes);
      expect(parseBase64Url(Buffer.from(bytes).toString('base64url'))).toEqual(bytes);
    }),
  );
  const long = new Uint8Array(100_000).map((_, i) => i);
  expect(parseBase64(base64Text(long))).toEqual(long);
  for (const wrong of ['QQ', 'QR==', 'QQ==\n', ' QQ==', 'Q-==', 'QQ===', '====', '=QQQ']) {
    expect(parseBase64(wrong), wrong).toBeNull();
  }
  for (const wrong of ['Q', 'QR', 'QQ==', 'Q+', 'QQ\n']) {
    expect(parseBase64Url(wrong), wrong).toBeNull();
  }
});
