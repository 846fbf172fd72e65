// A service over stores that outlive it, whose providers a test of their words names, and what each
// of its answers must keep to: it is no failure of ours and shows no key.

import { expect } from 'vitest';
import { parseConfig } from './config.ts';
import { evm } from './testing/addresses.ts';
import type { TestStore } from './testing/control-store.ts';
import { type Credentials, SERVES_EVERY_ROUTE } from './testing/every-route.ts';
import { type OpenedOver, type OpenedService, openService } from './testing/opened-service.ts';
import { CHAT_KEY, KEY, PATH_KEY } from './testing/provider-faults.ts';
import { memorySanctionsList } from './testing/twins/sanctions.ts';
import { listedEntry } from './testing/walked-world.ts';

const KEYS = [KEY, encodeURIComponent(KEY), PATH_KEY, CHAT_KEY];
/** The address on the list of each service. */
export const LISTED = evm('listed');

export type Settings = { readonly [name: string]: string };

export type WordsStores = {
  readonly database: TestStore;
  readonly warehouse: OpenedOver['stores']['warehouse'];
  readonly dataDir: string;
};

const nowS = () => Math.floor(Date.now() / 1_000);

/** Opens it; `null` for the list has it answer from the one that it downloads. */
export function openWords(
  { dataDir, ...stores }: WordsStores,
  settings: Settings,
  listed: string | null = LISTED,
): Promise<OpenedService> {
  const env = { EXHIBIT_SIMULATE: 'false', EXHIBIT_PORT: '0', EXHIBIT_DATA_DIR: dataDir };
  // A busy machine takes long to ask.
  const slow = { EXHIBIT_LIVE_BUDGET_S: '120' };
  const served = { ...env, ...slow, ...SERVES_EVERY_ROUTE, ...settings };
  const configured = parseConfig(served, { cwd: dataDir });
  if (!configured.ok) throw new Error(configured.problems.join('\n'));
  const { config } = configured;
  if (listed === null) return openService({ stores, config });
  const inForce = { published: '2026-09-20', checked_at: nowS() };
  const publications = [{ ...inForce, entries: [listedEntry(listed)] }];
  const sanctionsList = memorySanctionsList({
    publications,
    maxAgeS: null,
    simulated: false,
    now: nowS,
  });
  return openService({ stores, config, sanctionsList });
}

export type WordsRequest = {
  readonly path: string;
  readonly access: string;
  readonly method?: string;
  readonly body?: unknown;
};

/** Asks a route as who may; the answer is no failure of ours, and nothing shows a key. */
export async function askWords(
  service: OpenedService,
  credentials: Credentials,
  { path, access, method = 'GET', body }: WordsRequest,
  name: string,
): Promise<{ readonly status: number; readonly text: string; readonly isJson: boolean }> {
  const json = body === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await fetch(service.base + path, {
    method,
    headers: { ...credentials[access], ...json },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    redirect: 'manual',
  });
  const text = await answer.text();
  const isFault = answer.status >= 500 && answer.status !== 503;
  expect([name, path, isFault ? text : '']).toEqual([name, path, '']);
  const all = [text, JSON.stringify([...answer.headers]), service.logged()].join('\n');
  const shown = KEYS.filter((key) => all.includes(key));
  expect([name, path, shown]).toEqual([name, path, []]);
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: answer.status, text, isJson };
}
