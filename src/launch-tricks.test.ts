// What a launcher may try gains nothing, and what could not be read takes nothing back: by what the
// service answers and streams over its store, while sources are away or tell of re-orgs.

import { describe, expect, test, vi } from 'vitest';
import { DAY_S, HOUR_S } from './chain/time.ts';
import { type LaunchClock, type ServedLaunches, serveLaunches } from './launch-service.suite.ts';
import type { PublishedModels } from './ports/rug-model.ts';
import { explorerFacts } from './sources/explorer/account-facts.ts';
import { artefactIn } from './sources/files/model-artefact.ts';
import { relaysFile } from './sources/registry/registry-files.ts';
import { rugModelTable } from './stores/control/rug-models.ts';
import { evm } from './testing/addresses.ts';
import { STILL_NOW } from './testing/clock.ts';
import { embeddedControl } from './testing/control-store.ts';
import {
  CREATION_TX,
  CREATOR,
  type CreationRow,
  type ExplorerDialect,
  FACTORY,
  type SignedCreation,
  startCreationExplorer,
  TOKEN,
} from './testing/creation-explorer.ts';
import { solanaSourcesOf, walkSourcesOf } from './testing/launch-year/sources.ts';
import {
  hexOf,
  type OtherContract,
  type TrueLaunch,
  worldOf,
  type YearSource,
  type YearWorld,
} from './testing/launch-year/world.ts';
import { artefactText, modelInForce, SMALL_MODEL } from './testing/rug-models.ts';
import { memoryChainFacts } from './testing/twins/accounts.ts';
import { UNDATED } from './testing/twins/dated.ts';
import type { Body } from './transport/stream-service.suite.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const NOW = STILL_NOW;
const [ONE, OTHER] = ['launcher', 'other launcher'].map(evm) as [string, string];
const WALKS_MAX = 300;
const fresh = embeddedControl();

function launchOf(by: string, at: number, change: Partial<TrueLaunch> = {}): TrueLaunch {
  const token = hexOf(`${by} ${at}`);
  const lives = { diesAt: null, revivesAt: null, droppedAt: null, factory: null, thief: null };
  const credits = [{ from: at, to: by }] as const;
  return { chain: 'ethereum', token, at, listed: true, ...lives, credits, ...change };
}

/** A launch that died within a day. */
function rugOf(by: string, at: number): TrueLaunch {
  return launchOf(by, at, { diesAt: at + 20 * HOUR_S });
}

const YOUNG = launchOf(ONE, NOW - 2 * HOUR_S);
/** A launcher whose launch of before died, and who has launched another. */
const CAUGHT = [rugOf(ONE, NOW - 40 * DAY_S), YOUNG];

const FACTORY_OF_ONE = evm('factory of the launcher');
const FACTORY_CONTRACT: OtherContract = {
  address: FACTORY_OF_ONE,
  maker: ONE,
  signer: ONE,
  at: NOW - 50 * DAY_S,
};

/** More contracts than a walk examines, which the launcher makes in two minutes. */
function dummiesAt(at: number, length = 60): OtherContract[] {
  return Array.from({ length }, (_, n) => {
    return { address: hexOf(`dummy ${n}`), maker: ONE, signer: ONE, at: at + n };
  });
}

type Truth = {
  readonly launches: readonly TrueLaunch[];
  readonly others?: readonly OtherContract[];
  /** How sources are away from an hour after the beginning on. */
  readonly away?: { readonly [source in YearSource]?: string };
  readonly inForce?: PublishedModels['inForce'];
};

function worldWith({ launches, others = [], away = {} }: Truth): YearWorld {
  const [from, to] = [NOW + HOUR_S, NOW + 365 * DAY_S];
  const outagesOf = (source: YearSource) => {
    const way = away[source];
    return way === undefined ? [] : [{ source, way, from, to }];
  };
  return worldOf({ from: NOW, to, launchers: [], launches, others }, outagesOf);
}

const NO_FACTS = memoryChainFacts({ ...UNDATED, chains: [], facts: [] });

