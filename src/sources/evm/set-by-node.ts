// Which transaction made a fact of an account's state name an address, as a node tells it?
// A contract's own events say it. A delegation (EIP-7702) leaves no event: the block in which the
// code appeared is found by halves, and the authorisation is in one of its transactions.

import { z } from 'zod';
import { authorityOf } from '../../chain/authorisation.ts';
import type { SetBy, SetFact } from '../../ports/accounts/chain-facts.ts';
import { ADDRESS, BYTES, COUNT, outsideRow, WORD } from '../http/forms.ts';
import { type JsonRpc, RpcFault } from '../http/json-rpc.ts';
import { newestSetting, settingTopic } from './setting-events.ts';
import { StateFault } from './state-facts-of-account.ts';
import { LOG, shaped } from './wire.ts';

/** The most events that one answer may hold. */
const LOGS_MAX = 2_000;
const LOGS = LOG.array().max(LOGS_MAX);
const HEX = z.string().regex(/^0x[0-9a-fA-F]{1,64}$/);
const AUTHORISATION = outsideRow({
  chainId: HEX,
  address: ADDRESS,
  nonce: HEX,
  yParity: HEX,
  r: HEX,
  s: HEX,
});
const BLOCK = outsideRow({
  transactions: z.array(
    outsideRow({ hash: WORD, authorizationList: z.array(AUTHORISATION).nullish() }),
  ),
});

type Setting = { readonly account: string; readonly fact: SetFact; readonly address: string };

/** The transaction; `null` where nothing on the chain names one. Throws faults of the node. */
export async function setByOf(
  rpc: JsonRpc,
  setting: Setting,
  signal: AbortSignal,
): Promise<SetBy | null> {
  const { account, fact, address } = setting;
  const topic = settingTopic(fact);
  if (topic === null) return delegatedBy(rpc, setting, signal);
  const filter = { fromBlock: '0x0', toBlock: 'latest', address: account, topics: [topic] };
  const result = await asked(rpc, 'eth_getLogs', [filter], signal);
  const logs = shaped(LOGS, result, 'eth_getLogs').filter(({ removed }) => removed !== true);
  return newestSetting(fact, address, logs);
}

async function delegatedBy(
  rpc: JsonRpc,
  { account, address }: Setting,
  signal: AbortSignal,
): Promise<SetBy | null> {
  const code = `0xef0100${address.slice(2)}`;
  let without = -1;
  let within = shaped(COUNT, await asked(rpc, 'eth_blockNumber', [], signal), 'eth_blockNumber');
  while (within - without > 1) {
    const middle = Math.floor((without + within) / 2);
    const answer = await asked(rpc, 'eth_getCode', [account, quantity(middle)], signal);
    if (shaped(BYTES, answer, 'eth_getCode').toLowerCase() === code) within = middle;
    else without = middle;
  }
  const answer = await asked(rpc, 'eth_getBlockByNumber', [quantity(within), true], signal);
  const block = BLOCK.safeParse(answer);
  if (!block.success) throw new StateFault('eth_getBlockByNumber');
  const found = block.data.transactions.find(({ authorizationList }) =>
    authorizationList?.some((one) => one.address === address && authorityOf(one) === account),
  );
  return found === undefined ? null : { tx: found.hash, block: within };
}

function quantity(block: number): string {
  return `0x${block.toString(16)}`;
}

async function asked(
  rpc: JsonRpc,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal,
): Promise<unknown> {
  const answer = await rpc.call({ method, params }, signal);
  if (answer.ok) return answer.result;
  throw new RpcFault(`answered an error to ${method} (${answer.error.code})`, 'failed');
}
