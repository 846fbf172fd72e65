import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Read, Unread } from '../../evidence/reading.ts';
import {
  ADDRESS_MARK,
  delivered,
  deliveredFile,
  mirrorKeeps,
} from '../../ports/publisher.suite.ts';
import type { Mirror } from '../../ports/sanctions.ts';
import {
  type PublisherFault,
  type StartedPublisher,
  startPublisher,
} from '../../world/publisher.ts';
import {
  addressKey,
  DOWNLOAD_LIMITS,
  fileMirror,
  httpMirror,
  listUserAgent,
  PUBLISHER_EXPORTS,
  publicAddress,
  REFUSED_KEPT_MAX,
  spoolIn,
} from './publisher.ts';

const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const SIGNAL = new AbortController().signal;
const LIMITS = {
  ...DOWNLOAD_LIMITS,
  deadlineMs: 20_000,
  dripWindowMs: 2_000,
  dripBytesMin: 1_024,
};

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'exhibit-test-mirror-'));
});
afterAll(() => rm(home, { recursive: true }));

const folder = () => mkdtemp(join(home, 'spool-'));
const now = () => NOW;

async function webMirror(url: URL, more: { userAgent?: string; spoolDir?: string } = {}) {
  const spool = spoolIn(more.spoolDir === undefined ? await folder() : more.spoolDir);
  const userAgent = more.userAgent === undefined ? listUserAgent('0.1.0') : more.userAgent;
  return httpMirror({ url, spool, userAgent, now, limits: LIMITS });
}

