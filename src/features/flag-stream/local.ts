import type { ConnectionServices } from '../../command/connection.ts';
import type { LocalCommands } from '../../compose/feature.ts';
import { watchCommand } from './watch.command.ts';

export const flagStreamLocal: LocalCommands<ConnectionServices> = {
  commands: [watchCommand],
  services: ({ started }) => ({ started }),
};
