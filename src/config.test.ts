import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { PrivateUrl, Secret } from './config/readers.ts';
import { configurationPage, exampleFile, SETTINGS } from './config/settings.ts';
import {
  type Config,
  type Environment,
  parseConfig,
  secretOf,
  withStartDefaults,
} from './config.ts';

const CWD = '/srv/exhibit';
const ROOT = new URL('../', import.meta.url);

function good(env: Environment): Config {
  const parsed = parseConfig(env, { cwd: CWD });
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  return parsed.config;
}

function problems(env: Environment): readonly string[] {
  const parsed = parseConfig(env, { cwd: CWD });
  return parsed.ok ? [] : parsed.problems;
}

describe('what holds without settings', () => {
  test('everything is embedded, on loopback, and reads the publisher', () => {
    const config = good({});
    expect(config).toMatchObject({
      listen: { host: '127.0.0.1', port: 8080 },
      publicUrl: null,
      ops: { kind: 'none' },
      surfaces: ['edge', 'hosted', 'integrations', 'intelligence', 'mcp', 'signals', 'web'],
      simulate: false,
      dataDir: '/srv/exhibit/data',
      store: { kind: 'embedded', dir: '/srv/exhibit/data/control' },
      warehouse: { kind: 'embedded', dir: '/srv/exhibit/data/warehouse' },
      secret: { kind: 'file', path: '/srv/exhibit/data/secret' },
      explorer: { kind: 'none' },
      liveBudgetMs: 20_000,
      tipMaxAgeMs: 3_600_000,
    });
    expect(config.sanctions).toMatchObject({
      kind: 'mirrors',
      refreshMs: 3_600_000,
      floor: 500,
      maxAge: { kind: 'limited', ms: 7 * 86_400_000 },
    });
    expect(config.intelligence).toEqual({ tokens: [], allowAnonymous: false });
  });

  test('the configuration cannot be changed', () => {
    const config = good({ EXHIBIT_SURFACES: 'hosted' });
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.listen)).toBe(true);
    expect(Object.isFrozen(config.surfaces)).toBe(true);
    expect(Object.isFrozen(config.sanctions)).toBe(true);
  });

  test('an empty value counts as not set', () => {
    expect(good({ EXHIBIT_PORT: '', EXHIBIT_DATABASE_URL: '  ' }).listen.port).toBe(8080);
  });
});

describe('values', () => {
  test.each([
    ['90m', 90 * 60_000],
    ['2h', 7_200_000],
    ['7d', 604_800_000],
    ['120s', 120_000],
    ['3', 3 * 3_600_000],
    ['1.5h', 5_400_000],
    ['2 h', 7_200_000],
  ])('a refresh of %s is %d ms', (text, ms) => {
    expect(good({ EXHIBIT_SDN_REFRESH: text }).sanctions.refreshMs).toBe(ms);
  });

  test.each(['none', '-1h', '1w', 'h', '1h30m', '0', 'soon'])(
    'a refresh of %s is refused',
    (text) => {
      expect(problems({ EXHIBIT_SDN_REFRESH: text })).toEqual([
        'EXHIBIT_SDN_REFRESH: expected a time such as 90m, 2h or 7d (a bare number is hours), from 1m to 366d',
      ]);
    },
  );

  test('a bare maximum age is days, and none lifts it', () => {
    expect(good({ EXHIBIT_SDN_MAX_AGE: '2' }).sanctions.maxAge).toEqual({
      kind: 'limited',
      ms: 2 * 86_400_000,
    });
    expect(good({ EXHIBIT_SDN_MAX_AGE: 'none' }).sanctions.maxAge).toEqual({ kind: 'lifted' });
  });

  test('stores and sources become variants with what they need', () => {
    const config = good({
      EXHIBIT_DATABASE_URL: 'postgres://u:pw@db.example/exhibit',
      EXHIBIT_SECRET: 'a-secret-of-the-deployment',
      EXHIBIT_WAREHOUSE_URL: 'https://default:pw@ch.example:8443/?database=x',
      EXHIBIT_EXPLORER_URL: 'https://explorer.example/v2/api',
      EXHIBIT_EXPLORER_KEY: 'K3Y',
      EXHIBIT_RPC_BASE: 'https://rpc.example/v1/PATHKEY',
      EXHIBIT_OPS_PORT: '9090',
      EXHIBIT_PUBLIC_URL: 'https://api.example/',
      EXHIBIT_SDN_URL: 'file:/srv/SDN.ZIP, https://mirror.example/SDN.XML',
    });
    expect(config.store.kind).toBe('postgres');
    expect(config.warehouse).toMatchObject({ kind: 'clickhouse', layout: 'single' });
    expect(config.ops).toEqual({ kind: 'set', port: 9090 });
    expect(config.publicUrl).toBe('https://api.example');
    expect(config.explorer.kind).toBe('set');
    expect(config.rpc.base?.reveal()).toBe('https://rpc.example/v1/PATHKEY');
    expect(config.rpc.ethereum).toBeNull();
    const mirrors = config.sanctions.kind === 'mirrors' ? config.sanctions.mirrors : [];
    expect(mirrors.map((one) => one.reveal())).toEqual([
      'file:///srv/SDN.ZIP',
      'https://mirror.example/SDN.XML',
    ]);
  });

  test('lists of pairs are read, a token may hold colons', () => {
    const config = good({
      EXHIBIT_INTELLIGENCE_TOKENS: 'pro:colons:in-a-token,free:sixteen-letters-',
      EXHIBIT_SURFACES: 'web, hosted',
    });
    expect(config.intelligence.tokens.map((one) => [one.tier, one.token.reveal()])).toEqual([
      ['pro', 'colons:in-a-token'],
      ['free', 'sixteen-letters-'],
    ]);
    expect(config.surfaces).toEqual(['hosted', 'web']);
  });
});

