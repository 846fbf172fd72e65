// Saves signals, and checks what was saved: neither opens a store.

import { feature } from '../../compose/feature.ts';
import { verifyingLocal } from './local.ts';

export const verifying = feature({
  name: 'verifying',
  heading: 'Check what was saved',
  open: () => ({ ports: {}, services: {} }),
  ports: {},
  local: verifyingLocal,
});
