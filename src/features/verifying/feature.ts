// Saves signals, and checks what was saved: neither opens a store.

import type { ConnectionServices } from '../../command/connection.ts';
import { feature } from '../../compose/feature.ts';
import { signalsSave } from './save.command.ts';
import { verifyCommand } from './verify.command.ts';

export const verifying = feature({
  name: 'verifying',
  heading: 'Check what was saved',
  open: () => ({ ports: {}, services: {} }),
  ports: {},
  local: {
    commands: [verifyCommand, signalsSave],
    services: ({ started }): ConnectionServices => ({ started }),
  },
});
