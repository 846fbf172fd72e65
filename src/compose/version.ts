// The version comes from package.json and nowhere else.

import { readFileSync } from 'node:fs';
import { z } from 'zod';

const manifest = z.object({ version: z.string().min(1) });
const file = new URL('../../package.json', import.meta.url);
const parsed: unknown = JSON.parse(readFileSync(file, 'utf8'));

/** The version, as `0.1.0`. */
export const VERSION = manifest.parse(parsed).version;

/** The User-Agent of outbound requests. */
export const USER_AGENT = `exhibit/${VERSION}`;
