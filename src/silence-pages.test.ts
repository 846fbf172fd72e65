// Does a page deny anything on what was silent, cut short or stale? Pages are drawn over worlds in
// which each port falls silent by itself; what each line rests on stands in `silence-pages.ts`.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mountedPage } from './compose/documents.ts';
import type { AnyFeature } from './compose/feature.ts';
import { FEATURES } from './compose/list.ts';
import { Reply } from './contract/answer.ts';
import type { World } from './testing/planted.ts';
import { TEST_SERVICE } from './testing/service.ts';
import { denialOf, linesOf } from './testing/silence-pages.ts';
import {
  type Fault,
  type PortName,
  type Spoiled,
  type Spoiler,
  spoiledPorts,
  tagOf,
} from './testing/silence-ports.ts';
import { codeUnder, isTest } from './testing/tidy-source.ts';
import { RECORD_ID, RECORD_OF } from './testing/twins/screening.ts';
import { wholePageOf } from './testing/whole-page.ts';
import { WORLDS } from './testing/worlds.ts';

const FACTS = { simulated: false, version: '0', links: [], explorers: new Map() };
const PAGES = (FEATURES as readonly AnyFeature[]).flatMap(({ pages }) => pages);
const TAGS: { readonly [port: string]: string } = Object.fromEntries(
  (FEATURES as readonly AnyFeature[]).flatMap(({ ports }) =>
    Object.entries<{ readonly tag: string }>(ports).map(([port, { tag }]) => [port, tag]),
  ),
);
const MEMBER = {
  kind: 'session',
  session_id: 'ses_1',
  membership_id: RECORD_OF,
  form_token: 'token',
} as const;

/** The pages that tell of addresses and lists, and whether they are asked about an address. */
const DRAWN = [
  ['dossier_page', true],
  ['deployer_page', true],
  ['token_page', true],
  ['sanctions_changes_page', false],
  ['bridge_contracts_page', false],
  ['leaderboard_page', false],
  ['screens_page', false],
  ['screen_page', false],
] as const;

/** So many leaks are shown. */
const LEAKS_SHOWN = 20;
/** One world in so many is drawn with its ports spoiled, beside the empty one. */
const NTH = 16;

function isSampled({ name, empty }: World): boolean {
  const byHash = createHash('sha256').update(name).digest().readUInt32BE() % NTH === 0;
  return empty || byHash || name.includes('launch');
}

type Drawn = { readonly lines: readonly string[]; readonly log: readonly Spoiled[] };

async function draw(
  name: string,
  world: World,
  subject: string,
  spoiler: Spoiler,
  signal = new AbortController().signal,
): Promise<Drawn> {
  const page = PAGES.find(({ route }) => route.name === name);
  if (page === undefined) throw new Error(`test: no page ${name}`);
  const log: Spoiled[] = [];
  const reading = async () => ({ may: true, pay: async () => null });
  const ports = spoiledPorts(world.ports, spoiler, log);
  const given = { ...ports, service: TEST_SERVICE, members: { reading } };
  const { handle } = mountedPage(page, given, FACTS);
  const chain = subject.startsWith('0x') ? 'ethereum' : 'solana';
  const input = { params: { address: subject, chain, id: RECORD_ID }, query: {}, body: undefined };
  const said = await handle(input, { now: () => world.now, signal }, MEMBER);
  return { lines: said instanceof Reply ? linesOf(await wholePageOf(said)) : [], log };
}

/** The lines that deny something on a weak port, or as nobody declared. */
function leaksIn(at: string, { lines }: Drawn, weak: readonly PortName[]): string[] {
  const tags = new Set(weak.map((port) => tagOf(TAGS, port)));
  return [...new Set(lines)].flatMap((line) => {
    const rests = denialOf(line);
    if (rests === null) return [`${at} | nobody declared: ${line}`];
    return rests.some((port) => tags.has(port)) ? [`${at} | denied: ${line}`] : [];
  });
}

test.each(DRAWN)(
  '%s denies nothing on what was not read',
  { timeout: 300_000 },
  async (...page) => {
    const [name, isAsked] = page;
    const leaks = new Set<string>();
    let cells = 0;
    for (const world of WORLDS) {
      if (!isAsked && !world.empty) continue;
      for (const subject of isAsked ? new Set(world.subjects) : ['']) {
        const at = `${world.name} | ${subject}`;
        const whole = await draw(name, world, subject, () => null);
        cells += 1;
        for (const leak of leaksIn(`${at} | whole`, whole, [])) leaks.add(leak);
        if (!isSampled(world)) continue;
        const ports = new Set(whole.log.map(({ told }) => told.port));
        for (const port of ports) {
          for (const fault of ['silent', 'truncated', 'stale'] as const) {
            const spoiler = spoilerOf(port, fault);
            if (!whole.log.some(({ told }) => spoiler(told) === fault)) continue;
            const drawn = await draw(name, world, subject, spoiler);
            cells += 1;
            for (const leak of leaksIn(`${at} | ${fault}: ${port}`, drawn, [port])) leaks.add(leak);
          }
        }
        const late = await draw(name, world, subject, () => null, AbortSignal.abort());
        cells += 1;
        for (const leak of leaksIn(`${at} | no time`, late, [])) leaks.add(leak);
      }
    }
    expect([...leaks].slice(0, LEAKS_SHOWN)).toEqual([]);
    console.info(`${name}: ${cells} cells, ${leaks.size} denials`);
    expect(cells).toBeGreaterThan(2);
  },
);

function spoilerOf(port: PortName, fault: Fault): Spoiler {
  return (told) => (told.port === port && told.faults.includes(fault) ? fault : null);
}

test('a sentence of no known meaning, and a badge on a silent port, are seen', () => {
  expect(denialOf('No such transfer was ever met.')).toBeNull();
  expect(denialOf('It is not on the list.')).toBeNull();
  expect(denialOf('None found Sanctions list')).toEqual(['sanctions_list']);
  expect(denialOf('Not checked')).toEqual([]);
});

const DECIDING = ['src/pages', 'src/command', 'src/features'];
const DECIDES_BY_TEXT =
  /\b\w*(reason|finding|caveat|says)\b\)?\??\.(startsWith|endsWith|includes|match|search)\(/gi;

test('no page, command or chat decides by the words of a reason, a finding or a caveat', () => {
  const root = process.cwd();
  const files = DECIDING.flatMap((folder) => codeUnder(root, folder)).filter((one) => !isTest(one));
  const deciding = files.flatMap((file) => {
    const text = readFileSync(`${root}/${file}`, 'utf8');
    return [...text.matchAll(DECIDES_BY_TEXT)].map(([found]) => `${file}: ${found}`);
  });
  expect(deciding).toEqual([]);
});
