import type { ConnectionServices } from '../../command/connection.ts';
import type { LocalCommands } from '../../compose/feature.ts';
import { answerSave } from './answer.command.ts';

export const signingLocal: LocalCommands<ConnectionServices> = {
  commands: [answerSave],
  services: ({ started }) => ({ started }),
};
