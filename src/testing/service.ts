// What is the service to the handlers of a test?

import type { Service } from '../compose/feature.ts';

/** A service without routes or sources, under the limits that hold where nothing else is set. */
export const TEST_SERVICE: Service = {
  version: '0.0.0',
  base: () => 'https://exhibit.example',
  simulated: false,
  anonymous: true,
  tipMaxAgeS: 3_600,
  routes: [],
  freshness: async () => ({}),
};
