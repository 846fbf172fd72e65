// Declares the page of a deployer: what became of what an address launched, for people.

import { z } from 'zod';
import { html } from '../../contract/media.ts';
import { plainRoute } from '../../contract/route.ts';
import { addressText } from '../../contract/wire.ts';

export const deployerPage = plainRoute({
  name: 'deployer_page',
  surface: 'web',
  method: 'GET',
  path: '/deployer/{chain}/{address}',
  summary: 'What became of the tokens that an address launched, for people.',
  access: 'open',
  params: z.strictObject({
    chain: z.string().regex(/^[a-z0-9_-]{1,32}$/),
    address: addressText,
  }),
  responses: { 200: html(), 503: html() },
});