describe('problems', () => {
  test('a bearer token that could be guessed is refused, with the length that it needs', () => {
    const short = 'fifteen-letters';
    expect(
      problems({
        EXHIBIT_ADMIN_TOKEN: short,
        EXHIBIT_INTELLIGENCE_TOKENS: `pro:sixteen-letters-,free:${short}`,
      }),
    ).toEqual([
      'EXHIBIT_ADMIN_TOKEN: expected at least 16 characters without white space',
      'EXHIBIT_INTELLIGENCE_TOKENS: expected tier:token pairs, comma-separated (tiers free, pro, ' +
        'desk), each token of at least 16 characters without white space',
    ]);
  });

  test('a public URL with a path is refused, and a believed proxy needs the host in front', () => {
    expect(problems({ EXHIBIT_PUBLIC_URL: 'https://api.example/exhibit' })).toEqual([
      expect.stringContaining('EXHIBIT_PUBLIC_URL: expected an absolute http: or https: URL of a'),
    ]);
    for (const text of ['true', '1', 'true ', ' 1']) {
      expect(problems({ EXHIBIT_TRUST_PROXY: text })).toEqual([
        'EXHIBIT_TRUST_PROXY: needs EXHIBIT_PUBLIC_URL too, the host that clients ask',
      ]);
    }
    expect(good({ EXHIBIT_TRUST_PROXY: 'false' }).trustProxy).toBe(false);
  });

  test('an anchoring contract needs a node of its chain, and its key a contract', () => {
    const contract = { EXHIBIT_ANCHOR_CONTRACT: `0x${'Ab'.repeat(20)}` };
    const key = { EXHIBIT_ANCHOR_KEY: `0x${'01'.repeat(32)}` };
    const node = { EXHIBIT_RPC_BASE: 'https://node.example' };
    expect(problems(contract)).toEqual([
      'EXHIBIT_ANCHOR_CONTRACT: needs EXHIBIT_RPC_BASE or EXHIBIT_ANCHOR_RPC too, a node of its chain',
    ]);
    expect(problems(key)).toEqual(['EXHIBIT_ANCHOR_KEY: needs EXHIBIT_ANCHOR_CONTRACT too']);
    const sepolia = { ...contract, ...node, EXHIBIT_ANCHOR_CHAIN: '84532' };
    expect(problems(sepolia)).toEqual([
      expect.stringMatching(
        /^EXHIBIT_ANCHOR_CHAIN: names none of .*8453 \(base\).*_ANCHOR_RPC too/,
      ),
    ]);
    const own = { EXHIBIT_ANCHOR_RPC: 'https://sepolia.example/key' };
    expect(good({ ...sepolia, ...own }).anchoring).toMatchObject({ chainId: 84_532 });
    expect(good({ ...contract, ...own }).anchoring.node?.reveal()).toBe(
      'https://sepolia.example/key',
    );
    expect(problems(own)).toEqual(['EXHIBIT_ANCHOR_RPC: needs EXHIBIT_ANCHOR_CONTRACT too']);
    expect(problems({ ...contract, EXHIBIT_SIMULATE: 'true' })).toEqual([
      'EXHIBIT_ANCHOR_CONTRACT: no statement about simulated data is anchored',
    ]);
    for (const bad of ['0x12', `0x${'00'.repeat(32)}`, `0x${'ff'.repeat(32)}`]) {
      expect(problems({ ...contract, ...node, EXHIBIT_ANCHOR_KEY: bad })).toEqual([
        'EXHIBIT_ANCHOR_KEY: expected a private key: 0x and 64 hex digits',
      ]);
    }
    const { anchoring } = good({ ...contract, ...node, ...key });
    expect(anchoring).toMatchObject({ chainId: 8453, contract: `0x${'ab'.repeat(20)}` });
    expect(JSON.stringify(good({ ...contract, ...node, ...key }))).not.toContain('0101');
  });

  test('each problem has one line, all of them at once', () => {
    expect(
      problems({
        EXHIBIT_SDN_UR: 'x',
        EXHIBIT_PORT: '80a',
        EXHIBIT_SURFACES: 'hosted,everything',
        EXHIBIT_WHATEVER_THIS_IS: '1',
        EXHIBIT_EXPLORER_KEY: 'k',
      }),
    ).toEqual([
      'EXHIBIT_SDN_UR: no such setting; did you mean EXHIBIT_SDN_URL?',
      'EXHIBIT_WHATEVER_THIS_IS: no such setting',
      'EXHIBIT_PORT: expected a port, a whole number from 0 to 65535',
      'EXHIBIT_SURFACES: expected some of edge, hosted, integrations, intelligence, mcp, signals, ' +
        'web, comma-separated',
      'EXHIBIT_EXPLORER_KEY: needs EXHIBIT_EXPLORER_URL too',
    ]);
  });

  test('the names that tests and clusters use are ignored', () => {
    const config = good({
      EXHIBIT_TEST_DATA: '/x',
      EXHIBIT_SERVICE_HOST: '10.0.0.1',
      EXHIBIT_SERVICE_PORT_HTTP: '80',
      EXHIBIT_PORT_8080_TCP_ADDR: '10.0.0.1',
      HOME: '/root',
    });
    expect(config.listen.port).toBe(8080);
  });

  test('a port that Kubernetes injected is explained', () => {
    expect(problems({ EXHIBIT_PORT: 'tcp://10.0.0.1:8080' })[0]).toContain(
      'enableServiceLinks: false',
    );
  });

  test('a shared database needs a secret that all processes know', () => {
    expect(problems({ EXHIBIT_DATABASE_URL: 'postgresql://db/x' })).toEqual([
      'EXHIBIT_DATABASE_URL: needs EXHIBIT_SECRET too',
    ]);
  });

  test('made-up data and a real source do not go together', () => {
    expect(problems({ EXHIBIT_SIMULATE: 'true', EXHIBIT_SDN_URL: 'file:/x' })).toHaveLength(1);
    expect(problems({ EXHIBIT_WORLD_FAULTS: 'explorer:timeout' })).toHaveLength(1);
    expect(
      good({ EXHIBIT_SIMULATE: '1', EXHIBIT_WORLD_FAULTS: 'explorer:timeout' }).worldFaults,
    ).toEqual([{ provider: 'explorer', fault: 'timeout' }]);
  });

  test('no line repeats a refused value', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.keys(SETTINGS)),
        fc.stringMatching(/^[a-z]{2}:\/\/[A-Z]{12}@[A-Z]{12}\/\?[A-Z]{8} [A-Z]{8}$/),
        (name, text) => {
          for (const line of problems({ [name]: text })) {
            for (const piece of text.split(/[^A-Z]+/).filter((one) => one !== '')) {
              expect(line).not.toContain(piece);
            }
          }
        },
      ),
    );
  });
});

