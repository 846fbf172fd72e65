// The wire to a stand-in breaks as a provider's does: nothing there, no answer, too many requests,
// an empty body, a cut one, and every second request; and it is whole again once it is mended.

import { afterEach, describe, expect, test } from 'vitest';
import { breakWire, startStandIn, type WireFault } from './stand-in.ts';

const started: { readonly close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const one of started.splice(0)) await one.close();
});

async function standIn(): Promise<URL> {
  const one = await startStandIn((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"whole":true}');
    return true;
  });
  started.push(one);
  return new URL(one.origin);
}

async function told(url: URL): Promise<string> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    return `${answer.status} ${await answer.text()}`;
  } catch (fault) {
    return fault instanceof Error ? fault.name : 'unknown';
  }
}

const WHOLE = '200 {"whole":true}';
const PAGE = expect.stringMatching(/^500 <!DOCTYPE html>/);

describe('a broken wire', () => {
  test.each([
    ['missing', '404 {"message":"Not Found"}'],
    ['unreachable', 'TypeError'],
    ['busy', '429 {}'],
    ['empty', '200 '],
    ['cut', 'TypeError'],
    ['stalled', 'TimeoutError'],
  ] as const)('that is %s answers so, and mended it answers', async (fault: WireFault, answer) => {
    const url = await standIn();
    expect(await told(url)).toBe(WHOLE);
    breakWire(url, fault);
    expect(await told(url)).toBe(answer);
    breakWire(url, null);
    expect(await told(url)).toBe(WHOLE);
  });

  test('that flaps fails every second request', async () => {
    const url = await standIn();
    breakWire(url, 'flapping');
    const answers = [await told(url), await told(url), await told(url), await told(url)];
    expect(answers).toEqual([PAGE, WHOLE, PAGE, WHOLE]);
  });

  test('breaks no other stand-in', async () => {
    const [one, other] = [await standIn(), await standIn()];
    breakWire(one, 'missing');
    expect(await told(other)).toBe(WHOLE);
  });
});
