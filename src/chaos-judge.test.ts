// The judge of the chaos bench lets a false answer pass in no cell, and calls none false that tells
// by itself what was not read.

import { describe, expect, test } from 'vitest';
import { Refusal } from './contract/refusals.ts';
import { NOBODY } from './contract/route.ts';
import { deployerRecordHandler } from './features/deployers/deployer-record.route.tsx';
import { walletOfac } from './features/sanctions/wallet-ofac.route.ts';
import type { DeployerWalk } from './ports/deployers.ts';
import { evm } from './testing/addresses.ts';
import {
  falseIn,
  isAsWhole,
  isCounted,
  isWalked,
  lessThan,
  sourcesOverasked,
  statementOf,
} from './testing/chaos-judge.ts';
import { STILL_NOW } from './testing/clock.ts';
import { launchOf, walkOf } from './testing/deployer-worlds.ts';
import { screen } from './testing/ofac-screen.ts';
import { memoryDeployerRecords } from './testing/twins/deployers.ts';

const DEPLOYER = evm('deployer');
const JSON_TYPE = ['content-type', 'application/json'] as const;
const ID = ['x-request-id', 'abc-1'] as const;
const answer = (status: number, body: unknown) => ({
  status,
  headers: [JSON_TYPE, ID],
  body: JSON.stringify(body),
});

/** The answer of the route of deployer records about a walk, at a time. */
async function envelopeOf(walk: Partial<DeployerWalk>, now = STILL_NOW) {
  const records = [{ ...walkOf(DEPLOYER, walk), failed: null }];
  const as_of = STILL_NOW - 3_600;
  const deployerRecords = memoryDeployerRecords({ records, simulated: false, as_of });
  const input = { params: { chain: 'ethereum', address: DEPLOYER }, query: {}, body: undefined };
  const asked = { now: () => now, signal: new AbortController().signal };
  const said = await deployerRecordHandler({ deployerRecords })(input, asked, NOBODY);
  if (said instanceof Refusal) throw new Error('it was refused');
  return said.envelope(now);
}

const saidOf = async (walk: Partial<DeployerWalk>) =>
  statementOf('deployer_record', answer(200, await envelopeOf(walk)));
const launches = (...outcomes: Parameters<typeof launchOf>[1][]) =>
  outcomes.map((outcome, n) => launchOf(`launch ${n}`, outcome));
const undetermined = (...names: string[]) =>
  names.map((name) => ({ address: evm(name), reason: 'undetermined' as const }));

describe('a record of a deployer', () => {
  test('is not false where what it names as unread covers every launch that is missing', async () => {
    const whole = await saidOf({ launches: launches('died', 'died', 'died') });
    expect([whole.state, whole.wrong]).toEqual(['ok', null]);
    for (const cut of [
      { launches: launches('unchecked', 'unchecked', 'unchecked') },
      { launches: launches('unchecked', 'unchecked'), skipped: undetermined('third') },
      { skipped: undetermined('first', 'second', 'third') },
      { truncated: true },
    ]) {
      const said = await saidOf(cut);
      expect(said.denied).toContain('died');
      expect(falseIn('record', whole, said)).toEqual([]);
    }
    const mixed = await saidOf({ launches: launches('live', 'died', 'died') });
    const cut = await saidOf({ launches: launches('live', 'unchecked', 'unchecked') });
    expect(falseIn('record', mixed, cut)).toEqual([]);
  });

  test('is false where one launch fewer is named than is missing', async () => {
    const whole = await saidOf({ launches: launches('died', 'died', 'died') });
    const said = await saidOf({ launches: launches('unchecked', 'unchecked') });
    expect(falseIn('record', whole, said)).toEqual([
      'record: denies listed_launches',
      'record: denies died',
    ]);
    const none = await saidOf({ skipped: undetermined('first', 'second') });
    expect(falseIn('record', whole, none)).toContain('record: denies launches');
  });

  test('is false where a launch was taken for one that no venue lists', async () => {
    const whole = await saidOf({ launches: launches('died', 'died') });
    const said = await saidOf({ launches: launches('never_listed', 'never_listed') });
    expect(falseIn('record', whole, said)).toEqual([
      'record: denies listed_launches',
      'record: denies died',
    ]);
    const half = await saidOf({ launches: launches('never_listed', 'unchecked') });
    expect(falseIn('record', whole, half)).toContain('record: denies died');
  });

  test('is false where its state tells of all launches beside those that it did not check', async () => {
    const whole = await saidOf({ launches: launches('died') });
    const text = JSON.stringify(await envelopeOf({ launches: launches('unchecked') }));
    const body: unknown = JSON.parse(text.replace('"state":"unchecked"', '"state":"all_died"'));
    const said = statementOf('deployer_record', answer(200, body));
    expect(said.wrong).toBeNull();
    expect(falseIn('record', whole, said)).toContain('record: denies died');
  });

  test('is false where nothing of it is told any more', async () => {
    const whole = await saidOf({ launches: launches('died') });
    const said = await saidOf({});
    expect(falseIn('record', whole, said)).toEqual(['record: denies the whole answer']);
    expect(isAsWhole(whole, said)).toBe(false);
  });
});

