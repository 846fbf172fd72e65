// The node is anvil's own program, of its package; where that is not installed, `anvilPath` says
// so.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { type JsonRpc, jsonRpc, RPC_LIMITS } from '../sources/http/json-rpc.ts';

/** A chain on this machine. Blocks are mined only when they are asked for. */
export type Anvil = {
  readonly url: URL;
  /** Ten accounts with coins, whose transactions it signs. */
  readonly accounts: readonly string[];
  /** The result of a call; throws the node's error. */
  readonly ask: (method: string, ...params: unknown[]) => Promise<unknown>;
  /** Sends transactions and mines them into one block; their hashes. */
  readonly mine: (...transactions: readonly SentTransaction[]) => Promise<string[]>;
  /** Where a transaction made a contract. */
  readonly created: (hash: string | undefined) => Promise<string>;
  readonly stop: () => Promise<void>;
};

/** A transaction. `to` is absent where it makes a contract. */
export type SentTransaction = {
  readonly from: string;
  readonly to?: string;
  readonly value?: bigint;
  readonly data?: string;
};

const START_TIMEOUT_MS = 15_000;
/** A call of a transaction with those that it makes, as `callTracer` tells them. */
export type CallFrame = {
  type: string;
  from: string;
  to?: string | undefined;
  value?: string | undefined;
  error?: string | undefined;
  calls?: CallFrame[] | undefined;
};
export const CALL_FRAME: z.ZodType<CallFrame> = z.lazy(() =>
  z.object({
    type: z.string(),
    from: z.string(),
    to: z.string().optional(),
    value: z.string().optional(),
    error: z.string().optional(),
    calls: z.array(CALL_FRAME).optional(),
  }),
);

/** More than any of the tests' transactions takes, given so that the failing ones are sent. */
const GAS = '0x1e8480';
const LISTENING = /Listening on (127\.0\.0\.1:\d+)/;
const ACCOUNTS = z.array(z.string());
const CREATED = z.object({ contractAddress: z.string() });

/** Where anvil's program is, or `null` where its package for this machine is not installed. */
export function anvilPath(): string | null {
  const require = createRequire(import.meta.url);
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const home = dirname(require.resolve('@foundry-rs/anvil/package.json'));
  const path = join(home, '..', `anvil-${process.platform}-${arch}`, 'bin', 'anvil');
  return existsSync(path) ? path : null;
}

/** Starts a chain with an id of EIP-155. */
export async function startAnvil(chainId: number): Promise<Anvil> {
  const path = anvilPath();
  if (path === null) throw new Error('anvil is not installed for this machine');
  const args = ['--port', '0', '--chain-id', String(chainId), '--no-mining'];
  const child = spawn(path, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const url = await listening(child);
  const sleep = (ms: number) => wait(ms);
  const rpc = jsonRpc({ url, headers: {}, limits: RPC_LIMITS, sleep });
  const ask = asker(rpc);
  const accounts = ACCOUNTS.parse(await ask('eth_accounts')).map((one) => one.toLowerCase());
  const send = async ({ value, ...sent }: SentTransaction): Promise<string> => {
    const amount = value === undefined ? {} : { value: `0x${value.toString(16)}` };
    return z.string().parse(await ask('eth_sendTransaction', { ...sent, ...amount, gas: GAS }));
  };
  return {
    url,
    accounts,
    ask,
    mine: async (...transactions) => {
      const hashes: string[] = [];
      for (const one of transactions) hashes.push(await send(one));
      await ask('evm_mine');
      return hashes;
    },
    created: async (hash) =>
      CREATED.parse(await ask('eth_getTransactionReceipt', hash)).contractAddress.toLowerCase(),
    stop: async () => {
      rpc.close();
      if (child.signalCode !== null) return;
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
    },
  };
}

function asker(rpc: JsonRpc): Anvil['ask'] {
  const never = new AbortController().signal;
  return async (method, ...params) => {
    const answer = await rpc.call({ method, params }, never);
    if (answer.ok) return answer.result;
    throw new Error(`${method}: ${answer.error.message}`);
  };
}

function listening(child: ChildProcess): Promise<URL> {
  return new Promise((resolve, reject) => {
    let said = '';
    const late = setTimeout(() => reject(new Error('anvil did not start')), START_TIMEOUT_MS);
    child.once('error', reject);
    child.once('exit', () => reject(new Error('anvil ended')));
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8');
      const found = LISTENING.exec(said);
      if (found === null) return;
      clearTimeout(late);
      child.stdout?.removeAllListeners('data');
      child.stdout?.resume();
      resolve(new URL(`http://${found[1]}`));
    });
  });
}
