// An explorer that tells of one token: who created it and in which transaction, by a factory or by
// way of a bundler or a relayer.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { blockscoutChain, etherscanChain } from '../sources/explorer/envelope.ts';
import { jsonIn } from '../sources/http/fetch.ts';
import { providerGuard } from '../sources/http/provider.ts';
import { evm } from './addresses.ts';

export const TOKEN = evm('token');
export const FACTORY = evm('factory');
/** Who signed the transaction. */
export const CREATOR = evm('signer');
export const CREATION_TX = `0x${'7'.repeat(64)}`;

export type ExplorerDialect = 'Etherscan' | 'Blockscout';
/** How the explorer names the creation. */
export type CreationRow = { readonly contractCreator: string; readonly contractFactory?: string };
/** The transaction; `null`: it is not told. */
export type SignedCreation = {
  readonly to: string | null;
  readonly logs?: readonly string[];
  /** The account whose code is a delegation of EIP-7702. */
  readonly delegated?: string;
} | null;

/** Starts one of a dialect until the test ends. */
export async function startCreationExplorer(
  dialect: ExplorerDialect,
  row: CreationRow,
  signed: SignedCreation,
) {
  const started = createServer((request, reply) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { searchParams } = new URL(String(request.url), 'http://x');
      const asked = jsonIn(Buffer.concat(chunks).toString());
      const method = Reflect.get(Object(asked), 'method');
      const action = String(searchParams.get('action') ?? method);
      reply.writeHead(200, { 'content-type': 'application/json' });
      const params: unknown = Reflect.get(Object(asked), 'params');
      const of = searchParams.get('address') ?? String(Array.isArray(params) ? params[0] : '');
      const isDelegated = action === 'eth_getCode' && of === signed?.delegated;
      const answer = isDelegated ? DELEGATES : answerTo(action, row, signed);
      reply.end(JSON.stringify(answer));
    });
  });
  onTestFinished(() => {
    started.closeAllConnections();
    started.close();
  });
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  const { port } = started.address() as AddressInfo;
  const limits = { callsPerS: 10_000, retriesMax: 0, backoffMs: 1, failuresMax: 99, restMs: 1 };
  const guard = providerGuard(limits, () => performance.now());
  const root = `http://127.0.0.1:${port}`;
  return dialect === 'Etherscan'
    ? etherscanChain('ethereum', { url: new URL(`${root}/v2/api`), guard }, null)
    : blockscoutChain('ethereum', { url: new URL(root), guard });
}

const DELEGATES = { jsonrpc: '2.0', id: 1, result: `0xef0100${'7'.repeat(40)}` };

function answerTo(action: string, row: CreationRow, signed: SignedCreation): object {
  const nodeAnswer = (result: unknown) => ({ jsonrpc: '2.0', id: 1, result });
  const ok = (result: unknown) => ({ status: '1', message: 'OK', result });
  const logs = (signed?.logs ?? []).map((address) => ({ address, topics: [], data: '0x' }));
  const told = signed === null ? null : { from: CREATOR, to: signed.to, logs };
  switch (action) {
    case 'eth_chainId':
      return nodeAnswer('0x1');
    case 'eth_getCode':
      return nodeAnswer('0x6001');
    case 'getcontractcreation':
      return ok([{ contractAddress: TOKEN, txHash: CREATION_TX, blockNumber: '7', ...row }]);
    case 'eth_getTransactionReceipt':
      return nodeAnswer(told);
    case 'gettxinfo':
      return told === null ? { status: '0', message: 'Transaction not found' } : ok(told);
    default:
      return { status: '0', message: 'NOTOK', result: 'Error! Missing Or invalid Action name' };
  }
}
