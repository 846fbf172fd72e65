// Does a page deny anything on what was silent, cut short or stale? Pages are drawn over worlds in
// which each port falls silent by itself; what each line rests on stands in `silence-pages.ts`.

import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mountedPage } from './compose/documents.ts';
import type { AnyFeature, PortFacts, Service } from './compose/feature.ts';
import { datedSources, freshnessOf } from './compose/freshness.ts';
import { FEATURES } from './compose/list.ts';
import { outsideOf } from './compose/outside.ts';
import { parseConfig } from './config.ts';
import { Reply } from './contract/answer.ts';
import type { ProviderReport } from './ports/providers.ts';
import type { World } from './testing/planted.ts';
import { TEST_SERVICE } from './testing/service.ts';
import {
  drawingsOf,
  MEMBER,
  type PageAsk,
  STATES_NOTHING,
  subjectsOf,
} from './testing/silence-drawn.ts';
import { denialOf, linesOf } from './testing/silence-pages.ts';
import {
  type Fault,
  type PortName,
  type SilencePorts,
  type Spoiled,
  type Spoiler,
  spoiledPorts,
  tagOf,
} from './testing/silence-ports.ts';
import { codeUnder, isTest } from './testing/tidy-source.ts';
import { type PageTwins, pageTwins } from './testing/twins/members.ts';
import { wholePageOf } from './testing/whole-page.ts';
import { RING_WORLDS, WORLDS } from './testing/worlds.ts';

const FACTS = { simulated: false, version: '0', links: [], explorers: new Map() };
const ALL = FEATURES as readonly AnyFeature[];
const PAGES = ALL.flatMap(({ pages }) => pages);
const PORTS = ALL.flatMap(({ ports }) => Object.entries<PortFacts<never>>(ports));
/** The names in readings of all that pages rest on. */
const TAGS: { readonly [port: string]: string } = {
  ...Object.fromEntries(PORTS.map(([port, { tag }]) => [port, tag])),
  memberships: 'memberships',
  keys: 'keys',
  quota: 'quota',
  accessLog: 'access_log',
  sessions: 'sessions',
  followReports: 'follow_reports',
  rawRing: 'raw_ring',
};
/** The titles by which the page of the state calls sources that have one date, with their tags. */
const DATED = new Map(
  PORTS.flatMap(([, { title, tag, freshness }]) =>
    freshness.kind === 'dated' ? [[title, tag] as const] : [],
  ),
);

/** So many leaks are shown. */
const LEAKS_SHOWN = 20;
/** One world in so many is drawn with its ports spoiled, beside the empty one. */
const NTH = 8;

function isSampled({ name, empty }: World): boolean {
  const byHash = createHash('sha256').update(name).digest().readUInt32BE() % NTH === 0;
  return empty || byHash || name.includes('launch');
}

type Drawn = { readonly lines: readonly string[]; readonly log: readonly Spoiled[] };
type OverPorts = SilencePorts & PageTwins;

async function draw(
  page: AnyFeature['pages'][number],
  world: World,
  ask: PageAsk,
  spoiler: Spoiler,
  signal = new AbortController().signal,
): Promise<Drawn> {
  // As the signal of a request has it: each look-up of the page listens.
  setMaxListeners(0, signal);
  const log: Spoiled[] = [];
  const ports = spoiledPorts({ ...world.ports, ...pageTwins() }, spoiler, log) as OverPorts;
  const isState = page.route.name === 'status_page';
  const service = isState ? await serviceOver(ports, world) : TEST_SERVICE;
  const given = { ...ports, service, members: membersOver(ports) };
  const { handle } = mountedPage(page, given, FACTS);
  const { params = {}, query = {}, caller = MEMBER } = ask;
  const input = { params, query, body: undefined };
  const said = await handle(input, { now: () => world.now, signal }, caller);
  return { lines: said instanceof Reply ? linesOf(await wholePageOf(said)) : [], log };
}

function membersOver({ memberships, keys, quota, accessLog, sessions }: PageTwins) {
  return {
    reading: async () => ({ may: true, pay: async () => null }),
    settings: { memberships, keys, quota, accessLog },
    signIn: { sessions },
  };
}

const SILENT: ProviderReport = {
  name: 'Explorer',
  url: 'https://explorer.example',
  ports: ['transfer_history'],
  carries: null,
  state: 'silent',
  silent_since: 1,
  fault: 'answered 503',
  last_answered: null,
  watched_since: 0,
  hours: [{ from: 0, calls: { answered: 0, failed: 1, stopped: 0 } }],
};
const UNASKED = { state: 'not_asked', fault: null, silent_since: null, hours: [] } as const;

/** The process over these ports, as its page of the state asks it. */
async function serviceOver(ports: OverPorts, { now }: World): Promise<Service> {
  const parsed = parseConfig({}, { cwd: '/' });
  if (!parsed.ok) throw new Error(parsed.problems.join());
  const handed = PORTS.map(([key, facts]) => {
    const port: unknown = new Map<string, unknown>(Object.entries(ports)).get(key);
    return { key, facts: facts as PortFacts<object>, port: Object(port) };
  });
  const ring = { as_of: now, status: await ports.rawRing.status() };
  const sources = datedSources(handed, parsed.config, outsideOf(parsed.config), {});
  return {
    ...TEST_SERVICE,
    sources: sources.map(({ facts }) => facts),
    freshness: () => freshnessOf(sources),
    followers: ports.followReports.all,
    ring: { report: () => ring, filling: () => null },
    providers: () => [SILENT, { ...SILENT, name: 'Prices', ...UNASKED }],
  };
}

