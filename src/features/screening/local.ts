import { pipedRecords } from '../../compose/address-records.ts';
import type { LocalCommands } from '../../compose/feature.ts';
import { lookCommand } from './look.command.ts';
import { type ScreenServices, screenCommand } from './screen.command.ts';

export const screeningLocal: LocalCommands<ScreenServices> = {
  commands: [lookCommand, screenCommand],
  services: ({ started }) => ({ started, ...pipedRecords(() => process.stdin) }),
};
