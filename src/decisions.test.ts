// Does a record say why each dependency is here?

import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';

const names = z.record(z.string(), z.string());
const manifest = z.object({ dependencies: names, devDependencies: names });
const at = (path: string) => new URL(`../${path}`, import.meta.url);
const FOLDER = 'docs/decisions/';

test('every dependency is named in a decision record, with its size and its install scripts', () => {
  const found: unknown = JSON.parse(readFileSync(at('package.json'), 'utf8'));
  const { dependencies, devDependencies } = manifest.parse(found);
  const records = readdirSync(at(FOLDER)).map((name) => readFileSync(at(FOLDER + name), 'utf8'));
  const measured = records.filter(
    (text) => text.includes('**Size.**') && /install\s+script/i.test(text),
  );
  const missing = Object.keys({ ...dependencies, ...devDependencies }).filter(
    (name) => !measured.some((text) => text.includes(`\`${name}\``)),
  );
  expect(missing).toEqual([]);
});

test('records are numbered once each, and their titles begin with their number', () => {
  const files = readdirSync(at(FOLDER)).sort();
  const numbers = files.map((name) => Number(name.slice(0, 4)));
  expect(new Set(numbers).size).toBe(files.length);
  for (const [i, name] of files.entries()) {
    expect(readFileSync(at(FOLDER + name), 'utf8')).toMatch(new RegExp(`^# ${numbers[i]}\\. `));
  }
});
