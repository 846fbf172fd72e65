import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Writes a file so that a crash leaves the old one or the new one. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`;
  const file = await open(fresh, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(fresh, path);
  const folder = await open(dirname(path));
  await folder.sync().finally(() => folder.close());
}
