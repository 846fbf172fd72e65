// What a service asks that simulates nothing: a list, an explorer, a venue and prices of the same
// world. Made-up history is always told as a part, and denies nothing; what is observed in full
// denies what is not in it, so that there is something to hold a lie against.

import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { formatIsoDate } from '../src/chain/time.ts';
import { closings } from '../src/compose/closings.ts';
import { faultyProvider, keepFaults } from '../src/compose/world-faults.ts';
import { askOnce } from '../src/fleet-load.suite.ts';
import type { Calls } from '../src/testing/chaos-judge.ts';
import { worldChains } from '../src/world/chain-data.ts';
import { worldPoolsOf } from '../src/world/deployers.ts';
import { EXPLORER_FAULTS, startExplorer } from '../src/world/explorer-api.ts';
import { WORLD_SEED, worldPublicationAt } from '../src/world/listed-parties.ts';
import { PRICE_FAULTS, startPriceApi, worldPriceOf } from '../src/world/price-api.ts';
import { sdnXml } from '../src/world/sdn-publication.ts';
import { requestsAt } from '../src/world/stand-in.ts';
import { startVenue, VENUE_FAULTS } from '../src/world/venue-api.ts';
import { ADDRESSES } from './answers-requests.ts';

/** Where a service is asked, and by whom. */
export const demo = z.object({
  base_url: z.string(),
  api_key: z.string(),
  stream_token: z.string(),
});
export type Demo = z.output<typeof demo>;

const MAIN = fileURLToPath(new URL('../../main.js', import.meta.url));
const ETHEREUM_ID = 1;
/** Of what stands outside; a simulated service has its own. */
const LIST = 'sdn.xml';
/** The sources of a service that simulates nothing whose faults can be set. */
export const OBSERVED_SOURCES: ReadonlySet<string> = new Set(['explorer', 'venue', 'prices']);
const READY_MS_MAX = 120_000;
const LOOK_EACH_MS = 250;

const nowS = () => Math.floor(Date.now() / 1_000);

/** Starts the providers, whose faults are those of the file in `data`. */
export async function startObserved(data: string) {
  const opened = closings((name, fault) => process.stderr.write(`${name}: ${String(fault)}\n`));
  const explorer = await startExplorer(worldChains(nowS, WORLD_SEED));
  opened.add('explorer', explorer.close);
  const venue = await startVenue((chain, token) => worldPoolsOf(chain, token, nowS()));
  opened.add('venue', venue.close);
  const priceOf = (id: string, at: number) => worldPriceOf(WORLD_SEED, id, at);
  const prices = await startPriceApi({ now: nowS, priceOf });
  opened.add('prices', prices.close);
  const faulty = {
    explorer: faultyProvider(
      EXPLORER_FAULTS,
      (fault) => explorer.fault(() => fault),
      explorer.etherscan,
    ),
    venue: faultyProvider(VENUE_FAULTS, (fault) => venue.fault(() => fault), venue.url),
    prices: faultyProvider(PRICE_FAULTS, prices.fault, prices.url),
  };
  const log = {
    info: () => undefined,
    error: (why: unknown) => process.stderr.write(`${JSON.stringify(why)}\n`),
  };
  keepFaults({ worldFaults: [], dataDir: data }, faulty, log, opened);
  const list = join(data, LIST);
  // A file is no publisher's word: it counts from its own date, whose age is told after some days.
  const { parties } = worldPublicationAt(nowS(), WORLD_SEED);
  writeFileSync(list, sdnXml({ published: formatIsoDate(nowS()), parties }));
  return {
    settings: {
      EXHIBIT_SIMULATE: 'false',
      // What the others serve has no source here.
      EXHIBIT_SURFACES: 'hosted,web',
      EXHIBIT_SDN_URL: new URL(`file://${list}`).href,
      EXHIBIT_BLOCKSCOUT_ETHEREUM: explorer.blockscout(ETHEREUM_ID).href,
      EXHIBIT_VENUE_URL: venue.url.href,
      EXHIBIT_PRICES_URL: prices.url.href,
      EXHIBIT_RING_CALLS: '0',
    },
    /** How often each source was asked so far. */
    calls: (): Calls => ({
      explorer: requestsAt(explorer.etherscan),
      venue: requestsAt(venue.url),
      prices: requestsAt(prices.url),
    }),
    close: opened.closeAll,
  };
}

const added = z.looseObject({ membership_id: z.string() });
const minted = z.looseObject({ key: z.string() });

/** Addresses of each kind of fact: each question takes calls of an explorer at its plan's rate. */
export const OBSERVED_ASKED = [
  'one-hop',
  'quiet',
  'bridger',
  'unused',
  'deployer-died',
] as const satisfies readonly (keyof typeof ADDRESSES)[];

/** Makes a member, builds the ring and walks the deployers, by the commands of an operator. */
export async function furnishObserved(
  data: string,
  settings: { readonly [name: string]: string },
  base_url: string,
): Promise<Demo> {
  const env = { ...process.env, ...settings, EXHIBIT_DATA_DIR: data };
  const command = async (...words: string[]) => {
    const given = [MAIN, ...words, '--json'];
    const { stdout } = await promisify(execFile)(process.execPath, given, { cwd: data, env });
    return stdout;
  };
  await untilReady(base_url);
  const { membership_id } = added.parse(
    JSON.parse(await command('members', 'add', '--plan', 'enterprise')),
  );
  const { key } = minted.parse(
    JSON.parse(await command('keys', 'create', '--membership', membership_id)),
  );
  // The ring is built soon after a list came in force: until then answers say that it is not.
  await command('warehouse', 'ring', 'rebuild');
  // Whose record is asked for without one is walked soon after: what is asked has one.
  await command('deployers', 'walk', ...OBSERVED_ASKED.map((name) => ADDRESSES[name]));
  return { base_url, api_key: key, stream_token: 'none' };
}

/** Waits until the list is in force. */
export async function untilReady(base_url: string): Promise<void> {
  for (const began = performance.now(); ; ) {
    const said = await askOnce(`${base_url}/ready`, {});
    if (!('fault' in said) && said.status === 200) return;
    if (performance.now() - began > READY_MS_MAX) throw new Error('the service is not ready');
    await sleep(LOOK_EACH_MS);
  }
}