function serveWorld(truth: Truth, facts = NO_FACTS, store = fresh()) {
  const clock: LaunchClock = { at: NOW };
  const world = worldWith(truth);
  const now = () => clock.at;
  const { feed, listings } = solanaSourcesOf(world, now);
  const { inForce = modelInForce(['ethereum']) } = truth;
  const sources = { walk: walkSourcesOf(world, now), facts, feed, listings };
  return serveLaunches(store, { clock, sources, inForce });
}

/** Walks and scores until nobody is due. */
async function workOn({ walkOnce, score }: ServedLaunches): Promise<string[]> {
  const walked: string[] = [];
  while (walked.length < WALKS_MAX) {
    const one = await walkOnce();
    if (one === null) break;
    walked.push(one);
  }
  await score();
  return walked;
}

const recordPath = (address: string) => `/api/v1/evm/deployer/ethereum/${address}`;
const BOARD = '/api/v1/leaderboard';

/** Asks about wallets, and has them walked and scored. */
async function askAbout(served: ServedLaunches, ...wallets: readonly string[]): Promise<void> {
  for (const one of wallets) expect(await served.get(recordPath(one))).toContain('queued');
  expect((await workOn(served)).sort()).toEqual([...wallets].sort());
}

async function eventsOf({ readStream }: ServedLaunches, count: number): Promise<readonly Body[]> {
  const read = await readStream(({ seq }) => seq === count, '&since=0');
  return read.filter(({ type }) => type !== 'welcome');
}

/** The number of the newest event: none came after it. */
async function newestOf({ readStream }: ServedLaunches): Promise<unknown> {
  const [welcome] = await readStream(({ type }) => type === 'welcome');
  return welcome?.seq;
}

describe('a flag falls only for what was read', () => {
  test.each<[string, Truth['away']]>([
    ['a node that is silent', { node: 'silent' }],
    ['a node that cannot tell what a contract is', { node: 'undecided' }],
    ['a list of contracts that is cut', { explorer: 'cut' }],
    ['an explorer that is silent', { explorer: 'silent' }],
    ['an explorer that does not tell who made contracts', { makers: 'silent' }],
    ['a venue that is silent', { venue: 'silent' }],
    ['a venue that tells no liquidity', { venue: 'untold' }],
  ])('and stands through %s', async (_, away = {}) => {
    const served = await serveWorld({ launches: CAUGHT, away });
    await askAbout(served, ONE);
    expect(await served.get(BOARD)).toMatch(/"count":1.*"window_checked":true/);
    await served.goOn(7 * HOUR_S);
    expect(await workOn(served)).toEqual([ONE]);
    expect(await newestOf(served)).toBe(1);
    expect(await served.get(BOARD)).toContain(YOUNG.token);
  });

  test('and stands behind dummy contracts, which blind nobody in silence', async () => {
    const hidden = launchOf(ONE, NOW + 2 * HOUR_S);
    const others = dummiesAt(NOW + 3 * HOUR_S);
    const served = await serveWorld({ launches: [...CAUGHT, hidden], others });
    await askAbout(served, ONE);
    await served.goOn(7 * HOUR_S);
    await workOn(served);
    expect(await newestOf(served)).toBe(1);
    const board = await served.get(BOARD);
    expect(board).toContain(YOUNG.token);
    expect(board).toContain('ethereum: wallets whose contracts were read in part: 1');
    expect(await served.get(recordPath(ONE))).toMatch(/"truncated":true/);
  });

  test.each<[string, Partial<TrueLaunch>, string | null, string]>([
    [
      'another wallet is read to have signed for it at its factory',
      { factory: FACTORY_OF_ONE },
      OTHER,
      'It was read to be no launch of this wallet.',
    ],
    ['a re-org gives it to another wallet', {}, OTHER, 'The launch is not on record any more.'],
    ['its block has left the chain', {}, null, 'The launch is not on record any more.'],
  ])('where %s', async (_, made, to, reason) => {
    const credits = [...YOUNG.credits, { from: NOW + HOUR_S, to }] as const;
    const launches = [rugOf(ONE, NOW - 40 * DAY_S), { ...YOUNG, ...made, credits }];
    const served = await serveWorld({ launches, others: [FACTORY_CONTRACT] });
    await askAbout(served, ONE, OTHER);
    await served.goOn(13 * HOUR_S);
    await workOn(served);
    const [flag, retraction] = await eventsOf(served, 2);
    expect(flag).toMatchObject({ type: 'flag', address: ONE, token: YOUNG.token });
    const fallen = { type: 'retraction', retracts: 1, address: ONE, token: YOUNG.token };
    expect(retraction).toMatchObject({ ...fallen, reason });
    expect(await served.get(BOARD)).not.toContain(YOUNG.token);
    expect(await newestOf(served)).toBe(2);
  });

  test('where a mint of Solana is credited to another wallet by an earlier observation', async () => {
    const [maker, thief] = ['wallet-1', 'wallet-2'];
    const at = NOW - 2 * HOUR_S;
    const credits = [
      { from: at, to: thief },
      { from: NOW + HOUR_S, to: maker },
    ] as const;
    const gone = { chain: 'solana', token: 'mint-0', listed: false } as const;
    const launches = [
      launchOf(thief, NOW - 26 * HOUR_S, gone),
      launchOf(thief, at, { chain: 'solana', token: 'mint-1', credits }),
    ];
    const served = await serveWorld({ launches, inForce: modelInForce(['solana']) });
    const work = async () => {
      await served.collect();
      await served.settle();
      await served.score();
    };
    await work();
    await served.goOn(2 * HOUR_S);
    await work();
    const [flag, retraction] = await eventsOf(served, 2);
    expect(flag).toMatchObject({ type: 'flag', address: thief, token: 'mint-1' });
    expect(retraction).toMatchObject({ type: 'retraction', retracts: 1, address: thief });
    expect(await served.get(BOARD)).not.toContain('mint-1');
  });
});

