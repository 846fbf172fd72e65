import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { bridgesExplain } from '../../features/bridges/bridges.command.ts';
import { bridgeServices } from '../../features/bridges/feature.ts';
import { ran } from '../../testing/recording-io.ts';
import { SHARED_DATA } from '../../testing/shared-data.ts';
import { inventAddress } from '../../world/made-up-address.ts';

const FOLDER = join(SHARED_DATA, 'provider-recordings/unit/decoders/test_across');
const RECORDED = existsSync(FOLDER);

const folder = mkdtempSync(join(tmpdir(), 'exhibit-explain-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ANSWER = z.object({ result: z.looseObject({}).nullable() });

/** The transaction and the receipt of a recording, as the answers that held them. */
function recorded(situation: string): { transaction: unknown; receipt: unknown } {
  const name = readdirSync(FOLDER).find((one) => one.startsWith(`${situation}[`));
  const text = readFileSync(join(FOLDER, String(name)), 'utf8');
  const answers = [...text.matchAll(/string: '(\{"jsonrpc[^']*\})\s*'/g)].flatMap(([, said]) => {
    const parsed = ANSWER.safeParse(JSON.parse(String(said)));
    return parsed.success ? [parsed.data] : [];
  });
  const receipt = answers.find(({ result }) => result !== null && 'logs' in result);
  const hash = receipt?.result?.['transactionHash'];
  const transaction = answers.find(
    ({ result }) => result !== null && 'input' in result && result['hash'] === hash,
  );
  return { transaction, receipt };
}

let files = 0;
async function explain(document: unknown, more = '') {
  files += 1;
  const file = join(folder, `${files}.json`);
  writeFileSync(file, typeof document === 'string' ? document : JSON.stringify(document));
  const line = `bridges explain --receipt ${file} --json ${more}`;
  const { status, lines, errors } = await ran(line, [bridgesExplain], bridgeServices(null));
  const said = lines.map((one): unknown => JSON.parse(one));
  return { status, said, errors };
}

describe('transactions of Across of our own making', () => {
  const [user, asset] = ['alice', 'token'].map((name) => inventAddress('recordings', 'evm', name));
  const own = (situation: string) => {
    const file = new URL(`./recordings/across-${situation}.json`, import.meta.url);
    return readFileSync(file, 'utf8');
  };

  test.each([
    {
      situation: 'deposit-on-ethereum',
      said: {
        direction: 'out',
        amount: '422000001',
        message_id: '1/4000001',
        chain: 'ethereum',
        contract: '0x5c7bcd6e7de5423a257d81b442095a1a6ced35c5',
        origin: 'ethereum',
        destination: 'arbitrum',
      },
    },
    {
      situation: 'fill-on-base',
      said: {
        direction: 'in',
        amount: '9804000000000001',
        message_id: '42161/1100001',
        contract: '0x09aea4b2242abc8bb4bb78d537a67a245a7bec64',
        chain: 'base',
        origin: 'arbitrum',
        destination: 'base',
      },
    },
    {
      situation: 'fill-with-wide-addresses-on-ethereum',
      said: {
        direction: 'in',
        amount: '41982000000000001',
        chain: 'ethereum',
        origin: 'arbitrum',
        destination: 'ethereum',
      },
    },
    {
      situation: 'fill-from-an-uncovered-chain-on-arbitrum',
      said: {
        direction: 'in',
        amount: '365000001',
        chain: 'arbitrum',
        origin: 'eip155:534352',
        destination: 'arbitrum',
      },
    },
  ])(
    '$situation is told with protocol, direction, user, and the amount that its tokens moved',
    async ({ situation, said }) => {
      const explained = await explain(own(situation));
      const told = { protocol: 'across', user, asset, ...said };
      expect(explained).toMatchObject({ status: 0, said: [told] });
      const word = BigInt(said.amount).toString(16).padStart(64, '0');
      expect(own(situation)).toContain(`"data": "0x${word}"`);
    },
  );

  test.each([
    ['liquidity-added', 'LiquidityAdded of across HubPool'],
    ['liquidity-removed', 'LiquidityRemoved of across HubPool'],
    ['stake', 'No contract on the registry'],
  ])('%s is not taken for bridging', async (situation, why) => {
    const { said, status } = await explain(own(situation));
    const why_not = expect.stringContaining(why);
    expect({ said, status }).toMatchObject({ status: 0, said: [{ bridged: false, why_not }] });
  });

  test('a chain that the file does not name is told by the contracts, where one alone fits', async () => {
    const { said } = await explain(own('deposit-on-ethereum').replace(/ *"chainId": "0x1",\n/, ''));
    expect(said).toMatchObject([{ chain: 'ethereum', direction: 'out' }]);
  });

  test('a chain is not guessed where another has the same contract, covered or not', async () => {
    const { said, status } = await explain(
      own('fill-on-base').replace(/ *"chainId": "0x2105",\n/, ''),
    );
    expect(said).toMatchObject([{ bridged: null, chain: null, checked: false }]);
    expect(JSON.stringify(said)).toMatch(/fit base, eip155:130, .*eip155:480/);
    expect(status).toBe(3);
  });
});

