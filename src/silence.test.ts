// Does any declared route say "nothing there" where nothing was looked at?
// Every route is asked in every world while ports, single answers, pages and time fall silent. What
// types cannot see shows here: a constant, another call of the same port, a forgotten page. One
// route alone: `npx vitest run src/silence.test.ts -t wallet_ofac`.

import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { CONTRACTS, FEATURES, handlerOf } from './compose/list.ts';
import { pagesDenyNothing } from './silence-pages.suite.ts';
import type { World } from './testing/planted.ts';
import { lyingAdapters, PLANTED_LEAKS } from './testing/planted-leaks.ts';
import { honestScreen, plantedScreen } from './testing/planted-screen.ts';
import { TEST_SERVICE } from './testing/service.ts';
import { checkSilence, type Findings, negativesOf, placesOfRoute } from './testing/silence.ts';
import { leavesOf, placesOf, undeclaredWords } from './testing/silence-answer.ts';
import { asksOf, isOfAddresses, type SilenceRoute } from './testing/silence-asks.ts';
import type { Sample } from './testing/silence-judge.ts';
import type { MakeHandler } from './testing/silence-made.ts';
import type { PortTags } from './testing/silence-ports.ts';
import { LEAK_RULES, type Leak, type LeakRule, leaksText } from './testing/silence-rules.ts';
import { RING_WORLDS, WORLDS } from './testing/worlds.ts';

const ROUTES: readonly SilenceRoute[] = CONTRACTS.filter(isOfAddresses);

const TAGS: PortTags = Object.fromEntries(
  FEATURES.flatMap(({ ports }) => Object.entries<{ readonly tag: string }>(ports)).map(
    ([port, { tag }]) => [port, tag],
  ),
);

type Sought = {
  readonly sought: readonly LeakRule[];
  /** The cells in which the rules have to be broken; left out, any. */
  readonly at?: RegExp | undefined;
  readonly inPairs?: true | undefined;
};

/** The rules that are broken, asked no longer than until all of those that are looked for are. */
async function brokenRules(
  route: SilenceRoute,
  make: MakeHandler,
  { sought, at = /./, inPairs }: Sought,
): Promise<readonly LeakRule[]> {
  const rulesOf = (leaks: readonly Leak[]) =>
    leaks.filter(({ cell }) => at.test(cell)).map(({ rule }) => rule);
  const isEnough = (leaks: readonly Leak[]) => {
    const rules = rulesOf(leaks);
    return sought.every((rule) => rules.includes(rule));
  };
  const sample = inPairs === true ? IN_SAMPLE : { faults: SAMPLE, pairs: [] };
  const { leaks } = await checkSilence({ route, make, tags: TAGS }, SAMPLE, sample, isEnough);
  return rulesOf(leaks);
}

function makerOf({ name }: SilenceRoute): MakeHandler {
  return (ports) => handlerOf(name, { ...ports, service: TEST_SERVICE }) as ReturnType<MakeHandler>;
}

/** Routes of each kind of answer: of one address, of a list, of sections, and a plain one. */
const LIED_TO = ['wallet_ofac', 'bulk_wallet_screen', 'partner_scan', 'label_changes'];
const TIMEOUT_MS = 600_000;

/** The worlds of the specimen and of the liars: one for each kind of fact. */
const SAMPLE = WORLDS.filter(({ name }) =>
  [
    'empty',
    'listed: evm',
    'labelled',
    'an article about it',
    'listed by another authority',
    'was paid by a listed address, before anything else',
    'paid a bridge, and was paid by it',
    'paid a mixer',
    'shares a deposit address',
    'launched one that lives, one that died, and more',
    'launched what the model flags',
    'a token of who launched one that lives, one that died, and more',
    'a launcher',
    'a launcher of whose launches one waits',
    'a hole, nothing held beside it',
    'a late start, nothing held beside it',
    'an old tip, some held beside it',
  ].includes(name),
);

const IN_SAMPLE: Sample = { faults: SAMPLE, pairs: SAMPLE };

/** Whether ports are spoiled in every world; else in a sample that is the same in each run. */
const ALL = process.env['EXHIBIT_TEST_ALL'] === '1';
/** Ports are spoiled in one world in so many of those that plant nothing that a route denies. */
const FAULTS_NTH = 4;
/** Two ports fall silent at once in one world in so many. */
const PAIRS_NTH = 8;

/**
 * The worlds in which a route's ports are spoiled: the empty one, each with a fact that the route
 * could deny, and a sample of the others. Another route has other ones.
 */
function sampleOf(route: SilenceRoute): Sample {
  const held = new Set(sampled(route, 'faults', FAULTS_NTH));
  const faults = WORLDS.filter((world) => held.has(world) || couldDeny(route, world));
  return { faults, pairs: sampled(route, 'pairs', PAIRS_NTH) };
}

// A route that holds others' answers denies what they deny: those check it in these worlds.
function couldDeny({ name }: SilenceRoute, { facts }: World): boolean {
  return facts.some(({ contradicts, ringless }) => name in contradicts || name in ringless);
}

/** The empty world and one in so many of the others, by a hash of their names. */
function sampled({ name }: SilenceRoute, purpose: string, nth: number): readonly World[] {
  return WORLDS.filter((world) => {
    const hash = createHash('sha256').update(`${purpose} ${name} ${world.name}`).digest();
    return ALL || world.empty || hash.readUInt32BE() % nth === 0;
  });
}

// A route is asked when the first of its tests runs, so that one that is named is asked alone.
const asked = new Map<SilenceRoute, Promise<Findings>>();

function findingsOf(route: SilenceRoute): Promise<Findings> {
  const held = asked.get(route);
  if (held !== undefined) return held;
  const found = askEverywhere(route);
  asked.set(route, found);
  return found;
}

