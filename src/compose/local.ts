// The commands that open no store. Each is loaded when it is called, with what it needs alone.

import type { Command } from '../command/command.ts';
import { bindCommand, type Configurations, type LocalCommands } from './feature.ts';

type Load = (configurations: Configurations) => Promise<readonly Command<null>[]>;

/** Of one feature, which pairs its commands with what they need. */
function featureLoad<S>(load: () => Promise<LocalCommands<S> | null>): Load {
  return async (configurations) => {
    const local = await load();
    if (local === null) throw new Error('the feature has no command that opens no store');
    const services = local.services(configurations);
    return local.commands.map((command) => bindCommand(command, services));
  };
}

/** By the feature's name, or the command's own. */
const LOADS: { readonly [name: string]: Load } = {
  config: async (configurations) => {
    const { configCommand } = await import('../operator/config.ts');
    return [bindCommand(configCommand, configurations)];
  },
  completion: async () => {
    const { completionCommand } = await import('../command/completion.ts');
    const { HELP_GROUPS } = await import('./commands.ts');
    const commands = () => HELP_GROUPS.flatMap((group) => group.commands);
    return [bindCommand(completionCommand, { commands })];
  },
  mcp: async (configurations) => {
    const { mcpCommand } = await import('../mcp/command.ts');
    const { CONTRACTS: routes } = await import('./list.ts');
    const { VERSION: version } = await import('./version.ts');
    const pipe = () => ({ input: process.stdin, output: process.stdout });
    return [bindCommand(mcpCommand, { ...configurations, routes, version, pipe })];
  },
  bridges: featureLoad(async () => (await import('../features/bridges/feature.ts')).bridges.local),
  'flag-stream': featureLoad(
    async () => (await import('../features/flag-stream/local.ts')).flagStreamLocal,
  ),
  log: featureLoad(async () => (await import('../features/log/local.ts')).logLocal),
  policies: featureLoad(async () => (await import('../features/policy/local.ts')).policyLocal),
  receipts: featureLoad(
    async () => (await import('../features/receipts/feature.ts')).receipts.local,
  ),
  records: featureLoad(async () => (await import('../features/records/local.ts')).recordsLocal),
  'rug model': featureLoad(
    async () => (await import('../features/rug-model/local.ts')).rugModelLocal,
  ),
  screening: featureLoad(
    async () => (await import('../features/screening/local.ts')).screeningLocal,
  ),
  signing: featureLoad(async () => (await import('../features/signing/local.ts')).signingLocal),
  verifying: featureLoad(
    async () => (await import('../features/verifying/local.ts')).verifyingLocal,
  ),
  watchlist: featureLoad(
    async () => (await import('../features/watchlist/local.ts')).watchlistLocal,
  ),
};

/** Loads a command that opens no store, with what it needs. */
export async function loadLocal(
  { name, local }: { readonly name: string; readonly local: string },
  configurations: Configurations,
): Promise<Command<null>> {
  const commands = await LOADS[local]?.(configurations);
  const command = commands?.find((one) => one.name === name);
  if (command === undefined) throw new Error(`${name} is not loaded by ${local}`);
  return command;
}
