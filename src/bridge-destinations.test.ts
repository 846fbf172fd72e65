// For each protocol, an event logged as sent on one chain is found as arrived on another real
// chain, by its id or by its terms; events that differ in path, amount, recipient or deadline are
// not.

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Answer } from './contract/answer.ts';
import { Read } from './evidence/reading.ts';
import { type Destination, findDestination, joinReasons } from './features/bridges/destination.ts';

import { decodeReceipt } from './features/bridges/protocols/decode.ts';
import { registryIndex } from './features/bridges/registry.ts';
import { walletBridges } from './features/bridges/wallet-bridges.route.ts';
import type { BridgeChain, BridgeProtocol, RegistryRow } from './ports/bridges.ts';
import { statusPages } from './sources/bridge-status/status-page.ts';
import { nodeArrivals, nodeReceipts } from './sources/evm/receipts-node.ts';
import { type JsonRpc, jsonRpc, RPC_LIMITS } from './sources/http/json-rpc.ts';
import { type Anvil, anvilPath, startAnvil } from './testing/anvil.ts';
import {
  ALICE,
  BOB,
  type Declared,
  ECHO,
  INTEGRATION,
  PAIRS,
  type Pair,
  type Terms,
  TOKEN,
  TRANSMITTER,
} from './testing/bridge-pairs.ts';
import { askWalletBridges, portsOf, token } from './testing/bridge-trace.ts';
import { compileContracts } from './testing/contracts.ts';
import { logOf } from './testing/event-logs.ts';
import { type MemoryArrivals, memoryBridgeArrivals } from './testing/twins/bridges.ts';
import { memoryTransfer } from './testing/twins/history.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const NO_ANVIL = anvilPath() === null ? 'skipped: anvil is not installed' : null;

const DAY_S = 86_400;
const ID = `0x${'cd'.repeat(32)}`;
const OTHER = `0x${'6'.repeat(40)}`;
const NONE = '00'.repeat(32);
const SIGNAL = new AbortController().signal;