describe('simulation', () => {
  test('its stores and its secret are its own', () => {
    const config = good({ EXHIBIT_SIMULATE: 'true', EXHIBIT_SECRET: 'the-live-secret-of-this' });
    expect(config.dataDir).toBe('/srv/exhibit/data/simulated');
    expect(config.secret).toEqual({ kind: 'file', path: '/srv/exhibit/data/simulated/secret' });
    expect(config.sanctions.kind).toBe('simulated');
  });

  test('npm start sets it only when no source is set and the host is loopback', () => {
    const simulates = (env: Environment) => withStartDefaults(env)['EXHIBIT_SIMULATE'] === 'true';
    expect(simulates({})).toBe(true);
    expect(simulates({ EXHIBIT_PORT: '9000', EXHIBIT_HOST: 'localhost' })).toBe(true);
    expect(simulates({ EXHIBIT_HOST: '127.0.0.2' })).toBe(true);
    expect(simulates({ EXHIBIT_HOST: '0.0.0.0' })).toBe(false);
    expect(simulates({ EXHIBIT_HOST: '127.example.org' })).toBe(false);
    expect(simulates({ EXHIBIT_SIMULATE: 'false' })).toBe(false);
    for (const name of ['SDN_FLOOR', 'RPC_BASE', 'PRICES_URL', 'DATABASE_URL', 'WAREHOUSE_URL']) {
      expect(simulates({ [`EXHIBIT_${name}`]: 'x' })).toBe(false);
    }
  });

  test('npm start does not hide a name that is no setting behind the simulated world', () => {
    expect(problems(withStartDefaults({ EXHIBIT_KRAKEN_URL: 'https://h.example' }))).toEqual([
      'EXHIBIT_KRAKEN_URL: no such setting',
    ]);
  });
});

