// A bundle holds what was read to its end and nothing else, and every rule has a target that it
// holds for. Silence of whichever collectors never makes a verdict rise.

import { describe, expect, test } from 'vitest';
import { CHAIN_NAMES, CHAINS, type ChainName, EVM_CHAINS } from '../../chain/chain.ts';
import { unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { askerOf, signalFor } from '../../evidence/waiting.ts';
import type { HeldToken } from '../../ports/token-holders.ts';
import { addressNamed, EVERY_FORM, evm } from '../../testing/addresses.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import {
  collectorPorts,
  KNOWN_TARGETS,
  type KnownTarget,
  readShippedRules,
  SILENT,
  silentCollectorPorts,
  withSilent,
} from '../../testing/collector-worlds.ts';
import { flaggedRow } from '../../testing/twins/rug-flags.ts';
import { entryOf } from '../../testing/twins/sanctions.ts';
import { citable, type Gathered, gapOf, isSimulated, makeBundle } from './bundle.ts';
import { COLLECTORS, collectBundle, parseTarget } from './collect.ts';
import type { CollectorPorts } from './collector.ts';
import { judgeByRules, supportsOf } from './rules.ts';
import { BUNDLE_SOURCES, type Bundle, type BundleSource, bundleShape } from './shapes.ts';

const RULES = await readShippedRules();
const never = () => new AbortController().signal;

function bundleOf({ world, target }: Pick<KnownTarget, 'world' | 'target'>): Promise<Bundle> {
  return collectBundle(collectorPorts(world), target, STILL_NOW, never());
}

function lineOf({ sources }: Bundle, name: BundleSource) {
  return sources.find(({ source }) => source === name);
}

describe('says', () => {
  test('the bundle of a listed address, word for word', async () => {
    const listed = KNOWN_TARGETS.find(({ rule }) => rule === 'direct_listing');
    if (listed === undefined) throw new Error('test: no listed target');
    const bundle = await bundleOf(listed);
    const as_of = STILL_NOW - 60;
    const holders =
      'Who holds a token on ethereum is read by no source that this version has; nothing was ' +
      'checked.';
    const present = BUNDLE_SOURCES.filter((one) => one !== 'holders').map((source) => {
      return { source, status: 'present', code: null, reason: null };
    });
    const lines = bundle.sources.map(({ as_of: _, ...line }) => line);
    expect(lines).toEqual([
      ...present.slice(0, 6),
      { source: 'holders', status: 'unavailable', code: 'no_evidence_source', reason: holders },
      ...present.slice(6),
    ]);
    const own = Object.entries(bundle.evidence).filter(([key]) => key.startsWith('sanctions.'));
    expect(Object.fromEntries(own)).toEqual({
      'sanctions.entries': { value: 1, as_of },
      'sanctions.entry_1.entity': { value: { untrusted: 'DOE, John' }, as_of },
      'sanctions.entry_1.listed_on': { value: '2024-01-02', as_of },
      'sanctions.entry_1.programs': { value: { untrusted: 'CYBER2' }, as_of },
      'sanctions.entry_1.uid': { value: { untrusted: '1001' }, as_of },
      'sanctions.list_published': { value: '2026-09-20', as_of },
      'sanctions.list_sha256': { value: expect.stringMatching(/^[0-9a-f]{64}$/), as_of },
      'sanctions.listed': { value: true, as_of },
      'sanctions.listed_forms': { value: 0, as_of },
    });
    expect(judgeByRules(bundle, RULES)).toEqual({
      verdict: 'avoid',
      confidence_millionths: 990_000,
      confidence_basis: 'assumed',
      confidence_n: null,
      reasoning:
        'The sanctions list published 2026-09-20 names this address itself; entries of it: 1 ' +
        '[sanctions.listed, sanctions.list_published, sanctions.entries].',
      evidence_used: ['sanctions.entries', 'sanctions.list_published', 'sanctions.listed'],
      model: RULES.version,
      prompt_version: 'none',
      cost_usd: 0,
    });
  });

  test.each(KNOWN_TARGETS)('$name', async (known) => {
    const bundle = await bundleOf(known);
    expect(bundleShape.parse(bundle)).toEqual(bundle);
    const names = new Set(supportsOf(bundle, RULES).map(({ rule }) => rule.name));
    expect([...names]).toEqual(known.rule === null ? [] : [known.rule]);
    const { verdict, evidence_used } = judgeByRules(bundle, RULES);
    expect(verdict).toBe(known.rule === null ? 'no_opinion' : 'avoid');
    expect(evidence_used.every((key) => citable(bundle, key) !== null)).toBe(true);
  });

  test('every rule of the table has a target that it holds for', () => {
    const held = KNOWN_TARGETS.flatMap(({ rule }) => (rule === null ? [] : [rule]));
    expect(new Set(held)).toEqual(new Set(RULES.rules.map(({ name }) => name)));
  });

  test('targets of every chain that is served, and no others', () => {
    for (const chain of EVM_CHAINS) {
      const target = { chain, address: evm('one') };
      expect(parseTarget(chain, evm('one').toUpperCase().replace('0X', '0x'))).toEqual({ target });
    }
    expect(parseTarget('solana', EVERY_FORM.solana)).toHaveProperty('target.chain', 'solana');
    expect(parseTarget('bitcoin', EVERY_FORM.bitcoin_p2pkh)).toHaveProperty(
      'target.chain',
      'bitcoin',
    );
  });
});