describe.skipIf(NO_ANVIL !== null)(`two real chains ${NO_ANVIL ?? ''}`, () => {
  const chains = {} as Record<'ethereum' | 'base', { anvil: Anvil; rpc: JsonRpc; echo: string }>;
  let rows: readonly RegistryRow[] = [];
  let ids = 100;

  beforeAll(async () => {
    const compiled = await compileContracts(ECHO);
    for (const [chain, id] of [
      ['ethereum', 1],
      ['base', 8453],
    ] as const) {
      const anvil = await startAnvil(id);
      const [from = ''] = anvil.accounts;
      const [made] = await anvil.mine({ from, data: compiled('Echo').code });
      const limits = RPC_LIMITS;
      const rpc = jsonRpc({ url: anvil.url, headers: {}, limits, sleep: async () => {} });
      chains[chain] = { anvil, rpc, echo: await anvil.created(made) };
    }
    const { anvil, echo } = chains.base;
    const code = await anvil.ask('eth_getCode', echo, 'latest');
    await anvil.ask('anvil_setCode', TRANSMITTER, code);
    rows = (['ethereum', 'base'] as const).flatMap((chain) => [
      ...[...new Set(PAIRS.map(({ protocol }) => protocol))].map((protocol) =>
        rowOf(chain, chains[chain].echo, protocol),
      ),
      rowOf(chain, TOKEN, 'wormhole'),
      { ...rowOf(chain, INTEGRATION, 'wormhole'), name: 'Circle Integration' },
    ]);
  });
  afterAll(async () => {
    for (const { anvil, rpc } of Object.values(chains)) {
      rpc.close();
      await anvil.stop();
    }
  });

  function rowOf(chain: BridgeChain, address: string, protocol: BridgeProtocol): RegistryRow {
    const facts = { chain, address, protocol, name: 'Contract', role: 'lock' } as const;
    const found = { also_on: [], sources: ['tests'], reviewed: '2026-01-01', note: null };
    return { ...facts, ...found, valid_from_block: null };
  }

  async function logged(
    chain: 'ethereum' | 'base',
    [declaration, values]: Declared,
    at = chains[chain].echo,
  ) {
    const { anvil } = chains[chain];
    const { topics, data } = logOf(at, declaration, values);
    const hexed = [
      topics.length.toString(16).padStart(2, '0'),
      ...topics.map((one) => one.slice(2)),
    ];
    const [from = ''] = anvil.accounts;
    const call = { from, to: at, data: `0x${hexed.join('')}${data.slice(2)}` };
    return String((await anvil.mine(call))[0]);
  }

  const nodes = () =>
    new Map((['ethereum', 'base'] as const).map((chain) => [chain, chains[chain].rpc] as const));
  const now = () => Math.floor(Date.now() / 1_000);
  const bounds = { simulated: false, now, timeMs: 20_000, rangesMax: 30 } as const;
  const noPages = statusPages({ pages: new Map(), now, timeMs: 0 });
  /** Payments on Base as a warehouse would hold them; the node holds the rest. */
  let paid: NonNullable<MemoryArrivals['paid']> = new Map();
  const arrivals = (over: Partial<Parameters<typeof nodeArrivals>[0]> = {}) => {
    const held = { logs: new Map(), paid, as_of: now(), simulated: false };
    const logs = nodeArrivals({ nodes: nodes(), ...bounds, ...over });
    return { ...memoryBridgeArrivals(held), ...logs, ...noPages };
  };
  const receiptsOf = () => nodeReceipts({ nodes: nodes(), simulated: false, now });
  const portsFor = (bridgeArrivals: ReturnType<typeof arrivals>) => {
    return { bridgeArrivals, transactionReceipts: receiptsOf() };
  };
  const told = ({ state, reasons, ...rest }: Destination) => ({
    ...rest,
    state: state instanceof Read ? state.value : state,
    reason: joinReasons(reasons),
  });

  /** Sends what a pair sends, by these terms. */
  async function sentBy(pair: Pair, terms: Terms) {
    const tx = await logged('ethereum', pair.sent(terms));
    const receipts = receiptsOf();
    const reading = (await receipts.lookUp('ethereum', [tx], SIGNAL)).get(tx);
    if (!(reading instanceof Read)) throw new Error('the receipt was not read');
    const { events } = decodeReceipt(reading.value, registryIndex(ofProtocol(pair.protocol)));
    const event = events.find(({ kind }) => kind === 'bridge');
    const time = await arrivals().timeOf('ethereum', reading.value.block, SIGNAL);
    if (event === undefined || !(time instanceof Read)) throw new Error('nothing was sent');
    const what = { event, chain: 'ethereum', tx, at: time.value } as const;
    const where = async (over: Parameters<typeof arrivals>[0] = {}) =>
      told(
        await findDestination(portsFor(arrivals(over)), ofProtocol(pair.protocol), what, SIGNAL),
      );
    return { tx, where, block: reading.value.block };
  }

  // One contract logs for every protocol here: each is asked about with its own rows alone.
  const ofProtocol = (protocol: BridgeProtocol) => rows.filter((row) => row.protocol === protocol);

  const termsOf = (): Terms => {
    ids += 1;
    return { recipient: BOB, amount: 70n, deadline: now() + DAY_S, origin: 1, id: ids };
  };

  test.each(PAIRS)(
    '$what: in flight, then matched by $matched_by when it arrives',
    async (pair) => {
      const terms = termsOf();
      const { tx, where } = await sentBy(pair, terms);
      await logged('base', ['event Other(uint256 a)', [1n]]);
      expect(await where()).toEqual({
        chain: 'base',
        tx: null,
        state: 'in_flight',
        matched_by: null,
        reason: null,
      });
      const there = await logged(
        'base',
        pair.arrived(terms, tx, chains.ethereum.echo),
        pair.logged_by,
      );
      expect(await where()).toEqual({
        chain: 'base',
        tx: there,
        state: 'matched',
        matched_by: pair.matched_by,
        reason: null,
      });
    },
  );

  const DIFFERENT: Partial<Terms> = { recipient: ALICE, amount: 69n, deadline: 1, origin: 56 };
  const CASES = PAIRS.flatMap((pair) =>
    pair.terms.map((term) => ({ what: pair.what, pair, term })),
  );

  test.each(CASES)('$what: what differs in $term is another’s', async ({ pair, term }) => {
    const terms = termsOf();
    const { tx, where } = await sentBy(pair, terms);
    const other = { ...terms, [term]: DIFFERENT[term] };
    await logged('base', pair.arrived(other, tx, chains.ethereum.echo), pair.logged_by);
    expect(await where()).toEqual(expect.objectContaining({ tx: null, state: 'in_flight' }));
  });

  test.each(PAIRS)(
    '$what: another’s id, and the same on its own chain, match nothing',
    async (pair) => {
      const terms = termsOf();
      const { tx, where } = await sentBy(pair, terms);
      const another = await sentBy(pair, { ...terms, id: terms.id + 1_000 });
      const foreign = { ...terms, id: terms.id + 1_000 };
      await logged('base', pair.arrived(foreign, another.tx, chains.ethereum.echo), pair.logged_by);
      await logged('ethereum', pair.arrived(terms, tx, chains.ethereum.echo));
      expect(await where()).toEqual(expect.objectContaining({ tx: null, state: 'in_flight' }));
    },
  );

  test.each(PAIRS)(
    '$what: among payments that are held, by $matched_by, where its logs are too far to read',
    async (pair) => {
      const terms = termsOf();
      const { tx, where } = await sentBy(pair, terms);
      const other = await logged(
        'base',
        pair.arrived({ ...terms, id: 7, origin: 56 }, ID, OTHER),
        pair.logged_by,
      );
      const there = await logged(
        'base',
        pair.arrived(terms, tx, chains.ethereum.echo),
        pair.logged_by,
      );
      const of = { block: 1, at: now(), from: OTHER, token: TOKEN, amount: 70n };
      const payments = [other, there].flatMap((one) =>
        [ALICE, BOB].map((to) => ({ ...of, to, tx: one })),
      );
      paid = new Map([['base', payments]]);
      expect(await where({ rangesMax: 0 })).toEqual({
        chain: 'base',
        tx: there,
        state: 'matched',
        matched_by: pair.matched_by,
        reason: expect.stringMatching(/^arrivals_cut/),
      });
      paid = new Map([['base', payments.filter((one) => one.tx === other)]]);
      expect(await where({ rangesMax: 0 })).toEqual(
        expect.objectContaining({ tx: null, matched_by: null }),
      );
    },
  );

  test('a trace tells a deposit as on its way, and as matched when it arrives', async () => {
    const [pair] = PAIRS;
    if (pair === undefined) throw new Error('no pair');
    const terms = termsOf();
    const { tx, block } = await sentBy(pair, terms);
    const asset = { token: TOKEN, raw_amount: terms.amount + 1n, tx, block, initiator: ALICE };
    const paid = memoryTransfer(block, ALICE, chains.ethereum.echo, token(asset));
    const own = ofProtocol('across').map((row) => ({ ...row, name: 'SpokePool' }));
    const ports = {
      ...portsOf({ transfers: [{ ...paid, at: now() }], rows: own }),
      transactionReceipts: receiptsOf(),
      bridgeArrivals: arrivals(),
    };
    const deposits = async () => {
      const answer = await askWalletBridges(ports, ALICE);
      if (!(answer instanceof Answer)) throw new Error('refused');
      return walletBridges.data.parse(answer.envelope(now()).data).deposits;
    };
    const sent = { tx, message_id: `1/${terms.id}` };
    const open = { chain: 'base', tx: null, state: 'in_flight', matched_by: null, reason: null };
    expect(await deposits()).toEqual([expect.objectContaining({ ...sent, destination: open })]);
    const there = await logged(
      'base',
      pair.arrived(terms, tx, chains.ethereum.echo),
      pair.logged_by,
    );
    const there_too = { ...open, tx: there, state: 'matched', matched_by: 'message_id' };
    expect(await deposits()).toEqual([
      expect.objectContaining({ ...sent, destination: there_too }),
    ]);
  });

  test('without a node of the other chain nothing is denied', async () => {
    const [pair] = PAIRS;
    if (pair === undefined) throw new Error('no pair');
    const { tx } = await sentBy(pair, termsOf());
    const receipts = receiptsOf();
    const reading = (await receipts.lookUp('ethereum', [tx], SIGNAL)).get(tx);
    if (!(reading instanceof Read)) throw new Error('the receipt was not read');
    const [event] = decodeReceipt(reading.value, registryIndex(ofProtocol('across'))).events;
    if (event === undefined) throw new Error('nothing was sent');
    const alone = portsFor(arrivals({ nodes: new Map() }));
    const what = { event, chain: 'ethereum', tx, at: now() } as const;
    const said = told(await findDestination(alone, ofProtocol('across'), what, SIGNAL));
    expect(said).toEqual(expect.objectContaining({ chain: 'base', tx: null, state: null }));
    expect(said.reason).toContain('A node of base');
  });

  test('a message is told as one, whatever became of it', async () => {
    const guid = 'aa'.repeat(32);
    const path = `01${'00'.repeat(8)}${'0000759d'}${NONE}${'000075e8'}${NONE}${guid}`;
    const sent = 'event PacketSent(bytes encodedPayload, bytes options, address sendLibrary)';
    const tx = await logged('ethereum', [sent, [`0x${path}`, '0x', TOKEN]]);
    const receipts = receiptsOf();
    const reading = (await receipts.lookUp('ethereum', [tx], SIGNAL)).get(tx);
    if (!(reading instanceof Read)) throw new Error('the receipt was not read');
    const own = ofProtocol('layerzero').map((row) => ({ ...row, role: 'messaging' as const }));
    const [event] = decodeReceipt(reading.value, registryIndex(own)).events;
    if (event === undefined) throw new Error('nothing was sent');
    const what = { event, chain: 'ethereum', tx, at: now() } as const;
    const said = told(await findDestination(portsFor(arrivals()), own, what, SIGNAL));
    expect(said).toEqual(expect.objectContaining({ chain: 'base', state: 'messaging_only' }));
  });

  test('unmatched is said only once the time of filling has passed', async () => {
    const [pair] = PAIRS;
    if (pair === undefined) throw new Error('no pair');
    const { where } = await sentBy(pair, termsOf());
    expect((await where()).state).toBe('in_flight');
    await chains.base.anvil.ask('evm_increaseTime', 2 * DAY_S);
    await logged('base', ['event Other(uint256 a)', [1n]]);
    expect(await where()).toEqual(
      expect.objectContaining({ chain: 'base', tx: null, state: 'unmatched', matched_by: null }),
    );
  });
});
