// What all commands declare, without their code. The built program holds the value of this file
// alone (bin/bundle.mjs), so that the help loads no command and a command loads no other.

import type { Command } from '../command/command.ts';
import { completionCommand } from '../command/completion.ts';
import { mcpCommand } from '../mcp/command.ts';
import {
  type DeclaredCommand,
  type HelpGroup,
  SERVICE_COMMANDS,
} from '../operator/command-line.ts';
import { configCommand } from '../operator/config.ts';
import { doctorCommand } from '../operator/doctor.ts';
import { migrateCommand } from '../operator/migrate.ts';
import type { AnyFeature } from './feature.ts';
import { FEATURES } from './list.ts';

/** `local` names what loads a command that opens no store (`local.ts`); `null`: it opens stores. */
export type KnownCommand = DeclaredCommand & { readonly local: string | null };

type Group = HelpGroup & { readonly commands: readonly KnownCommand[] };

function declarations(commands: readonly DeclaredCommand[], local: string | null): KnownCommand[] {
  return commands.map(({ name, summary, usage, example, details, completes }) => {
    const lines = details === undefined ? {} : { details };
    return { name, summary, usage, example, ...lines, completes, local };
  });
}

const loadedAlone = (command: Command<never>) => declarations([command], command.name);

/** All commands, under their headings in the help. */
export const HELP_GROUPS: readonly Group[] = [
  { title: 'Run the service', commands: declarations(SERVICE_COMMANDS, null) },
  {
    title: 'Operate it',
    commands: [
      ...loadedAlone(configCommand),
      ...declarations([doctorCommand, migrateCommand], null),
      ...loadedAlone(completionCommand),
    ],
  },
  ...(FEATURES as readonly AnyFeature[]).flatMap(({ name, heading, commands, local }) => {
    const own = local === null ? [] : declarations(local.commands, name);
    return heading === null
      ? []
      : { title: heading, commands: [...declarations(commands, null), ...own] };
  }),
  { title: 'Give its tools to an agent', commands: loadedAlone(mcpCommand) },
];
