import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startSecure, trustAnyCertificate } from '../../testing/tls-stand-in.ts';
import {
  type FetchAsk,
  fetchBytes,
  fetchJson,
  type JsonAsk,
  outsideBody,
  redirectTarget,
  StatusFault,
} from './fetch.ts';
import {
  FetchFault,
  goThrough,
  isInsideAddress,
  isProxied,
  literalHost,
  originText,
} from './outbound-call.ts';

const MARK = 'MARKER7f3a';
const LIMITS = {
  deadlineMs: 5_000,
  headersMs: 2_000,
  bytesMax: 10_000,
  redirectsMax: 3,
  dripWindowMs: 2_000,
  dripBytesMin: 10,
};

describe('fetch bytes', () => {
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
    expect(originText(url)).toBe('https://mirror.example:8443');
    expect(originText(new URL(`file:///srv/${MARK}/SDN.XML`))).toBe('file:');
  });
});

describe('fetch json', () => {
  const MARK = 'MARKER7f3a';
  const servers: Server[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  async function serve(handler: (request: IncomingMessage, response: ServerResponse) => void) {
    const server = createServer(handler);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return new URL(`http://user:${MARK}@127.0.0.1:${address.port}/${MARK}?apikey=${MARK}`);
  }

  function got(url: URL, over: Partial<JsonAsk> = {}): Promise<unknown> {
    const limits = { deadlineMs: 2_000, bytesMax: 1_000 };
    const signal = new AbortController().signal;
    return fetchJson({ url, body: null, limits, signal, ...over });
  }

  async function faultOf(asked: Promise<unknown>): Promise<FetchFault> {
    const error: unknown = await asked.then(
      () => null,
      (reason: unknown) => reason,
    );
    if (!(error instanceof FetchFault)) throw new Error(`no fault: ${String(error)}`);
    expect(JSON.stringify([error.message, error.fault, error.stack])).not.toContain(MARK);
    return error;
  }

  test('JSON is given as it came; user info goes as a header, a body by POST', async () => {
    const url = await serve((request, response) => {
      const { method, headers } = request;
      response.end(JSON.stringify({ method, authorization: headers.authorization }));
    });
    const pair = Buffer.from(`user:${MARK}`).toString('base64');
    expect(await got(url)).toEqual({ method: 'GET', authorization: `Basic ${pair}` });
    expect(await got(url, { body: { id: 1 } })).toMatchObject({ method: 'POST' });
  });

  test.each([
    ['<html><body>down</body></html>', 'answered HTML, not JSON'],
    ['', 'answered nothing'],
    ['{"a":[1,', 'answered no whole JSON'],
    [`[${'1,'.repeat(600)}1]`, 'sent over 1000 bytes'],
  ])('a body of %j is a fault', async (body, fault) => {
    const url = await serve((_, response) => response.end(body));
    expect((await faultOf(got(url))).fault).toBe(fault);
  });

  test.each([400, 403, 404, 500, 503])('a list under status %i is a fault', async (status) => {
    const url = await serve((_, response) => response.writeHead(status).end('[]'));
    expect(await faultOf(got(url))).toMatchObject({ status, said: [] });
  });

  test('another status is a fault, with what it said and when to ask again', async () => {
    const url = await serve((_, response) => {
      response.writeHead(429, { 'retry-after': '7' }).end('{"error":{"code":-32005}}');
    });
    const fault = await faultOf(got(url));
    expect(fault).toBeInstanceOf(StatusFault);
    expect(fault).toMatchObject({ status: 429, retryAfterMs: 7_000, said: { error: {} } });
  });

  test('a redirect is not followed: a key would travel with it', async () => {
    const url = await serve((_, response) => {
      response.writeHead(302, { location: `https://elsewhere.example/${MARK}` }).end();
    });
    expect((await faultOf(got(url))).fault).toBe('redirected (302)');
  });

  test('silence, a cut connection and a caller that hangs up are faults', async () => {
    const silent = await serve(() => undefined);
    const limits = { deadlineMs: 100, bytesMax: 10 };
    expect((await faultOf(got(silent, { limits }))).fault).toBe('did not answer within 0.1 s');
    const hung = new AbortController();
    const waiting = faultOf(got(silent, { signal: hung.signal }));
    hung.abort();
    expect((await waiting).fault).toBe('the question was stopped');
    const cut = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{', () => response.destroy());
    });
    expect((await faultOf(got(cut))).fault).toContain('closed the connection early');
    const nobody = new URL('http://127.0.0.1:1/');
    expect((await faultOf(got(nobody))).fault).toBe('refused the connection');
  });
});

