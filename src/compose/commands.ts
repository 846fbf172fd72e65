import type { Command } from '../command/command.ts';
import { completionCommand } from '../command/completion.ts';
import { present } from '../evidence/measure.ts';
import { mcpCommand } from '../mcp/command.ts';
import { configCommand } from '../operator/config.ts';
import { doctorCommand } from '../operator/doctor.ts';
import { migrateCommand } from '../operator/migrate.ts';
import { type HelpGroup, SERVICE_COMMANDS } from '../operator/operate.ts';

import type { AnyFeature, Configurations } from './feature.ts';
import { CONTRACTS, FEATURES } from './list.ts';
import { VERSION } from './version.ts';

const ALL: readonly AnyFeature[] = FEATURES;

/** The commands on the stores: they run in the process that owns them. */
export const STORE_COMMANDS: readonly Command<never>[] = [
  doctorCommand,
  migrateCommand,
  ...ALL.flatMap(({ commands }) => commands),
];

/** A command together with what it needs. The declaration of its feature checked the pair. */
export function bindCommand(command: Command<never>, services: unknown): Command<null> {
  const run = command.run as Command<unknown>['run'];
  return { ...command, run: (argv, io) => run(argv, io, services) };
}

/** The commands that open no store, with what they need. */
export function localCommands(configurations: Configurations): Command<null>[] {
  const own = present(ALL.map(({ local }) => local)).flatMap((local) => {
    const services = local.services(configurations);
    return local.commands.map((command) => bindCommand(command, services));
  });
  const tools = {
    ...configurations,
    routes: CONTRACTS,
    version: VERSION,
    pipe: () => ({ input: process.stdin, output: process.stdout }),
  };
  return [
    bindCommand(configCommand, configurations),
    bindCommand(mcpCommand, tools),
    bindCommand(completionCommand, {
      commands: () => HELP_GROUPS.flatMap(({ commands }) => commands),
    }),
    ...own,
  ];
}

export const HELP_GROUPS: readonly HelpGroup[] = [
  { title: 'Run the service', commands: SERVICE_COMMANDS },
  {
    title: 'Operate it',
    commands: [configCommand, doctorCommand, migrateCommand, completionCommand],
  },
  ...ALL.flatMap(({ heading, commands, local }) => {
    const own = [...commands, ...(local === null ? [] : local.commands)];
    return heading === null ? [] : { title: heading, commands: own };
  }),
  { title: 'Give its tools to an agent', commands: [mcpCommand] },
];
