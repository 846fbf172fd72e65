// A list of the publisher's format with made-up addresses, a label table, and a hundred keys.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { closings } from '../src/compose/closings.ts';
import { createLogger } from '../src/compose/logger.ts';
import { outsideOf } from '../src/compose/outside.ts';
import { type ProcessParts, startParts } from '../src/compose/parts.ts';
import { openStores } from '../src/compose/stores.ts';
import { parseConfig } from '../src/config.ts';
import { access } from '../src/features/access/feature.ts';
import { sanctions } from '../src/features/sanctions/feature.ts';
import { tables } from '../src/features/tables/feature.ts';
import { importCommand } from '../src/features/tables/imports.command.ts';
import { exchangeLabels } from '../src/features/tables/labels.ts';
import { launchCorpus } from '../src/features/tables/launches.ts';
import { rowsAs } from '../src/testing/rows-as.ts';
import { worldCorpusLines } from '../src/world/corpus.ts';
import { worldLabelsCsv } from '../src/world/labels.ts';
import { WORLD_SEED, worldPublicationAt } from '../src/world/listed-parties.ts';
import { sdnXml } from '../src/world/sdn-publication.ts';

export const KEYS = 100;

/** The prepared parts: the environment of a service on it, its keys, and some listed addresses. */
export type Furnished = {
  readonly env: { readonly [name: string]: string };
  readonly keys: readonly string[];
  readonly listed: readonly string[];
};

/** Fills a fresh data directory. */
export async function furnish(directory: string): Promise<Furnished> {
  mkdirSync(directory, { recursive: true });
  const now = Math.floor(Date.now() / 1000);
  const publication = worldPublicationAt(now, WORLD_SEED);
  const file = join(directory, 'sdn.xml');
  writeFileSync(file, sdnXml(publication));
  const env = {
    EXHIBIT_DATA_DIR: directory,
    EXHIBIT_PORT: '0',
    EXHIBIT_SDN_URL: pathToFileURL(file).href,
    EXHIBIT_SDN_MAX_AGE: 'none',
  };
  return withParts(env, async ({ parts }) => {
    const outcome = await parts
      .of(sanctions)
      .services.sanctions.refresh(null, AbortSignal.timeout(60_000));
    if (outcome.kind !== 'updated') throw new Error(`the list was not taken: ${outcome.kind}`);
    const labels = join(directory, 'labels.csv');
    const corpus = join(directory, 'launches.jsonl');
    writeFileSync(labels, worldLabelsCsv(WORLD_SEED));
    writeFileSync(corpus, worldCorpusLines(now, WORLD_SEED));
    const signal = AbortSignal.timeout(60_000);
    const quiet = () => undefined;
    const io = { out: quiet, err: quiet, json: false, colour: false, cwd: directory, signal };
    const { services } = parts.of(tables);
    await importCommand(exchangeLabels).run([labels, '--source', 'bench'], io, services);
    await importCommand(launchCorpus).run([corpus, '--source', 'bench'], io, services);
    const keys = await hundredKeys(parts, now);
    const listed = publication.parties.flatMap(({ addresses }) =>
      addresses.flatMap(({ address }) => (address.startsWith('0x') ? [address] : [])),
    );
    return { env, keys, listed };
  });
}

/** The opened deployment of an environment. */
type Deployment = {
  readonly parts: ProcessParts;
  readonly stores: Awaited<ReturnType<typeof openStores>>;
};

/** Opens a deployment for some work, and closes it. */
export async function withParts<T>(
  env: { readonly [name: string]: string },
  work: (deployment: Deployment) => Promise<T>,
): Promise<T> {
  const parsed = parseConfig(env, { cwd: process.cwd() });
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  const { config } = parsed;
  const log = createLogger();
  const opened = closings((name, fault) => log.error({ name, fault: String(fault) }, 'stop'));
  try {
    const stores = await openStores(config);
    opened.add('stores', stores.close);
    const parts = await startParts(config, stores, outsideOf(config), log, opened);
    return await work({ parts, stores });
  } finally {
    await opened.closeAll();
  }
}

async function hundredKeys(parts: ProcessParts, at: number): Promise<string[]> {
  const keys: string[] = [];
  const { memberships, mintKey, ...services } = parts.of(access).services;
  for (let i = 0; i < KEYS; i += 1) {
    const membership_id = `bench_${i}`;
    await memberships.record({ membership_id, plan: 'enterprise', status: 'active', at });
    const key = mintKey({ kind: 'sc', membership_id });
    await services.keys.add(key.stored, 1);
    keys.push(key.text);
  }
  return keys;
}

/** The use that is stored for the hundred memberships together. */
export async function storedUse(env: Furnished['env']): Promise<number> {
  const parsed = parseConfig(env, { cwd: process.cwd() });
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  const stores = await openStores(parsed.config);
  try {
    const rows = await rowsAs<{ used: bigint | number | null }>(
      stores.database,
      "select sum(used) as used from quota_usage where subject like 'membership:bench%'",
    );
    return Number(rows[0]?.used);
  } finally {
    await stores.close();
  }
}