describe('a body of an outside', () => {
  const NOT_ALL = [
    'truncated',
    'incomplete',
    'partial',
    'has_more',
    'hasMore',
    'next',
    'next_page',
    'nextPage',
    'next_page_params',
    'next_page_token',
    'nextPageToken',
    'next_cursor',
    'nextCursor',
  ];
  const body = outsideBody({ rows: z.array(z.string()) });

  test.each(NOT_ALL)('that says by “%s” that it is not all is refused', (member) => {
    for (const said of [true, 'page-2', 2, { page: 2 }]) {
      expect(body.safeParse({ rows: ['a'], [member]: said }).success, String(said)).toBe(false);
    }
    for (const said of [false, '', null, undefined]) {
      expect(body.safeParse({ rows: ['a'], [member]: said }).success, String(said)).toBe(true);
    }
  });

  test('says that it is not all by no member that is missing above', () => {
    expect(Object.keys(outsideBody({}).shape).sort()).toEqual([...NOT_ALL].sort());
  });
});

describe('network', () => {
  const LIMITS = {
    deadlineMs: 5_000,
    headersMs: 2_000,
    bytesMax: 10_000,
    redirectsMax: 3,
    dripWindowMs: 2_000,
    dripBytesMin: 10,
  };
  const closings: (() => Promise<void>)[] = [];
  let distrust: () => void;
  beforeAll(() => {
    distrust = trustAnyCertificate();
  });
  afterAll(() => distrust());
  afterEach(async () => {
    for (const close of closings.splice(0)) await close();
  });

  async function secure(at: string, listener: RequestListener): Promise<string> {
    const { origin, close } = await startSecure(at, listener);
    closings.push(close);
    return origin;
  }

  async function plain(listener: RequestListener): Promise<string> {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closings.push(async () => void server.close());
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return `http://127.0.0.1:${address.port}`;
  }

  /**
   * The result of a download: its text, or the fault. `web` are addresses that count as outside.
   */
  async function got(origin: string, web: readonly string[] = []): Promise<string> {
    const chunks: Uint8Array[] = [];
    const asked = {
      url: new URL('/list', origin),
      headers: {},
      limits: LIMITS,
      signal: new AbortController().signal,
      isInside: (address: string) => !web.includes(address) && isInsideAddress(address),
      into: async (chunk: Uint8Array) => void chunks.push(chunk),
    };
    return await fetchBytes(asked).then(
      () => Buffer.concat(chunks).toString('utf8'),
      (error: unknown) => {
        if (error instanceof FetchFault) return error.fault;
        throw error;
      },
    );
  }

  const to =
    (location: string): RequestListener =>
    (_, response) =>
      response.writeHead(302, { location }).end();
  const list: RequestListener = (_, response) => response.end('a list');
  const INTO = 'redirected to an address inside this network';
  const PLAIN = 'plain http is for addresses inside this network only';

  describe('a redirect from the web', () => {
    const WEB = ['127.0.0.1', '127.0.0.2'];

    test('leads to another host on the web', async () => {
      const other = await secure('127.0.0.2', list);
      expect(await got(await secure('127.0.0.1', to(`${other}/list`)), WEB)).toBe('a list');
    });

    test.each([
      'https://169.254.169.254/latest/meta-data',
      'https://127.0.0.3/',
      'https://10.1.2.3/',
      'https://[::1]/',
      'https://[::ffff:127.0.0.3]/',
      'https://[64:ff9b::7f00:3]/',
      'https://0x7f.3/',
      'https://2130706435/',
    ])('never leads to %s', async (location) => {
      expect(await got(await secure('127.0.0.1', to(location)), WEB)).toBe(INTO);
    });

    test('never leads to a name that means an address inside, whatever it meant before', async () => {
      const port = new URL(await secure('127.0.0.1', list)).port;
      const origin = await secure('127.0.0.2', to(`https://localhost:${port}/list`));
      expect(await got(origin, ['127.0.0.2'])).toBe(INTO);
    });

    test('never leads to plain http', async () => {
      const other = await plain(list);
      const fault = await got(await secure('127.0.0.1', to(`${other}/list`)), WEB);
      expect(fault).toBe('redirected from https to http');
    });

    test('leads nowhere inside after another host on the web either', async () => {
      const second = await secure('127.0.0.2', to('https://192.168.0.1/'));
      expect(await got(await secure('127.0.0.1', to(second)), WEB)).toBe(INTO);
    });
  });

  describe('a configured address inside this network', () => {
    test('may be plain http, and may redirect inside and to the web', async () => {
      const other = await plain(list);
      expect(await got(await plain(to(`${other}/list`)))).toBe('a list');
      const web = await secure('127.0.0.2', list);
      expect(await got(await plain(to(`${web}/list`)), ['127.0.0.2'])).toBe('a list');
    });

    test('plain http goes nowhere else, by a number or a name', async () => {
      const origin = await plain(list);
      expect(await got(origin, ['127.0.0.1'])).toBe(PLAIN);
      const { port } = new URL(origin);
      expect(await got(`http://localhost:${port}`, ['127.0.0.1', '::1'])).toBe(PLAIN);
      const away = await plain(to('http://192.0.2.1/list'));
      expect(await got(away)).toBe(PLAIN);
    });
  });

  test('addresses inside are those of this machine, of private networks and of no host', () => {
    const inside = [
      '127.0.0.1',
      '10.255.255.255',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
      '0.0.0.0',
      '255.255.255.255',
      '::',
      '::1',
      'fe80::1',
      'fd00::1',
      '::ffff:10.0.0.1',
      '64:ff9b::a00:1',
    ];
    const outside = ['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1', '64:ff9b::808:808'];
    expect(inside.filter((one) => !isInsideAddress(one))).toEqual([]);
    expect(outside.filter(isInsideAddress)).toEqual([]);
    expect(literalHost(new URL('https://[::1]:8443/'))).toBe('::1');
    expect(literalHost(new URL('https://publisher.example/'))).toBeNull();
  });
});