describe('nobody hides a factory behind dummy contracts', () => {
  const factory = FACTORY_OF_ONE;
  const dead = { ...rugOf(ONE, NOW - 40 * DAY_S), factory };
  /** More than are asked what they made. */
  const MANY = 120;

  test('that it made before the first walk: what it launches is flagged', async () => {
    const launches = [dead, { ...YOUNG, factory }];
    const others = [FACTORY_CONTRACT, ...dummiesAt(NOW - 35 * DAY_S)];
    const served = await serveWorld({ launches, others });
    await askAbout(served, ONE);
    expect(await served.get(BOARD)).toMatch(new RegExp(`${YOUNG.token}.*"window_checked":true`));
  });

  test.each<[string, number]>([
    ['young', NOW - 3 * DAY_S],
    ['older than a month', NOW - 35 * DAY_S],
  ])(
    'which was never walked: what it launches is missing from no watched window, where they are %s',
    async (_, at) => {
      const launches = [dead, { ...YOUNG, factory }];
      const others = [FACTORY_CONTRACT, ...dummiesAt(at, MANY)];
      const served = await serveWorld({ launches, others });
      await askAbout(served, ONE);
      expect(await served.get(recordPath(ONE))).toMatch(/"state":"unchecked".*"truncated":true/);
      const board = await served.get(BOARD);
      expect(board).toContain('ethereum: wallets whose contracts were read in part: 1');
      expect(board).not.toContain('"window_checked":true');
    },
  );

  test('which was walked before them: what it launches after them is flagged', async () => {
    const later = launchOf(ONE, NOW + 5 * HOUR_S, { factory });
    const others = [FACTORY_CONTRACT, ...dummiesAt(NOW + 3 * HOUR_S, MANY)];
    const served = await serveWorld({ launches: [dead, later], others });
    await askAbout(served, ONE);
    await served.goOn(13 * HOUR_S);
    await workOn(served);
    expect(await served.get(BOARD)).toContain(later.token);
  });

  test('and one who signs nothing for a month blinds no window for longer', async () => {
    const others = [FACTORY_CONTRACT, ...dummiesAt(NOW - 35 * DAY_S, MANY)];
    const served = await serveWorld({ launches: [dead], others });
    await askAbout(served, ONE);
    expect(await served.get(BOARD)).toContain('"window_checked":true');
  });
});

