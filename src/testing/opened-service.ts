// The whole service in this process, over outside sources that a test names: every feature, its
// guards and its HTTP door. It opens in a fraction of a second over stores that outlive it, so that
// a test can have the guards of providers new for each question.

import { deriveSecrets, mintKey } from '../access/secret.ts';
import { nowS } from '../compose/clock.ts';
import { closings } from '../compose/closings.ts';
import { outsideOf } from '../compose/outside.ts';
import { type ProcessParts, startParts } from '../compose/parts.ts';
import { startServing } from '../compose/serving.ts';
import { Read } from '../evidence/reading.ts';
import { access } from '../features/access/feature.ts';
import type { SanctionsList } from '../ports/sanctions.ts';
import type { Warehouse } from '../stores/warehouse/engine/executor.ts';
import type { TestStore } from './control-store.ts';
import { type Credentials, credentialHeaders } from './every-route.ts';

/** More than any test makes. */
const CALLS_PER_S = 1_000;
const KEYS_MAX = 5;

/** What a service is opened over. No store lies in the data directory of its configuration. */
export type OpenedOver = {
  readonly stores: { readonly database: TestStore; readonly warehouse: Warehouse };
  readonly config: Parameters<typeof startParts>[0];
  /** The list that it answers from, in memory; left out: the one that its job keeps. */
  readonly sanctionsList?: SanctionsList;
};

/** A service that listens, its parts, and what it logged so far. No job of it runs. */
export type OpenedService = {
  readonly base: string;
  readonly parts: ProcessParts;
  readonly logged: () => string;
  readonly close: () => Promise<void>;
};

/** Opens it on a port of its own. Providers are asked at no plan's rate. */
export async function openService(over: OpenedOver): Promise<OpenedService> {
  const { config, sanctionsList } = over;
  const logged: string[] = [];
  const keep = (facts: object, message: string) => {
    logged.push(`${message} ${JSON.stringify(facts)}`);
  };
  const log = { info: keep, warn: keep, error: keep };
  const opened = closings((name, fault) => logged.push(`${name}: ${String(fault)}`));
  const stores = { ...over.stores, secrets: deriveSecrets(ROOT, null), close: async () => {} };
  const outside = { ...outsideOf(config), callsPerS: CALLS_PER_S };
  const parts = await startParts(config, stores, outside, log, opened);
  const serving = await startServing({
    ...parts,
    ports: sanctionsList === undefined ? parts.ports : { ...parts.ports, sanctionsList },
    config,
    log,
  });
  return {
    base: serving.url,
    parts,
    logged: () => logged.join('\n'),
    close: async () => {
      await serving.close();
      await opened.closeAll();
    },
  };
}

const ROOT = 'a root secret of the tests';

/** Mints one credential of each kind; they open every service over the same stores. */
export async function mintCredentials({ parts }: OpenedService): Promise<Credentials> {
  const { memberships, keys } = parts.of(access).services;
  const at = nowS();
  const membership_id = 'mem_1';
  await memberships.record({ membership_id, plan: 'enterprise', status: 'active', at });
  const member = mintKey({ kind: 'sc', membership_id }, parts.secrets, at);
  const holder = { kind: 'scp', partner: 'acme', monthly_budget: 1_000_000 } as const;
  const partner = mintKey(holder, parts.secrets, at);
  for (const one of [member, partner]) await keys.add(one.stored, KEYS_MAX);
  const begun = await parts.sessions.begin(membership_id, { agent: undefined, network: 'a test' });
  if (!(begun instanceof Read)) throw new Error(begun.why.reason);
  const [cookie] = begun.value.split(';');
  return credentialHeaders({ key: member.text, partner: partner.text, cookie: String(cookie) });
}
