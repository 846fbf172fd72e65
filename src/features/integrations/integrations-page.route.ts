// Answers /settings/integrations: what a member sees of its chats, and what it changes of them.
// Whose they are follows from the session alone.

import { parseAddress } from '../../chain/address.ts';
import type { Caller } from '../../contract/caller.ts';
import type { Asked, PlainHandler } from '../../contract/route.ts';
import { seen, Unread } from '../../evidence/reading.ts';
import { INTEGRATION_LIMITS } from '../../ports/chat/integrations.ts';
import { connectChat, type IntegrationDesk, testChat } from './desk.ts';
import {
  connectForm,
  type DrawIntegrations,
  integrationsPage,
  removeForm,
  type ShownIntegrations,
  testForm,
} from './integrations-page.contract.ts';

const PATH = '/settings/integrations';
const NO_STORE =
  'Chats cannot be read or changed just now. This is a fault of the service; try again later.';
const UNKNOWN = 'This membership has no such chat.';

type InSession = Extract<Caller, { kind: 'session' }>;
type Notice = ShownIntegrations['notice'];

const DONE = {
  connected: 'The chat is connected. Test it, so that you know what arrives.',
  removed: 'The chat is removed, with what waited for it.',
} as const;

function sessionOf(caller: Caller): InSession {
  if (caller.kind !== 'session') throw new Error('the guard let in a browser without a session');
  return caller;
}

function askedBy(caller: Caller, { now, signal }: Asked) {
  return { membership_id: sessionOf(caller).membership_id, now, signal };
}

async function shownTo(
  { integrations }: IntegrationDesk,
  caller: Caller,
  notice: Notice,
): Promise<ShownIntegrations | string> {
  const { membership_id, form_token } = sessionOf(caller);
  const [listed, dead] = await Promise.all([
    integrations.list(membership_id),
    integrations.deadLetters(membership_id),
  ]);
  if (!listed.checked) return listed.why.reason;
  if (dead instanceof Unread) return dead.why.reason;
  return {
    form_token,
    notice,
    integrations: listed.value,
    max: INTEGRATION_LIMITS.each,
    letters: { read: seen(dead), whole: dead.checked },
  };
}

export function pageHandler(
  desk: IntegrationDesk,
  draw: DrawIntegrations,
): PlainHandler<typeof integrationsPage> {
  return async ({ query: { done } }, _asked, caller) => {
    const notice = done === undefined ? null : ({ text: DONE[done], role: 'status' } as const);
    const shown = await shownTo(desk, caller, notice);
    return typeof shown === 'string'
      ? integrationsPage.reply(503, draw.unread(shown))
      : integrationsPage.reply(200, draw.whole(shown));
  };
}

const NOT_CONNECTED = 'The chat was not connected';

export function connectFormHandler(
  desk: IntegrationDesk,
  draw: DrawIntegrations,
): PlainHandler<typeof connectForm> {
  const refused = (status: 400 | 409 | 503, why: string) =>
    connectForm.reply(status, draw.notDone(NOT_CONNECTED, why));
  return async ({ body }, asked, caller) => {
    const { platform, kinds, chains, addresses, ...fields } = body;
    const lines = addresses === undefined ? undefined : linesOf(addresses);
    const bad = lines?.find((line) => parseAddress(line) === null);
    if (bad !== undefined) return refused(400, 'Of the addresses at least one is none.');
    if (lines !== undefined && lines.length > INTEGRATION_LIMITS.addresses) {
      return refused(400, `A rule names ${INTEGRATION_LIMITS.addresses} addresses at most.`);
    }
    const rules = { kinds: listOf(kinds), chains: listOf(chains), addresses: lines };
    const given = Object.fromEntries(Object.entries(fields).filter(([, text]) => text !== ''));
    const end = await connectChat(desk, askedBy(caller, asked), platform, given, rules);
    if (end.outcome === 'bad_input') return refused(400, `${end.problems.join('. ')}.`);
    if (end.outcome === 'refused') return refused(409, end.why);
    if (end.outcome === 'unread') return refused(503, NO_STORE);
    return connectForm.reply(303, undefined, { location: `${PATH}?done=connected` });
  };
}

/** The lines of a text, without those that hold nothing; `undefined`: there is none. */
function linesOf(text: string): readonly string[] | undefined {
  const lines = text.split(/\s+/).filter((line) => line !== '');
  return lines.length === 0 ? undefined : lines;
}

function listOf<T extends string>(given: T | readonly T[] | undefined): readonly T[] | undefined {
  return given === undefined || typeof given !== 'string' ? given : [given];
}

export function testFormHandler(
  desk: IntegrationDesk,
  draw: DrawIntegrations,
): PlainHandler<typeof testForm> {
  return async ({ params: { id } }, asked, caller) => {
    const end = await testChat(desk, askedBy(caller, asked), id);
    const title = 'The chat was not tested';
    if (end.outcome === 'unread') return testForm.reply(503, draw.notDone(title, NO_STORE));
    if (end.outcome === 'unknown') return testForm.reply(404, draw.notDone(title, UNKNOWN));
    const notice: Notice =
      end.reason === null
        ? { text: 'The platform took the test: look for it in the chat.', role: 'status' }
        : { text: end.reason, role: 'alert' };
    const shown = await shownTo(desk, caller, notice);
    return typeof shown === 'string'
      ? testForm.reply(503, draw.unread(shown))
      : testForm.reply(200, draw.whole(shown));
  };
}

export function removeFormHandler(
  { integrations }: IntegrationDesk,
  draw: DrawIntegrations,
): PlainHandler<typeof removeForm> {
  return async ({ params: { id } }, { now }, caller) => {
    const { membership_id } = sessionOf(caller);
    const removed = await integrations.remove(membership_id, id, now(), 'member');
    const title = 'The chat was not removed';
    if (removed instanceof Unread) return removeForm.reply(503, draw.notDone(title, NO_STORE));
    if (!removed.value) return removeForm.reply(404, draw.notDone(title, UNKNOWN));
    return removeForm.reply(303, undefined, { location: `${PATH}?done=removed` });
  };
}
