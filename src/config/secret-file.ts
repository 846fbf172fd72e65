// Answers one question: what is the secret of an embedded deployment.
// It is made once, readable by its owner only, and never replaced: what it protects would be lost.

import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { SecretOrigin } from '../config.ts';
import { Secret } from './secret.ts';

const SECRET_BYTES = 32;
const SECRET_FORM = /^[0-9a-f]{64}$/;
const OWNER_ONLY = 0o600;
const OWNER_ONLY_DIR = 0o700;
const OTHERS = 0o077;

/**
 * The secret, made on first use where it lives in a file. Throws where the file holds something
 * else, or where others of the machine can read it.
 */
export async function secretOf(origin: SecretOrigin): Promise<Secret> {
  if (origin.kind === 'given') return origin.current;
  const held = await readHeld(origin.path);
  if (held !== null) return held;
  await makeOnce(origin.path);
  const made = await readHeld(origin.path);
  if (made === null) throw new Error(`The secret file could not be made: ${origin.path}`);
  return made;
}

async function readHeld(path: string): Promise<Secret | null> {
  const facts = await stat(path).catch(absent);
  if (facts === null) return null;
  if ((facts.mode & OTHERS) !== 0) {
    throw new Error(`The secret file can be read by others; chmod 600 it: ${path}`);
  }
  const text = (await readFile(path, 'utf8')).trim();
  if (!SECRET_FORM.test(text)) throw new Error(`The secret file holds no secret: ${path}`);
  return new Secret(text);
}

function absent(fault: unknown): null {
  if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return null;
  throw fault;
}

// Written whole beside its place and linked there: of two makers one wins, and none sees a half.
async function makeOnce(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: OWNER_ONLY_DIR });
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const file = await open(draft, 'wx', OWNER_ONLY);
  try {
    await file.writeFile(`${randomBytes(SECRET_BYTES).toString('hex')}\n`);
    await file.sync();
    await link(draft, path).catch(alreadyThere);
  } finally {
    await file.close();
    await rm(draft, { force: true });
  }
}

function alreadyThere(fault: unknown): void {
  if (!(fault instanceof Error && 'code' in fault && fault.code === 'EEXIST')) throw fault;
}
