// The version comes from package.json and nowhere else.

import { readFileSync } from 'node:fs';

const file = new URL('../../package.json', import.meta.url);
const parsed: unknown = JSON.parse(readFileSync(file, 'utf8'));

/** The version, as `0.1.0`. */
export const VERSION = versionIn(parsed);

/** The User-Agent of outbound requests. */
export const USER_AGENT = `exhibit/${VERSION}`;

// By hand: the program says its version before anything else is loaded.
function versionIn(manifest: unknown): string {
  const { version }: { version?: unknown } = Object(manifest);
  if (typeof version === 'string' && version !== '') return version;
  throw new Error('package.json names no version');
}
