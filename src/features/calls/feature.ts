// Calls of our own detectors: what was said of an asset, on what, and what became of it.

import { nowS } from '../../compose/clock.ts';
import { type Base, feature } from '../../compose/feature.ts';
import { log } from '../log/feature.ts';
import { type CallsServices, callsList, callsShow, callsVersions } from './calls.command.ts';
import { emissionTable, emittedCallTable } from './calls.store.ts';

export const calls = feature({
  name: 'calls',
  heading: 'Calls of detectors',
  rests: { log },
  open: ({ database, context }: Base) => {
    const table = emittedCallTable(database, context);
    const store = emissionTable(database, context);
    return {
      ports: { emittedCalls: table },
      services: {
        calls: {
          find: table.find,
          versions: table.versions,
          emitted: store.emitted,
          now: nowS,
        },
      } satisfies CallsServices,
    };
  },
  ports: {
    emittedCalls: {
      tag: 'emitted_calls',
      title: 'Calls of detectors',
      says: 'What our detectors said of assets, and what became of it',
      pages: false,
      // A call carries its own dates, and does not expire.
      freshness: { kind: 'per_answer', absence: () => null },
    },
  },
  commands: [callsList, callsShow, callsVersions],
});
