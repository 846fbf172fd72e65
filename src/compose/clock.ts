import { MS_PER_S } from '../chain/time.ts';

/** Unix seconds, whole. */
export function nowS(): number {
  return Math.floor(Date.now() / MS_PER_S);
}

/** Waits, or ends at once when the signal does. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener('abort', finish, { once: true });
  });
}
