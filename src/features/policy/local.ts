import type { LocalCommands } from '../../compose/feature.ts';
import { policyCheck, policyDecide } from './policy.command.ts';

export const policyLocal: LocalCommands<unknown> = {
  commands: [policyCheck, policyDecide],
  services: () => ({}),
};
