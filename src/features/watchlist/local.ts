import type { ConnectionServices } from '../../command/connection.ts';
import type { LocalCommands } from '../../compose/feature.ts';
import { WATCHLIST_COMMANDS } from './watchlist.command.ts';

export const watchlistLocal: LocalCommands<ConnectionServices> = {
  commands: WATCHLIST_COMMANDS,
  services: ({ started }) => ({ started }),
};
