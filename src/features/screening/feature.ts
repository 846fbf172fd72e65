// Many addresses against the tables held, and the commands that ask a running service.

import { pipedRecords } from '../../compose/address-records.ts';
import { feature, serveRoute } from '../../compose/feature.ts';
import { bulkWalletScreen, bulkWalletScreenHandler } from './bulk-wallet-screen.route.ts';

import { lookCommand } from './look.command.ts';
import { type ScreenServices, screenCommand } from './screen.command.ts';

export const screening = feature({
  name: 'screening',
  heading: 'Ask a running service',
  open: () => ({ ports: {}, services: {} }),
  ports: {},
  routes: [serveRoute(bulkWalletScreen, bulkWalletScreenHandler)],
  local: {
    commands: [lookCommand, screenCommand],
    services: ({ started }): ScreenServices => ({
      started,
      ...pipedRecords(() => process.stdin),
    }),
  },
});
