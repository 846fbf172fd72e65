// Answers one question: how is a chat connected, tried and removed, whoever asks for it?
// Whose it is follows from the caller alone; what it is posted with leaves this file sealed.

import { parseAddress } from '../../chain/address.ts';
import type { ChainName } from '../../chain/chain.ts';
import type { UnixSeconds } from '../../chain/time.ts';
import { Unread } from '../../evidence/reading.ts';
import type { ChatPlatform, ChatPlatforms, ChatTarget } from '../../ports/chat/chat-platforms.ts';
import type { DispatchKind } from '../../ports/chat/dispatches.ts';
import {
  INTEGRATION_LIMITS,
  type IntegrationStore,
  type Rules,
  type Sealed,
} from '../../ports/chat/integrations.ts';
import { type Given, targetOf } from './targets.ts';

/** What integrations rest on. */
export type IntegrationDesk = {
  readonly integrations: IntegrationStore;
  readonly platforms: ChatPlatforms;
  readonly sealed: (target: ChatTarget, integrationId: string) => Sealed;
  readonly opened: (sealed: Sealed, integrationId: string) => ChatTarget | null;
  readonly mintId: () => string;
  /** Where webhooks of Slack are posted to here. */
  readonly slackRoot: URL;
  /** What links begin with. */
  readonly base: string;
  readonly simulated: boolean;
};

/** Who asks, and when. */
type Asked = {
  readonly membership_id: string;
  readonly now: () => UnixSeconds;
  readonly signal: AbortSignal;
};

/** Rules as they are given: what is left out is not limited. */
export type GivenRules = {
  readonly kinds?: readonly DispatchKind[] | undefined;
  readonly chains?: readonly ChainName[] | undefined;
  readonly addresses?: readonly string[] | undefined;
};

const ALL_KINDS: readonly DispatchKind[] = ['flag', 'watch'];

function rulesOf(rules: GivenRules | undefined): Rules {
  if (rules === undefined) return { kinds: ALL_KINDS, chains: null, addresses: null };
  const { kinds = ALL_KINDS, chains, addresses } = rules;
  return {
    kinds: [...new Set(kinds)],
    chains: chains === undefined ? null : [...new Set(chains)],
    addresses: addresses === undefined ? null : [...new Set(addresses.map(comparedForm))],
  };
}

// Dispatches name addresses in the form in which they are compared.
function comparedForm(text: string): string {
  const parsed = parseAddress(text);
  if (parsed === null) throw new Error('a rule of something that is no address');
  return parsed.address;
}

/** What became of connecting. `reason`: why the platform did not verify it. */
export type ConnectEnd =
  | {
      readonly outcome: 'connected';
      readonly id: string;
      readonly place: string;
      readonly created_at: UnixSeconds;
      readonly reason: string | null;
    }
  | { readonly outcome: 'bad_input'; readonly problems: readonly string[] }
  | { readonly outcome: 'refused'; readonly why: string }
  | { readonly outcome: 'unread' };

const BY_A_TEST = 'The platform says nothing of a webhook before it is posted to: test it.';
const INACTIVE = 'This membership is not active: nothing can be connected.';
const FULL = `A membership has ${INTEGRATION_LIMITS.each} integrations at most. Remove one first.`;

/** Connects a chat, verified where the platform can be asked without a post. */
export async function connectChat(
  desk: IntegrationDesk,
  { membership_id, now, signal }: Asked,
  platform: ChatPlatform,
  given: Given,
  rules: GivenRules | undefined,
): Promise<ConnectEnd> {
  const parsed = targetOf(platform, given, desk.slackRoot);
  if ('problems' in parsed) return { outcome: 'bad_input', problems: parsed.problems };
  const { target } = parsed;
  const said = await desk.platforms.verify(target, signal);
  const facts = said instanceof Unread ? null : said.value;
  if (facts !== null && facts.outcome === 'broken') {
    return { outcome: 'bad_input', problems: [`body: ${platform} ${facts.fault}`] };
  }
  const isVerified = facts !== null && facts.outcome === 'verified';
  const place = facts !== null && 'place' in facts ? facts.place : placeOf(target);
  const id = desk.mintId();
  const created_at = now();
  const stored = await desk.integrations.connect(
    {
      id,
      membership_id,
      platform,
      place,
      sealed: desk.sealed(target, id),
      rules: rulesOf(rules),
      created_at,
      verified_at: isVerified ? created_at : null,
    },
    'member',
  );
  if (stored instanceof Unread) return { outcome: 'unread' };
  if (stored.value.outcome === 'limit') return { outcome: 'refused', why: FULL };
  if (stored.value.outcome === 'no_membership') return { outcome: 'refused', why: INACTIVE };
  if (said instanceof Unread) {
    return { outcome: 'connected', id, place, created_at, reason: said.why.reason };
  }
  const reason = reasonOf(said.value);
  return { outcome: 'connected', id, place, created_at, reason };
}

/** What a target is called of which the platform said nothing. */
function placeOf(target: ChatTarget): string {
  if (target.platform === 'discord') return `Webhook ${target.webhook_id}`;
  if (target.platform === 'telegram') return `Chat ${target.chat_id}`;
  return 'channel' in target ? target.channel : 'A webhook';
}

type Facts = Exclude<Awaited<ReturnType<ChatPlatforms['verify']>>, Unread<never>>['value'];

function reasonOf(facts: Facts): string | null {
  if (facts.outcome === 'verified') return null;
  return 'fault' in facts ? `The platform ${facts.fault}.` : BY_A_TEST;
}

/** What became of a test. `reason`: why it was not delivered. */
export type TestEnd =
  | { readonly outcome: 'tested'; readonly reason: string | null }
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'unread' };

const TEST_CAVEAT =
  'That nothing is told here says nothing about any address: what is not flagged and what nobody ' +
  'watches is not told.';
const SEALED_AWAY = 'What it posts with cannot be opened any more: remove it, and connect it anew.';
/** A test is no dispatch of the queue, and has the number of none. */
const NO_DISPATCH = 0;

/** Posts a message outside the queue, and notes what that showed. */
export async function testChat(
  desk: IntegrationDesk,
  { membership_id, now, signal }: Asked,
  id: string,
): Promise<TestEnd> {
  const { integrations, platforms, simulated, base } = desk;
  const held = await integrations.sealedOf(membership_id, id);
  if (held instanceof Unread) return { outcome: 'unread' };
  if (held.value === null) return { outcome: 'unknown' };
  const target = desk.opened(held.value.sealed, id);
  if (target === null) return { outcome: 'tested', reason: SEALED_AWAY };
  const at = now();
  const post = {
    title: 'Exhibit is connected here',
    facts: ['This is a test. Dispatches come here as they happen, in order.'],
    caveat: TEST_CAVEAT,
    path: PATH,
    link: base + PATH,
    at,
    simulated,
    dispatch: NO_DISPATCH,
  };
  const said = await platforms.post(target, post, signal);
  if (said instanceof Unread) return { outcome: 'tested', reason: said.why.reason };
  const end = said.value;
  if (end.outcome === 'moved') {
    return { outcome: 'tested', reason: `The chat is ${end.chat_id} by now: connect it anew.` };
  }
  const fault = 'fault' in end ? `the platform ${end.fault}` : null;
  if (end.outcome === 'taken') await integrations.tried(id, { outcome: 'taken', at });
  if (end.outcome === 'broken' && fault !== null) {
    await integrations.tried(id, { outcome: 'broken', at, fault });
  }
  return { outcome: 'tested', reason: fault === null ? null : `Not delivered: ${fault}.` };
}

const PATH = '/settings/integrations';
