// Which questions about the state of one account are asked, and how does each wire write them?

/** A question of one account's state at the newest block, or at a named one. Hex, `0x`. */
export type StateCall =
  | { readonly method: 'eth_getCode' | 'eth_getTransactionCount'; readonly address: string }
  | { readonly method: 'eth_getBalance'; readonly address: string }
  | { readonly method: 'eth_getStorageAt'; readonly address: string; readonly slot: string }
  | {
      readonly method: 'eth_call';
      readonly address: string;
      readonly data: string;
      readonly block?: number;
    };

const NEWEST = 'latest';

function tagOf({ block }: { readonly block?: number }): string {
  return block === undefined ? NEWEST : `0x${block.toString(16)}`;
}

/** The call as JSON-RPC has it. */
export function rpcParams(call: StateCall): readonly unknown[] {
  if (call.method === 'eth_call') return [{ to: call.address, data: call.data }, tagOf(call)];
  if (call.method === 'eth_getStorageAt') return [call.address, call.slot, NEWEST];
  return [call.address, NEWEST];
}

/**
 * The call as the parameters of an Etherscan-compatible API. It passes nodes' methods on, all but
 * the balance, which is a question of its account module.
 */
export function explorerParams(call: StateCall): Readonly<Record<string, string>> {
  const { method, address } = call;
  const proxied = { module: 'proxy', action: method, tag: NEWEST };
  if (method === 'eth_getBalance') {
    return { module: 'account', action: 'balance', address, tag: NEWEST };
  }
  if (call.method === 'eth_call') {
    return { module: 'proxy', action: method, tag: tagOf(call), to: address, data: call.data };
  }
  if (call.method === 'eth_getStorageAt') return { ...proxied, address, position: call.slot };
  return { ...proxied, address };
}
