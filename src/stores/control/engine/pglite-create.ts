// A process of its own: creating takes several hundred megabytes, which its exit gives back.

import { chmod, rename, rm } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { PGlite } from '@electric-sql/pglite';

const OWNER_ONLY = 0o700;
const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error('pglite-create: a directory is expected');

// The engine runs here for a second: to optimise its code takes longer than to run it as it is.
setFlagsFromString('--liftoff-only');
// A creation that is killed leaves only the directory under its working name.
const working = `${directory}.creating`;
await rm(working, { recursive: true, force: true });
const engine = await PGlite.create({ dataDir: working });
await engine.query('select 1');
await engine.close();
// The engine would leave it readable: it holds hashes of keys.
await chmod(working, OWNER_ONLY);
await rename(working, directory);
process.exit(0);
