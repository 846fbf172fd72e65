// Sets the faults of the simulated providers: those of the configuration at the start, and those of
// a file while the service runs.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../command/command.ts';
import type { Config } from '../config.ts';
import { breakWire, isFault, WIRE_FAULTS } from '../world/stand-in.ts';
import { pause } from './clock.ts';
import type { Closings } from './closings.ts';
import type { Logger } from './logger.ts';

/** The file of the faults that hold now, under the data directory of the simulated world. */
export const FAULTS_FILE = 'world-faults';
const LOOK_EACH_MS = 250;

/** The faults of one provider, and how one of them is set; `null`: none. */
export type FaultyProvider = {
  readonly known: readonly string[];
  readonly set: (fault: string | null) => void;
};
type Providers = { readonly [provider: string]: FaultyProvider };
type Named = Config['worldFaults'][number];

/** A provider that has faults of its own words, and those of the wire to it where it has a URL. */
export function faultyProvider<F extends string>(
  own: readonly F[],
  set: (fault: F | null) => void,
  url?: URL,
): FaultyProvider {
  return {
    known: url === undefined ? own : [...own, ...WIRE_FAULTS.filter((one) => !isFault(own, one))],
    set: (fault) => {
      const isOwn = fault !== null && isFault(own, fault);
      set(isOwn ? fault : null);
      if (url === undefined) return;
      const isOfWire = fault !== null && !isOwn && isFault(WIRE_FAULTS, fault);
      breakWire(url, isOfWire ? fault : null);
    },
  };
}

/** Why a fault is none: a misspelt one would pass for a provider that withstood it. */
function problemOf(providers: Providers, { provider, fault }: Named): string | null {
  const one = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
  if (one?.known.includes(fault) === true) return null;
  const what = one === undefined ? 'names no provider' : `names no fault of ${provider}`;
  const known = one === undefined ? Object.keys(providers) : one.known;
  return `${provider}:${fault} ${what}; there are ${known.join(', ')}.`;
}

/** Gives each provider its fault, and none to those that are not named. */
function setFaults(providers: Providers, named: readonly Named[]): void {
  const faults = new Map(named.map(({ provider, fault }) => [provider, fault]));
  for (const [provider, one] of Object.entries(providers)) one.set(faults.get(provider) ?? null);
}

/** Sets the faults of the configuration, and from then on those that the file names. */
export function keepFaults(
  config: Pick<Config, 'worldFaults' | 'dataDir'>,
  providers: Providers,
  log: Pick<Logger, 'info' | 'error'>,
  opened: Closings,
): void {
  for (const named of config.worldFaults) {
    const problem = problemOf(providers, named);
    if (problem !== null) throw new UsageError(`EXHIBIT_WORLD_FAULTS: ${problem}`);
  }
  setFaults(providers, config.worldFaults);
  const ended = new AbortController();
  const file = join(config.dataDir, FAULTS_FILE);
  const follow = async () => {
    let held: string | null = null;
    for (; !ended.signal.aborted; await pause(LOOK_EACH_MS, ended.signal)) {
      const text = await readFile(file, 'utf8').catch(() => null);
      if (text === held) continue;
      held = text;
      if (text === null) {
        setFaults(providers, config.worldFaults);
        continue;
      }
      const words = [...text.matchAll(/[^\s,]+/g)].map(([word]) => word);
      const named = words.map((word): Named => {
        const [provider, fault] = word.split(':');
        return { provider: String(provider), fault: String(fault) };
      });
      const problem = named.map((one) => problemOf(providers, one)).find((one) => one !== null);
      if (problem === undefined) {
        setFaults(providers, named);
        log.info({ faults: words }, 'simulated world: faults set');
      } else log.error({ problem }, 'simulated world: faults not set');
    }
  };
  const following = follow();
  opened.add('simulated faults', async () => {
    ended.abort();
    await following;
  });
}
