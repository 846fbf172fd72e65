import type { ConnectionServices } from '../../command/connection.ts';
import type { LocalCommands } from '../../compose/feature.ts';
import { RECORD_COMMANDS } from './records.command.ts';

export const recordsLocal: LocalCommands<ConnectionServices> = {
  commands: RECORD_COMMANDS,
  services: ({ started }) => ({ started }),
};
