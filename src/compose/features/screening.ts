// Many addresses against the tables held, and the commands that ask a running service.

import { bulkWalletScreen } from '../../features/screening/bulk-wallet-screen.contract.ts';
import { bulkWalletScreenHandler } from '../../features/screening/bulk-wallet-screen.route.ts';
import { lookCommand } from '../../features/screening/look.command.ts';
import { type ScreenServices, screenCommand } from '../../features/screening/screen.command.ts';
import { readRecords } from '../address-records.ts';
import { feature, served } from '../feature.ts';

export const screening = feature({
  name: 'screening',
  heading: 'Ask a running service',
  open: () => ({ ports: {}, services: {} }),
  ports: {},
  routes: [served(bulkWalletScreen, bulkWalletScreenHandler)],
  local: {
    commands: [lookCommand, screenCommand],
    services: ({ started }): ScreenServices => ({ started, readRecords }),
  },
});
