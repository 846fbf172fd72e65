import { createServer, type Server } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { Read, Unread } from '../../evidence/reading.ts';
import type { StatusPage, StatusQuery } from '../../ports/bridges.ts';
import { providerGuard } from '../http/provider.ts';
import { statusPages } from './status-page.ts';

const SENT = `0x${'ab'.repeat(32)}`;
const PAID = `0x${'cd'.repeat(32)}`;
const OTHER = `0x${'ef'.repeat(32)}`;
const ID = `0x${'12'.repeat(32)}`;
const EMITTER = `${'0'.repeat(24)}${'3'.repeat(40)}`;
const RECIPIENT = `0x${'4'.repeat(40)}`;

const asked = (over: Partial<StatusQuery>): StatusQuery => {
  const path = { chain: 'ethereum', tx: SENT, message_id: ID, destination_id: 8_453 } as const;
  return { protocol: 'across', terms: null, ...path, ...over };
};

const ACROSS = {
  status: 'filled',
  originChainId: 1,
  depositId: '1349975',
  depositTxnRef: SENT,
  fillTxnRef: PAID,
  destinationChainId: 8453,
  depositRefundTxnRef: null,
  actionsSucceeded: null,
  pagination: { currentIndex: 0, maxIndex: 0 },
};
const MESSAGE = {
  pathway: { srcEid: 30101, dstEid: 30184, id: '30101-30184', nonce: 7 },
  source: { status: 'SUCCEEDED', tx: { txHash: SENT, blockNumber: '19000000' } },
  destination: { status: 'SUCCEEDED', tx: { txHash: PAID, blockNumber: 9_000_000 } },
  verification: { dvn: { dvns: {}, status: 'SUCCEEDED' }, sealer: { status: 'SUCCEEDED' } },
  guid: ID,
  status: { name: 'DELIVERED', message: 'Executor transaction confirmed' },
};
const OPERATION = {
  id: `2/${EMITTER}/42`,
  emitterChain: 2,
  emitterAddress: { hex: EMITTER, native: RECIPIENT },
  sequence: '42',
  sourceChain: { chainId: 2, status: 'confirmed', transaction: { txHash: SENT.slice(2) } },
  targetChain: { chainId: 30, status: 'completed', transaction: { txHash: PAID } },
};
const CELER = {
  err: null,
  status: 5,
  wd_onchain: null,
  sorted_sigs: [],
  signers: [],
  powers: [],
  refund_reason: 0,
  block_delay: 30,
  src_block_tx_link: `https://explorer.example/tx/${SENT}`,
  dst_block_tx_link: `https://other.example/tx/${PAID}`,
};
const side = (chainID: number, txnHash: string) => ({ chainID, txnHash });
const SYNAPSE_ROW = { kappa: ID.slice(2), fromInfo: side(1, SENT), toInfo: side(8_453, PAID) };
const synapse = (...rows: readonly object[]) => ({ data: { bridgeTransactions: rows } });
const HOP = {
  transferId: ID,
  transactionHash: SENT,
  sourceChainId: 1,
  sourceChainSlug: 'ethereum',
  destinationChainId: 8_453,
  destinationChainSlug: 'base',
  accountAddress: RECIPIENT,
  amount: '2996498',
  deadline: 1_662_159_408,
  recipientAddress: RECIPIENT,
  bonded: true,
  bondTransactionHash: PAID,
  token: 'USDC',
};

type Page = {
  readonly page: StatusPage;
  readonly asked: StatusQuery;
  /** The path and query that are asked, and what is posted. */
  readonly at: string;
  readonly body: string;
  readonly paid: object;
  /** Answers of other states, with what they mean and the page's word. */
  readonly others: readonly (readonly [answer: object, state: string, word: string])[];
  /** Answers about another deposit. */
  readonly strangers: readonly object[];
  /** The page's answer that it knows nothing of the deposit, if it has one. */
  readonly unknown: readonly [status: number, body: object] | null;
};

