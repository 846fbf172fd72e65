import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

const OWNER_ONLY = 0o600;

/** Writes a file so that a crash leaves the old one or the new one. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`;
  await writeSynced(fresh, text);
  await rename(fresh, path);
  await syncFolder(dirname(path));
}

/** Writes a file, and resolves once its bytes are on the disk. Its name is once the folder is. */
export async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', OWNER_ONLY);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Has the names in a folder on the disk. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path);
  await folder.sync().finally(() => folder.close());
}