/** The lines that deny something on a weak port, or as nobody declared. */
function leaksIn(at: string, { lines, log }: Drawn, weak: readonly PortName[]): string[] {
  const methods = log.flatMap(({ told, fault }) => {
    return fault === null ? [] : [told.call.split(/[.([]/, 2).join('.')];
  });
  const tags = new Set([...methods, ...weak.map((port) => tagOf(TAGS, port))]);
  return [...new Set(lines)].flatMap((line) => {
    const rests = denialOf(line);
    if (rests === null) return [`${at} | nobody declared: ${line}`];
    return [...rests, ...freshIn(line)].some((port) => tags.has(port))
      ? [`${at} | denied: ${line}`]
      : [];
  });
}

/** The sources that a line of the state calls fresh, or all of them within their age. */
function freshIn(line: string): readonly string[] {
  if (/^Each of \d+ sources can be asked/.test(line)) return [...DATED.values()];
  const [title = '', state] = line.split(' · ');
  const tag = DATED.get(title);
  return tag !== undefined && (state === 'fresh' || state === 'held') ? [tag] : [];
}

/** Asks a page whole, then with each port that it asked spoiled, then without time. */
async function drawCells(
  page: AnyFeature['pages'][number],
  world: World,
  ask: PageAsk,
  tell: (at: string, drawn: Drawn, weak: readonly PortName[]) => void,
): Promise<void> {
  const whole = await draw(page, world, ask, () => null);
  tell('whole', whole, []);
  if (!isSampled(world)) return;
  for (const port of new Set(whole.log.map(({ told }) => told.port))) {
    for (const fault of ['silent', 'truncated', 'stale'] as const) {
      const spoiler = spoilerOf(port, fault);
      if (!whole.log.some(({ told }) => spoiler(told) === fault)) continue;
      tell(`${fault}: ${port}`, await draw(page, world, ask, spoiler), [port]);
    }
  }
  tell('no time', await draw(page, world, ask, () => null, AbortSignal.abort()), []);
}

const SHOWN = PAGES.filter(({ route }) => route.method === 'GET').map(({ route }) => route);
const DRAWINGS = drawingsOf(SHOWN);

const DECIDING = ['src/pages', 'src/command', 'src/features'];
const DECIDES_BY_TEXT =
  /\b\w*(reason|finding|caveat|says)\b\)?\??\.(startsWith|endsWith|includes|match|search)\(/gi;

function spoilerOf(port: PortName, fault: Fault): Spoiler {
  return (told) => (told.port === port && told.faults.includes(fault) ? fault : null);
}

/** Draws every page over every world, whole and with each port of it spoiled. */
export function pagesDenyNothing(): void {
  test.each(DRAWINGS)(
    '%s denies nothing on what was not read',
    { timeout: 300_000 },
    async (name, drawn) => {
      const page = PAGES.find(({ route }) => route.name === name);
      if (page === undefined) throw new Error(`test: no page ${name}`);
      const leaks = new Set<string>();
      let cells = 0;
      for (const world of WORLDS) {
        if (drawn.inEvery !== true && !isSampled(world)) continue;
        for (const subject of subjectsOf(drawn, world)) {
          for (const ask of drawn.asks(subject)) {
            await drawCells(page, world, ask, (at, told, weak) => {
              cells += 1;
              const where = `${world.name} | ${JSON.stringify(ask)} | ${at}`;
              for (const leak of leaksIn(where, told, weak)) leaks.add(leak);
            });
          }
        }
      }
      expect([...leaks].slice(0, LEAKS_SHOWN)).toEqual([]);
      console.info(`${name}: ${cells} cells, ${leaks.size} denials`);
      expect(cells).toMatchSnapshot();
    },
  );

  test('beside a hub, the dossier denies a path only where the ring is whole', async () => {
    const page = PAGES.find(({ route }) => route.name === 'dossier_page');
    if (page === undefined) throw new Error('test: no dossier');
    const [address = ''] = RING_WORLDS.flatMap(({ subjects }) => subjects);
    const drawn = await Promise.all(
      RING_WORLDS.map(async (world) => {
        const { lines } = await draw(page, world, { params: { address } }, () => null);
        const text = lines.join('\n');
        return [/No path of two hops leads/.test(text), /hub_unread: /.test(text)];
      }),
    );
    expect(drawn).toEqual([
      [false, true],
      [false, true],
      [true, false],
    ]);
  });

  test('a page that is declared is drawn, or says why it states nothing', () => {
    const told = [...DRAWINGS.map(([name]) => name), ...Object.keys(STATES_NOTHING)];
    expect(told.toSorted()).toEqual(SHOWN.map(({ name }) => name).toSorted());
  });

  test('a sentence of no known meaning, and a badge on a silent port, are seen', () => {
    expect(denialOf('No such transfer was ever met.')).toBeNull();
    expect(denialOf('It is not on the list.')).toBeNull();
    expect(denialOf('None found Sanctions list')).toEqual(['sanctions_list']);
    expect(denialOf('Not checked')).toEqual([]);
    expect(freshIn('Sanctions list · held · 1 day ago')).toEqual(['sanctions_list']);
  });

  test('no page, command or chat decides by the words of a reason, a finding or a caveat', () => {
    const root = process.cwd();
    const files = DECIDING.flatMap((folder) => codeUnder(root, folder)).filter(
      (one) => !isTest(one),
    );
    const deciding = files.flatMap((file) => {
      const text = readFileSync(`${root}/${file}`, 'utf8');
      return [...text.matchAll(DECIDES_BY_TEXT)].map(([found]) => `${file}: ${found}`);
    });
    expect(deciding).toEqual([]);
  });
}
