// Answers one question: how is a declared stream served, by WebSocket and by server-sent events.
// Whoever may not read is answered before anything is upgraded, with a declared body.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Admission, TurnedAway } from '../access/gate.ts';
import { Refusal } from '../contract/refusals.ts';
import type { AnyStreamRoute } from '../contract/stream.ts';
import { type Answering, refusalSaid, type Said } from './answering.ts';
import { type Guard, guardOfStream } from './guard.ts';
import { describe, faultRefusal, reasonOf } from './refusing.ts';
import { API_HEADERS } from './security-headers.ts';
import { type Ears, eventsDoor, websocketDoors } from './stream-doors.ts';
import { frameRate, heardFrame } from './stream-frames.ts';
import { createHub } from './stream-hub.ts';
import type { StreamLimits } from './stream-limits.ts';
import {
  type AnyStreaming,
  type MountedStream,
  type OpeningAsked,
  type OpeningParts,
  openStream,
} from './stream-opening.ts';
import type { Reader } from './stream-reader.ts';
import type { Slots } from './stream-slots.ts';
import { type FindUpgrading, routeUpgrades, WEBSOCKET_VERSION } from './stream-upgrade.ts';

/** The streams of a server. */
export type StreamServing = {
  readonly mounted: readonly MountedStream[];
  readonly limits: StreamLimits;
  readonly slots: Slots;
  /** Without a final slash: where the server is reached. */
  readonly base: () => string;
};

type Serving = Answering & {
  readonly streams: StreamServing;
  readonly now: () => number;
  /** Sends a whole answer. */
  readonly send: (reply: FastifyReply, said: Said) => void;
};

type Mount = OpeningParts & Serving & { readonly guard: Guard };

/** Serves streams on a server. Throws where one cannot be guarded. */
export function serveStreams(app: FastifyInstance, serving: Serving): void {
  const { mounted, slots, limits } = serving.streams;
  if (mounted.length === 0) return;
  const routes = mounted.map(({ route }) => route);
  const { meters, log } = serving;
  const hub = createHub({ routes, slots, limits, meters: meters.streams, log });
  const find = routeUpgrades(app, new Set(routes.map(({ path }) => path)));
  const upgrade = websocketDoors(limits);
  app.addHook('preClose', () => hub.stop());
  for (const stream of mounted) {
    const guard = guardOfStream(stream.route, serving);
    const mount: Mount = { ...serving, stream, guard, hub, limits };
    serveSocket(app, mount, find, upgrade);
    serveEvents(app, mount);
  }
}

function serveSocket(
  app: FastifyInstance,
  mount: Mount,
  find: FindUpgrading,
  upgrade: ReturnType<typeof websocketDoors>,
): void {
  const { stream, hub, streams, meters, send } = mount;
  const { route } = stream;
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const upgrading = find(request.raw);
    if (upgrading === undefined) throw new Error(`${route.name}: no upgrade came with it`);
    const { socket } = upgrading;
    const said = await openStream(mount, askedOf(mount, request, null, socket));
    if ('status' in said) return send(reply, said);
    const headers = { 'X-Request-Id': request.id, ...said.quota };
    upgrade(request.raw, upgrading, headers, (door) => {
      const reader = said.begin(door);
      socket.once('close', () => hub.gone(reader));
      reader.run(said.streaming.welcome, said.streaming.messages);
      return earsOf(mount, said.streaming, reader);
    });
  };
  app.get(route.path, {
    onRequest: (request, reply, done) => {
      if (find(request.raw) !== undefined) {
        admit(mount, request, reply, done);
        return;
      }
      const refusal = upgradeRequired(route, streams.base());
      meters.refused(route.name, refusal.code);
      send(reply, refusalSaid(refusal, null));
    },
    handler: answering(mount, answer),
  });
}

function serveEvents(app: FastifyInstance, mount: Mount): void {
  const { stream, hub, limits, send } = mount;
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { raw } = reply;
    const last = request.headers['last-event-id'];
    const lastEventId = typeof last === 'string' ? last : null;
    const said = await openStream(mount, askedOf(mount, request, lastEventId, raw));
    if ('status' in said) return send(reply, said);
    if (raw.destroyed) return;
    const headers = { ...API_HEADERS, 'x-request-id': request.id, ...said.quota };
    const reader = said.begin(eventsDoor(raw, headers, limits));
    raw.once('close', () => {
      reader.closed('reader_left');
      hub.gone(reader);
    });
    reader.run(said.streaming.welcome, said.streaming.messages);
  };
  app.get(stream.route.eventsPath, {
    onRequest: (request, reply, done) => admit(mount, request, reply, done),
    handler: answering(mount, answer),
  });
}

type Answer = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

// The framework is told first that the answer is ours to write, so that it waits for nothing.
function answering({ stream, log, send }: Mount, answer: Answer) {
  return (request: FastifyRequest, reply: FastifyReply): void => {
    reply.hijack();
    answer(request, reply).catch((fault) => {
      const { id } = request;
      log.error({ request_id: id, route: stream.route.path, fault: describe(fault) }, 'fault');
      if (reply.raw.headersSent) reply.raw.destroy();
      else send(reply, refusalSaid(faultRefusal(id), null));
    });
  };
}

function admit(
  { guard, stream, meters, send }: Mount,
  request: FastifyRequest,
  reply: FastifyReply,
  done: (fault?: Error) => void,
): void {
  const enter = (said: Admission | TurnedAway): void => {
    if (said.kind === 'refused') {
      meters.refused(stream.route.name, reasonOf(said.refusal));
      send(reply, refusalSaid(said.refusal, null));
      return;
    }
    request.by = said;
    done();
  };
  const said = guard(request.headers, searchOf(request.url));
  if (said instanceof Promise) said.then(enter, done);
  else enter(said);
}

function askedOf(
  { guard }: Mount,
  { id, startedMs, by, query, headers, url }: FastifyRequest,
  lastEventId: string | null,
  ends: OpeningAsked['ends'],
): OpeningAsked {
  if (by === null) throw new Error('nobody was let in');
  const recheck = () => guard(headers, searchOf(url));
  return { id, startedMs, by, query, lastEventId, ends, recheck };
}

function searchOf(url: string): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}

function upgradeRequired(route: AnyStreamRoute, base: string): Refusal {
  const body = {
    state: 'upgrade_required',
    reason: 'This path is a WebSocket: ask with Upgrade, or read the same events at sse_url.',
    websocket_url: `${base.replace(/^http/, 'ws')}${route.path}`,
    sse_url: `${base}${route.eventsPath}`,
  };
  const headers = {
    upgrade: 'websocket',
    connection: 'upgrade, close',
    'sec-websocket-version': WEBSOCKET_VERSION,
  };
  return new Refusal('upgrade_required', body, headers);
}

function earsOf({ stream, hub, limits }: Mount, streaming: AnyStreaming, reader: Reader): Ears {
  const { route } = stream;
  const mayHear = frameRate(limits);
  const answer = (text: string | null): void => {
    const heard = heardFrame(route, text);
    if (heard.kind === 'wrong') reader.say(heard.answer);
    else if (heard.ask.type === 'ping') reader.beat(hub.heartbeat(route));
    else {
      const said = streaming.hear === undefined ? null : streaming.hear(heard.ask);
      if (said !== null) reader.say(said);
    }
  };
  return {
    pong: () => reader.heardFrom(),
    broken: (end) => reader.closed(end),
    closed: () => reader.closed('reader_left'),
    frame: (text) => {
      reader.heardFrom();
      if (mayHear(performance.now())) reader.doing(() => answer(text));
      else reader.end('too_many_frames');
    },
  };
}