/** A factory that is made by a factory, and so on, so many levels in all. */
function factoriesOf(levels: number): OtherContract[] {
  const at = NOW - 60 * DAY_S;
  const names = [
    FACTORY_OF_ONE,
    ...Array.from({ length: levels - 1 }, (_, n) => evm(`level ${n}`)),
  ];
  return names.map((address, n) => ({ address, maker: names[n + 1] ?? ONE, signer: ONE, at }));
}

describe('a factory that a factory made', () => {
  const factory = FACTORY_OF_ONE;
  const dead = { ...rugOf(ONE, NOW - 40 * DAY_S), factory };
  const launches = [dead, { ...YOUNG, factory }];
  const IN_PART = 'ethereum: wallets whose contracts were read in part: 1';

  test('is one level beyond the one whose launches are flagged', async () => {
    const served = await serveWorld({ launches, others: factoriesOf(1) });
    await askAbout(served, ONE);
    expect(await served.get(BOARD)).toMatch(new RegExp(`${YOUNG.token}.*"window_checked":true`));
    const record = await served.get(recordPath(ONE));
    expect(record).toMatch(/"factory_depth":1,"truncated":false/);
    expect(record).toContain(`"via":"factory:${factory}"`);
  });

  test.each([2, 3, 4])(
    'is not followed, on %d levels: nothing is credited, the record is cut, and the window a part',
    async (levels) => {
      const served = await serveWorld({ launches, others: factoriesOf(levels) });
      await askAbout(served, ONE);
      const record = await served.get(recordPath(ONE));
      expect(record).toMatch(/"state":"unchecked".*"factory_depth":1,"truncated":true/);
      expect(record).not.toContain(dead.token);
      expect(record).not.toContain(YOUNG.token);
      const board = await served.get(BOARD);
      expect(board).toContain(IN_PART);
      expect(board).not.toContain('"window_checked":true');
    },
  );

  test('cuts the record beside launches that are credited, and their flags stand', async () => {
    const own = launchOf(ONE, NOW - 3 * HOUR_S);
    const before = rugOf(ONE, NOW - 41 * DAY_S);
    const served = await serveWorld({
      launches: [...launches, before, own],
      others: factoriesOf(2),
    });
    await askAbout(served, ONE);
    const record = await served.get(recordPath(ONE));
    expect(record).toContain('"truncated":true');
    expect(record).toContain(own.token);
    const board = await served.get(BOARD);
    expect(board).toContain(own.token);
    expect(board).toContain(IN_PART);
  });

  test('holds up no window once its wallet has rested for a month', async () => {
    const served = await serveWorld({ launches: [dead], others: factoriesOf(2) });
    await askAbout(served, ONE);
    expect(await served.get(recordPath(ONE))).toContain('"truncated":true');
    expect(await served.get(BOARD)).toContain('"window_checked":true');
  });

  test('leaves the record cut beside contracts that come after its first walk', async () => {
    const later = launchOf(ONE, NOW + 5 * HOUR_S, { factory });
    const others = [...factoriesOf(2), ...dummiesAt(NOW + 3 * HOUR_S, 30)];
    const served = await serveWorld({ launches: [dead, later], others });
    await askAbout(served, ONE);
    await served.goOn(13 * HOUR_S);
    await workOn(served);
    expect(await served.get(recordPath(ONE))).toContain('"truncated":true');
    const board = await served.get(BOARD);
    expect(board).toContain(IN_PART);
    expect(board).not.toContain('"window_checked":true');
  });

  test('through whose maker a stranger made it cuts nothing', async () => {
    const [made, signer] = [evm('factory of a stranger'), evm('stranger')];
    const at = NOW - 2 * DAY_S;
    const others = [
      ...factoriesOf(1),
      { address: made, maker: factory, signer, at },
      { address: evm('made by a stranger'), maker: made, signer, at },
    ];
    const served = await serveWorld({ launches, others });
    await askAbout(served, ONE);
    expect(await served.get(recordPath(ONE))).toContain('"truncated":false');
    expect(await served.get(BOARD)).toContain('"window_checked":true');
  });
});

