// Mistakes in a feature and in the list that must not compile; `tsc` fails if it accepts one.

import { map } from '../evidence/reading.ts';
import { bridges } from '../features/bridges/feature.ts';
import { registryBridges, registryBridgesHandler } from '../features/bridges/registry.route.tsx';
import { walletCex } from '../features/exchanges/wallet-cex.route.ts';
import { walletScoreHandler } from '../features/forensics/wallet-score.route.ts';
import { history } from '../features/history/feature.ts';
import { sanctionsStatus } from '../features/sanctions/sanctions.command.ts';
import { screening } from '../features/screening/feature.ts';
import type { BridgeRegistry } from '../ports/bridges.ts';
import { type Base, feature, featureList, type PortFacts, serveRoute } from './feature.ts';

declare const registry: BridgeRegistry;
declare const facts: Omit<PortFacts<BridgeRegistry>, 'freshness'>;

// @ts-expect-error A contract needs its handler.
serveRoute(walletCex);

// @ts-expect-error A handler answers through its own contract only.
serveRoute(walletCex, walletScoreHandler);

feature({
  name: 'a port without its freshness',
  open: (_: Base) => ({ ports: { bridgeRegistry: registry }, services: {} }),
  // @ts-expect-error Somebody must be able to ask how old each source is.
  ports: { bridgeRegistry: facts },
});

feature({
  name: 'a port that nothing is said of',
  open: (_: Base) => ({ ports: { bridgeRegistry: registry }, services: {} }),
  // @ts-expect-error Each port that is opened is described.
  ports: {},
});

feature({
  name: 'a freshness that asks another port',
  open: (_: Base) => ({ ports: { bridgeRegistry: registry }, services: {} }),
  ports: {
    bridgeRegistry: {
      ...facts,
      freshness: {
        kind: 'dated',
        // @ts-expect-error The registry has no such method.
        ask: async (port) => map(await port.lookUp([]), () => null),
        maxAgeS: () => null,
      },
    },
  },
});

feature({
  name: 'a command without its services',
  open: (_: Base) => ({ ports: {}, services: {} }),
  ports: {},
  // @ts-expect-error The command works on the list, which nobody opened.
  commands: [sanctionsStatus],
});

// @ts-expect-error The bulk screen reads tables, and no feature of this list hands one over.
featureList([screening, history]);

// Their right twins.
serveRoute(registryBridges, ({ bridgeRegistry }: { bridgeRegistry: BridgeRegistry }) =>
  registryBridgesHandler(bridgeRegistry),
);
featureList([history, bridges]);
