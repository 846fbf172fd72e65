// A reader that makes other rows of the same bytes has another version, or held lists would stay
// as the older reader left them.

import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { advanced, legacy, readText } from '../../testing/sdn-recordings.ts';
import { READER_VERSION } from './publication.ts';

test('what the recordings come out as goes with the version of the reader', async () => {
  const said = await Promise.all([legacy, advanced].map((text) => readText(text)));
  const digest = createHash('sha256').update(JSON.stringify(said)).digest('hex');
  // Where the digest changes, raise READER_VERSION and give both anew.
  expect({ version: READER_VERSION, digest }).toEqual({
    version: 3,
    digest: 'ce251d477129e1d0e4df4ad926b67d0166e3032477e755892228fbe6c6aedb56',
  });
});