describe('a fact that is gone', () => {
  const two = { launches: launches('live', 'died') };

  test('is false where no word says that something was not read', async () => {
    const [whole, said] = [await saidOf(two), await saidOf({ launches: launches('live') })];
    const lies = falseIn('record', whole, { ...said, words: whole.words, denied: new Set() });
    expect(lies).toEqual([
      expect.stringContaining('record: lost without a word: launches[].'),
      expect.stringContaining('record: otherwise without a word: listed_launches'),
    ]);
  });

  test('is not false beside a new sentence, a null or a flag, and numbers are no sentence', async () => {
    const [whole, said] = [await saidOf(two), await saidOf({ launches: launches('live') })];
    const silent = { ...said, words: whole.words, denied: new Set<string>() };
    for (const word of ['It was not read.', 'died is null', 'coverage.truncated is true']) {
      const words = new Set([...whole.words, word]);
      expect(falseIn('record', whole, { ...silent, words })).toEqual([]);
    }
    const older = statementOf(
      'deployer_record',
      answer(200, await envelopeOf(two, STILL_NOW + 86_400)),
    );
    expect(older.words).toEqual(whole.words);
  });

  test('is not hidden, nor made, by which address a sentence names', async () => {
    const whole = await saidOf(two);
    const naming = async (address: string) => {
      const text = JSON.stringify(await envelopeOf(two));
      const body: unknown = JSON.parse(
        text.replace('"caveat":"', `"caveat":"${address} is unread. `),
      );
      const said = statementOf('deployer_record', answer(200, body));
      expect(said.wrong).toBeNull();
      return said.words;
    };
    const words = await naming(evm('one'));
    expect(words).not.toEqual(whole.words);
    expect(await naming(evm('other'))).toEqual(words);
  });
});

describe('a fact that was not told without faults', () => {
  const two = { launches: launches('live', 'died') };

  test('is false where the answer says that nothing is missing: twice, or another value', async () => {
    const whole = await saidOf(two);
    const values = (pattern: string) => [...(whole.facts.get(pattern) ?? [])];
    const address = 'launches[].address';
    expect(values(address)).toHaveLength(2);
    const [first] = values(address);
    for (const others of [
      [...values(address), String(first)],
      values(address).map(() => 'other'),
    ]) {
      const said = { ...whole, facts: new Map([...whole.facts, [address, others]]) };
      expect(falseIn('record', whole, said)).toEqual([
        `record: otherwise without a word: ${address}`,
      ]);
    }
    const fresh = { ...whole, facts: new Map([...whole.facts, ['another[].address', ['x']]]) };
    expect(falseIn('record', whole, fresh)).toEqual([
      'record: otherwise without a word: another[].address',
    ]);
  });

  test('is not false where a board has scored more since, and is where it scored less or twice', async () => {
    const board = await saidOf(two);
    const scored = (count: number) => ({
      ...board,
      facts: new Map([...board.facts, ['scored[].scored', [String(count)]]]),
    });
    expect(falseIn('board', scored(9), scored(10))).toEqual([]);
    for (const count of [8, 18]) {
      expect(falseIn('board', scored(9), scored(count))).toEqual([
        'board: otherwise without a word: scored[].scored',
      ]);
    }
  });

  test('is not false where its stand-in has another port, and is where it is told twice', async () => {
    const at = (...ports: number[]) => ({
      ...two,
      providers: ports.map((port) => `Explorer http://127.0.0.1:${port}`),
    });
    const whole = await saidOf(at(4_001));
    expect(falseIn('record', whole, await saidOf(at(4_002)))).toEqual([]);
    expect(falseIn('record', whole, await saidOf(at(4_001, 4_002)))).toEqual([
      'record: otherwise without a word: coverage.providers[]',
    ]);
  });

  test('is not false beside a word about what was not read, or in another state', async () => {
    const whole = await saidOf(two);
    const facts = new Map([...whole.facts, ['launches[].address', ['a', 'b', 'c']]]);
    const words = new Set([...whole.words, 'It was not read.']);
    expect(falseIn('record', whole, { ...whole, facts, words })).toEqual([]);
    expect(falseIn('record', whole, { ...whole, facts, state: 'not_deployed' })).toEqual([]);
  });
});

