// Requests that wait for their turn for too long are refused before their work begins, without a
// charge; one long turn refuses nobody, and what shows how the service is goes on answering.

import { get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { plainRoute } from '../contract/route.ts';
import { TURN_WAIT_MS_MAX } from '../evidence/queue-watch.ts';
import { createTestHttp } from '../testing/http-server.ts';
import { watchTurns } from './turn-watch.ts';

/** The clock of the watch runs so many times faster, so that no test waits for its bounds. */
const FASTER = 10;

describe('a server whose requests keep its event loop busy', () => {
  const DECLARED = { surface: 'web', method: 'GET', access: 'open', summary: 'Of tests.' } as const;
  const responses = { 200: z.strictObject({ begun: z.int() }) };
  const heavy = plainRoute({ ...DECLARED, name: 'heavy', path: '/heavy', responses });
  const light = plainRoute({
    ...DECLARED,
    name: 'light',
    path: '/light',
    isLight: true,
    responses,
  });

  test('refuses the rest at once, begins none of them, and answers what is light', async () => {
    const turns = watchTurns(() => performance.now() * FASTER);
    let begun = 0;
    const app = createTestHttp({
      isLate: turns.isLate,
      now: () => 0,
      mounted: [
        {
          route: heavy,
          handle: async () => {
            begun += 1;
            const until = performance.now() + (2 * TURN_WAIT_MS_MAX) / FASTER;
            while (performance.now() < until);
            return heavy.reply(200, { begun });
          },
        },
        { route: light, handle: async () => light.reply(200, { begun }) },
      ],
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.address() as AddressInfo;
    const ask = (path: string) =>
      new Promise<{ status: number; retry: unknown; body: string }>((settle, refuse) => {
        get({ host: '127.0.0.1', port, path, agent: false }, async (answer) => {
          let body = '';
          for await (const chunk of answer) body += String(chunk);
          const { statusCode, headers } = answer;
          settle({ status: Number(statusCode), retry: headers['retry-after'], body });
        }).once('error', refuse);
      });
    const asked: ReturnType<typeof ask>[] = [];
    const shown: ReturnType<typeof ask>[] = [];
    let refused = 0;
    const push = (path: string, list: ReturnType<typeof ask>[]) => {
      const answer = ask(path);
      list.push(answer);
      void answer.then(({ status }) => {
        if (status !== 200) refused += 1;
      });
    };
    // They come whether or not those before were answered.
    while (refused === 0) {
      push('/heavy', asked);
      push('/heavy', asked);
      push('/light', shown);
      await new Promise((next) => setTimeout(next, 1));
    }
    for (const { status } of await Promise.all(shown)) expect(status).toBe(200);
    const answers = await Promise.all(asked);
    const away = answers.filter(({ status }) => status !== 200);
    // Whoever was refused began nothing.
    expect(begun).toBe(answers.length - away.length);
    for (const { status, retry, body } of away) {
      expect([status, retry]).toEqual([503, '1']);
      expect(body).toContain('Nothing was charged');
    }
    await vi.waitFor(() => expect(turns.isLate()).toBe(false));
    expect((await ask('/heavy')).status).toBe(200);
    turns.end();
    await app.close();
  });
});
