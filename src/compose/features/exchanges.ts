// Which exchange an address belongs to or deals with.

import { walletCex } from '../../features/exchanges/wallet-cex.contract.ts';
import { walletCexHandler } from '../../features/exchanges/wallet-cex.route.ts';
import { feature, served } from '../feature.ts';

export const exchanges = feature({
  name: 'exchanges',
  open: () => ({ ports: {}, services: {} }),
  ports: {},
  routes: [served(walletCex, walletCexHandler)],
});
