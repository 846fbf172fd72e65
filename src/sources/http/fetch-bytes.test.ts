import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { type FetchAsk, fetchBytes, redirectTarget } from './fetch.ts';
import { FetchFault, isInsideAddress, shownAddress } from './outbound-call.ts';

const MARK = 'MARKER7f3a';
const LIMITS = {
  deadlineMs: 5_000,
  headersMs: 2_000,
  bytesMax: 10_000,
  redirectsMax: 3,
  dripWindowMs: 2_000,
  dripBytesMin: 10,
};

type Handler = (request: IncomingMessage, response: ServerResponse) => void;
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serve(handler: Handler): Promise<URL> {
  const server = createServer(handler);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return new URL(`http://127.0.0.1:${address.port}/list?key=${MARK}`);
}

async function got(url: URL, more: Partial<FetchAsk> = {}) {
  const chunks: Uint8Array[] = [];
  const answer = await fetchBytes({
    url,
    headers: { 'user-agent': 'exhibit/0' },
    limits: LIMITS,
    signal: new AbortController().signal,
    isInside: isInsideAddress,
    into: async (chunk) => void chunks.push(chunk),
    ...more,
  });
  return { ...answer, text: Buffer.concat(chunks).toString('utf8') };
}

async function faultOf(url: URL, more: Partial<FetchAsk> = {}): Promise<string> {
  const error: unknown = await got(url, more).then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof FetchFault)) throw new Error(`no fault: ${String(error)}`);
  expect(JSON.stringify([error.message, error.fault, error.stack])).not.toContain(MARK);
  return error.fault;
}

describe('what comes', () => {
  test('a body comes whole, with the headers of its answer', async () => {
    const url = await serve((_, response) => response.setHeader('etag', '"e"').end('a list'));
    const answer = await got(url);
    expect(answer).toMatchObject({ status: 200, bytes: 6, text: 'a list' });
    expect(answer.header('etag')).toBe('"e"');
    expect(answer.header('last-modified')).toBeNull();
  });

  test('redirects are followed, relative ones too, with the headers that were asked', async () => {
    const seen: string[] = [];
    const url = await serve((request, response) => {
      seen.push(
        `${request.url} ${request.headers['user-agent']} ${request.headers['if-none-match']}`,
      );
      if (request.url === '/there?sig=1') response.end('served');
      else response.writeHead(302, { location: '/there?sig=1' }).end('moved');
    });
    const headers = { 'user-agent': 'exhibit/0', 'if-none-match': '"e"' };
    expect((await got(url, { headers })).text).toBe('served');
    expect(seen).toEqual([`/list?key=${MARK} exhibit/0 "e"`, '/there?sig=1 exhibit/0 "e"']);
  });

  test('user info is sent as a header to its own origin and to no other', async () => {
    const seen: (string | undefined)[] = [];
    const other = await serve((request, response) => {
      seen.push(request.headers.authorization);
      response.end('served');
    });
    const url = await serve((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(302, { location: other.href }).end();
    });
    url.username = 'user';
    url.password = 'p%20w';
    expect((await got(url)).text).toBe('served');
    expect(seen).toEqual([`Basic ${Buffer.from('user:p w').toString('base64')}`, undefined]);
  });

  test('a receiver slower than the sender gets every byte, and the sender may close', async () => {
    const sent = Buffer.alloc(3_000_000, 'list ');
    const url = await serve((_, response) => response.setHeader('connection', 'close').end(sent));
    const limits = { ...LIMITS, bytesMax: sent.byteLength };
    const chunks: Uint8Array[] = [];
    const into = async (chunk: Uint8Array) => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      chunks.push(chunk);
    };
    expect((await got(url, { limits, into })).bytes).toBe(sent.byteLength);
    expect(Buffer.concat(chunks).equals(sent)).toBe(true);
  });

  test('word that nothing changed has no body', async () => {
    const url = await serve((_, response) => response.writeHead(304).end());
    expect(await got(url)).toMatchObject({ status: 304, bytes: 0, text: '' });
  });
});

