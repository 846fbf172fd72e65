// The node of tests keeps what every node promises.

import { chainNodeKeeps } from '../../ports/chain-node.suite.ts';
import { memoryChain } from './memory-node.ts';

chainNodeKeeps('memory', async () => {
  const chain = memoryChain();
  chain.mine(20);
  return chain.node;
});
