// Does any declared route say "nothing there" where nothing was looked at?
// Every route is asked in every world while ports, single answers, pages and time fall silent. What
// types cannot see shows here: a constant, another call of the same port, a forgotten page.

import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { EVIDENCE_ROUTES, type EvidencePorts, handlerOf } from './compose/list.ts';
import { honestScreen, lyingPorts, PLANTED_LEAKS, plantedScreen } from './testing/planted-leaks.ts';
import { TEST_SERVICE } from './testing/service.ts';
import { checkSilence, type Expectations, type Findings, negativesOf } from './testing/silence.ts';
import { leavesOf } from './testing/silence-answer.ts';
import { asksOf } from './testing/silence-asks.ts';
import { WORLDS } from './testing/worlds.ts';

const OF_A_ROW = 'a fact of a row that was found';
const LIST_AND_HISTORY = ['sanctions_list', 'transfer_history'];

/** What each route says that is empty and yet no denial. A new route begins with none. */
const EXPECTED: { readonly [route: string]: Expectations } = {
  bulk_wallet_screen: {
    allowances: [
      ...['ok', 'insufficient_evidence', 'not_deployed'].map((state) => ({
        pattern: `counts.${state}`,
        restsOn: [],
        because: 'it counts the states of the results beside it',
      })),
      {
        pattern: 'results[].exchange.clusterable',
        restsOn: ['exchange_labels'],
        because: OF_A_ROW,
      },
      { pattern: 'results[].launches.died', restsOn: ['launch_corpus'], because: OF_A_ROW },
    ],
    careful: [],
    unsaidInEmpty: [],
  },
  wallet_score: {
    allowances: [
      {
        pattern: 'findings',
        restsOn: [],
        because: 'the interface has an empty list beside findings_checked false mean silence',
      },
      {
        pattern: 'findings_coverage[].checked',
        restsOn: [],
        because: 'false is no denial; a true one is held by the flag of all of them',
      },
      ...['findings_coverage[].from', 'findings_coverage[].blocks[].from'].map((pattern) => ({
        pattern,
        restsOn: [],
        because: 'the number of a block is a place',
      })),
      { pattern: 'findings[].initiated_by_subject', restsOn: [], because: OF_A_ROW },
      { pattern: 'entity.labels', restsOn: [], because: OF_A_ROW },
    ],
    careful: [],
    unsaidInEmpty: [],
  },
  wallet_ofac: {
    allowances: [
      {
        pattern: 'proximity.nodes_unread',
        restsOn: LIST_AND_HISTORY,
        because: 'null unless the walk was read to its end, which leaves no address unread',
      },
      {
        pattern: 'proximity.hops_detail[].initiated_by_subject',
        restsOn: [],
        because: OF_A_ROW,
      },
    ],
    // The other forms of an address follow from the address alone; that no hop was examined
    // completely is what a walk that was cut has to say.
    careful: ['equivalent_forms', 'proximity.hops_examined'],
    // A walk that was read to its end has examined both hops.
    unsaidInEmpty: ['proximity.hops_examined'],
  },
  wallet_bridges: {
    allowances: [
      ...['unpriced_transfers', 'messaging_only'].map((field) => ({
        pattern: `bridges[].${field}`,
        restsOn: [],
        because: OF_A_ROW,
      })),
      { pattern: 'coverage.from_block', restsOn: [], because: 'it is the chain’s first block' },
    ],
    careful: [],
    // Where nothing was touched there is no receipt to read.
    unsaidInEmpty: ['receipts.unknown_events'],
  },
  wallet_cex: {
    allowances: [
      ...['direct', 'labels[]', 'conflicts[]', 'linked[]'].map((of) => ({
        pattern: `${of}.clusterable`,
        restsOn: ['exchange_labels'],
        because: OF_A_ROW,
      })),
      ...[
        'exchanges[].transactions[].initiated_by_subject',
        'inferred_deposit_addresses[].is_subject',
        'inferred_deposit_addresses[].history_complete',
      ].map((of) => ({ pattern: `activity.${of}`, restsOn: [], because: OF_A_ROW })),
    ],
    careful: [],
    // Nothing held of an address is a miss, which has no data.
    unsaidInEmpty: [
      ...['labels', 'conflicts', 'linked', 'activity.exchanges'],
      ...['activity.inferred_deposit_addresses', 'activity.truncated'],
      ...['activity.transfers_left_out.zero_value', 'activity.transfers_left_out.no_market_token'],
      'activity.candidates_read',
    ],
    missRestsOn: ['exchange_labels'],
  },
};

