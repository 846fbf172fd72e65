// A process that anchors is killed while its node holds an answer: after it has kept a transaction
// and before the node has it, after the node has it and before the process knows, and after the
// block is final and before that is kept. The log grows meanwhile. Each root is anchored once, and
// no nonce is used for two things.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { keccak256 } from './chain/digest.ts';
import { migrate } from './stores/control/engine/migrate.ts';
import { openPostgres } from './stores/control/engine/postgres.ts';
import {
  type AnchoringChain,
  NO_ANCHORING_CHAIN,
  startAnchoringChain,
} from './testing/anchoring-chain.ts';
import { type NodeProxy, type Rule, startProxy } from './testing/anvil-proxy.ts';
import { LIVE } from './testing/control-store.ts';
import { DIST } from './testing/flag-events.ts';
import { startScript } from './testing/killed-script.ts';
import { MIGRATIONS, NO_POSTGRES, testPostgres } from './testing/postgres.ts';

const BASE_ID = 8453;
const KEY = `0x${'04'.repeat(32)}`;
const WAIT = { timeout: 60_000, interval: 200 };
const NO_PLACE = NO_ANCHORING_CHAIN ?? NO_POSTGRES;

/** The job as a process of a service runs it, over a log of so many leaves. */
const HOLDER = `
import { randomUUID } from 'node:crypto';
const [dist, url, folder, node, chain_id, contract, sender, key, leaves] = process.argv.slice(1);
const load = (path) => import(dist + path);
const { openPostgres } = await load('stores/control/engine/postgres.js');
const { anchorTable } = await load('features/anchoring/anchors.store.js');
const { anchorUntilStopped } = await load('features/anchoring/anchor.job.js');
const { anchorContract } = await load('sources/evm/anchor-contract.js');
const { jsonRpc, RPC_LIMITS } = await load('sources/http/json-rpc.js');
const { leaseTable } = await load('stores/control/leases.js');
const { lastSentFile } = await load('stores/control/last-sent.js');
const { nowS, pause } = await load('compose/clock.js');
const { read } = await load('evidence/reading.js');
const context = { simulated: false, nowMs: Date.now };
const database = openPostgres(url);
const rpc = jsonRpc({ url: new URL(node), headers: {}, limits: RPC_LIMITS, sleep: async () => {} });
const source = { name: 'Log', url: 'log:', as_of: 0, kind: 'table', simulated: false };
const size = Number(leaves);
const hash = '0x' + size.toString(16).padStart(64, '0');
const root = { origin: 'log.example/log/1', root: hash, size };
anchorUntilStopped({
  place: { chain_id: Number(chain_id), contract, sender },
  chainAt: (at) => anchorContract({ ...at, rpc, key, simulated: false, now: nowS }),
  sends: anchorTable(database, context),
  leases: leaseTable(database, randomUUID(), context),
  lastSent: lastSentFile(folder, context),
  head: async () => read(root, { port: 'transparency_log', source }),
  everyS: 0,
  now: nowS,
  everyS: 0.05,
  sleep: pause,
  onTurn: () => undefined,
  onFault: ({ reason }) => console.log(reason),
  onBug: (fault) => console.log('bug: ' + fault),
});
`;

/** Where the process is when it is killed. */
const POINTS = ['kept, not sent', 'sent, not known', 'final, not kept'] as const;
type Point = (typeof POINTS)[number];

const sentRow = z.strictObject({ size: z.coerce.number(), nonce: z.coerce.number() });
const keptRow = z.strictObject({ nonce: z.number(), raw: z.string() });
const openRow = z.strictObject({ open: z.coerce.number() });
const logRow = z.looseObject({ topics: z.array(z.string()), data: z.string() });