describe('nobody buys immunity with a question', () => {
  test.each<[string, readonly TrueLaunch[], string]>([
    ['before the first launch', [], '"state":"insufficient_evidence"'],
    ['a month after the newest one', [rugOf(ONE, NOW - 40 * DAY_S)], '"state":"all_died"'],
  ])('asked %s, a wallet is walked again without a question', async (_, before, said) => {
    const later = [rugOf(ONE, NOW + HOUR_S), launchOf(ONE, NOW + 30 * HOUR_S)];
    const served = await serveWorld({ launches: [...before, ...later] });
    await askAbout(served, ONE);
    expect(await served.get(recordPath(ONE))).toContain(said);
    await served.goOn(13 * HOUR_S);
    expect(await workOn(served)).toEqual([ONE]);
    await served.goOn(18 * HOUR_S);
    expect(await workOn(served)).toEqual([ONE]);
    expect(await served.get(BOARD)).toContain(later[1]?.token);
  });

  test('a question about a record that is older than six hours has it walked, and tells its age', async () => {
    const served = await serveWorld({ launches: [rugOf(ONE, NOW - 40 * DAY_S)] });
    await askAbout(served, ONE);
    await served.goOn(7 * HOUR_S);
    expect(await served.walkOnce()).toBeNull();
    expect(await served.get(recordPath(ONE))).toContain('It was captured 7 hours ago.');
    expect(await served.walkOnce()).toBe(ONE);
    expect(await served.get(recordPath(ONE))).not.toContain('7 hours ago');
  });

  test('whoever fills the queue holds up neither another caller nor who is walked again', async () => {
    const served = await serveWorld({ launches: CAUGHT });
    await askAbout(served, ONE);
    await served.goOn(7 * HOUR_S);
    const flood = await served.joinAs('mem_flood');
    const ask = (n: number) => served.get(recordPath(hexOf(`flood ${n}`)), flood);
    for (let n = 0; n < 200; n += 1) expect(await ask(n)).toContain('It is queued to be walked.');
    expect(await ask(200)).toContain('It was not queued: 200 addresses that this caller asked');
    expect(await served.get(recordPath(OTHER))).toContain('It is queued to be walked.');
    const first = [];
    for (let n = 0; n < 4; n += 1) first.push(await served.walkOnce());
    expect(first).toEqual(expect.arrayContaining([ONE, OTHER]));
    await served.score();
    const board = await served.get(BOARD);
    expect(board).toMatch(/ethereum: wallets that wait to be walked: 19\d/);
    expect(board).toContain('"window_checked":false');
  });
});

const relays = relaysFile(new URL('../registry/relays.csv', import.meta.url));
const ENTRY_POINT = '0x0000000071727De22E5E9d8BAf0edAc6f37da032';
const FORWARDER = '0xd8253782c45a12053594b9deB72d8e8aB2Fca54c';

describe.each<ExplorerDialect>(['Etherscan', 'Blockscout'])('the creator, by %s', (dialect) => {
  async function creatorBy(row: CreationRow, signed: SignedCreation): Promise<string> {
    const at = await startCreationExplorer(dialect, row, signed);
    const limits = { timeMs: 20_000, callsMax: 20, simulated: false };
    const facts = explorerFacts({ chains: [at], relays, now: () => NOW, ...limits });
    const { get } = await serveWorld({ launches: [] }, facts);
    return get(`/api/v1/token/${TOKEN}/creator`);
  }

  test.each<[string, CreationRow]>([
    ['once', { contractCreator: FACTORY }],
    ['twice', { contractCreator: FACTORY, contractFactory: FACTORY }],
  ])('is who signed, where the factory is named %s', async (_, row) => {
    const said = await creatorBy(row, { to: FACTORY });
    expect(said).toContain(`"creator":"${CREATOR}","factory":"${FACTORY}"`);
    expect(said).toContain('"record_checked":false');
  });

  test.each<[string, SignedCreation, string]>([
    ['a bundler', { to: FACTORY, logs: [ENTRY_POINT] }, 'ERC-4337 EntryPoint v0.7'],
    ['a relayer', { to: FORWARDER }, 'Gelato Relay 1Balance ERC-2771'],
  ])('is nobody through %s, with the reason', async (_, signed, relay) => {
    const said = await creatorBy({ contractCreator: CREATOR, contractFactory: FACTORY }, signed);
    expect(said).toContain('"state":"insufficient_evidence"');
    expect(said).toContain(`It was made by way of ${relay} (${CREATION_TX})`);
    expect(said).not.toContain(CREATOR);
  });
});

