// Tells where the service is found, as far as that is known before it listens.

import type { Config } from '../config.ts';

/** Where browsers find the service, as far as a command can know. */
export function baseOf({ publicUrl, listen: { host, port } }: Config): string {
  return publicUrl === null ? `http://${host}:${port}` : publicUrl;
}
