// A failed start leaves no resource open.

import type { Config } from '../config.ts';
import { Read } from '../evidence/reading.ts';
import { WITHOUT_WATCH } from '../evidence/waiting.ts';
import { access } from '../features/access/feature.ts';
import { commandHandler } from '../operator/operate.ts';
import { becomeOwner, type Ownership } from '../operator/owner.ts';
import type { TokenStore } from '../ports/access.ts';
import { meterProcess } from '../transport/metrics.ts';
import { announceLive, announceSimulated, SIMULATED_LINE } from './announce.ts';
import { type Closings, closings, openWhole } from './closings.ts';
import { createLogger, type Logger } from './logger.ts';
import { outsideOf } from './outside.ts';
import { type ProcessParts, startParts } from './parts.ts';
import { type Serving, startServing } from './serving.ts';
import { startSimulated } from './simulated.ts';
import { openStores } from './stores.ts';

/** The role of a process: answer requests, or run background jobs. */
export type Role = 'serve' | 'work';

/** A running service. `stop` finishes what is in flight, then closes the stores. */
export type RunningService = { readonly stop: () => Promise<void> };

type Seat = Extract<Ownership, { owner: true }>;

/** Starts a service in the given roles and says on standard output what it serves. */
export async function runService(config: Config, roles: readonly Role[]): Promise<RunningService> {
  if (config.simulate) process.stdout.write(`${SIMULATED_LINE}\n`);
  const log = createLogger();
  const opened = loggedClosings(log);
  await openWhole(opened, () => startRoles(config, roles, log, opened));
  return { stop: opened.closeAll };
}

function loggedClosings(log: Logger): Closings {
  return closings((name, fault) => log.error({ name, fault: String(fault) }, 'stop'));
}

async function startRoles(
  config: Config,
  roles: readonly Role[],
  log: Logger,
  opened: Closings,
): Promise<void> {
  const seat = await seatOf(config);
  if (seat !== null) opened.add('owner', seat.close);
  const stores = await openStores(config);
  opened.add('stores', stores.close);
  const world = config.simulate ? await startSimulated(config, log, opened) : null;
  const outside = world === null ? outsideOf(config) : world.outside;
  const parts = await startParts(config, stores, outside, log, opened);
  meterProcess(parts.meters);
  const others = commandHandler(parts.commands, null);
  seat?.serve(others.handler);
  opened.add('commands', others.end);
  // They end after the socket, and begin when the world is furnished: who waits for a first answer
  // does not wait for them.
  const jobs = loggedClosings(log);
  opened.add('jobs', jobs.closeAll);
  const serving = roles.includes('serve') ? await serve(config, parts, log, opened) : null;
  const demo = world !== null && serving !== null ? await world.furnish(parts, serving.url) : null;
  startJobs(parts, roles, jobs);
  const lines =
    world !== null && demo !== null
      ? announceSimulated(demo, config, world.signInLink(parts, demo))
      : await announceLive(config, parts, serving === null ? null : serving.url);
  for (const line of lines) process.stdout.write(`${line}\n`);
}

/** Starts the jobs of the roles, each of whose runs is a span where traces are made. */
export function startJobs(
  { jobs, tracing }: Pick<ProcessParts, 'jobs' | 'tracing'>,
  roles: readonly Role[],
  started: Pick<Closings, 'add'>,
): void {
  for (const { name, role = 'work', start } of jobs) {
    if (role !== 'any' && !roles.includes(role)) continue;
    started.add(name, start(tracing === null ? WITHOUT_WATCH : tracing.job(name)).stop);
  }
}

// Embedded stores have one owner. A process on shared stores alone needs no seat.
async function seatOf({ store, warehouse, dataDir }: Config): Promise<Seat | null> {
  if (store.kind !== 'embedded' && warehouse.kind !== 'embedded') return null;
  const seat = await becomeOwner(dataDir);
  if (seat.owner) return seat;
  throw new Error(
    `Another exhibit process owns ${dataDir}. Stop it, or give this one another EXHIBIT_DATA_DIR.`,
  );
}

async function serve(
  config: Config,
  parts: ProcessParts,
  log: Logger,
  opened: Closings,
): Promise<Serving> {
  await refuseWithoutToken(config, parts.of(access).services.tokens);
  const serving = await startServing({ ...parts, config, log });
  opened.add('http', serving.close);
  return serving;
}

/** Throws where a surface that is asked for by name could let nobody in. */
async function refuseWithoutToken(
  { surfaces, intelligence, shown }: Config,
  minted: Pick<TokenStore, 'list'>,
): Promise<void> {
  const isNamed = shown.some(({ name, from }) => name === 'EXHIBIT_SURFACES' && from === 'set');
  if (!isNamed || !surfaces.includes('intelligence')) return;
  if (intelligence.allowAnonymous || intelligence.tokens.length > 0) return;
  const tokens = await minted.list();
  // Of a store that was not read nothing is said.
  if (!(tokens instanceof Read) || tokens.value.some((one) => one.revoked_at === null)) return;
  throw new Error(
    'EXHIBIT_SURFACES: intelligence has no token, so that nobody could come in. Mint one with ' +
      '`exhibit tokens mint`, set EXHIBIT_INTELLIGENCE_TOKENS, or start with --allow-anonymous.',
  );
}