describe('what else is said', () => {
  test('a model of fewer chains waits for no chain of the one before it', async () => {
    const models = [modelInForce(['ethereum', 'solana']), modelInForce(['ethereum'], 'rug-2')];
    let newest = 0;
    const inForce: PublishedModels['inForce'] = async () => {
      const model = models[newest];
      if (model === undefined) throw new Error('test: no such model');
      return model();
    };
    const served = await serveWorld({ launches: [rugOf(ONE, NOW - 40 * DAY_S)], inForce });
    await askAbout(served, ONE);
    expect(await served.get(BOARD)).toContain('"state":"not_deployed"');
    newest = 1;
    await served.score();
    const board = await served.get(BOARD);
    expect(board).toContain('"count":0,"empty":true,"empty_reason":"quiet_window: ');
    expect(board).toContain('"window_checked":true');
    expect(board).not.toContain('solana');
  });

  test('whatever names a version leads to its card, and the card of each answers', async () => {
    const store = fresh();
    const models = rugModelTable(store, { simulated: false, nowMs: () => NOW * 1_000 });
    const versions: string[] = [];
    for (const model of [SMALL_MODEL, { ...SMALL_MODEL, base: 0.3 }]) {
      const artefact = artefactIn(artefactText(model));
      expect(await models.publish(artefact)).toMatchObject({ value: 'published' });
      versions.push(artefact.version);
    }
    const newest = String(versions.at(-1));
    const truth = { launches: CAUGHT, inForce: models.inForce };
    const served = await serveWorld(truth, NO_FACTS, store);
    await askAbout(served, ONE);
    const [flag] = await eventsOf(served, 1);
    const said = [
      await served.get(BOARD),
      await served.get('/api/leaderboard/rugs', 'Bearer pro-1'),
      JSON.stringify(flag),
    ];
    for (const one of said) {
      const named = one.match(/"model_version":"[^"]*"/g);
      const linked = one.match(/"model_card":"[^"]*"/g);
      expect(new Set(named)).toEqual(new Set([`"model_version":"${newest}"`]));
      expect(linked).toEqual(named?.map(() => `"model_card":"/api/models/rug/${newest}"`));
    }
    for (const version of versions) {
      const card = await served.get(`/api/models/rug/${version}`);
      expect(card).toContain(`"version":"${version}"`);
      expect(card).toContain(`"in_force":${version === newest}`);
      expect(await served.get(`/models/rug/${version}`)).toContain(`<code>${version}</code>`);
    }
  });

  test.each([`/api/v1/evm/deployer/ethereum/`, `/api/v1/evm/deployer/base/`, `/api/v1/token/`])(
    '%s names its subject in lower case, however it was written',
    async (path) => {
      const served = await serveWorld({ launches: [] });
      const written = `0x${ONE.slice(2).toUpperCase()}`;
      const tail = path.endsWith('token/') ? '/creator' : '';
      expect(await served.get(`${path}${written}${tail}`)).toContain(`"subject":"${ONE}"`);
    },
  );

  test('a leaderboard tells the age of what it shows, which is older than the answer', async () => {
    const served = await serveWorld({ launches: CAUGHT });
    await askAbout(served, ONE);
    await served.goOn(HOUR_S / 2);
    await served.score();
    const rugs = await served.get('/api/leaderboard/rugs', 'Bearer pro-1');
    const snapshot = `"snapshot":{"as_of":${NOW},"age_s":${HOUR_S / 2}}`;
    expect(rugs).toContain(`"generated_at":${NOW + HOUR_S / 2}`);
    expect(rugs).toContain(snapshot);
  });
});