describe.skipIf(NO_PLACE !== null)(`a real EVM and PostgreSQL ${NO_PLACE ?? ''}`, () => {
  let evm: AnchoringChain;
  let proxy: NodeProxy;
  let database: ReturnType<typeof openPostgres>;
  let folder: string;
  let holderArgs: readonly string[];
  let contract: string;
  let sender: string;
  let leaves = 0;
  /** Whether the block of the newest root is final. */
  let isFinal = false;
  const said: string[] = [];

  beforeAll(async () => {
    evm = await startAnchoringChain(BASE_ID);
    proxy = await startProxy(evm.url);
    sender = await evm.fund(KEY);
    contract = await evm.deploy(sender);
    await evm.finalise();
    const url = await (await testPostgres()).freshDatabase();
    database = openPostgres(url);
    await migrate(database, MIGRATIONS, LIVE);
    folder = mkdtempSync(join(tmpdir(), 'exhibit-anchoring-killed-'));
    const node = proxy.url.href;
    holderArgs = [DIST, url, folder, node, String(BASE_ID), contract, sender, KEY];
  }, 60_000);
  afterAll(async () => {
    await database?.close();
    await proxy?.stop();
    await evm?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Starts a process over a log that has grown. */
  function startHolder() {
    leaves += 10;
    const { lines, kill } = startScript(HOLDER, ...holderArgs, String(leaves));
    lines.on('line', (line) => said.push(line));
    return async () => {
      await kill();
      // The lease of a process that is gone runs out by itself, after two minutes.
      await database.query("update leases set held_until = now() - interval '1 minute'");
    };
  }

  /** Has the proxy hold what comes at a point; resolves once it does. */
  function holdAt(point: Point): Promise<void> {
    isFinal = false;
    let knowsFinal = false;
    return new Promise((reached) => {
      const hold = () => {
        reached();
        return new Promise<null>(() => undefined);
      };
      const rules: { readonly [P in Point]: Rule } = {
        'kept, not sent': ({ method }) => (method === SEND ? hold() : null),
        'sent, not known': async ({ method, params }) => {
          if (method !== SEND) return null;
          await evm.ask(SEND, ...params);
          return hold();
        },
        'final, not kept': ({ method, params: [of] }) => {
          if (method === 'eth_getBlockByNumber' && of === 'finalized') knowsFinal = isFinal;
          return knowsFinal && method === 'eth_getTransactionReceipt' ? hold() : null;
        },
      };
      proxy.setRule(rules[point]);
    });
  }

  const SEND = 'eth_sendRawTransaction';
  const rows = async <T>(sql: string, schema: z.ZodType<T>) =>
    z.array(schema).parse(await database.query(sql));
  const settled = (size: number) =>
    vi.waitFor(async () => {
      await evm.finalise();
      const open = "select count(*)::int as open from anchors where status <> 'confirmed'";
      expect(await rows(open, openRow)).toEqual([{ open: 0 }]);
      const all = await rows(SENDS, sentRow);
      expect(all.at(-1)?.size).toBe(size);
    }, WAIT);
  const SENDS =
    'select log_size::float8 as size, nonce::float8 as nonce from anchors order by nonce';

  test('a holder killed at each point anchors each root once, with one nonce', async () => {
    const first = await evm.countOf(sender);
    const sizes: number[] = [];
    for (const point of [...POINTS, ...POINTS]) {
      const isHeld = holdAt(point);
      const killFirst = startHolder();
      sizes.push(leaves);
      if (point === 'final, not kept') {
        // One block at a time: the transaction is in a block, and no process saw that block final.
        await vi.waitFor(async () => {
          await evm.mine();
          expect(await evm.countOf(sender)).toBe(first + sizes.length);
        }, WAIT);
        isFinal = true;
        await evm.finalise();
      }
      await isHeld;
      await killFirst();
      proxy.setRule(() => null);
      // What was under way goes on, though the log has grown; the next root takes the next nonce.
      const killSecond = startHolder();
      sizes.push(leaves);
      await settled(leaves);
      await killSecond();
    }

    expect(said.filter((line) => line.startsWith('bug'))).toEqual([]);
    // One row, one nonce and one transaction of the account for each size, in their order.
    const sends = await rows(SENDS, sentRow);
    expect(sends).toEqual(sizes.map((size, at) => ({ size, nonce: first + at })));
    expect(await evm.countOf(sender)).toBe(first + sizes.length);
    // Whatever came to the node, held or not, are the bytes that were kept of each nonce.
    const kept = await rows(
      'select nonce::float8 as nonce, raw from anchor_transactions order by nonce',
      keptRow,
    );
    expect(kept.map(({ nonce }) => nonce)).toEqual(sends.map(({ nonce }) => nonce));
    const came = proxy.calls
      .filter(({ method }) => method === SEND)
      .map(({ params: [raw] }) => raw);
    expect(new Set(came)).toEqual(new Set(kept.map(({ raw }) => raw)));
    expect(came.length).toBeGreaterThan(kept.length);
    // The contract told of each root once.
    const topic = `0x${Buffer.from(keccak256('Anchored(uint64,bytes32)')).toString('hex')}`;
    const filter = { address: contract, fromBlock: '0x0', toBlock: 'latest', topics: [topic] };
    const events = z.array(logRow).parse(await evm.ask('eth_getLogs', filter));
    const anchored = events.map(({ topics, data }) => [Number(topics[1]), Number(data)]);
    expect(anchored).toEqual(sizes.map((size) => [size, size]));
  }, 300_000);
});