describe('is silent', () => {
  test('an empty bundle, and one of gaps alone, support nothing', async () => {
    const target = { chain: 'ethereum', address: evm('anybody') } as const;
    const empty = makeBundle(target, [], STILL_NOW);
    expect(judgeByRules(empty, RULES)).toMatchObject({
      verdict: 'no_opinion',
      confidence_millionths: 0,
      evidence_used: [],
    });
    const silent = await collectBundle(silentCollectorPorts(SILENT), target, STILL_NOW, never());
    expect(Object.keys(silent.evidence)).toEqual([]);
    expect(silent.sources.map(({ source }) => source)).toEqual([...BUNDLE_SOURCES]);
    expect(silent.sources.filter(({ status }) => status === 'present')).toEqual([]);
    expect(judgeByRules(silent, RULES).verdict).toBe('no_opinion');
  });

  test('a silent port is a gap by name, and takes nothing from the others', async () => {
    const world = { listed: [entryOf(evm('one'))], flagged: [flaggedRow(evm('one'))] };
    const target = { chain: 'ethereum', address: evm('one') } as const;
    const whole = await collectBundle(collectorPorts(world), target, STILL_NOW, never());
    const gapsBy: { readonly [port in keyof CollectorPorts]?: readonly BundleSource[] } = {
      sanctionsList: ['sanctions'],
      exchangeLabels: ['labels'],
      flaggedAddresses: ['flags'],
      deployerRecords: ['deployer'],
      chainFacts: ['launches', 'authorities', 'contract'],
      issuerFreezes: ['freezes'],
      venueOn: ['venue'],
      bridgeRegistry: ['bridges'],
      transferHistory: ['bridges', 'funding', 'net_flow'],
      entityClusters: ['cluster'],
      rugFlags: ['rug_flag'],
      launchWatch: ['rug_flag'],
      modelInForce: ['rug_flag'],
    };
    const solana = { chain: 'solana', address: addressNamed('solana', 'one') } as const;
    const ofSolana = await collectBundle(collectorPorts(world), solana, STILL_NOW, never());
    const gapsThere: typeof gapsBy = {
      walletLaunches: ['deployer', 'launches'],
      launchListings: ['venue'],
      tokenHolders: ['holders', 'authorities'],
    };
    const worlds = [
      ...Object.entries(gapsBy).map(([port, gaps]) => ({ port, gaps, about: target, whole })),
      ...Object.entries(gapsThere).map(([port, gaps]) => {
        return { port, gaps, about: solana, whole: ofSolana };
      }),
    ];
    for (const { port, gaps, about, whole: told } of worlds) {
      const ports = withSilent(world, [port as keyof CollectorPorts]);
      const bundle = await collectBundle(ports, about, STILL_NOW, never());
      for (const line of bundle.sources) {
        const isGap = gaps.includes(line.source);
        const expected = isGap
          ? { source: line.source, status: 'error', ...SILENT, as_of: null }
          : lineOf(told, line.source);
        expect(line, `${port} silent`).toEqual(expected);
        const keys = (one: Bundle) =>
          Object.entries(one.evidence).filter(([key]) => key.startsWith(`${line.source}.`));
        expect(keys(bundle), `${port} silent`).toEqual(isGap ? [] : keys(told));
      }
    }
  });

  test('with any subset of the collectors silent, a verdict never rises', async () => {
    const collectors = Object.values(COLLECTORS);
    expect(collectors.length).toBe(11);
    let told = 0;
    for (const { target, world } of KNOWN_TARGETS) {
      const given = await gatheredBy(collectorPorts(world), target);
      const whole = judgeByRules(makeBundle(target, given.flat(), STILL_NOW), RULES);
      for (let subset = 0; subset < 2 ** collectors.length; subset += 1) {
        const parts = collectors.flatMap(({ sources }, i) =>
          (subset >> i) % 2 === 0
            ? (given[i] ?? [])
            : sources.map((source) => gapOf(source, SILENT)),
        );
        const judged = judgeByRules(makeBundle(target, parts, STILL_NOW), RULES);
        if (judged.verdict === 'avoid') {
          told += 1;
          expect(whole.verdict).toBe('avoid');
        }
        expect(judged.confidence_millionths).toBeLessThanOrEqual(whole.confidence_millionths);
        if (judged.evidence_used.some((key) => !whole.evidence_used.includes(key))) {
          throw new Error('test: silence made a citation');
        }
      }
    }
    // Half of the subsets leave the one collector speaking that supports the verdict.
    expect(told).toBe(6 * 2 ** 10);
  }, 120_000);

  test('a list past its age gives no key, though it lists the address', async () => {
    const world = { listed: [entryOf(evm('one'))], listCheckedAt: STILL_NOW - 30 * 86_400 };
    const bundle = await bundleOf({ world, target: { chain: 'ethereum', address: evm('one') } });
    expect(lineOf(bundle, 'sanctions')).toMatchObject({ status: 'error', code: 'list_too_old' });
    expect(judgeByRules(bundle, RULES).verdict).toBe('no_opinion');
  });

  test('history behind its tip is a gap of what rests on it', async () => {
    const world = { tipAt: STILL_NOW - 86_400 };
    const bundle = await bundleOf({ world, target: { chain: 'ethereum', address: evm('one') } });
    for (const source of ['bridges', 'funding', 'net_flow'] as const) {
      expect(lineOf(bundle, source)).toMatchObject({ status: 'error', code: 'partial_history' });
    }
  });

  test('time that ran out is a gap of every source that did not answer', async () => {
    const ended = AbortSignal.abort();
    const target = { chain: 'ethereum', address: evm('one') } as const;
    const bundle = await collectBundle(collectorPorts({}), target, STILL_NOW, ended);
    const codes = new Set(bundle.sources.map(({ code }) => code));
    expect([...codes]).toEqual(['time_budget']);
  });

  test('chains that a source does not have are gaps by name', async () => {
    const evmGaps = {
      deployer: 'What an address launched',
      holders: 'Who holds a token',
      rug_flag: 'Whether a rug model flags a launch',
    };
    const bridges = { bridges: 'Over which bridges an address went' };
    const contracts = {
      contract: 'The verified source of a contract',
      freezes: 'Whether an issuer froze tokens of an address',
    };
    const untold: { readonly [chain in ChainName]: { readonly [source: string]: string } } = {
      ethereum: { holders: evmGaps.holders },
      arbitrum: evmGaps,
      base: evmGaps,
      bsc: evmGaps,
      polygon: { ...evmGaps, cluster: 'Who acts together with an address' },
      hyperevm: { ...evmGaps, ...bridges },
      solana: { ...contracts, ...bridges },
      bitcoin: {
        ...evmGaps,
        ...contracts,
        ...bridges,
        launches: 'Who made a contract or a token',
        venue: 'Where a token trades',
        authorities: 'Who has powers over a token',
      },
    };
    const addresses = {
      evm: evm('one'),
      solana: EVERY_FORM.solana,
      bitcoin: EVERY_FORM.bitcoin_p2pkh,
    };
    for (const chain of CHAIN_NAMES) {
      const target = { chain, address: addresses[CHAINS[chain].kind] };
      const { sources } = await bundleOf({ world: {}, target });
      const gaps = sources.filter(({ code }) => code === 'no_evidence_source');
      const named = gaps.map(({ source, status, reason }) => [source, status, reason]);
      const expected = Object.entries(untold[chain]).map(([source, what]) => [
        source,
        'unavailable',
        `${what} on ${chain} is read by no source that this version has; nothing was checked.`,
      ]);
      expect(named.toSorted(), chain).toEqual(expected.toSorted());
    }
    const solana = { chain: 'solana', address: EVERY_FORM.solana } as const;
    expect(lineOf(await bundleOf({ world: {}, target: solana }), 'rug_flag')).toEqual({
      source: 'rug_flag',
      status: 'dormant',
      code: 'chain_never_scored',
      reason: 'Launches on solana were never scored on this deployment; nothing was checked.',
      as_of: null,
    });
  });

  test('calls that may not be made are gaps of those who would have made them', async () => {
    const world = { listed: [entryOf(evm('one'))] };
    const target = { chain: 'ethereum', address: evm('one') } as const;
    const spent = why('signal_calls_spent', { limit: '0' });
    const ports = collectorPorts(world);
    const silent = unread('transfer_history', SILENT);
    // Two ports ask outside: one of them says only that it failed.
    const outside: CollectorPorts = {
      ...ports,
      issuerFreezes: {
        ...ports.issuerFreezes,
        of: async (_chain, _address, signal) => {
          expect(askerOf(signal)?.countCall()).toEqual(spent);
          return unread('issuer_freezes', SILENT);
        },
      },
      transferHistory: {
        ...ports.transferHistory,
        neighbourhoods: async (addresses, { signal }) => {
          expect(askerOf(signal)?.countCall()).toEqual(spent);
          return new Map(addresses.map((address) => [address, silent]));
        },
      },
    };
    const asked = signalFor('signals', never(), () => spent);
    const bundle = await collectBundle(outside, target, STILL_NOW, asked);
    const whole = await collectBundle(ports, target, STILL_NOW, never());
    const cut = ['freezes', 'bridges', 'funding', 'net_flow'];
    for (const line of bundle.sources) {
      const { source } = line;
      const gap = { source, status: 'unavailable', ...spent, as_of: null };
      expect(line).toEqual(cut.includes(source) ? gap : lineOf(whole, source));
    }
    const keys = Object.keys(bundle.evidence);
    expect(keys.filter((key) => cut.some((source) => key.startsWith(`${source}.`)))).toEqual([]);
  });

  test('who holds a token of Solana and who has powers over it', async () => {
    const mint = addressNamed('solana', 'mint');
    const accounts = [700n, 200n, 0n].map((raw_amount, i) => {
      const account = addressNamed('solana', `account ${i}`);
      return { account, owner: addressNamed('solana', `owner ${i}`), raw_amount };
    });
    const authority = addressNamed('solana', 'authority');
    const token = {
      mint: {
        program: 'token',
        supply: 1_000n,
        decimals: 2,
        mint_authority: authority,
        freeze_authority: null,
        permanent_delegate: null,
      },
      accounts,
    } as const;
    const target = { chain: 'solana', address: mint } as const;
    const valuesOf = async (tokens: ReadonlyMap<string, HeldToken>) => {
      const { evidence } = await bundleOf({ world: { tokens }, target });
      const own = Object.entries(evidence).filter(([key]) => /^(holders|authorities)\./.test(key));
      return Object.fromEntries(own.map(([key, { value }]) => [key, value]));
    };
    expect(await valuesOf(new Map([[mint, token]]))).toEqual({
      'authorities.freeze_authority': null,
      'authorities.is_mint': true,
      'authorities.mint_authority': authority,
      'authorities.permanent_delegate': null,
      'authorities.program': 'token',
      'holders.account_1.account': accounts[0]?.account,
      'holders.account_1.amount': '7',
      'holders.account_1.owner': accounts[0]?.owner,
      'holders.account_1.share': '0.7',
      'holders.account_2.account': accounts[1]?.account,
      'holders.account_2.amount': '2',
      'holders.account_2.owner': accounts[1]?.owner,
      'holders.account_2.share': '0.2',
      'holders.account_3.account': accounts[2]?.account,
      'holders.account_3.amount': '0',
      'holders.account_3.owner': accounts[2]?.owner,
      'holders.account_3.share': '0',
      'holders.accounts_seen': 3,
      'holders.is_mint': true,
      'holders.share_of_largest': '0.7',
      'holders.share_of_ten': '0.9',
      'holders.supply': '10',
    });
    expect(await valuesOf(new Map())).toEqual({
      'authorities.is_mint': false,
      'holders.is_mint': false,
    });
    // A supply that shrank between two questions, and one of nothing, give no share.
    for (const supply of [500n, 0n]) {
      const changed = { ...token, mint: { ...token.mint, supply } };
      expect(await valuesOf(new Map([[mint, changed]]))).toMatchObject({
        'holders.share_of_largest': null,
        'holders.share_of_ten': null,
      });
    }
  });

  test('made-up evidence is labelled in a simulated world, and is none beside measured', async () => {
    const listed = [entryOf(evm('one'))];
    const target = { chain: 'ethereum', address: evm('one') } as const;
    const simulated = await bundleOf({ world: { listed, madeUp: true, simulated: true }, target });
    expect(isSimulated(simulated)).toBe(true);
    expect(lineOf(simulated, 'sanctions')).toMatchObject({ status: 'present', code: 'simulated' });
    expect(lineOf(simulated, 'funding')).toMatchObject({ status: 'error', code: 'simulated' });
    expect(judgeByRules(simulated, RULES).verdict).toBe('avoid');
    const mixed = await bundleOf({ world: { listed, madeUp: true }, target });
    expect(isSimulated(mixed)).toBe(false);
    expect(lineOf(mixed, 'sanctions')).toMatchObject({ code: 'evidence_made_up' });
    expect(judgeByRules(mixed, RULES).verdict).toBe('no_opinion');
  });
});