describe('what is a fault', () => {
  test.each([400, 401, 403, 404, 410, 429, 500, 502, 503, 204, 206])(
    'a status of %i is a fault, whatever comes with it',
    async (status) => {
      const url = await serve((_, response) => response.writeHead(status).end());
      expect(await faultOf(url)).toBe(`answered ${status}`);
    },
  );

  test('redirects without end', async () => {
    const url = await serve((request, response) =>
      response.writeHead(302, { location: String(request.url) }).end(),
    );
    expect(await faultOf(url)).toBe('redirected more than 3 times');
  });

  test.each([
    [undefined, 'redirected to no address'],
    ['http://[', 'redirected to no address'],
    ['file:///etc/passwd', 'redirected to something other than http'],
  ])('a redirect to %s', async (location, fault) => {
    const url = await serve((_, response) =>
      response.writeHead(302, location === undefined ? {} : { location }).end(),
    );
    expect(await faultOf(url)).toBe(fault);
  });

  test('a body over the cap ends there, whatever length was declared', async () => {
    const url = await serve((_, response) => response.end(Buffer.alloc(20_000)));
    expect(await faultOf(url)).toBe('sent over 10000 bytes');
  });

  test('a body that ends before its declared length', async () => {
    const url = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('half', () => response.destroy());
    });
    expect(await faultOf(url)).toBe('closed the connection early');
  });

  test('a body that drips', async () => {
    const url = await serve((_, response) => {
      const timer = setInterval(() => response.write('.'), 20);
      response.once('close', () => clearInterval(timer));
    });
    const limits = { ...LIMITS, dripWindowMs: 200, dripBytesMin: 1_000 };
    expect(await faultOf(url, { limits })).toBe('sent under 1000 bytes in 0.2 s');
  });

  test('a body that stops coming', async () => {
    const url = await serve((_, response) => void response.write('some'));
    const limits = { ...LIMITS, dripWindowMs: 200, dripBytesMin: 1 };
    expect(await faultOf(url, { limits })).toMatch(/^sent (under 1 bytes in|nothing for) 0.2 s$/);
  });

  test('a body that goes on past the deadline', async () => {
    const url = await serve((_, response) => {
      const timer = setInterval(() => response.write('0123456789'), 10);
      response.once('close', () => clearInterval(timer));
    });
    const limits = { ...LIMITS, deadlineMs: 300, dripWindowMs: 100, dripBytesMin: 1 };
    expect(await faultOf(url, { limits })).toBe('did not end within 0.3 s');
  });

  test('an answer that does not begin in time', async () => {
    const url = await serve(() => undefined);
    const limits = { ...LIMITS, headersMs: 200 };
    expect(await faultOf(url, { limits })).toBe('did not answer within 0.2 s');
  });

  test('no answer at all', async () => {
    const url = await serve(() => undefined);
    const limits = { ...LIMITS, deadlineMs: 200 };
    expect(await faultOf(url, { limits })).toBe('did not end within 0.2 s');
  });

  test('nobody listening', async () => {
    const url = await serve(() => undefined);
    const [server] = servers.splice(0);
    await new Promise((resolve) => server?.close(resolve));
    expect(await faultOf(url)).toBe('refused the connection');
  });

  test('something that speaks no HTTP', async () => {
    const url = await serve(() => undefined);
    url.protocol = 'https:';
    expect(await faultOf(url)).toMatch(/^the connection failed \([A-Z_]+\)$/);
  });

  test('a caller that goes away, before or meanwhile', async () => {
    const caller = new AbortController();
    const url = await serve(() => caller.abort());
    expect(await faultOf(url, { signal: caller.signal })).toBe('the download was stopped');
    expect(await faultOf(url, { signal: caller.signal })).toBe('the download was stopped');
  });
});

test('a redirect never leads from https down to http; up it may', () => {
  const secure = new URL('https://publisher.example/list');
  expect(() => redirectTarget('http://publisher.example/list', secure)).toThrow(
    'redirected from https to http',
  );
  expect(redirectTarget('/other', secure).href).toBe('https://publisher.example/other');
  const plain = new URL('http://publisher.example/list');
  expect(redirectTarget(secure.href, plain).href).toBe(secure.href);
});

test('what the receiver of the body throws is thrown as it is', async () => {
  const url = await serve((_, response) => response.end('a list'));
  const full = Object.assign(new Error('no space'), { code: 'ENOSPC', syscall: 'write' });
  await expect(got(url, { into: () => Promise.reject(full) })).rejects.toBe(full);
});

test('an address is shown by scheme and host only', () => {
  const url = new URL(`https://${MARK}:${MARK}@mirror.example:8443/${MARK}?k=${MARK}#${MARK}`);
  expect(shownAddress(url)).toBe('https://mirror.example:8443');
  expect(shownAddress(new URL(`file:///srv/${MARK}/SDN.XML`))).toBe('file:');
});