test('how much was not read is a word where it was nothing, and no other fact', async () => {
  const screened = await screen({ transfers: [] }, evm('subject'));
  if (screened instanceof Refusal || screened.state !== 'ok') throw new Error('no answer');
  const data = walletOfac.data.parse(screened.data);
  const saidWith = (nodes_unread: number, hops_examined = data.proximity.hops_examined) => {
    const proximity = { ...data.proximity, nodes_unread, hops_examined };
    const said = answer(200, { ...screened, data: { ...data, proximity } });
    return statementOf('wallet_ofac', said);
  };
  const whole = saidWith(0);
  expect(whole.wrong).toBeNull();
  expect(falseIn('ofac', whole, saidWith(3, 1))).toEqual([]);
  expect(lessThan(whole, saidWith(3))).toContain('nodes_unread is over zero');
  expect(falseIn('ofac', saidWith(2), saidWith(3))).toEqual([]);
  // No hop was examined whole: the address that was not is told beside it.
  expect(falseIn('ofac', saidWith(0, 1), saidWith(1, 0))).toEqual([]);
  expect(falseIn('ofac', saidWith(0, 1), saidWith(0, 0))).toEqual([
    'ofac: otherwise without a word: proximity.hops_examined',
  ]);
  expect(falseIn('ofac', saidWith(2), saidWith(0, 1))).toEqual([
    'ofac: otherwise without a word: proximity.hops_examined',
  ]);
});

describe('an answer after the fault', () => {
  const two = { launches: launches('live', 'died') };

  test('is as before where it says as much, and names nothing beside as unread', async () => {
    const whole = await saidOf(two);
    expect(lessThan(whole, await saidOf(two))).toBeNull();
    const fewer = new Map([...whole.facts, ['launches[].address', ['a']]]);
    const words = new Set([...whole.words, 'The explorer failed.']);
    const denied = new Set([...whole.denied].slice(1));
    for (const [said, what] of [
      [{ ...whole, words }, 'says “The explorer failed.”'],
      [{ ...whole, facts: fewer }, 'tells less of launches[].address'],
      [{ ...whole, denied }, `no longer denies ${[...whole.denied][0]}`],
      [{ ...whole, state: 'not_deployed' }, 'not_deployed, and ok before'],
    ] as const) {
      expect(lessThan(whole, said)).toBe(what);
      expect(isAsWhole(whole, said)).toBe(false);
    }
    expect(isAsWhole({ ...whole, denied }, whole)).toBe(false);
  });
});

describe('a board of providers, or of flagged wallets,', () => {
  const board = (total_scores: number, rows: readonly unknown[]) =>
    answer(200, { total_scores, windows: { all: { rows } } });

  test('is compared once a round has scored something, and no earlier', () => {
    expect(isCounted(board(1, [{}]))).toBe(true);
    expect(isCounted(board(0, [{}]))).toBe(false);
    expect(isCounted(board(1, []))).toBe(false);
    const flagged = (count: number, scored: readonly unknown[]) =>
      answer(200, { state: 'ok', data: { count, scored } });
    expect(isCounted(flagged(1, [{}]))).toBe(true);
    expect(isCounted(flagged(0, [{}]))).toBe(false);
    expect(isCounted(flagged(1, []))).toBe(false);
    expect(isCounted(answer(503, { error: 'board_unreadable', detail: 'It failed.' }))).toBe(false);
  });
});

test('a record of a deployer is compared once it was walked', async () => {
  expect(isWalked(answer(200, await envelopeOf({})))).toBe(true);
  expect(isWalked(answer(200, { state: 'not_deployed', data: null }))).toBe(false);
  expect(isWalked(answer(503, { error: 'overloaded', detail: 'It failed.' }))).toBe(false);
});

describe('any answer', () => {
  const ready = statementOf('ready', answer(200, {}));

  test('is false where it was not asked without faults', () => {
    expect(falseIn('ready', undefined, ready)).toEqual(['ready: was not asked without faults']);
  });

  test('is false where it is a fault, or one without an id', () => {
    const fault = { error: 'internal', detail: 'It failed.' };
    expect(statementOf('ready', answer(500, fault)).wrong).toContain('internal');
    const nameless = { ...answer(503, fault), headers: [JSON_TYPE] };
    expect(statementOf('ready', nameless).wrong).toBe('a fault without an id');
  });

  test('is false where it is not as its route declares', () => {
    const said = statementOf('deployer_record', answer(200, { state: 'ok', data: { died: 0 } }));
    expect(said.wrong).not.toBeNull();
  });
});

describe('a source in a fault', () => {
  test('is asked no more than three times for each question that it is asked without', () => {
    const whole = { explorer: 10, venue: 0 };
    expect(sourcesOverasked(whole, { explorer: 30, venue: 0 }, 29)).toEqual([]);
    expect(sourcesOverasked(whole, { explorer: 31, venue: 1 }, 29)).toEqual([
      'explorer: asked 31 times, and 10 times without faults',
      'venue: asked 1 times, and 0 times without faults',
    ]);
    expect(sourcesOverasked({}, { explorer: 0 }, 29)).toEqual([
      'explorer: was not counted without faults',
    ]);
  });

  test('may be asked once by each question, since nothing is kept of what it refuses', () => {
    expect(sourcesOverasked({ prices: 5 }, { prices: 22 }, 22)).toEqual([]);
    expect(sourcesOverasked({ prices: 5 }, { prices: 23 }, 22)).toEqual([
      'prices: asked 23 times, and 5 times without faults',
    ]);
  });
});
