// Answers one question: on what do an operator's commands run where no service is running.

import type { Operations } from '../operator/operate.ts';
import { becomeOwner } from '../operator/owner.ts';
import { absences as absencesOf } from './checks.ts';
import { createLogger } from './logger.ts';
import { outsideOf } from './outside.ts';
import { composeParts } from './parts.ts';
import { openStores } from './stores.ts';

/** A seat at a data directory: its owner's, or that of one who can ask the owner. */
export const takeSeat: Operations['takeSeat'] = becomeOwner;

export const absences: Operations['absences'] = absencesOf;

/** Opens the stores of a configuration and loads what the commands look at. */
export const openCommands: Operations['openCommands'] = async (config) => {
  const stores = await openStores(config);
  const parts = composeParts(config, stores, outsideOf(config), createLogger());
  try {
    await parts.start();
  } catch (fault) {
    await stores.close();
    throw fault;
  }
  const close = async () => {
    await parts.stop();
    await stores.close();
  };
  return { commands: parts.commands, close };
};
