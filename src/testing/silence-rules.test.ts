// CONTRIBUTING.md says of each rule of the silence test what the test itself says.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LEAK_RULES } from './silence-rules.ts';

test('every rule of the silence test stands in CONTRIBUTING.md, word by word', () => {
  const page = readFileSync(new URL('../../CONTRIBUTING.md', import.meta.url), 'utf8');
  for (const [rule, { means, next }] of Object.entries(LEAK_RULES)) {
    expect(page).toContain(`| ${rule} | ${means} | ${next} |`);
  }
});