mirrorKeeps('a web server', async () => {
  let text: string | null = null;
  const server = createServer((request, response) => {
    if (text === null) response.writeHead(404).end();
    else if (request.headers['if-none-match'] === `"${text}"`) response.writeHead(304).end();
    else response.setHeader('etag', `"${text}"`).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const place = `127.0.0.1:${address.port}/${ADDRESS_MARK}?key=${ADDRESS_MARK}`;
  return {
    mirror: await webMirror(new URL(`http://${ADDRESS_MARK}:${ADDRESS_MARK}@${place}`)),
    serve: async (next) => {
      text = next;
    },
    remove: async () => {
      text = null;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
});

mirrorKeeps('a file', async () => {
  const path = join(await folder(), `${ADDRESS_MARK}.xml`);
  const spool = spoolIn(await folder());
  return {
    mirror: fileMirror({ url: pathToFileURL(path), spool, now, obtained_at: null }),
    serve: (text) => writeFile(path, text),
    remove: () => rm(path),
    close: async () => undefined,
  };
});

describe('the publisher on the web', () => {
  let publisher: StartedPublisher;
  beforeAll(async () => {
    publisher = await startPublisher({ now });
  });
  afterAll(() => publisher.close());
  afterEach(() => publisher.fault(null));

  test('its redirect to an expiring link is followed, and the link is kept nowhere', async () => {
    const mirror = await webMirror(publisher.url('SDN_XML.ZIP'));
    const { file, validators } = await deliveredFile(mirror);
    expect(publisher.requests.map(({ status }) => status)).toContain(302);
    expect(JSON.stringify([mirror, file, validators])).not.toMatch(/X-Amz|s3/);
    await file.discard();
  });

  test('each request names the product, in a form that the publisher’s firewall passes', async () => {
    const seen = publisher.requests.length;
    await (await deliveredFile(await webMirror(publisher.url('SDN_XML.ZIP')))).file.discard();
    const agents = publisher.requests.slice(seen).map(({ headers }) => headers['user-agent']);
    const own = 'Mozilla/5.0 (compatible; exhibit/0.1.0; sanctions list refresh)';
    expect(agents).toEqual([own, own]);
    const bare = await webMirror(publisher.url('SDN_XML.ZIP'), { userAgent: 'exhibit/0.1.0' });
    const refused = await bare.deliver(null, new AbortController().signal);
    expect(refused instanceof Unread && refused.why.reason).toContain('answered 403');
  });

  test('an unchanged list costs no body: the last answer is a 304', async () => {
    const mirror = await webMirror(publisher.url('SDN_ADVANCED.ZIP'));
    const { file, validators } = await deliveredFile(mirror);
    await file.discard();
    expect((await delivered(mirror, validators)).kind).toBe('unchanged');
    expect(publisher.requests.at(-1)?.status).toBe(304);
    const dateOnly = { etag: null, last_modified: validators.last_modified };
    expect((await delivered(mirror, dateOnly)).kind).toBe('unchanged');
  });

  test('a server that asks to be asked later is told with how long', async () => {
    const server = createServer((_, response) => {
      response.writeHead(503, { 'retry-after': '90' }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const origin = `http://127.0.0.1:${address.port}`;
    const mirror = await webMirror(new URL(origin));
    const reason = `${origin} failed: answered 503.`;
    expect(await delivered(mirror, null)).toEqual({ kind: 'later', reason, after_s: 90 });
    await new Promise((closed) => server.close(closed));
  });

  const faults: readonly [PublisherFault, string][] = [
    ['forbidden', 'answered 403'],
    ['not-found', 'answered 404'],
    ['error500', 'answered 500'],
    ['expired-link', 'answered 403'],
    ['redirect-loop', 'redirected more than 5 times'],
    ['cut-connection', 'closed the connection early'],
    ['slow', 'sent under 1024 bytes in 2 s'],
  ];
  test.each(faults)('%s is silence with its cause, and leaves no file', async (fault, cause) => {
    publisher.fault(fault);
    const spoolDir = await folder();
    const mirror = await webMirror(publisher.url('SDN_XML.ZIP'), { spoolDir });
    const reading = await mirror.deliver(null, SIGNAL);
    expect(reading instanceof Unread && reading.why.reason).toBe(
      `${publisher.origin} failed: ${cause}.`,
    );
    expect(await readdir(spoolDir)).toEqual([]);
  });

  test('a publisher that does not answer is silence when the caller stops waiting', async () => {
    publisher.fault('hang');
    const mirror = await webMirror(publisher.url('SDN.XML'));
    const reading = await mirror.deliver(null, AbortSignal.timeout(100));
    expect(reading instanceof Unread && reading.why.reason).toContain('the download was stopped');
  });

  test('a disk that takes nothing is silence too, not an exception', async () => {
    const spoolDir = await folder();
    await writeFile(join(spoolDir, 'taken'), '');
    const mirror = await webMirror(publisher.url('SDN.XML'), { spoolDir: join(spoolDir, 'taken') });
    const reading = await mirror.deliver(null, SIGNAL);
    expect(reading instanceof Unread && reading.why.reason).toContain('could not be written here');
  });
});

describe('what is put aside', () => {
  async function refusedFile(mirror: Mirror): Promise<void> {
    const { file } = await deliveredFile(mirror);
    expect(await file.keepAside('truncated', 'it ends early')).toBeInstanceOf(Read);
    await file.discard();
  }

  test('a refused file is kept with its reason, and only the newest few are', async () => {
    const spoolDir = await folder();
    const path = join(await folder(), 'SDN.XML');
    const mirror = fileMirror({
      url: pathToFileURL(path),
      spool: spoolIn(spoolDir),
      now,
      obtained_at: null,
    });
    for (let i = 0; i < REFUSED_KEPT_MAX + 2; i += 1) {
      await writeFile(path, `file ${i}`);
      await refusedFile(mirror);
      const kept = (await readdir(join(spoolDir, 'refused'))).filter((n) => n.endsWith('.txt'));
      for (const name of kept) await utimes(join(spoolDir, 'refused', name), i, i - kept.length);
    }
    const names = await readdir(join(spoolDir, 'refused'));
    expect(names).toHaveLength(2 * REFUSED_KEPT_MAX);
    const reasons = names.filter((name) => name.endsWith('.txt'));
    for (const name of reasons) {
      expect(await readFile(join(spoolDir, 'refused', name), 'utf8')).toBe(
        'truncated: it ends early\n',
      );
    }
    expect(existsSync(path)).toBe(true);
  });

  test('what a process that ended left in the spool is removed by the next delivery', async () => {
    const spoolDir = await folder();
    const left = join(spoolDir, 'abcd.part');
    await writeFile(left, 'half');
    await utimes(left, 1, 1);
    await (await spoolIn(spoolDir).begin()).abandon();
    expect(existsSync(left)).toBe(false);
  });
});

describe('how an address is shown', () => {
  test('the publisher’s own pages in full, every other by scheme and host', () => {
    for (const own of PUBLISHER_EXPORTS) expect(publicAddress(new URL(own))).toBe(own);
    const [own] = PUBLISHER_EXPORTS;
    expect(publicAddress(new URL(`${own}?k=${ADDRESS_MARK}`))).toBe(new URL(own).origin);
    expect(publicAddress(new URL(`https://m.example/${ADDRESS_MARK}`))).toBe('https://m.example');
  });

  test('two addresses on one host have two keys, and no key shows its address', () => {
    const a = addressKey(new URL(`https://m.example/${ADDRESS_MARK}/SDN.XML`));
    const b = addressKey(new URL(`https://m.example/${ADDRESS_MARK}/SDN_ADVANCED.XML`));
    expect(a).not.toBe(b);
    expect(a).toMatch(/^[0-9a-f]{64}$/);
  });
});
