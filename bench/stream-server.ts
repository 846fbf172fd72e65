import { WebSocketServer } from 'ws';
import { closings } from '../src/compose/closings.ts';
import { createLogger } from '../src/compose/logger.ts';
import { outsideOf } from '../src/compose/outside.ts';
import { startParts } from '../src/compose/parts.ts';
import { startServing } from '../src/compose/serving.ts';
import { openStores } from '../src/compose/stores.ts';
import { parseConfig } from '../src/config.ts';
import type { NewFlag } from '../src/ports/rug-flags.ts';
import { appendFlagEvents } from '../src/stores/control/rug-flags.ts';

/** The messages to a server: first its setup, then numbers of events to send at once. */
export type ServerOrder =
  | { readonly kind: 'service'; readonly env: { readonly [name: string]: string } }
  | { readonly kind: 'bare' }
  | { readonly kind: 'send'; readonly count: number; readonly evidenceChars: number }
  | { readonly kind: 'figures' };

/** The messages from a server: its address, the last number, or its resource use. */
export type ServerSaid = {
  readonly port: number;
  readonly newest: number;
  /** Processor seconds of the process since it began, all its threads. */
  readonly cpu_s: number;
  readonly rss_mib: number;
  /** Streams that ended because their readers lagged. */
  readonly lagged: number;
};

type Server = {
  readonly port: number;
  readonly send: (count: number, evidenceChars: number) => Promise<number>;
  readonly lagged: () => Promise<number>;
  readonly stop: () => Promise<void>;
};

function flagOf(n: number, evidenceChars: number): NewFlag {
  return {
    kind: 'flag',
    chain: 'ethereum',
    address: `0x${String(n).padStart(40, '0')}`,
    token: `0x${String(n).padStart(40, 'a')}`,
    score: 0.9137,
    evidence: 'Of 14 launches of its deployer 13 died; '.repeat(50).slice(0, evidenceChars),
    model_version: 'rug-1-2026-11-01',
    flagged_at: 1_790_000_000,
    simulated: false,
    deployer_history: null,
  };
}

async function serviceServer(env: { readonly [name: string]: string }): Promise<Server> {
  const parsed = parseConfig(env, { cwd: process.cwd() });
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  const { config } = parsed;
  const log = createLogger();
  const opened = closings((name, fault) => log.error({ name, fault: String(fault) }, 'stop'));
  const stores = await openStores(config);
  opened.add('stores', stores.close);
  const parts = await startParts(config, stores, outsideOf(config), log, opened);
  const serving = await startServing({ ...parts, config, log });
  opened.add('http', serving.close);
  let newest = 0;
  return {
    port: Number(new URL(serving.url).port),
    send: async (count, evidenceChars) => {
      const [first, ...more] = Array.from({ length: count }, (_, i) =>
        flagOf(newest + i + 1, evidenceChars),
      );
      if (first === undefined) return newest;
      const from = await stores.database.transaction((session) =>
        appendFlagEvents(session, [first, ...more]),
      );
      newest = from + count - 1;
      parts.bus.callAll();
      return newest;
    },
    lagged: async () => {
      const text = await parts.meters.registry.metrics();
      const line = /^exhibit_stream_ends_total\{[^}]*reason="lagged"\} (\d+)$/m.exec(text);
      return line === null ? 0 : Number(line[1]);
    },
    stop: () => opened.closeAll(),
  };
}

async function bareServer(): Promise<Server> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  if (typeof address === 'string' || address === null) throw new Error('no port');
  let newest = 0;
  server.on('connection', (client) =>
    client.send(JSON.stringify({ type: 'welcome', seq: newest })),
  );
  return {
    port: address.port,
    send: async (count, evidenceChars) => {
      for (let i = 0; i < count; i += 1) {
        newest += 1;
        const { kind: type, ...flag } = flagOf(newest, evidenceChars);
        const text = JSON.stringify({ type, seq: newest, ...flag, flagged_at: AT });
        for (const client of server.clients) client.send(text);
      }
      return newest;
    },
    lagged: async () => 0,
    stop: async () => {
      for (const client of server.clients) client.terminate();
      server.close();
    },
  };
}

const AT = new Date(0).toISOString();
const CPU_US_PER_S = 1_000_000;
const BYTES_PER_MIB = 1024 * 1024;

let server: Server | null = null;
let newest = 0;

async function obey(order: ServerOrder): Promise<void> {
  if (order.kind === 'service') server = await serviceServer(order.env);
  if (order.kind === 'bare') server = await bareServer();
  if (server === null) throw new Error('it is no server yet');
  if (order.kind === 'send') newest = await server.send(order.count, order.evidenceChars);
  const { user, system } = process.cpuUsage();
  const said: ServerSaid = {
    port: server.port,
    newest,
    cpu_s: (user + system) / CPU_US_PER_S,
    rss_mib: process.memoryUsage().rss / BYTES_PER_MIB,
    lagged: order.kind === 'figures' ? await server.lagged() : 0,
  };
  process.send?.(said);
}

process.on('message', (order: ServerOrder) => {
  obey(order).catch((fault: unknown) => {
    process.stderr.write(`${String(fault)}\n`);
    process.exit(1);
  });
});
process.once('SIGTERM', async () => {
  await server?.stop();
  process.exit(0);
});
