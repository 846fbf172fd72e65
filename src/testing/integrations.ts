// Chats of the tests, as rows of the control store, and what waits for them.

import type { ChatTarget, DispatchKind, NewDispatch } from '../ports/integrations.ts';
import { chatPlatforms } from '../sources/chat/platforms.ts';
import { UNWATCHED } from '../sources/http/provider-watch.ts';
import type { Database } from '../stores/control/engine/database.ts';
import { integrationTable } from '../stores/control/integrations.ts';
import { appendDispatches, deliveryTable } from '../stores/control/outbox.ts';
import { flagsToldTable } from '../stores/control/rug-flags.ts';
import type { StartedChats } from '../world/chat-api.ts';
import { STILL_NOW } from './clock.ts';
import { rowsAs } from './rows-as.ts';

/** A dispatch to `mem_1` that is about a wallet. */
export function dispatchOf(key: string, given: Partial<NewDispatch> = {}): NewDispatch {
  return {
    membership_id: 'mem_1',
    kind: 'watch',
    key,
    chain: 'ethereum',
    address: `0x${'1'.repeat(40)}`,
    message: {
      title: `Told under ${key}`,
      facts: ['One fact.'],
      caveat: 'A listing says nothing of other lists.',
      path: '/address/0x1',
      at: STILL_NOW,
      simulated: false,
    },
    ...given,
  };
}

/** Appends in a transaction of its own. */
export function appendTo(database: Database, dispatches: readonly NewDispatch[]): Promise<void> {
  const [first, ...rest] = dispatches;
  if (first === undefined) throw new Error('test: nothing to append');
  return database.transaction((session) => appendDispatches(session, [first, ...rest]));
}

type Rules = {
  readonly kinds?: readonly DispatchKind[];
  readonly chains?: readonly string[];
  readonly addresses?: readonly string[];
};

/** An integration as a row; what it posts with opens nothing. */
export async function addIntegration(
  database: Database,
  id: string,
  membershipId: string,
  { kinds = ['flag', 'watch'], chains, addresses }: Rules = {},
): Promise<void> {
  await database.query(
    `insert into memberships (membership_id, plan, status, created_at, updated_at)
     values ($1, 'desk', 'active', now(), now()) on conflict do nothing`,
    [membershipId],
  );
  await database.query(
    `insert into integrations (id, membership_id, platform, place, sealed, sealed_by, kinds, chains,
       addresses, created_at)
     values ($1, $2, 'discord', 'a channel', '\\x00', 'aaaa', $3, $4, $5, control_now())`,
    [id, membershipId, kinds, chains ?? null, addresses ?? null],
  );
}

/** The waiting dispatches of an integration, in order, by their keys. */
export async function waitingFor(database: Database, id: string): Promise<string[]> {
  const rows = await rowsAs<{ key: string }>(
    database,
    `select d.key from deliveries q join dispatches d on d.id = q.dispatch_id
     where q.integration_id = $1 and q.dead_at is null order by q.id`,
    [id],
  );
  return rows.map(({ key }) => key);
}

/** The messages, in the same order. */
export async function messagesFor(database: Database, id: string): Promise<unknown[]> {
  const rows = await rowsAs<{ message: unknown }>(
    database,
    `select d.message from deliveries q join dispatches d on d.id = q.dispatch_id
     where q.integration_id = $1 and q.dead_at is null order by q.id`,
    [id],
  );
  return rows.map(({ message }) => message);
}

/** Up to which flag the chats were told, over a control store of the tests. */
export function flagsToldIn(database: Database) {
  return flagsToldTable(database, CONTEXT);
}

const CONTEXT = { simulated: false, nowMs: () => STILL_NOW * 1_000 };

/** The queues as a process holds them. */
export function deliveriesIn(database: Database, holder: string) {
  return deliveryTable(database, holder, CONTEXT);
}

/** The integrations over a control store of the tests. */
export function integrationsIn(database: Database) {
  return integrationTable(database, CONTEXT);
}

/** The platforms as the stand-ins serve them. */
export function chatsAt({ slack, discord, telegram }: StartedChats['roots']) {
  const root = (url: string) => ({ url: new URL(url), onCallEnd: UNWATCHED });
  const roots = {
    slack_hooks: root(slack),
    slack_api: root(slack),
    discord: root(discord),
    telegram: root(telegram),
  };
  return chatPlatforms({ roots, simulated: false, now: () => STILL_NOW });
}

/** The target of a test's integration: its number is in the id of the webhook. */
export function targetNamed(id: string): ChatTarget {
  const webhook_id = id.replaceAll(/\D/g, '').padStart(18, '900000000000000000');
  return { platform: 'discord', webhook_id, webhook_token: 'd'.repeat(68) };
}
