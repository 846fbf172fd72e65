import type { ConnectionServices } from '../../command/connection.ts';
import type { LocalCommands } from '../../compose/feature.ts';
import { LOG_COMMANDS } from './log.command.ts';

export const logLocal: LocalCommands<ConnectionServices> = {
  commands: LOG_COMMANDS,
  services: ({ started }) => ({ started }),
};
