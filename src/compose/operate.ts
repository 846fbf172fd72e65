// Runs an operator's commands where no service is running.

import type { Operations } from '../operator/operate.ts';
import { becomeOwner } from '../operator/owner.ts';
import { closings, openWhole } from './closings.ts';

/** A seat at a data directory: its owner's, or that of one who can ask the owner. */
export const takeSeat: Operations['takeSeat'] = becomeOwner;

export const absences: Operations['absences'] = async (config) => {
  const { portChecks } = await import('./checks.ts');
  return portChecks(config);
};

/** Opens the stores of a configuration and loads what the commands look at. */
export const openCommands: Operations['openCommands'] = async (config) => {
  // A command that a running process answers for needs none of them.
  const { createLogger } = await import('./logger.ts');
  const { outsideOf } = await import('./outside.ts');
  const { startParts } = await import('./parts.ts');
  const { openStores } = await import('./stores.ts');
  const log = createLogger();
  const opened = closings((name, fault) => log.error({ name, fault: String(fault) }, 'stop'));
  return openWhole(opened, async () => {
    const stores = await openStores(config);
    opened.add('stores', stores.close);
    const { commands } = await startParts(config, stores, outsideOf(config), log, opened);
    return { commands, close: opened.closeAll };
  });
};
