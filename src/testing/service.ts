// The service that handlers of a test receive.

import type { Service } from '../compose/feature.ts';
import { unread } from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';

/** A service without routes or sources, under the limits that hold where nothing else is set. */
export const TEST_SERVICE: Service = {
  version: '0.0.0',
  base: () => 'https://exhibit.example',
  simulated: false,
  anonymous: true,
  tipMaxAgeS: 3_600,
  routes: [],
  sources: [],
  freshness: async () => ({}),
  modelInForce: async () => unread('published_model', why('model_not_published')),
  providers: () => [],
  anchoring: () => ({ state: 'off' }),
  ring: { report: () => null, filling: () => null },
  onCall: () => () => undefined,
  streaming: async () => null,
  followers: async () => unread('follow_reports', why('not_configured', { what: 'A follower' })),
};