/** Asks in every world, and who reads the ring in each of its states besides. */
async function askEverywhere(route: SilenceRoute): Promise<Findings> {
  const specimen = { route, make: makerOf(route), tags: TAGS };
  const found = await checkSilence(specimen, WORLDS, sampleOf(route));
  if (!found.asked.has('counterpartyRing')) return found;
  const sample = { faults: RING_WORLDS, pairs: RING_WORLDS };
  const states = await checkSilence(specimen, RING_WORLDS, sample);
  expect(states.asked.has('counterpartyRing'), 'the ring is read in its states').toBe(true);
  return {
    ...found,
    leaks: [...found.leaks, ...states.leaks],
    cells: found.cells + states.cells,
    otherwise: new Set([...found.otherwise, ...states.otherwise]),
    contradicted: new Set([...found.contradicted, ...states.contradicted]),
  };
}

describe.each(ROUTES)('$name', { timeout: TIMEOUT_MS }, (route) => {
  const places = new Map(placesOfRoute(route).map((one) => [one.pattern, one]));
  const negatives = negativesOf(route);
  const denying = negatives.filter((pattern) => places.get(pattern)?.mark === null);

  test('denies nothing on what was silent, cut short, stale, unheld or out of time', async () => {
    const { leaks } = await findingsOf(route);
    expect(leaksText(leaks)).toEqual([]);
  });

  test('declares of each text whether it denies', () => {
    const schemas = route.kind === 'evidence' ? [route.data] : Object.values(route.responses);
    expect(schemas.flatMap((schema) => undeclaredWords(schema))).toEqual([]);
  });

  test('says each of its negatives in the empty world, wherever it has a place there', async () => {
    const { saidInEmpty, stoodInEmpty, said } = await findingsOf(route);
    const unsaid = denying.filter((pattern) =>
      stoodInEmpty.has(pattern) ? !saidInEmpty.has(pattern) : !said.has(pattern),
    );
    expect(unsaid, 'the empty world never says these').toEqual([]);
  });

  test('shows each of them the other way where the fact is planted', async () => {
    const { otherwise } = await findingsOf(route);
    const never = negatives.filter((pattern) => !otherwise.has(pattern));
    expect(never, 'no world of src/testing/worlds.ts shows these otherwise').toEqual([]);
  });

  test('has for each of them a planted fact that contradicts it', async () => {
    const { contradicted } = await findingsOf(route);
    const missing = denying.filter((pattern) => !contradicted.has(pattern));
    const what = `no world of src/testing/worlds.ts has these in contradicts.${route.name}`;
    expect(missing, what).toEqual([]);
  });

  // In every world it is asked more often, which nobody counts.
  if (!ALL) {
    test('is asked as often as when its cells were last counted', async () => {
      const { cells } = await findingsOf(route);
      expect(cells).toMatchSnapshot();
    });
  }
});

describe('the check', { timeout: TIMEOUT_MS }, () => {
  test('finds nothing in an honest screen', async () => {
    const specimen = { route: plantedScreen, make: honestScreen, tags: TAGS };
    const findings = await checkSilence(specimen, SAMPLE, IN_SAMPLE);
    expect(leaksText(findings.leaks)).toEqual([]);
    expect(negativesOf(plantedScreen).filter((one) => !findings.saidInEmpty.has(one))).toEqual([]);
    expect(negativesOf(plantedScreen).filter((one) => !findings.otherwise.has(one))).toEqual([]);
  });

  test.each(PLANTED_LEAKS)('turns red by $name', async (planted) => {
    const { route = plantedScreen, make, rules, at, inPairs } = planted;
    const broken = await brokenRules(route, make, { sought: rules, at, inPairs });
    expect(broken).toEqual(expect.arrayContaining([...rules]));
  });

  test('has a leak on purpose for each of its rules', () => {
    const rules = PLANTED_LEAKS.flatMap((planted) => planted.rules);
    expect(new Set(rules)).toEqual(new Set(Object.keys(LEAK_RULES)));
  });

  test('fails at a kind of schema, or at a field of an input, that it does not know', () => {
    expect(() => leavesOf(z.date(), new Date(0))).toThrow('which no walk knows');
    expect(() => placesOf(z.strictObject({ at: z.date() }))).toThrow('which no walk knows');
    const unheard = { ...plantedScreen, query: z.strictObject({ unheard: z.string() }) };
    const [world] = WORLDS;
    expect(() => (world === undefined ? [] : asksOf(unheard, world))).toThrow('how to fill it');
  });

  test('says what to write where a text does not declare whether it denies', () => {
    const schema = z.strictObject({ name: z.string(), state: z.enum(['none', 'some']).nullable() });
    expect(undeclaredWords(schema)).toEqual([
      expect.stringMatching(/^name is a plain z.string\(\): write words\(\)/),
      expect.stringMatching(/^state is a plain z.enum\(\): write oneOf\(\[…\]\)/),
    ]);
  });

  test.each(LIED_TO)('turns red by adapters that lie under %s', async (name) => {
    const route = ROUTES.find((one) => one.name === name);
    if (route === undefined) throw new Error(`test: no route ${name}`);
    const lying = lyingAdapters(TAGS);
    const make: MakeHandler = (ports) => makerOf(route)(lying(ports));
    const sought = ['a negative on a silent port', 'a planted fact denied'] as const;
    expect(await brokenRules(route, make, { sought })).toEqual(expect.arrayContaining([...sought]));
  });

  test.each(['faults', 'pairs'] as const)('asks some route in each world: %s', (purpose) => {
    const worlds = ROUTES.flatMap((route) => sampleOf(route)[purpose]);
    expect(new Set(worlds)).toEqual(new Set(WORLDS));
  });
});

pagesDenyNothing();
