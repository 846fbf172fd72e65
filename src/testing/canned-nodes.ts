// Answers of EVM nodes by method, for adapters that ask about one transaction or contract.

export const [word, contract] = [`0x${'ab'.repeat(32)}`, `0x${'11'.repeat(20)}`];
export const NOW = Date.UTC(2026, 10, 21) / 1_000;

const sent = { hash: word, from: contract, to: contract, value: '0x7', input: '0x' };
const log = { address: contract, topics: [word], data: '0x', logIndex: '0x0' };
export const RECEIPTS = {
  eth_chainId: '0x1',
  eth_getTransactionByHash: sent,
  eth_getTransactionReceipt: {
    transactionHash: word,
    blockNumber: '0x1',
    from: contract,
    status: '0x1',
    logs: [log],
  },
};
export const ARRIVALS = {
  eth_chainId: '0x1',
  eth_getBlockByNumber: ([at]: readonly string[]) => {
    const number = at === 'latest' ? 100 : Number(at);
    return {
      number: `0x${number.toString(16)}`,
      timestamp: `0x${(NOW - 1_200 + number * 12).toString(16)}`,
    };
  },
  eth_getLogs: [],
};
export const PROBED = {
  eth_chainId: '0x1',
  eth_getCode: '0x60',
  eth_blockNumber: '0x64',
  eth_call: word,
  eth_getLogs: [],
};
export const ANCHORED = {
  eth_chainId: '0x1',
  eth_getBlockByNumber: { number: '0x64', hash: word, baseFeePerGas: '0x7' },
  eth_maxPriorityFeePerGas: '0x1',
  eth_getTransactionCount: '0x2',
  eth_getBalance: '0x3',
  eth_call: '0x',
  eth_estimateGas: '0x5208',
  eth_sendRawTransaction: word,
  eth_getTransactionReceipt: {
    transactionHash: word,
    blockHash: word,
    blockNumber: '0x64',
    status: '0x1',
  },
};
