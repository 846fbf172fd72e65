// A route behind a key, for tests about keys and not about answers.

import { z } from 'zod';
import { plainRoute } from '../contract/route.ts';

const probe = plainRoute({
  name: 'probe',
  surface: 'hosted',
  method: 'GET',
  path: '/api/v1/probe',
  summary: 'A route of the tests.',
  access: 'analyst',
  responses: { 200: z.strictObject({ fine: z.boolean() }) },
});

/** A route that a key of any plan opens, mounted. */
export const gatedRoute = { route: probe, handle: async () => probe.reply(200, { fine: true }) };