const PAGES: readonly Page[] = [
  {
    page: 'across_status',
    asked: asked({ message_id: '1/1349975' }),
    at: '/root/deposit/status?originChainId=1&depositId=1349975',
    body: '',
    paid: ACROSS,
    others: [
      [{ ...ACROSS, status: 'pending', fillTxnRef: null }, 'under_way', 'pending'],
      [
        { ...ACROSS, status: 'slowFillRequested', fillTxnRef: null },
        'under_way',
        'slowFillRequested',
      ],
      [{ ...ACROSS, status: 'expired', fillTxnRef: null }, 'stopped', 'expired'],
      [{ ...ACROSS, status: 'refunded', fillTxnRef: null }, 'stopped', 'refunded'],
      [{ ...ACROSS, fillTxnRef: null }, 'unknown', 'filled'],
    ],
    strangers: [
      { ...ACROSS, depositId: '1349976' },
      { ...ACROSS, originChainId: 10 },
      { ...ACROSS, destinationChainId: 10 },
      { ...ACROSS, depositTxnRef: OTHER },
    ],
    unknown: [404, { error: 'DepositNotFoundException', message: 'Deposit not found given …' }],
  },
  ...(['layerzero', 'stargate'] as const).map((protocol) => ({
    page: 'layerzero_scan' as const,
    asked: asked({ protocol }),
    at: `/root/messages/guid/${ID}`,
    body: '',
    paid: { data: [MESSAGE] },
    others: [
      [{ data: [{ ...MESSAGE, status: { name: 'INFLIGHT' } }] }, 'under_way', 'INFLIGHT'],
      [{ data: [{ ...MESSAGE, status: { name: 'BLOCKED' } }] }, 'stopped', 'BLOCKED'],
      [{ data: [{ ...MESSAGE, destination: {} }] }, 'unknown', 'DELIVERED'],
    ] as const,
    strangers: [
      { data: [{ ...MESSAGE, guid: OTHER }] },
      { data: [{ ...MESSAGE, source: { tx: { txHash: OTHER } } }] },
      { data: [MESSAGE, { ...MESSAGE, guid: OTHER }] },
    ],
    unknown: [200, { data: [] }] as const,
  })),
  {
    page: 'wormholescan',
    asked: asked({ protocol: 'wormhole', message_id: `2/0x${EMITTER}/42` }),
    at: `/root/api/v1/operations/2/${EMITTER}/42`,
    body: '',
    paid: OPERATION,
    others: [
      [{ ...OPERATION, targetChain: undefined }, 'unknown', 'no target'],
      [
        { ...OPERATION, targetChain: { ...OPERATION.targetChain, status: 'failed to process' } },
        'unknown',
        'not completed',
      ],
    ],
    strangers: [
      { ...OPERATION, id: `2/${EMITTER}/43` },
      { ...OPERATION, sourceChain: { chainId: 2, transaction: { txHash: OTHER } } },
    ],
    unknown: [404, { code: 5, message: 'NOT FOUND', details: [{ request_id: 'a' }] }],
  },
  {
    page: 'cbridge_status',
    asked: asked({ protocol: 'celer' }),
    at: '/root/v2/getTransferStatus',
    body: JSON.stringify({ transfer_id: ID.slice(2) }),
    paid: CELER,
    others: [
      [{ ...CELER, status: 4 }, 'under_way', 'TRANSFER_WAITING_FOR_FUND_RELEASE'],
      [{ ...CELER, status: 10, src_block_tx_link: '' }, 'stopped', 'TRANSFER_REFUNDED'],
      [{ ...CELER, status: 3, src_block_tx_link: '' }, 'unknown', 'not told'],
    ],
    strangers: [
      { ...CELER, src_block_tx_link: `https://explorer.example/tx/${OTHER}` },
      { ...CELER, status: 4, src_block_tx_link: '' },
    ],
    unknown: [200, { ...CELER, err: { code: 500, msg: 'transfer not found' }, status: 0 }],
  },
  {
    page: 'synapse_explorer',
    asked: asked({ protocol: 'synapse' }),
    at: '/root',
    body: JSON.stringify({
      query:
        `{ bridgeTransactions(useMv: true, chainIDFrom: 1, txnHash: "${SENT}") ` +
        '{ kappa fromInfo { chainID txnHash } toInfo { chainID txnHash } } }',
    }),
    paid: synapse({ ...SYNAPSE_ROW, kappa: OTHER.slice(2) }, SYNAPSE_ROW),
    others: [[synapse({ ...SYNAPSE_ROW, toInfo: null }), 'unknown', 'no toInfo']],
    strangers: [
      synapse({ ...SYNAPSE_ROW, kappa: OTHER.slice(2) }),
      synapse({ ...SYNAPSE_ROW, fromInfo: side(1, OTHER) }),
      synapse({ ...SYNAPSE_ROW, fromInfo: side(10, SENT) }),
      synapse({ ...SYNAPSE_ROW, toInfo: side(10, PAID) }),
    ],
    unknown: [200, synapse()],
  },
  {
    page: 'hop_status',
    asked: asked({ protocol: 'hop' }),
    at: `/root/v1/transfer-status?transferId=${ID}`,
    body: '',
    paid: HOP,
    others: [[{ ...HOP, bonded: false, bondTransactionHash: null }, 'unknown', 'not bonded']],
    strangers: [
      { ...HOP, transferId: OTHER },
      { ...HOP, transactionHash: OTHER },
      { ...HOP, destinationChainId: 10 },
    ],
    unknown: null,
  },
  {
    page: 'hop_status',
    asked: asked({
      protocol: 'hop',
      message_id: null,
      terms: { recipient: RECIPIENT, amount: '2996498' },
    }),
    at: `/root/v1/transfer-status?transactionHash=${SENT}`,
    body: '',
    paid: [
      { ...HOP, transferId: null, amount: '7' },
      { ...HOP, transferId: null },
    ],
    others: [],
    strangers: [
      { ...HOP, amount: '7' },
      { ...HOP, recipientAddress: `0x${'5'.repeat(40)}` },
      [HOP, HOP],
    ],
    unknown: null,
  },
];

