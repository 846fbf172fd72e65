import { describe, expect, test } from 'vitest';
import { Answer } from '../../contract/answer.ts';
import { NOBODY } from '../../contract/route.ts';
import { why } from '../../evidence/reasons.ts';
import type { HistoryTransfer } from '../../ports/history.ts';
import { evm } from '../../testing/addresses.ts';
import { STILL_NOW, stillClock } from '../../testing/clock.ts';
import { launchOf, walkOf } from '../../testing/deployer-worlds.ts';
import { forensicPorts, type PlantedFacts } from '../../testing/forensic-ports.ts';
import { memoryDeployerRecords } from '../../testing/twins/deployers.ts';
import { memoryTransfer } from '../../testing/twins/history.ts';
import { silentPorts } from '../../testing/twins/ports.ts';
import type { ForensicPorts } from './evidence.ts';
import { walletScoreHandler } from './wallet-score.route.ts';

const SUBJECT = evm('subject');
const [SHOP, FRIEND, TOKEN] = [evm('shop'), evm('friend'), evm('token')];
const USDX: Partial<HistoryTransfer> = {
  kind: 'token',
  token: TOKEN,
  symbol: 'USDX',
  decimals: 6,
};

async function sectionsOf(planted: PlantedFacts, over: Partial<ForensicPorts> = {}) {
  const handler = walletScoreHandler({ ...forensicPorts(planted), ...over });
  const input = { params: { address: SUBJECT }, query: {}, body: undefined };
  const asked = { now: stillClock(), signal: new AbortController().signal };
  const answer = await handler(input, asked, NOBODY);
  if (!(answer instanceof Answer)) throw new Error('no answer');
  return answer.envelope(STILL_NOW).data as { flows: unknown; created: unknown };
}

const NONE = { transfers: 0, usd: null, unpriced: 0 };
const ASSETS = [
  {
    chain: 'ethereum',
    token: TOKEN,
    symbol: 'USDX',
    decimals: 6,
    transfers: 3,
    sent: {
      transfers: 2,
      usd: '1.500001',
      unpriced: 1,
      raw_amount: String(10n ** 40n + 1_500_001n),
      amount: `1${'0'.repeat(33)}1.500001`,
    },
    received: {
      transfers: 1,
      usd: '0.000001',
      unpriced: 0,
      raw_amount: '1',
      amount: '0.000001',
    },
  },
  {
    chain: 'ethereum',
    token: null,
    symbol: 'ETH',
    decimals: 18,
    transfers: 1,
    sent: { ...NONE, raw_amount: '0', amount: '0' },
    received: {
      transfers: 1,
      usd: null,
      unpriced: 1,
      raw_amount: '3',
      amount: '0.000000000000000003',
    },
  },
];

function counterpartiesOf(transfers: readonly HistoryTransfer[]) {
  return [
    {
      address: SHOP,
      label: null,
      transfers: 3,
      sent: { transfers: 2, usd: '1.500001', unpriced: 1 },
      received: { transfers: 1, usd: '0.000001', unpriced: 0 },
      first_at: '2026-01-01T00:00:02.000Z',
      last_at: '2026-01-01T00:00:04.000Z',
      last_tx: transfers[3]?.tx,
    },
    {
      address: FRIEND,
      label: null,
      transfers: 1,
      sent: NONE,
      received: { transfers: 1, usd: null, unpriced: 1 },
      first_at: '2026-01-01T00:00:01.000Z',
      last_at: '2026-01-01T00:00:01.000Z',
      last_tx: transfers[0]?.tx,
    },
  ];
}

describe('what it sent and received', () => {
  test('is summed exactly by counterparty and by asset, the unpriced counted beside', async () => {
    const transfers = [
      memoryTransfer(1, FRIEND, SUBJECT, { raw_amount: 3n, usd: null }),
      memoryTransfer(2, SUBJECT, SHOP, { ...USDX, raw_amount: 1_500_001n, usd: '1.500001' }),
      memoryTransfer(3, SUBJECT, SHOP, { ...USDX, raw_amount: 10n ** 40n, usd: null }),
      memoryTransfer(4, SHOP, SUBJECT, { ...USDX, raw_amount: 1n, usd: '0.000001' }),
    ];
    const { flows } = await sectionsOf({ transfers });
    expect(flows).toEqual({
      checked: true,
      reason: null,
      transfers: 4,
      counterparties_count: 2,
      counterparties: counterpartiesOf(transfers),
      assets_count: 2,
      assets: ASSETS,
    });
  });

  test('leaves poisoning out, and lists ten of more', async () => {
    const poison = { raw_amount: 0n, initiator: evm('poisoner') };
    const paid = Array.from({ length: 12 }, (_, n) => memoryTransfer(n, SUBJECT, evm(`shop ${n}`)));
    const transfers = [...paid, memoryTransfer(20, FRIEND, SUBJECT, poison)];
    const { flows } = await sectionsOf({ transfers });
    expect(flows).toMatchObject({ transfers: 12, counterparties_count: 12 });
    expect((flows as { counterparties: unknown[] }).counterparties).toHaveLength(10);
  });

  test('says nothing of a history that was not read, and why', async () => {
    const silent = silentPorts(why('timed_out', { what: 'History', limit: '1 s' }));
    const { flows } = await sectionsOf({}, { transferHistory: silent.transferHistory });
    expect(flows).toMatchObject({ checked: false, transfers: null, counterparties: null });
    expect((flows as { reason: string }).reason).toContain('History');
  });
});

describe('what it made', () => {
  const walk = walkOf(SUBJECT, {
    launches: [launchOf('lives', 'live'), launchOf('dead', 'died'), launchOf('new', 'unchecked')],
    skipped: [{ address: evm('router'), reason: 'not_an_erc20' }],
    truncated: true,
  });

  test('is told by the committed record, those that died first', async () => {
    const held = { records: [{ ...walk, failed: null }], simulated: false, as_of: STILL_NOW };
    const deployerRecords = memoryDeployerRecords(held);
    const { created } = await sectionsOf({}, { deployerRecords });
    expect(created).toMatchObject({
      checked: true,
      contracts: 4,
      died: 1,
      survived: 1,
      never_listed: 0,
      unchecked: 1,
      truncated: true,
      launches: [{ address: evm('dead'), outcome: 'died' }, {}, {}],
    });
  });

  test('is not told of an address that nobody walked', async () => {
    const silent = silentPorts(why('deployer_not_walked', { queued: '' }));
    const { created } = await sectionsOf({}, { deployerRecords: silent.deployerRecords });
    expect(created).toMatchObject({ checked: false, contracts: null, died: null, launches: null });
    expect((created as { reason: string }).reason).toContain('never walked');
  });
});
