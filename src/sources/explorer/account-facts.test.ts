import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Read, Unread } from '../../evidence/reading.ts';
import { FACT_NAMES, type FactName } from '../../ports/accounts.ts';
import { SHARED_DATA } from '../../testing/shared-data.ts';
import { noRelays } from '../../testing/twins/accounts.ts';
import { providerGuard } from '../http/provider.ts';
import { explorerFacts } from './account-facts.ts';
import { blockscoutChain, etherscanChain, saysNoCreation, saysNoLogs } from './envelope.ts';

const ADDRESS = '0x5a464c28d19848f44199d003bef5ecc87d090f87';
const CREATOR = '0xda0fab0700a4389f6e6679abab1692b4601ce9bf';
const TX = '0x02525186f0153965677e3e206bf07c667718f90de8561937d2eea531bfd9b951';
const SIGNAL = new AbortController().signal;

const ok = (result: unknown) => ({ status: '1', message: 'OK', result });
const passed = (result: string) => ({ jsonrpc: '2.0', id: 1, result });
const VERIFIED = {
  SourceCode: 'contract C {}',
  ABI: '[]',
  ContractName: 'Registry',
  Proxy: '0',
};
const NOT_VERIFIED = { SourceCode: '', ABI: 'Contract source code not verified', ContractName: '' };
const CREATION = {
  contractAddress: ADDRESS,
  contractCreator: CREATOR,
  txHash: TX,
  blockNumber: '12251871',
  timestamp: '1618586842',
  contractFactory: '',
  creationBytecode: '0x60',
};
const WORD_OF_ONE = `0x${'0'.repeat(63)}1`;

/** The answers of a contract's explorer, by action. */
const HONEST: { readonly [action: string]: unknown } = {
  eth_getCode: passed('0x6001'),
  eth_getTransactionCount: passed('0x1'),
  balance: ok('1000000000000000001'),
  eth_call: passed(WORD_OF_ONE),
  getsourcecode: ok([VERIFIED]),
  getcontractcreation: ok([CREATION]),
};

let server: Server | null = null;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = null;
});

type Said = { readonly status?: number; readonly body: string };

async function serve(answer: (action: string) => unknown | Said): Promise<URL> {
  const started = createServer((asked, reply) => {
    const { searchParams } = new URL(String(asked.url), 'http://x');
    const said = answer(String(searchParams.get('action')));
    const raw = typeof said === 'object' && said !== null && 'body' in said ? (said as Said) : null;
    reply.writeHead(raw?.status ?? 200, { 'content-type': 'application/json' });
    reply.end(raw === null ? JSON.stringify(said) : raw.body);
  });
  server = started;
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  const { port } = started.address() as AddressInfo;
  return new URL(`http://127.0.0.1:${port}/v2/api`);
}

async function factsFrom(
  answer: (action: string) => unknown | Said,
  wanted: readonly FactName[] = FACT_NAMES,
) {
  const limits = { callsPerS: 10_000, retriesMax: 0, backoffMs: 1, failuresMax: 99, restMs: 1 };
  const guard = providerGuard(limits, () => performance.now());
  const chain = etherscanChain('ethereum', { url: await serve(answer), guard }, 'KEY');
  const options = { now: () => 7, timeMs: 5_000, callsMax: 20, simulated: false, relays: noRelays };
  return explorerFacts({ chains: [chain], ...options }).of('ethereum', ADDRESS, wanted, SIGNAL);
}

function factIn(reading: unknown): unknown {
  if (!(reading instanceof Read)) throw new Error('not read');
  return reading.value;
}

describe('an explorer tells', () => {
  test('state, name and creation of a contract, each in the wire’s own form', async () => {
    const facts = await factsFrom((action) => HONEST[action]);
    expect(factIn(facts.code)).toMatchObject({ size: 2 });
    expect(factIn(facts.nonce)).toBe(1);
    expect(factIn(facts.balance_wei)).toBe(1_000_000_000_000_000_001n);
    expect(factIn(facts.is_token)).toBe(true);
    expect(factIn(facts.verified_name)).toBe('Registry');
    expect(factIn(facts.creation)).toEqual({
      creator: CREATOR,
      relay: null,
      factory: null,
      tx: TX,
      block: 12_251_871,
    });
    expect(facts.authority).toBeInstanceOf(Unread);
  });

  test('that a source is not verified, by the words for it', async () => {
    const facts = await factsFrom((action) =>
      action === 'getsourcecode' ? ok([NOT_VERIFIED]) : HONEST[action],
    );
    expect(factIn(facts.verified_name)).toBeNull();
  });

  test.each([
    ['Etherscan', { status: '0', message: 'No data found', result: null }],
    ['Blockscout and Routescan', ok([])],
  ])('of no creation as %s says it: silence, never an account’s proof', async (_, none) => {
    const facts = await factsFrom((action) =>
      action === 'getcontractcreation' ? none : HONEST[action],
    );
    expect(facts.creation).toBeInstanceOf(Unread);
    if (facts.creation instanceof Unread) {
      expect(facts.creation.why.code).toBe('creation_not_found');
    }
  });

  test('a contract that refuses a call is no token, which was looked at', async () => {
    const refused = { jsonrpc: '2.0', id: 1, error: { code: 3, message: 'execution reverted' } };
    const facts = await factsFrom((action) => (action === 'eth_call' ? refused : HONEST[action]));
    expect(factIn(facts.is_token)).toBe(false);
  });

  test('only what is wanted is asked for', async () => {
    const asked: string[] = [];
    await factsFrom(
      (action) => {
        asked.push(action);
        return HONEST[action];
      },
      ['nonce'],
    );
    expect(asked).toEqual(['eth_getTransactionCount']);
  });
});