describe('refuses', () => {
  test.each([
    ['tron', EVERY_FORM.tron, /^chain: none that is served/],
    ['Ethereum', evm('one'), /^chain: none that is served/],
    ['ethereum', EVERY_FORM.solana, /of another kind of chain than ethereum/],
    ['solana', evm('one'), /of another kind of chain than solana/],
    ['ethereum', 'vitalik.eth', /form not recognised/],
    ['ethereum', ` ${evm('one')}`, /form not recognised/],
    ['ethereum', `0x${'0'.repeat(40)}`, /belongs to a chain itself, or to nobody/],
  ])('%s %s', (chain, address, says) => {
    expect(parseTarget(chain, address)).toEqual({ refused: expect.stringMatching(says) });
  });

  test('a bundle over its bounds: the largest source gives way, and says so', () => {
    const target = { chain: 'solana', address: addressNamed('solana', 'one') } as const;
    const values = Object.fromEntries(
      Array.from({ length: 900 }, (_, i) => [`row_${i}.text`, { untrusted: '😀'.repeat(100) }]),
    );
    const small = { listed: true };
    const line = { status: 'present', code: null, reason: null, as_of: STILL_NOW } as const;
    const gathered: Gathered[] = [
      { line: { ...line, source: 'labels' }, values },
      { line: { ...line, source: 'sanctions' }, values: small },
    ];
    const bundle = makeBundle(target, gathered, STILL_NOW);
    expect(lineOf(bundle, 'labels')).toMatchObject({ status: 'error', code: 'evidence_too_large' });
    expect(Object.keys(bundle.evidence)).toEqual(['sanctions.listed']);
  });
});

/** What each collector gives, in their order. */
async function gatheredBy(ports: CollectorPorts, target: KnownTarget['target']) {
  const whole = await collectBundle(ports, target, STILL_NOW, never());
  return Object.values(COLLECTORS).map(({ sources }) =>
    sources.map((source): Gathered => {
      const line = lineOf(whole, source);
      if (line === undefined) throw new Error(`test: no line of ${source}`);
      const own = Object.entries(whole.evidence).filter(([key]) => key.startsWith(`${source}.`));
      const values = own.map(([key, { value }]) => [key.slice(source.length + 1), value]);
      return { line, values: Object.fromEntries(values) };
    }),
  );
}