/** How many times the routes were asked under a named condition when this was last raised. */
const CELLS_MIN = 23_000;
const TIMEOUT_MS = 120_000;

/** The worlds in which the specimen and the liars are asked: one for each kind of fact. */
const SAMPLE = WORLDS.filter(({ name }) =>
  [
    'empty',
    'listed: evm',
    'labelled',
    'was paid by a listed address, before anything else',
    'paid a bridge, and was paid by it',
    'paid a mixer',
  ].includes(name),
);

const NONE_EXPECTED: Expectations = { allowances: [], careful: [], unsaidInEmpty: [] };
const expectedOf = (name: string) => EXPECTED[name] ?? NONE_EXPECTED;
const found = new Map<string, Findings>();
for (const route of EVIDENCE_ROUTES) {
  const make = makerOf(route.name);
  found.set(route.name, await checkSilence(route, make, WORLDS, expectedOf(route.name)));
}

function makerOf(name: string) {
  return (ports: EvidencePorts) => handlerOf(name, { ...ports, service: TEST_SERVICE });
}

function findingsOf(name: string): Findings {
  const one = found.get(name);
  if (one === undefined) throw new Error(`${name} was not checked`);
  return one;
}

function written(findings: Findings): string[] {
  return findings.leaks.map(({ rule, cell, said }) => `${rule} | ${cell} | ${said}`);
}

describe.each(EVIDENCE_ROUTES)('$name', (route) => {
  const findings = findingsOf(route.name);
  const { careful, unsaidInEmpty, allowances } = expectedOf(route.name);
  const negatives = negativesOf(route);

  test('denies nothing on what was silent, cut short, stale or out of time', () => {
    expect(written(findings)).toEqual([]);
  });

  test('says each of its negatives in the empty world', () => {
    const unsaid = negatives.filter((pattern) => !findings.saidInEmpty.has(pattern));
    expect(unsaid).toEqual(unsaidInEmpty);
  });

  test('shows each of them the other way where the fact is planted', () => {
    expect(negatives.filter((pattern) => !findings.otherwise.has(pattern))).toEqual([]);
  });

  test('has for each of them a planted fact that contradicts it', () => {
    const denying = negatives.filter((pattern) => !careful.includes(pattern));
    expect(denying.filter((pattern) => !findings.contradicted.has(pattern))).toEqual([]);
  });

  test('needs each exception that is made for it', () => {
    const unused = allowances.filter(({ pattern }) => !findings.allowed.has(pattern));
    expect(unused).toEqual([]);
    expect(careful.filter((pattern) => !negatives.includes(pattern))).toEqual([]);
  });

  test('over adapters that lie, turns the check red', { timeout: TIMEOUT_MS }, async () => {
    const lied = await checkSilence(
      route,
      (ports) => makerOf(route.name)(lyingPorts(ports)),
      SAMPLE,
      expectedOf(route.name),
    );
    const rules = new Set(lied.leaks.map(({ rule }) => rule));
    expect(rules).toContain('a negative on a silent port');
    expect([...rules].some((rule) => rule.startsWith('a planted fact denied'))).toBe(true);
  });
});

describe('the check', () => {
  const none = NONE_EXPECTED;

  test('finds nothing in an honest screen', { timeout: TIMEOUT_MS }, async () => {
    const findings = await checkSilence(plantedScreen, honestScreen, SAMPLE, none);
    expect(written(findings)).toEqual([]);
    expect(negativesOf(plantedScreen).filter((one) => !findings.saidInEmpty.has(one))).toEqual([]);
    expect(negativesOf(plantedScreen).filter((one) => !findings.otherwise.has(one))).toEqual([]);
  });

  test.each(PLANTED_LEAKS)('turns red by $name', { timeout: TIMEOUT_MS }, async (planted) => {
    const { leaks } = await checkSilence(plantedScreen, planted.make, SAMPLE, none);
    expect(leaks.some(({ rule }) => planted.rule.test(rule))).toBe(true);
  });

  test('fails at a kind of schema, or at a field of an input, that it does not know', () => {
    expect(() => leavesOf(z.date(), new Date(0))).toThrow('which no walk knows');
    const unheard = { ...plantedScreen, query: z.strictObject({ unheard: z.string() }) };
    const [world] = WORLDS;
    expect(() => (world === undefined ? [] : asksOf(unheard, world))).toThrow('how to fill it');
  });

  test('asks no less often than before', () => {
    const cells = [...found.values()].reduce((sum, one) => sum + one.cells, 0);
    console.log(`silence: ${cells} cells over ${found.size} routes`);
    expect(cells).toBeGreaterThanOrEqual(CELLS_MIN);
  });
});
