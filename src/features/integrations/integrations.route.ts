// Answers /integrations: to whoever sends a key of the membership.

import { formatIsoTime, type UnixSeconds } from '../../chain/time.ts';
import type { Caller } from '../../contract/caller.ts';
import { badInput } from '../../contract/refusals.ts';
import type { PlainHandler } from '../../contract/route.ts';
import { given } from '../../evidence/measure.ts';
import { seen, Unread } from '../../evidence/reading.ts';
import type { Rules } from '../../ports/chat/integrations.ts';
import { connectChat, type IntegrationDesk, testChat } from './desk.ts';
import {
  connectIntegration,
  listIntegrations,
  removeIntegration,
  testIntegration,
} from './integrations.contract.ts';

const NO_STORE = {
  error: 'The integrations cannot be read or changed just now. Nothing was done; try again later.',
};
const UNKNOWN = { error: 'This membership has no such integration.' };

function memberOf(caller: Caller): string {
  if (caller.kind !== 'member') throw new Error('the guard let in a caller without a membership');
  return caller.membership_id;
}

export function connectHandler(desk: IntegrationDesk): PlainHandler<typeof connectIntegration> {
  return async ({ params: { chat_platform: platform }, body }, { now, signal }, caller) => {
    const { rules, chat_id, ...others } = body;
    const fields = chat_id === undefined ? others : { ...others, chat_id: String(chat_id) };
    const asked = { membership_id: memberOf(caller), now, signal };
    const end = await connectChat(desk, asked, platform, fields, rules);
    if (end.outcome === 'bad_input') return badInput(end.problems);
    if (end.outcome === 'unread') return connectIntegration.reply(503, NO_STORE);
    if (end.outcome === 'refused') return connectIntegration.reply(409, { error: end.why });
    const { id, place, reason } = end;
    const created_at = formatIsoTime(end.created_at);
    const verified = reason === null;
    return connectIntegration.reply(201, { id, platform, place, created_at, verified, reason });
  };
}

export function testHandler(desk: IntegrationDesk): PlainHandler<typeof testIntegration> {
  return async ({ params: { id } }, { now, signal }, caller) => {
    const end = await testChat(desk, { membership_id: memberOf(caller), now, signal }, id);
    if (end.outcome === 'unread') return testIntegration.reply(503, NO_STORE);
    if (end.outcome === 'unknown') return testIntegration.reply(404, UNKNOWN);
    return testIntegration.reply(200, { delivered: end.reason === null, reason: end.reason });
  };
}

function shownRules({ kinds, chains, addresses }: Rules) {
  return {
    kinds: kinds.filter((kind) => kind !== 'signal'),
    chains: chains === null ? null : [...chains],
    addresses: addresses === null ? null : [...addresses],
  };
}

const time = (at: UnixSeconds | null): string | null => (at === null ? null : formatIsoTime(at));

export function listHandler({
  integrations,
  base,
}: IntegrationDesk): PlainHandler<typeof listIntegrations> {
  return async (_input, _asked, caller) => {
    const membership_id = memberOf(caller);
    const [listed, dead] = await Promise.all([
      integrations.list(membership_id),
      integrations.deadLetters(membership_id),
    ]);
    if (!listed.checked || dead instanceof Unread) return listIntegrations.reply(503, NO_STORE);
    return listIntegrations.reply(200, {
      integrations: listed.value.map((one) => ({
        id: one.id,
        platform: one.platform,
        place: one.place,
        rules: shownRules(one.rules),
        created_at: formatIsoTime(one.created_at),
        verified: one.verified_at !== null,
        verified_at: time(one.verified_at),
        broken_at: time(one.broken_at),
        fault: one.fault,
        delivered_at: time(one.delivered_at),
        waiting: one.waiting,
        dead_letters: one.dead,
      })),
      dead_letters: given(seen(dead)).map(({ message, ...one }) => ({
        integration_id: one.integration_id,
        platform: one.platform,
        dispatch: one.dispatch,
        title: message.title,
        facts: [...message.facts],
        caveat: message.caveat,
        url: base + message.path,
        queued_at: formatIsoTime(one.queued_at),
        dead_at: formatIsoTime(one.dead_at),
        reason: one.reason,
      })),
      more_dead_letters: !dead.checked,
    });
  };
}

export function removeHandler({
  integrations,
}: IntegrationDesk): PlainHandler<typeof removeIntegration> {
  return async ({ params: { id } }, { now }, caller) => {
    const removed = await integrations.remove(memberOf(caller), id, now(), 'member');
    if (removed instanceof Unread) return removeIntegration.reply(503, NO_STORE);
    return removed.value
      ? removeIntegration.reply(200, { id, removed: true })
      : removeIntegration.reply(404, UNKNOWN);
  };
}