describe('a fault of an explorer is silence of every fact', () => {
  test.each([
    ['a rate limit', { status: '0', message: 'NOTOK', result: 'Max rate limit reached' }],
    ['an invalid key', { status: '0', message: 'NOTOK', result: 'Invalid API Key' }],
    [
      'a plan without the chain',
      {
        status: '0',
        message: 'NOTOK',
        result: 'Free API access is not supported for this chain.',
      },
    ],
    ['HTML', { status: 502, body: '<html>bad gateway</html>' }],
    ['429', { status: 429, body: 'slow down' }],
    ['a cut body', { body: '{"status":"1","resu' }],
    ['another shape', [1, 2]],
    ['no result', { status: '1', message: 'OK' }],
    ['null', { jsonrpc: '2.0', id: 1, result: null }],
    ['an empty list', { status: '1', message: 'OK', result: '' }],
    ['an unknown message', { status: '0', message: 'No records', result: [] }],
  ])('%s', async (_, fault) => {
    const facts = await factsFrom(() => fault);
    for (const reading of Object.values(facts)) expect(reading).toBeInstanceOf(Unread);
    for (const reading of Object.values(facts)) {
      if (reading instanceof Unread) expect(reading.why.reason).not.toContain('KEY');
    }
  });

  test('a Blockscout of another chain is no source', async () => {
    const url = await serve(() => ({ jsonrpc: '2.0', id: 1, result: '0x64' }));
    const limits = { callsPerS: 10_000, retriesMax: 0, backoffMs: 1, failuresMax: 99, restMs: 1 };
    const guard = providerGuard(limits, () => performance.now());
    const chains = [blockscoutChain('ethereum', { url, guard })];
    const options = {
      now: () => 7,
      timeMs: 5_000,
      callsMax: 20,
      simulated: false,
      relays: noRelays,
    };
    const facts = await explorerFacts({ chains, ...options }).of(
      ...(['ethereum', ADDRESS, FACT_NAMES, SIGNAL] as const),
    );
    expect(facts.code).toBeInstanceOf(Unread);
    if (facts.code instanceof Unread) expect(facts.code.why.reason).toContain('chain id is 100');
  });

  test('a budget that is spent asks nothing further and says so', async () => {
    const limits = { callsPerS: 10_000, retriesMax: 0, backoffMs: 1, failuresMax: 99, restMs: 1 };
    const guard = providerGuard(limits, () => performance.now());
    const url = await serve((action) => HONEST[action]);
    const chains = [etherscanChain('ethereum', { url, guard }, null)];
    const options = {
      now: () => 7,
      timeMs: 5_000,
      callsMax: 1,
      simulated: false,
      relays: noRelays,
    };
    const facts = await explorerFacts({ chains, ...options }).of(
      ...(['ethereum', ADDRESS, ['code', 'nonce'], SIGNAL] as const),
    );
    const codes = [facts.code, facts.nonce].map((one) =>
      one instanceof Unread ? one.why.code : 'read',
    );
    expect(codes.sort()).toEqual(['call_budget', 'read']);
  });
});

test('of our own recordings, both providers’ words for no creation are told from one', () => {
  const file = new URL('./recordings/contract-creation.json', import.meta.url);
  const held: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const recorded = CREATIONS.parse(held);
  expect(recorded.map(({ made }) => made === null)).toEqual([false, true, true]);
  for (const { made, answer } of recorded) expect(saysNoCreation(answer)).toBe(made === null);
});

const CREATIONS = z.array(z.strictObject({ made: z.string().nullable(), answer: z.unknown() }));

const FOLDER = `${SHARED_DATA}/provider-recordings/unit/test_indexers`;
const RECORDED = [0, 1, 2]
  .map((n) => `${FOLDER}/test_get_contract_creation_hash[check_all_indexers${n}].yaml`)
  .filter((file) => existsSync(file));

describe.skipIf(RECORDED.length === 0)('recorded answers (or skipped: no shared data)', () => {
  test.each(RECORDED)('%s: the creation, and the words for none', async (file) => {
    const text = readFileSync(file, 'utf8');
    expect(text).toContain(CREATOR);
    const none = [...text.matchAll(/^ {6}string: '(\{.*\})'$/gm)]
      .map(([, said]): unknown => JSON.parse(String(said)))
      .filter(saysNoCreation);
    expect(none).toHaveLength(1);
  });
});

test('no log fits only where the status, the words and an empty list together say so', () => {
  for (const message of ['No records found', 'No logs found']) {
    expect(saysNoLogs({ status: '0', message, result: [] })).toBe(true);
    for (const result of [null, '', 'rate limited', {}, [{}]]) {
      expect(saysNoLogs({ status: '0', message, result })).toBe(false);
    }
    expect(saysNoLogs({ status: '1', message, result: [] })).toBe(false);
  }
  for (const message of ['NOTOK', 'OK', '']) {
    expect(saysNoLogs({ status: '0', message, result: [] })).toBe(false);
  }
});
