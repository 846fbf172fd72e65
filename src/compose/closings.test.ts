// Opened resources are closed, also after a start that fails half-way.

import { afterEach, describe, expect, test, vi } from 'vitest';
import { deriveSecrets } from '../access/secret.ts';
import { parseConfig } from '../config.ts';
import { StoreUnavailable } from '../stores/control/engine/database.ts';
import { remoteWarehouse } from '../stores/warehouse/engine/remote.ts';
import { closings, openWhole } from './closings.ts';
import { outsideOf } from './outside.ts';
import { startParts } from './parts.ts';
import { startSimulated } from './simulated.ts';
import type { Stores } from './stores.ts';

afterEach(() => vi.useRealTimers());

const TIMERS = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const;

/** Resources opened in a test, with the order of their closing. */
function opening() {
  const closed: string[] = [];
  const told: string[] = [];
  const opened = closings((name, fault) => told.push(`${name}: ${String(fault)}`));
  const add = (name: string) => opened.add(name, () => void closed.push(name));
  return { opened, add, closed, told };
}

describe('closing', () => {
  test('goes in reverse order, and past what cannot be closed', async () => {
    const { opened, add, closed, told } = opening();
    add('first');
    opened.add('second', () => {
      throw new Error('stuck');
    });
    opened.add('third', () => Promise.reject(new Error('stuck too')));
    add('fourth');
    await opened.closeAll();
    expect(closed).toEqual(['fourth', 'first']);
    expect(told).toEqual(['third: Error: stuck too', 'second: Error: stuck']);
    await opened.closeAll();
    expect(closed).toEqual(['fourth', 'first']);
  });

  test('follows an opening that fails, whose fault is told', async () => {
    const { opened, add, closed } = opening();
    const half = openWhole(opened, async () => {
      add('first');
      add('second');
      throw new Error('the third did not open');
    });
    await expect(half).rejects.toThrow('the third did not open');
    expect(closed).toEqual(['second', 'first']);
  });
});

describe('a start that fails', () => {
  const parsed = parseConfig({}, { cwd: '/nowhere' });
  if (!parsed.ok) throw new Error(parsed.problems.join());
  const { config } = parsed;

  test('after some parts polled their tables leaves no timer behind', async () => {
    vi.useFakeTimers({ toFake: [...TIMERS] });
    let asked = 0;
    // One look-up meets a bug; those of the other parts a store that is silent, and go on polling.
    const query = async () => {
      asked += 1;
      throw asked === 1 ? new RangeError('a bug') : new StoreUnavailable('it is gone', 'EGONE');
    };
    const close = async () => undefined;
    const stores: Stores = {
      database: {
        kind: 'pglite',
        durable: true,
        query,
        transaction: query,
        isLate: () => false,
        close,
      },
      warehouse: remoteWarehouse('http://127.0.0.1:1'),
      secrets: deriveSecrets('a root secret of the tests', null),
      close,
    };
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const { opened, told } = opening();
    const starting = openWhole(opened, () =>
      startParts(config, stores, outsideOf(config), log, opened),
    );
    await expect(starting).rejects.toThrow('a bug');
    expect(asked).toBeGreaterThan(1);
    expect(vi.getTimerCount()).toBe(0);
    expect(told).toEqual([]);
  });

  test('after the simulated providers listen leaves none of them listening', async () => {
    const { opened } = opening();
    const urls: string[] = [];
    const starting = openWhole(opened, async () => {
      const log = { info: () => undefined, error: () => undefined };
      const { outside } = await startSimulated({ ...config, simulate: true }, log, opened);
      urls.push(...outside.mirrors, String(outside.prices), String(outside.explorer?.url));
      throw new Error('the next part did not start');
    });
    await expect(starting).rejects.toThrow('the next part did not start');
    expect(urls).toHaveLength(3);
    for (const url of urls) await expect(fetch(url)).rejects.toThrow('fetch failed');
  });
});
