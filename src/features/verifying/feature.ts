// The check of saved signals, which asks no service and opens no store.

import { feature } from '../../compose/feature.ts';
import { verifyCommand } from './verify.command.ts';

export const verifying = feature({
  name: 'verifying',
  heading: 'Check what was saved',
  open: () => ({ ports: {}, services: {} }),
  ports: {},
  local: { commands: [verifyCommand], services: () => undefined },
});