const servers: Server[] = [];
afterEach(() => {
  for (const one of servers.splice(0)) one.close();
});

type Reply = { readonly status?: number; readonly text: string; readonly cut?: boolean };

/** Asks a page that answers this, and tells what it was asked. */
async function told({ page, asked: what }: Page, { status = 200, text, cut }: Reply) {
  const seen: { url: string; body: string; key: string }[] = [];
  const server = createServer((request, reply) => {
    let body = '';
    request.on('data', (chunk) => {
      body += String(chunk);
    });
    request.on('end', () => {
      seen.push({ url: String(request.url), body, key: String(request.headers.authorization) });
      if (cut !== true) return reply.writeHead(status).end(text);
      reply.writeHead(status, { 'content-length': String(text.length) });
      return reply.write(text.slice(0, text.length / 2), () => reply.destroy());
    });
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const at = server.address();
  const port = typeof at === 'object' && at !== null ? at.port : 0;
  const limits = { callsPerS: 1_000, retriesMax: 0, backoffMs: 1, failuresMax: 9, restMs: 1 };
  const guard = providerGuard(limits, () => performance.now());
  const url = new URL(`http://127.0.0.1:${port}/root`);
  const pages = new Map([[page, { url, key: 'secret', guard }]]);
  const set = statusPages({ pages, now: () => 5, timeMs: 5_000 });
  expect(set.pageOf(what.protocol)).toBe(page);
  const reading = await set.statusOf(what, new AbortController().signal);
  return { reading, seen };
}

const json = (answer: object) => ({ text: JSON.stringify(answer) });

describe.each(PAGES)('$page of $asked.protocol by $at', (one) => {
  test('names the transaction that paid it', async () => {
    const { reading, seen } = await told(one, json(one.paid));
    expect(reading instanceof Read ? reading.value : reading).toEqual(
      expect.objectContaining({ page: one.page, state: 'paid', tx: PAID }),
    );
    expect(seen).toEqual([{ url: one.at, body: one.body, key: 'Bearer secret' }]);
  });

  test('says of the rest what it says, and names no transaction', async () => {
    for (const [answer, state, word] of one.others) {
      const { reading } = await told(one, json(answer));
      const said = { page: one.page, state, tx: null, word };
      expect(reading instanceof Read ? reading.value : reading).toEqual(said);
    }
  });

  test('says nothing where it answers of another deposit', async () => {
    for (const answer of one.strangers) {
      const { reading } = await told(one, json(answer));
      expect(reading instanceof Unread ? reading.why.reason : reading).toContain(
        'answered of another deposit',
      );
    }
  });

  test('knows nothing of it only in its own words', async () => {
    const { unknown } = one;
    if (unknown !== null) {
      const [status, body] = unknown;
      const { reading } = await told(one, { status, ...json(body) });
      expect(reading instanceof Read ? reading.value.state : reading).toBe('unknown');
    }
    for (const status of [200, 404]) {
      const { reading } = await told(one, { status, ...json({ error: 'something else' }) });
      expect(reading).toBeInstanceOf(Unread);
    }
  });

  test.each([
    ['a rate limit', { status: 429, text: '{}' }, '429'],
    ['its own failure', { status: 503, text: 'down' }, '503'],
    ['a page of HTML', { text: '<html>busy</html>' }, 'HTML'],
    ['a redirect', { status: 302, text: '' }, 'redirected'],
    ['half of an answer', { ...json(one.paid), cut: true }, ''],
  ] as const)(
    'says nothing where it answers %s, and shows no credential',
    async (_, reply, word) => {
      const { reading } = await told(one, reply);
      if (!(reading instanceof Unread)) throw new Error('it was read');
      expect(reading.why.code).toBe('provider_failed');
      expect(reading.why.reason).toContain(word);
      expect(reading.why.reason).not.toContain('secret');
    },
  );
});

describe('status pages', () => {
  const none = statusPages({ pages: new Map(), now: () => 5, timeMs: 5_000 });
  const signal = new AbortController().signal;

  test('that are not set are not asked', async () => {
    expect(none.pageOf('across')).toBeNull();
    const reading = await none.statusOf(asked({}), signal);
    expect(reading instanceof Unread ? reading.why.code : reading).toBe('not_configured');
  });

  test('are not waited for after the time is spent', async () => {
    const [one] = PAGES;
    if (one === undefined) throw new Error('no page');
    const limits = { callsPerS: 9, retriesMax: 0, backoffMs: 1, failuresMax: 9, restMs: 1 };
    const guard = providerGuard(limits, () => performance.now());
    const page = { url: new URL('http://127.0.0.1:9/'), key: null, guard };
    const pages = new Map([[one.page, page]]);
    const set = statusPages({ pages, now: () => 5, timeMs: 5_000 });
    const reading = await set.statusOf(one.asked, AbortSignal.abort());
    expect(reading instanceof Unread ? reading.why.code : reading).toBe('arrivals_out_of_time');
  });

  test('are not asked of a deposit that bears no id of theirs', async () => {
    for (const { page, asked: what } of PAGES) {
      const guard = { ask: () => Promise.reject(new Error('it was asked')) };
      const url = new URL('http://127.0.0.1:9/');
      const pages = new Map([[page, { url, key: null, guard }]]);
      const set = statusPages({ pages, now: () => 5, timeMs: 9 });
      const bare = { ...what, message_id: 'ntt:1/2/3', terms: null };
      const strange = page === 'across_status' ? { ...bare, message_id: null } : bare;
      const reading = await set.statusOf(strange, signal);
      expect(reading instanceof Unread ? reading.why.code : reading).toBe('status_page_unasked');
    }
  });
});
