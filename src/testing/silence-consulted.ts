// Answers one question: which ports does a route ask at all, in any world?
// Only among those does silence make a difference, so that subsets of all others need no telling.
// It asks with each port silent as well, since one may be asked only where another says nothing.

import type { AnyEvidenceRoute } from '../contract/route.ts';
import { asksOf } from './silence-asks.ts';
import type { MakeHandler } from './silence-made.ts';
import {
  PORT_NAMES,
  type PortName,
  partlySilent,
  spoiledPorts,
  type Told,
} from './silence-ports.ts';
import type { World } from './worlds.ts';

/** The ports that a route asks, in the order of their names' table. */
export async function consultedPorts(
  route: AnyEvidenceRoute,
  make: MakeHandler,
  worlds: readonly World[],
): Promise<PortName[]> {
  const log: Told[] = [];
  const silences = [new Set<PortName>(), ...PORT_NAMES.map((name) => new Set([name]))];
  for (const world of worlds) {
    const { signal } = new AbortController();
    for (const { input } of asksOf(route, world)) {
      for (const silent of silences) {
        const ports = spoiledPorts(partlySilent(world.ports, silent), () => null, log);
        // What a handler throws is found by the check itself, in its own cell.
        await make(ports)(input, { now: () => world.now, signal }).catch(() => null);
      }
    }
  }
  return PORT_NAMES.filter((name) => log.some(({ port }) => port === name));
}
