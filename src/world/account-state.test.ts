import { describe, expect, test } from 'vitest';
import { SANDBOX_SCORED, WORLD_MIXER, worldFlaggedCsv } from './account-state.ts';
import { worldChains } from './chain-data.ts';
import { nodeAnswer } from './json-rpc.ts';
import { WORLD_SEED } from './listed-parties.ts';

const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const CHAINS = worldChains(() => NOW, WORLD_SEED);
const { scored, proxy, flagged } = SANDBOX_SCORED;

function asked(method: string, ...params: readonly unknown[]): unknown {
  const options = { chains: CHAINS, chainId: 1, fault: () => null, reorgs: [] };
  return nodeAnswer(options, { jsonrpc: '2.0', id: 1, method, params });
}

describe('the state of simulated accounts', () => {
  test('follows from what happened on the chain', () => {
    expect(asked('eth_getTransactionCount', scored, 'latest')).toMatchObject({ result: '0x2' });
    const coins = `0x${(15n * 10n ** 17n).toString(16)}`;
    expect(asked('eth_getBalance', scored, 'latest')).toMatchObject({ result: coins });
    expect(asked('eth_getCode', scored, 'latest')).toMatchObject({ result: '0x' });
    const paid = CHAINS.rowsOf(1, scored).map(({ to }) => to);
    expect(paid).toEqual([scored, WORLD_MIXER, flagged]);
  });

  test('has a proxy with code, an admin, an owner, and a refusal of all else', () => {
    const slot = '0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103';
    const held = `0x${flagged.slice(2).padStart(64, '0')}`;
    expect(asked('eth_getStorageAt', proxy, slot, 'latest')).toMatchObject({ result: held });
    expect(asked('eth_call', { to: proxy, data: '0x8da5cb5b' })).toMatchObject({ result: held });
    expect(asked('eth_call', { to: proxy, data: '0x18160ddd' })).toMatchObject({
      error: { code: 3, message: 'execution reverted' },
    });
    expect(asked('eth_getCode', 'nobody', 'latest')).toMatchObject({ error: { code: -32602 } });
  });

  test('is flagged by a table in the importer’s own format', () => {
    expect(worldFlaggedCsv().trimEnd().split('\n')).toHaveLength(3);
  });
});