describe('what is printed', () => {
  const MARK = 'M4RKER';
  /** A verifier key is public, and is shown. */
  const WITNESS_KEY = 'witness.example+4ac50073+BAcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH';
  const TEXTS: { readonly [name: string]: string } = {
    EXHIBIT_EXPLORER_KEY: MARK,
    EXHIBIT_ANALYST_KEY: MARK,
    EXHIBIT_ANALYST_MODEL: 'model-1',
    EXHIBIT_ANALYST_PRICE: '0.15:0.60',
    EXHIBIT_SECRET: `${MARK}-and-some-more-text`,
    EXHIBIT_SECRET_PREVIOUS: `${MARK}-and-some-more-text`,
    EXHIBIT_LOG_ORIGIN: 'log.example',
    EXHIBIT_ANCHOR_CONTRACT: `0x${'ab'.repeat(20)}`,
    EXHIBIT_ADMIN_TOKEN: `${MARK}-and-some-more-text`,
    EXHIBIT_INTELLIGENCE_TOKENS: `pro:${MARK}-and-some-more-text`,
  };
  const SCHEMES: { readonly [name: string]: string } = {
    EXHIBIT_DATABASE_URL: 'postgresql',
    EXHIBIT_BINANCE_STREAM_URL: 'wss',
    EXHIBIT_BYBIT_STREAM_URL: 'wss',
  };
  function markedUrl(name: string): string {
    const scheme = SCHEMES[name] ?? 'https';
    const fragment = name === 'EXHIBIT_LOG_WITNESSES' ? WITNESS_KEY : MARK;
    return `${scheme}://${MARK}:${MARK}@host.example:99/${MARK}?key=${MARK}#${fragment}`;
  }

  test('a marker in every URL and every secret is nowhere in the printed configuration', () => {
    const urls = Object.entries(SETTINGS)
      .filter(([, setting]) => setting.reader.showing === 'origin')
      .map(([name]) => [name, markedUrl(name)]);
    expect(urls.length).toBeGreaterThan(18);
    const config = good({ ...TEXTS, ...Object.fromEntries(urls) });
    const printed = [JSON.stringify(config), inspect(config, { depth: 9, showHidden: true })];
    for (const text of printed) expect(text.toLowerCase()).not.toContain(MARK.toLowerCase());
    expect(JSON.stringify(config.shown)).toContain('postgresql://host.example:99');
  });

  test('a secret shows nothing of itself, whichever way it is printed', () => {
    const secret = new Secret('hidden');
    const printed = [
      `${secret}`,
      JSON.stringify({ secret }),
      inspect(secret, { showHidden: true }),
    ];
    expect(printed).toEqual(['[secret]', '{"secret":"[secret]"}', '[secret]']);
    expect(secret.reveal()).toBe('hidden');
  });

  test('user info that cannot be decoded is a mistake in the setting, and is not repeated', () => {
    const bad = problems({ EXHIBIT_SDN_URL: 'https://hidden:%E0%A4%A@host.example/SDN.XML' });
    expect(bad).toHaveLength(1);
    expect(bad[0]).toContain('EXHIBIT_SDN_URL');
    expect(bad[0]).not.toContain('hidden');
    expect(problems({ EXHIBIT_SDN_URL: 'https://u%40x:%E2%82%AC@host.example/SDN.XML' })).toEqual(
      [],
    );
  });

  test('a URL shows its scheme and host, a file URL its scheme only', () => {
    expect(`${new PrivateUrl('https://u:p@h.example/k?q')}`).toBe('https://h.example');
    expect(`${new PrivateUrl('file:/root/key')}`).toBe('file:');
    expect(() => new PrivateUrl('//hidden')).toThrow(/^not an absolute URL$/);
  });
});

