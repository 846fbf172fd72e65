// Answers one question: does an admitted reader get its stream, before anything is upgraded.
// Query, place, handler, charge: each may refuse, and then the place is returned at once.

import { setMaxListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Admission, TurnedAway } from '../access/gate.ts';
import { quotaHeaders } from '../access/quota.ts';
import { Reply } from '../contract/answer.ts';
import type { Sendable } from '../contract/message.ts';
import { badInput, Refusal } from '../contract/refusals.ts';
import { type AnyStreamRoute, positionText, type StreamSource } from '../contract/stream.ts';
import type { Soon } from '../evidence/soon.ts';
import { type Answering, figuresOf, refusalSaid, type Said } from './answering.ts';
import { parseInput } from './input.ts';
import { describe, faultRefusal } from './refusing.ts';
import type { StreamHub } from './stream-hub.ts';
import { holderOf, type StreamLimits } from './stream-limits.ts';
import type { Door, Reader } from './stream-reader.ts';

/** What a handler gives, as the transport takes it: the declaration's types were checked before. */
export type AnyStreaming = {
  readonly welcome: Sendable;
  readonly messages: StreamSource<Sendable>;
  readonly hear?: ((ask: { readonly type: string }) => Sendable | null) | undefined;
};

/** A declared stream with who opens it. */
export type MountedStream = {
  readonly route: AnyStreamRoute;
  readonly handle: (asked: {
    readonly query: unknown;
    readonly caller: Admission['caller'];
    readonly since: number | null;
    readonly signal: AbortSignal;
    readonly now: () => number;
  }) => Promise<AnyStreaming | Reply<never> | Refusal>;
};

/** What opening needs. */
export type OpeningParts = Answering & {
  readonly stream: MountedStream;
  readonly hub: StreamHub;
  readonly limits: StreamLimits;
  readonly now: () => number;
};

/** A request to open a stream. */
export type OpeningAsked = {
  readonly id: string;
  readonly startedMs: number;
  readonly by: Admission;
  readonly query: unknown;
  /** The place that a browser remembered; it counts more than the one in the query. */
  readonly lastEventId: string | null;
  /** The socket or the response, which closes when the reader has gone. */
  readonly ends: Socket | ServerResponse;
  readonly recheck: () => Soon<Admission | TurnedAway>;
};

/** A stream that may begin; the figures of the caller's allowance go with its headers. */
export type Opening = {
  readonly streaming: AnyStreaming;
  readonly quota: { readonly [name: string]: string };
  readonly begin: (door: Door) => Reader;
};

/** Opens a stream, or says why not. It never rejects: a fault of ours is a 500. */
export async function openStream(
  parts: OpeningParts,
  asked: OpeningAsked,
): Promise<Opening | Said> {
  const { stream, hub, meters, log } = parts;
  const { route } = stream;
  const { id, by, ends } = asked;
  const figures = figuresOf(by);
  const refused = (refusal: Refusal): Said => {
    meters.refused(route.name, refusal.code);
    return refusalSaid(refusal, figures);
  };
  // Its end was told before anybody listened for it.
  if (ends.destroyed) return refused(new Refusal('overloaded', STOPPING, RETRY));
  const place = placeOf(route, asked);
  if (place instanceof Refusal) return refused(place);
  const holder = holderOf(by.caller);
  const slot = await hub.slots.take(holder);
  if (slot instanceof Refusal) return refused(slot);
  if (ends.destroyed) {
    slot.release();
    return refused(new Refusal('overloaded', STOPPING, RETRY));
  }
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const leave = () => {
    controller.abort();
    slot.release();
  };
  ends.once('close', leave);
  const letGo = (said: Said): Said => {
    ends.off('close', leave);
    leave();
    return said;
  };
  try {
    const said = await opened(parts, asked, place, controller.signal);
    if (said instanceof Refusal) return letGo(refused(said));
    if (said instanceof Reply) {
      meters.refused(route.name, String(said.status));
      return letGo({ status: said.status, headers: said.headers, bytes: said.bytes() });
    }
    const charged = by.kind === 'uncharged' ? null : await charge(parts, by);
    if (charged?.kind === 'refused') return letGo(refused(charged.refusal));
    meters.answered(route.name, 'opened', (performance.now() - asked.startedMs) / 1000);
    return {
      streaming: said,
      quota: charged === null ? {} : quotaHeaders(charged.figures),
      begin: (door) => hub.begin({ route, holder, id, door, recheck: asked.recheck }),
    };
  } catch (fault) {
    log.error({ request_id: id, route: route.path, fault: describe(fault) }, 'fault');
    return letGo(refusalSaid(faultRefusal(id), figures));
  }
}

type Place = { readonly query: unknown; readonly since: number | null };

/** The query as the handler takes it, and the place to go on from. */
function placeOf(route: AnyStreamRoute, { query, lastEventId }: OpeningAsked): Place | Refusal {
  const input = parseInput(route.sent, { params: {}, query, body: undefined });
  if (input instanceof Refusal) return input;
  const { since, token: _, ...own } = Object(input.query);
  if (lastEventId === null)
    return { query: own, since: since === undefined ? null : Number(since) };
  if (!positionText.safeParse(lastEventId).success) {
    return badInput(['Last-Event-ID: expected the id of an event of this stream']);
  }
  return { query: own, since: Number(lastEventId) };
}

const BUSY = { error: 'The stream could not be opened in time; try again in a second.' };
const STOPPING = { error: 'The service is stopping; try again in a second.' };
const RETRY = { 'retry-after': '1' };

async function opened(
  { stream, hub, limits, now }: OpeningParts,
  { by }: OpeningAsked,
  place: Place,
  signal: AbortSignal,
): Promise<AnyStreaming | Reply<never> | Refusal> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Refusal>((resolve) => {
    timer = setTimeout(() => resolve(new Refusal('overloaded', BUSY, RETRY)), limits.openMs);
  });
  const asked = { ...place, caller: by.caller, signal, now };
  const said = await Promise.race([stream.handle(asked), late]).finally(() => clearTimeout(timer));
  return hub.stopping() ? new Refusal('overloaded', STOPPING, RETRY) : said;
}

function charge({ gate }: OpeningParts, by: Admission & { readonly kind: 'admitted' }) {
  if (gate === null) throw new Error('an admitted caller needs the gate that admitted it');
  return gate.charge(by);
}