describe.skipIf(!RECORDED)('recorded transactions of Across (or skipped: no shared data)', () => {
  test.each([
    {
      situation: 'test_across_bridge_deposit_on_ethereum',
      said: {
        direction: 'out',
        user: '0x6b21bb0d79c543b13dee153700788d2c008633e5',
        asset: '0xdac17f958d2ee523a2206206994597c13d831ec7',
        amount: '422866751',
        contract: '0x5c7bcd6e7de5423a257d81b442095a1a6ced35c5',
        message_id: '1/4024312',
        chain: 'ethereum',
        origin: 'ethereum',
        destination: 'arbitrum',
      },
    },
    {
      situation: 'test_across_bridge_receive_on_base',
      said: {
        direction: 'in',
        user: '0xc37b40abdb939635068d3c5f13e7faf686f03b65',
        asset: 'native',
        amount: '9804674568982550',
        contract: '0x09aea4b2242abc8bb4bb78d537a67a245a7bec64',
        message_id: '42161/1142258',
        chain: 'base',
        origin: 'arbitrum',
        destination: 'base',
      },
    },
    {
      situation: 'test_across_relayed_bridge_receive_on_ethereum',
      said: {
        direction: 'in',
        user: '0xf5d90ac6747cb3352f05bf61f48b991aceae28eb',
        asset: 'native',
        chain: 'ethereum',
        origin: 'arbitrum',
        destination: 'ethereum',
        contract: '0x5c7bcd6e7de5423a257d81b442095a1a6ced35c5',
        amount: '41982585504559745',
      },
    },
    {
      situation: 'test_across_relayed_bridge_receive_usdc_on_ethereum',
      said: {
        direction: 'in',
        user: '0xf70da97812cb96acdf810712aa562db8dfa3dbef',
        asset: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
        amount: '99970446325',
        chain: 'ethereum',
        origin: 'bsc',
        destination: 'ethereum',
      },
    },
    {
      situation: 'test_socket_across_receive_on_arbitrum',
      said: {
        direction: 'in',
        user: '0x3ba6eb0e4327b96ade6d4f3b578724208a590cef',
        asset: '0xaf88d065e77c8cc2239327c5edb3a432268e5831',
        amount: '365669864',
        chain: 'arbitrum',
        origin: 'eip155:534352',
        destination: 'arbitrum',
      },
    },
  ])(
    '$situation is told with protocol, direction, amount and user',
    async ({ situation, said }) => {
      const explained = await explain(recorded(situation));
      expect(explained.said).toEqual([expect.objectContaining({ protocol: 'across', ...said })]);
      expect(explained.status).toBe(0);
    },
  );

  test.each([
    'test_across_bridge_deposit_on_ethereum',
    'test_across_bridge_receive_on_base',
    'test_across_relayed_bridge_receive_on_ethereum',
    'test_across_relayed_bridge_receive_usdc_on_ethereum',
    'test_socket_across_receive_on_arbitrum',
  ])('%s: the amount told is the one that its tokens moved', async (situation) => {
    const { said } = await explain(recorded(situation));
    const [{ amount }] = z.tuple([z.looseObject({ amount: z.string() })]).parse(said);
    const word = `0x${BigInt(amount).toString(16).padStart(64, '0')}`;
    expect(JSON.stringify(recorded(situation).receipt)).toContain(`"data":"${word}"`);
  });

  test.each([
    ['test_across_add_liquidity_on_ethereum', 'LiquidityAdded of across HubPool'],
    ['test_across_remove_liquidity_on_ethereum', 'LiquidityRemoved of across HubPool'],
    ['test_across_stake_lp_on_ethereum', 'No contract on the registry'],
    ['test_across_unstake_lp_on_ethereum', 'No contract on the registry'],
  ])('%s is not taken for bridging', async (situation, why) => {
    const { said, status } = await explain(recorded(situation));
    expect(said).toEqual([
      expect.objectContaining({ bridged: false, why_not: expect.stringContaining(why) }),
    ]);
    expect(status).toBe(0);
  });

  test('a chain that the file does not name is told by the contracts, where one alone fits', async () => {
    const { transaction, receipt } = recorded('test_socket_across_receive_on_arbitrum');
    const bare = JSON.stringify({ transaction, receipt }).replace('"chainId":"0xa4b1",', '');
    const { said } = await explain(bare);
    expect(said).toEqual([expect.objectContaining({ chain: 'arbitrum', direction: 'in' })]);
  });
});