describe('the secret of an embedded deployment', () => {
  const made: string[] = [];
  afterEach(() => {
    for (const dir of made.splice(0)) rmSync(dir, { recursive: true, force: true });
  });
  function fresh(): string {
    const dir = mkdtempSync(join(tmpdir(), 'exhibit-secret-'));
    made.push(dir);
    return join(dir, 'inner', 'secret');
  }

  test('it is made once, for its owner only, however many ask at once', async () => {
    const path = fresh();
    const asked = await Promise.all(
      Array.from({ length: 20 }, () => secretOf({ kind: 'file', path })),
    );
    const texts = new Set(asked.map((one) => one.reveal()));
    expect(texts.size).toBe(1);
    expect([...texts][0]).toMatch(/^[0-9a-f]{64}$/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('a file that others can read, or that holds something else, is refused', async () => {
    const path = fresh();
    await secretOf({ kind: 'file', path });
    writeFileSync(path, 'short\n');
    await expect(secretOf({ kind: 'file', path })).rejects.toThrow(/holds no secret/);
    const other = join(path, '..', 'open');
    writeFileSync(other, 'a'.repeat(64), { mode: 0o644 });
    await expect(secretOf({ kind: 'file', path: other })).rejects.toThrow(/read by others/);
  });
});

describe('the pages made from the table', () => {
  test('docs/reference/configuration.md is what `exhibit config --reference` prints', () => {
    expect(readFileSync(new URL('docs/reference/configuration.md', ROOT), 'utf8')).toBe(
      configurationPage(),
    );
  });

  test('.env.example is what `exhibit config --example` prints', () => {
    expect(readFileSync(new URL('.env.example', ROOT), 'utf8')).toBe(exampleFile());
  });

  test('every initial text is a good value of its setting, and what a setting needs exists', () => {
    for (const { initial, reader, needs } of Object.values(SETTINGS)) {
      if (initial !== null) expect(reader.parse(initial)).not.toBe(undefined);
      if (needs !== null) expect(Object.keys(SETTINGS)).toContain(needs);
    }
  });
});

describe('links to explorers', () => {
  const linksOf = (text: string) => good({ EXHIBIT_EXPLORER_LINKS: text }).explorerLinks;

  test('are templates by chain, https, each with one place behind its host', () => {
    const template = 'https://explorer.example/address/{}';
    expect(linksOf(`ethereum.address:${template}`)).toEqual([
      { word: 'ethereum.address', template },
    ]);
    expect(linksOf('none')).toEqual([]);
    expect(good({}).explorerLinks).toBeNull();
  });

  test.each([
    ['not https', 'ethereum.tx:http://explorer.example/tx/{}'],
    ['no place', 'ethereum.tx:https://explorer.example/tx/'],
    ['two places', 'ethereum.tx:https://explorer.example/{}/{}'],
    ['a place in the host', 'ethereum.tx:https://{}.example/tx'],
    ['user info', 'ethereum.tx:https://a:b@explorer.example/tx/{}'],
    ['a chain that is none', 'atlantis.tx:https://explorer.example/tx/{}'],
    ['a name twice', 'ethereum.tx:https://a.example/{},ethereum.tx:https://b.example/{}'],
  ])('%s stops the start', (_, text) => {
    expect(problems({ EXHIBIT_EXPLORER_LINKS: text })).toHaveLength(1);
  });
});
