import { expect, test } from 'vitest';
import { Read, type Reading, read, unread } from './reading.ts';
import { portInTime, type Soon, STOPPED_BY_TIME, whenThere } from './waiting.ts';

test('what is there is gone on with at once, and what comes later when it comes', async () => {
  const now: Soon<number> = whenThere(1, (value) => value + 1);
  expect(now).toBe(2);
  const later: Soon<number> = whenThere(Promise.resolve(1), (value) => value + 1);
  expect(later).toBeInstanceOf(Promise);
  expect(await later).toBe(2);
});

test('a fault stays a fault, thrown where it is there now and rejected where it comes later', async () => {
  const broken = (): number => {
    throw new Error('broken');
  };
  expect(() => whenThere(1, broken)).toThrow('broken');
  await expect(whenThere(Promise.resolve(1), broken)).rejects.toThrow('broken');
  await expect(whenThere(Promise.reject(new Error('lost')), broken)).rejects.toThrow('lost');
});

type Look = { readonly names: readonly string[] } & {
  readonly [M in 'late' | 'soon']: () => Promise<Reading<string, 'look'>>;
};
const SOURCE = { name: 'look', url: '', as_of: 0, kind: 'table', simulated: false } as const;

function lookOver(calls: string[]): Look {
  return {
    names: ['one'],
    late: () => {
      calls.push('late');
      return new Promise(() => undefined);
    },
    soon: async () => {
      calls.push('soon');
      return read('found', { port: 'look', source: SOURCE });
    },
  };
}

test('a port that does not answer before the signal is unread, and is not asked after it', async () => {
  const calls: string[] = [];
  const ended = new AbortController();
  const port = portInTime('look', lookOver(calls), ended.signal);
  expect(port.names).toEqual(['one']);
  expect(await port.soon()).toBeInstanceOf(Read);
  const late = port.late();
  ended.abort();
  expect(await late).toEqual(unread('look', STOPPED_BY_TIME));
  expect(await port.soon()).toEqual(unread('look', STOPPED_BY_TIME));
  expect(calls).toEqual(['soon', 'late']);
});

test('a fault of a port within its time stays a fault', async () => {
  const broken = { ask: (): Promise<Reading<string, 'look'>> => Promise.reject(new Error('lost')) };
  const { signal } = new AbortController();
  await expect(portInTime('look', broken, signal).ask()).rejects.toThrow('lost');
});

test('a method that answers several readings, or one of another port, is not taken', () => {
  const { signal } = new AbortController();
  const several = { ask: async () => new Map<string, Reading<string, 'look'>>() };
  const other = {
    ask: async (): Promise<Reading<string, 'other'>> => unread('other', STOPPED_BY_TIME),
  };
  // @ts-expect-error each of several readings has to be told by who knows what was asked
  portInTime('look', several, signal);
  // @ts-expect-error the reading would be unread under the name of another port
  portInTime('look', other, signal);
});