const HASH = `0x${'ab'.repeat(32)}`;
const FROM = `0x${'11'.repeat(20)}`;
const TO = `0x${'22'.repeat(20)}`;
const RAW = {
  transaction: { hash: HASH, from: FROM, to: TO, value: '0x0', chainId: '0x1' },
  receipt: {
    transactionHash: HASH,
    blockNumber: '0x1',
    from: FROM,
    to: TO,
    status: '0x1',
    logs: [],
  },
};

describe('what is no bridging', () => {
  test('is said with the reason, and done', async () => {
    const { said, status } = await explain(RAW);
    expect(status).toBe(0);
    expect(said).toEqual([
      {
        bridged: false,
        chain: 'ethereum',
        checked: true,
        unknown_events: 0,
        why_not: 'No contract on the registry logged anything in it.',
      },
    ]);
  });

  test('a chain that is not covered is not checked: exit status 3, and no false', async () => {
    const transaction = { ...RAW.transaction, chainId: '0xa' };
    const { said, status } = await explain({ ...RAW, transaction });
    expect(status).toBe(3);
    expect(said).toEqual([expect.objectContaining({ bridged: null, checked: false })]);
  });

  test('a known layout at a contract off the registry is named, and is no bridging', async () => {
    const topics = ['0xe9bded5f24a4168e4f3bf44e00298c993b22376aad8c58c7dda9718a54cbea82'];
    const log = { address: TO, topics, data: '0x', logIndex: '0x0' };
    const { said } = await explain({ ...RAW, receipt: { ...RAW.receipt, logs: [log] } });
    expect(said).toEqual([
      expect.objectContaining({
        bridged: false,
        why_not: `Packet of layerzero was logged by ${TO}, not on the registry.`,
      }),
    ]);
  });

  test('an unknown layout at a contract of the registry is not told: null, and no false', async () => {
    const spoke = '0x5c7bcd6e7de5423a257d81b442095a1a6ced35c5';
    const log = { address: spoke, topics: [HASH], data: '0x', logIndex: '0x0' };
    const receipt = { ...RAW.receipt, blockNumber: '0x1839787', logs: [log] };
    const { said, status } = await explain({ ...RAW, receipt });
    expect(said).toEqual([expect.objectContaining({ bridged: null, unknown_events: 1 })]);
    expect(status).toBe(3);
  });
});

describe('the other side', () => {
  test('is not told where no node is set: a reason, and no state', async () => {
    const file = new URL('./recordings/across-deposit-on-ethereum.json', import.meta.url);
    const { said, status } = await explain(readFileSync(file, 'utf8'), '--destination');
    expect(status).toBe(0);
    expect(said).toMatchObject([{ arrival: { chain: 'arbitrum', tx: null, state: null } }]);
    expect(JSON.stringify(said)).toContain('A node of ethereum');
  });

  test('is not looked for unasked, nor of what arrived here', async () => {
    const own = (name: string) =>
      readFileSync(new URL(`./recordings/across-${name}.json`, import.meta.url), 'utf8');
    const unasked = await explain(own('deposit-on-ethereum'));
    const arrived = await explain(own('fill-on-base'), '--destination');
    expect([...unasked.said, ...arrived.said]).toMatchObject([
      { arrival: null },
      { arrival: null },
    ]);
  });
});

describe('files', () => {
  test('may be answers, a list of the two, or nested in result', async () => {
    const { transaction, receipt } = RAW;
    const answers = [
      { jsonrpc: '2.0', id: 1, result: transaction },
      { id: 2, result: receipt },
    ];
    for (const document of [RAW, answers, { result: RAW }]) {
      expect((await explain(document)).status).toBe(0);
    }
  });

  test.each([
    ['no JSON', 'not json', 'no JSON'],
    ['no receipt', { transaction: RAW.transaction }, 'no receipt'],
    [
      'two transactions',
      { ...RAW, receipt: { ...RAW.receipt, transactionHash: `0x${'cd'.repeat(32)}` } },
      'not of one hash',
    ],
  ])('with %s are refused, with exit status 1', async (_, document, why) => {
    const { status, errors, said } = await explain(document);
    expect({ status, said }).toEqual({ status: 1, said: [] });
    expect(errors.join()).toContain(why);
  });

  test('people read the same, line by line', async () => {
    const file = join(folder, 'plain.json');
    writeFileSync(file, JSON.stringify(RAW));
    const line = `bridges explain --receipt ${file}`;
    const { lines } = await ran(line, [bridgesExplain], bridgeServices(null));
    expect(lines).toEqual(['No bridging: No contract on the registry logged anything in it.']);
  });
});
