// The events of the bridge protocols, logged by contracts on a real EVM node in both directions,
// are read as what was logged. The compiler makes topics and data from the events as their source
// has them, so that nothing of a layout is taken from our own reading of it.

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Read } from './evidence/reading.ts';
import { decodeReceipt, EVENT_LAYOUTS } from './features/bridges/protocols/decode.ts';
import { registryIndex } from './features/bridges/registry.ts';
import {
  BRIDGE_PROTOCOLS,
  type BridgeProtocol,
  type BridgeRole,
  type RegistryRow,
} from './ports/bridges.ts';
import { nodeReceipts } from './sources/evm/receipts-node.ts';
import { jsonRpc, RPC_LIMITS } from './sources/http/json-rpc.ts';
import { type Anvil, anvilPath, startAnvil } from './testing/anvil.ts';
import {
  CASES,
  type EventCase,
  emitterOf,
  sourceOf,
  TOKEN_BRIDGE,
} from './testing/bridge-events.ts';
import { compileContracts } from './testing/contracts.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const NO_ANVIL = anvilPath() === null ? 'skipped: anvil is not installed' : null;

function rowOf(address: string, protocol: BridgeProtocol, role: BridgeRole): RegistryRow {
  return {
    chain: 'ethereum',
    address,
    protocol,
    name: 'Contract',
    role,
    note: null,
    also_on: [],
    valid_from_block: null,
    sources: ['tests'],
    reviewed: '2026-01-01',
  };
}

describe.skipIf(NO_ANVIL !== null)(`events on a real node ${NO_ANVIL ?? ''}`, () => {
  let anvil: Anvil;
  type Sent = { readonly hash: string; readonly contract: string; readonly ledger: string };
  const sent = new Map<EventCase, Sent>();

  beforeAll(async () => {
    anvil = await startAnvil(1);
    const compiled = await compileContracts(sourceOf(CASES));
    const [from = ''] = anvil.accounts;
    const made = new Map<string, Omit<Sent, 'hash'>>();
    for (const name of new Set(CASES.map((_, i) => emitterOf(i)))) {
      const { code, selector } = compiled(name);
      const contract = await anvil.created((await anvil.mine({ from, data: code }))[0]);
      const call = { to: contract, data: selector('ledger') };
      const word = String(await anvil.ask('eth_call', call, 'latest'));
      made.set(name, { contract, ledger: `0x${word.slice(-40)}` });
    }
    for (const [i, one] of CASES.entries()) {
      const at = made.get(emitterOf(i));
      if (at === undefined) throw new Error('a case without a contract');
      const data = compiled(emitterOf(i)).selector(`f${i}`);
      const [hash] = await anvil.mine({ from, to: at.contract, data, value: one.value ?? 0n });
      sent.set(one, { ...at, hash: String(hash) });
    }
  });
  afterAll(() => anvil.stop());

  function placeOf(one: EventCase): Sent {
    const found = sent.get(one);
    if (found === undefined) throw new Error('a case that was not sent');
    return found;
  }

  async function receiptOf(one: EventCase) {
    const rpc = jsonRpc({ url: anvil.url, headers: {}, limits: RPC_LIMITS, sleep: async () => {} });
    const nodes = new Map([['ethereum', rpc]] as const);
    const receipts = nodeReceipts({ nodes, simulated: false, now: () => 1 });
    const { hash } = placeOf(one);
    const signal = new AbortController().signal;
    const reading = (await receipts.lookUp('ethereum', [hash], signal)).get(hash);
    rpc.close();
    if (!(reading instanceof Read)) throw new Error('the receipt was not read');
    return reading.value;
  }

  test.each(CASES)('$protocol, $version: $event', async (one) => {
    const { contract, ledger } = placeOf(one);
    const role = one.messaging === true ? 'messaging' : 'lock';
    const rows = [rowOf(contract, one.protocol, role), rowOf(TOKEN_BRIDGE, one.protocol, 'lock')];
    const [event, ...more] = decodeReceipt(await receiptOf(one), registryIndex(rows)).events;
    expect(more).toEqual([]);
    const [signer] = anvil.accounts;
    const places = { EMITTER: contract, LEDGER: ledger, SIGNER: signer };
    const said = Object.fromEntries(
      Object.entries(one.said).map(([field, value]) => [
        field,
        typeof value === 'string' && value in places ? places[value as keyof typeof places] : value,
      ]),
    );
    expect(event).toEqual(
      expect.objectContaining({ kind: 'bridge', version: one.version, ...said }),
    );
  });

  test('each is nothing at a contract of another protocol, and counted as unknown', async () => {
    for (const one of CASES) {
      const { contract } = placeOf(one);
      const other = one.protocol === 'hop' ? 'celer' : 'hop';
      const decoded = decodeReceipt(
        await receiptOf(one),
        registryIndex([rowOf(contract, other, 'lock')]),
      );
      expect(decoded.events).toEqual([]);
      expect(decoded.unknown).toHaveLength(1);
    }
  });

  test('no layout is left untried, in each direction a protocol has', () => {
    const tried = new Set(CASES.map((one) => `${one.protocol} ${one.version} ${one.event}`));
    const moving = EVENT_LAYOUTS.filter(({ kind }) => kind === 'bridge' || kind === 'message');
    const wanted = moving.map(({ protocol, version, event }) => `${protocol} ${version} ${event}`);
    expect(wanted.filter((one) => !tried.has(one))).toEqual([]);
    const ways = new Set(CASES.map(({ protocol, said }) => `${protocol} ${said['direction']}`));
    const both = BRIDGE_PROTOCOLS.flatMap((one) => [`${one} out`, `${one} in`]);
    expect(both.filter((one) => !ways.has(one))).toEqual([]);
  });
});
