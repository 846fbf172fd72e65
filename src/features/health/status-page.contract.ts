// Declares the page of the service's state: how old each source is, for people.

import type { z } from 'zod';
import { html } from '../../contract/media.ts';
import { plainRoute } from '../../contract/route.ts';
import type { health } from './health.contract.ts';

export const statusPage = plainRoute({
  name: 'status_page',
  surface: 'web',
  method: 'GET',
  path: '/status',
  summary: 'How old each source is, and whether it can deny anything now.',
  access: 'open',
  responses: { 200: html() },
});

/** What `/health` says. */
export type ShownHealth = z.output<(typeof health.responses)[200]>;

/** A source by its tag, in words. */
export type SourceWords = { readonly tag: string; readonly title: string; readonly says: string };
