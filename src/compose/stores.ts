// Opens the stores of this process, and checks whose they are. A store that belongs to another
// deployment, or to the other mode, stops the start before a write.

import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { deriveSecrets, type Secrets } from '../access/secret.ts';
import { type Config, secretOf } from '../config.ts';
import type { Bus } from '../ports/streams.ts';
import { inProcessBus } from '../stores/bus/in-process.ts';
import { postgresBus } from '../stores/bus/postgres.ts';
import type { Database } from '../stores/control/engine/database.ts';
import { migrate } from '../stores/control/engine/migrate.ts';
import { openPglite } from '../stores/control/engine/pglite.ts';
import { openPostgres } from '../stores/control/engine/postgres.ts';
import { openEmbedded } from '../stores/warehouse/engine/embedded.ts';
import type { Warehouse } from '../stores/warehouse/engine/executor.ts';
import { migrateWarehouse } from '../stores/warehouse/engine/migrate.ts';
import { remoteWarehouse } from '../stores/warehouse/engine/remote.ts';
import { withdrawUnproved } from '../stores/warehouse/transfers/withdrawn.ts';
import { nowS } from './clock.ts';
import type { Logger } from './logger.ts';

const CONTROL_MIGRATIONS = fileURLToPath(new URL('../../migrations/control', import.meta.url));
const WAREHOUSE_MIGRATIONS = fileURLToPath(new URL('../../migrations/warehouse', import.meta.url));
const OWNER_ONLY = 0o700;

export type Stores = {
  readonly database: Database;
  readonly warehouse: Warehouse;
  readonly secrets: Secrets;
  readonly close: () => Promise<void>;
};

/** Opens and migrates both stores; where one of them cannot be used, neither stays open. */
export async function openStores(config: Config): Promise<Stores> {
  await mkdir(config.dataDir, { recursive: true, mode: OWNER_ONLY });
  const root = await secretOf(config.secret);
  const previous = config.previousSecret === null ? null : config.previousSecret.reveal();
  const secrets = deriveSecrets(root.reveal(), previous);
  const database = await openControl(config, secrets);
  try {
    const warehouse = await openWarehouse(config);
    const close = async () => {
      await Promise.allSettled([warehouse.close(), database.close()]);
    };
    return { database, warehouse, secrets, close };
  } catch (fault) {
    await database.close();
    throw fault;
  }
}

async function openControl(config: Config, secrets: Secrets): Promise<Database> {
  const { store } = config;
  const database =
    store.kind === 'embedded' ? await openPglite(store.dir) : openPostgres(store.url.reveal());
  const [current, previous] = secrets;
  try {
    await migrate(database, CONTROL_MIGRATIONS, {
      simulated: config.simulate,
      secret_fingerprint: current.fingerprint,
      previous_fingerprint: previous === undefined ? null : previous.fingerprint,
    });
    return database;
  } catch (fault) {
    await database.close();
    throw fault;
  }
}

async function openWarehouse(config: Config): Promise<Warehouse> {
  const { warehouse: where } = config;
  const warehouse =
    where.kind === 'embedded' ? await openEmbedded(where.dir) : remoteWarehouse(where.url.reveal());
  try {
    await migrateWarehouse(warehouse, WAREHOUSE_MIGRATIONS, {
      simulated: config.simulate,
      layout: where.kind === 'embedded' ? 'single' : where.layout,
    });
    await withdrawUnproved(warehouse);
    return warehouse;
  } catch (fault) {
    await warehouse.close();
    throw fault;
  }
}

// Over which bus do the processes of this deployment reach each other?

/** Faults of the bus that are logged: it tries again each second. */
const FAULT_LOGGED_EACH_MS = 60_000;

/** Joins the bus. Processes that share a PostgreSQL server are one deployment. */
export function openBus({ store }: Config, database: Database, log: Logger): Bus {
  if (store.kind === 'embedded') return inProcessBus(nowS);
  let loggedMs = -FAULT_LOGGED_EACH_MS;
  return postgresBus({
    database,
    url: store.url.reveal(),
    onFault: (fault) => {
      if (performance.now() - loggedMs < FAULT_LOGGED_EACH_MS) return;
      loggedMs = performance.now();
      log.warn({ fault }, 'bus: not reached; events come by polling, caps hold for each process');
    },
  });
}
