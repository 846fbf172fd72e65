// The node of tests keeps what every node promises.

import { chainNodeKeeps } from '../../ports/following.suite.ts';
import { memoryChain } from './indexing.ts';

chainNodeKeeps('memory', async () => {
  const chain = memoryChain();
  chain.mine(20);
  return chain.node;
});