describe('proxy', () => {
  const signal = new AbortController().signal;
  const closings: (() => Promise<void>)[] = [];
  const asked: string[] = [];
  let distrust: () => void;
  beforeAll(() => {
    distrust = trustAnyCertificate();
  });
  afterAll(() => distrust());

  /** A proxy that leads every tunnel to one server, and asks for user info. */
  async function startProxy(leadTo: string, refuses: boolean): Promise<URL> {
    const known = `Basic ${Buffer.from(`${MARK}:secret`).toString('base64')}`;
    const lets = ({ headers }: IncomingMessage) => headers['proxy-authorization'] === known;
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.writeHead(lets(request) ? 200 : 407).end('"handed on"');
    });
    server.on('connect', (request, socket) => {
      asked.push(`CONNECT ${request.url}`);
      if (refuses || !lets(request)) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      const { hostname, port } = new URL(leadTo);
      const on = connect(Number(port), hostname, () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        on.pipe(socket).pipe(on);
      });
      on.on('error', () => socket.destroy());
      socket.on('error', () => on.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closings.push(async () => {
      server.closeAllConnections();
      server.close();
    });
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return new URL(`http://${MARK}:secret@127.0.0.1:${address.port}`);
  }

  let origin: string;
  beforeEach(async () => {
    const publisher = await startSecure('127.0.0.1', (request, response) => {
      if (request.url === '/to-inside') response.writeHead(302, { location: 'https://10.0.0.1/' });
      response.end('"a list"');
    });
    closings.push(publisher.close);
    origin = publisher.origin;
  });
  afterEach(async () => {
    goThrough(null);
    asked.length = 0;
    for (const close of closings.splice(0)) await close();
  });

  async function got(url: string): Promise<string> {
    const chunks: Uint8Array[] = [];
    const into = async (chunk: Uint8Array) => void chunks.push(chunk);
    const ask = { headers: {}, limits: LIMITS, signal, isInside: isInsideAddress, into };
    return await fetchBytes({ url: new URL(url), ...ask }).then(
      () => Buffer.concat(chunks).toString('utf8'),
      (error: unknown) => {
        if (!(error instanceof FetchFault)) throw error;
        expect(error.stack).not.toContain(MARK);
        return error.fault;
      },
    );
  }

  const json = (url: string) =>
    fetchJson({
      url: new URL(url),
      body: null,
      limits: { deadlineMs: 5_000, bytesMax: 100 },
      signal,
    });

  describe('through a proxy', () => {
    test('https goes by a tunnel, for downloads and for providers', async () => {
      goThrough(await startProxy(origin, false));
      expect(await got('https://publisher.example/list')).toBe('"a list"');
      expect(await json('https://provider.example:8443/api')).toBe('a list');
      expect(asked).toEqual(['CONNECT publisher.example:443', 'CONNECT provider.example:8443']);
    });

    test('plain http of a provider is handed to it whole; a list is not taken so', async () => {
      goThrough(await startProxy(origin, false));
      expect(await json('http://provider.example/api?q=1')).toBe('handed on');
      expect(asked).toEqual(['GET http://provider.example/api?q=1']);
      const plain = 'plain http is for addresses inside this network only';
      expect(await got('http://publisher.example/list')).toBe(plain);
    });

    test('a redirect inside is refused here, whatever the proxy would reach', async () => {
      goThrough(await startProxy(origin, false));
      const fault = 'redirected to an address inside this network';
      expect(await got('https://publisher.example/to-inside')).toBe(fault);
    });

    test('one that refuses, or is not there, is named as that and not by its address', async () => {
      goThrough(await startProxy(origin, true));
      expect(await got('https://publisher.example/list')).toBe('the proxy answered 403');
      goThrough(new URL(`http://${MARK}@127.0.0.1:1`));
      expect(await got('https://publisher.example/list')).toMatch(/^the proxy gave no connection/);
    });

    test('what lies inside is asked directly', async () => {
      goThrough(await startProxy(origin, true));
      expect(await got(`${origin}/list`)).toBe('"a list"');
      expect(asked).toEqual([]);
      const urls = ['http://node:8545', 'http://localhost:1', 'http://10.0.0.7', 'https://[::1]/'];
      expect(urls.filter((url) => isProxied(new URL(url)))).toEqual([]);
      expect(isProxied(new URL('https://8.8.8.8/'))).toBe(true);
    });
  });
});
