import type { ConnectionServices } from '../../command/connection.ts';
import type { LocalCommands } from '../../compose/feature.ts';
import { signalsSave } from './save.command.ts';
import { verifyCommand } from './verify.command.ts';

export const verifyingLocal: LocalCommands<ConnectionServices> = {
  commands: [verifyCommand, signalsSave],
  services: ({ started }) => ({ started }),
};
