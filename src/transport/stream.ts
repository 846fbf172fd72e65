// Serves declared streams by WebSocket and by server-sent events. Whoever may not read is answered
// before anything is upgraded, with a declared body. One reader's queue stands in
// `stream-reader.ts`, the two doors in `stream-doors.ts`.

import { setMaxListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Admission, quotaHeaders, type TurnedAway } from '../access/gate.ts';
import { Reply } from '../contract/answer.ts';
import { badField, overloadRefusal, Refusal } from '../contract/refusals.ts';
import {
  type AnyStreamRoute,
  positionText,
  type Sendable,
  type StreamSource,
} from '../contract/stream.ts';
import type { Soon } from '../evidence/waiting.ts';
import {
  type Answering,
  API_HEADERS,
  charge,
  describe,
  faultRefusal,
  figuresOf,
  type Log,
  parseInput,
  reasonOf,
  refusalSaid,
  type WrittenAnswer,
} from './answer.ts';
import { clientNetwork } from './client-network.ts';
import { type Guard, guardOfStream, searchOf } from './guard.ts';
import type { StreamMeters } from './metrics.ts';
import {
  type Ears,
  EVENTS_HEADERS,
  eventsDoor,
  type FindUpgrading,
  frameRate,
  heardFrame,
  routeUpgrades,
  WEBSOCKET_VERSION,
  websocketDoors,
} from './stream-doors.ts';
import {
  createFlusher,
  type Door,
  type Heartbeat,
  holderOf,
  type StreamHolder,
  type StreamLimits,
  StreamReader,
  type StreamScope,
} from './stream-reader.ts';

export type StreamServing = {
  readonly mounted: readonly MountedStream[];
  readonly limits: StreamLimits;
  readonly slots: StreamSlots;
  /** Without a final slash: where the server is reached. */
  readonly base: () => string;
};

type Serving = Answering & {
  readonly streams: StreamServing;
  readonly now: () => number;
  readonly trustProxy: boolean;
  /** Sends a whole answer. */
  readonly send: (reply: FastifyReply, said: WrittenAnswer) => void;
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
    const said = await openStream(mount, openingOf(mount, request, null, socket));
    if ('status' in said) return send(reply, said);
    const headers = { 'X-Request-Id': request.id, ...said.quota };
    upgrade(request.raw, upgrading, headers, (door) => {
      const reader = said.begin(door);
      socket.once('close', () => hub.gone(reader));
      reader.run(said.streaming.welcome, said.streaming.messages);
      return earsOf(mount, said.streaming, reader);
    });
  };
  app.route({
    method: ['GET', 'HEAD'],
    url: route.path,
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
    if (request.method === 'HEAD') {
      // No event follows, so that no place is taken.
      raw.writeHead(200, { ...API_HEADERS, 'x-request-id': request.id, ...EVENTS_HEADERS }).end();
      return;
    }
    const last = request.headers['last-event-id'];
    const lastEventId = typeof last === 'string' ? last : null;
    const said = await openStream(mount, openingOf(mount, request, lastEventId, raw));
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
  app.route({
    method: ['GET', 'HEAD'],
    url: stream.route.eventsPath,
    onRequest: (request, reply, done) => {
      // A page of any origin may read what a token in the query opens, as by WebSocket.
      if (stream.route.access === 'bearer') {
        reply.raw.setHeader('access-control-allow-origin', '*');
      }
      admit(mount, request, reply, done);
    },
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
  { guard, stream, meters, trustProxy, send }: Mount,
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
  const network = () => clientNetwork(request.raw, trustProxy);
  const said = guard(request.headers, searchOf(request.url), { by: 'opening', network });
  if (said instanceof Promise) said.then(enter, done);
  else enter(said);
}

function openingOf(
  { guard, trustProxy }: Mount,
  { id, startedMs, by, query, headers, url, raw }: FastifyRequest,
  lastEventId: string | null,
  ends: OpeningRequest['ends'],
): OpeningRequest {
  if (by === null) throw new Error('nobody was let in');
  const network = () => clientNetwork(raw, trustProxy);
  const recheck = () => guard(headers, searchOf(url), { by: 'open_stream', network });
  return { id, startedMs, by, query, lastEventId, ends, recheck };
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

function earsOf(
  { stream, hub, limits }: Mount,
  streaming: AnyStreaming,
  reader: StreamReader,
): Ears {
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

// Before anything is upgraded query, place, handler and charge may each refuse, and then the place
// is returned at once.

/** The handler's result, as the transport takes it: the declaration's types were checked before. */
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

export type OpeningParts = Answering & {
  readonly stream: MountedStream;
  readonly hub: StreamHub;
  readonly limits: StreamLimits;
  readonly now: () => number;
};

export type OpeningRequest = {
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
  readonly begin: (door: Door) => StreamReader;
};

/** Opens a stream, or says why not. It never rejects: a fault of ours is a 500. */
export async function openStream(
  parts: OpeningParts,
  asked: OpeningRequest,
): Promise<Opening | WrittenAnswer> {
  const { stream, hub, meters, log } = parts;
  const { route } = stream;
  const { id, by, ends } = asked;
  const figures = figuresOf(by, parts.now());
  const refuseOpening = (refusal: Refusal): WrittenAnswer => {
    meters.refused(route.name, refusal.code);
    return refusalSaid(refusal, figures);
  };
  // Its end was told before anybody listened for it.
  if (ends.destroyed) return refuseOpening(overloadRefusal(STOPPING));
  const place = placeOf(route, asked);
  if (place instanceof Refusal) return refuseOpening(place);
  const holder = holderOf(by.caller);
  const slot = await hub.slots.take(holder);
  if (slot instanceof Refusal) return refuseOpening(slot);
  if (ends.destroyed) {
    slot.release();
    return refuseOpening(overloadRefusal(STOPPING));
  }
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const leave = () => {
    controller.abort();
    slot.release();
  };
  ends.once('close', leave);
  const letGo = (said: WrittenAnswer): WrittenAnswer => {
    ends.off('close', leave);
    leave();
    return said;
  };
  try {
    const said = await openSource(parts, asked, place, controller.signal);
    if (said instanceof Refusal) return letGo(refuseOpening(said));
    if (said instanceof Reply) {
      meters.refused(route.name, String(said.status));
      return letGo({ status: said.status, headers: said.headers, bytes: said.bytes() });
    }
    const charged = by.kind === 'uncharged' ? null : await charge(parts.gate, by, route.name);
    if (charged?.kind === 'refused') return letGo(refuseOpening(charged.refusal));
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
function placeOf(route: AnyStreamRoute, { query, lastEventId }: OpeningRequest): Place | Refusal {
  const input = parseInput(route.sent, { params: {}, query, body: undefined });
  if (input instanceof Refusal) return input;
  const { since, token: _, ...own } = Object(input.query);
  if (lastEventId === null)
    return { query: own, since: since === undefined ? null : Number(since) };
  if (!positionText.safeParse(lastEventId).success) {
    return badField('Last-Event-ID', 'expected the id of an event of this stream');
  }
  return { query: own, since: Number(lastEventId) };
}

const BUSY = 'The stream could not be opened in time; try again in a second.';
/** Said of whatever is asked of a service that stops. */
export const STOPPING = 'The service is stopping; try again in a second.';

async function openSource(
  { stream, hub, limits, now }: OpeningParts,
  { by }: OpeningRequest,
  place: Place,
  signal: AbortSignal,
): Promise<AnyStreaming | Reply<never> | Refusal> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Refusal>((resolve) => {
    timer = setTimeout(() => resolve(overloadRefusal(BUSY)), limits.openMs);
  });
  const asked = { ...place, caller: by.caller, signal, now };
  const said = await Promise.race([stream.handle(asked), late]).finally(() => clearTimeout(timer));
  return hub.stopping() ? overloadRefusal(STOPPING) : said;
}

// One timer looks after all open streams: heartbeats, lagging and lost readers, credentials that
// were revoked.

/** The looks of the timer in each heartbeat, and the time between two of them at most. */
const LOOKS_A_HEARTBEAT = 16;
const LOOK_MS_MAX = 1_000;
const MS_PER_S = 1_000;

/** A stream that begins. */
export type Beginning = {
  readonly route: AnyStreamRoute;
  readonly holder: StreamHolder;
  readonly id: string;
  readonly door: Door;
  /** Asks again whether the credential that opened it still does. */
  readonly recheck: () => Soon<Admission | TurnedAway>;
};

/** The open streams of a server. */
export type StreamHub = {
  readonly slots: StreamSlots;
  readonly stopping: () => boolean;
  readonly begin: (beginning: Beginning) => StreamReader;
  /** Its socket is closed. */
  readonly gone: (reader: StreamReader) => void;
  /** The heartbeat of a number, as of now. */
  readonly heartbeat: (route: AnyStreamRoute) => Heartbeat;
  /** Ends all of them in order, and resolves when the last socket is closed. */
  readonly stop: () => Promise<void>;
};

export type HubParts = {
  readonly routes: readonly AnyStreamRoute[];
  readonly slots: StreamSlots;
  readonly limits: StreamLimits;
  readonly meters: StreamMeters;
  readonly log: Log;
};

/** Makes the hub and starts its timer. */
export function createHub({ routes, slots, limits, meters, log }: HubParts): StreamHub {
  const open = new Map<StreamReader, Beginning>();
  const accounts = createAccounts(limits.recheckMs, log);
  const flusher = createFlusher();
  let onEmpty: (() => void) | null = null;
  let stopping = false;
  const shortest = Math.min(...routes.map(({ heartbeat_s }) => heartbeat_s * MS_PER_S));
  const intervalMs = Math.min(shortest / LOOKS_A_HEARTBEAT, LOOK_MS_MAX);
  // While the service itself stood still nobody could be heard, so that time does not count.
  let lookedMs = performance.now();
  let clockMs = 0;
  const nowMs = () => clockMs;
  const look = (): void => {
    const now = performance.now();
    clockMs += Math.min(now - lookedMs, 2 * intervalMs);
    lookedMs = now;
    const heartbeats = new Map(routes.map((route) => [route, heartbeatOf(route)]));
    for (const [reader, { route }] of open) {
      const heartbeat = heartbeats.get(route);
      if (heartbeat !== undefined) reader.look(heartbeat);
    }
    accounts.recheckDue(nowMs());
  };
  const timer = setInterval(look, intervalMs);
  timer.unref();

  return {
    slots,
    stopping: () => stopping,
    heartbeat: heartbeatOf,
    begin: (beginning) => {
      const { route, holder, id, door } = beginning;
      meters.opened(route.name, holder.scope);
      const reader = new StreamReader(door, {
        route,
        limits,
        flusher,
        nowMs,
        onMessage: meters.messages(route.name),
        onEnd: (end) => meters.closed(route.name, holder.scope, end),
        onFault: (fault) =>
          log.error({ request_id: id, route: route.path, fault: describe(fault) }, 'fault'),
      });
      open.set(reader, beginning);
      accounts.join(beginning, reader, nowMs());
      return reader;
    },
    gone: (reader) => {
      const beginning = open.get(reader);
      if (beginning === undefined) return;
      open.delete(reader);
      accounts.leave(beginning, reader);
      if (open.size === 0 && onEmpty !== null) onEmpty();
    },
    stop: () => {
      stopping = true;
      clearInterval(timer);
      return new Promise((resolve) => {
        if (open.size === 0) return resolve();
        onEmpty = resolve;
        for (const reader of open.keys()) reader.end('going_away');
      });
    },
  };
}

// Readers who stand at one place are sent the same bytes.
function heartbeatOf(route: AnyStreamRoute): Heartbeat {
  const made = new Map<number, Sendable>();
  const at = new Date().toISOString();
  return (seq) => {
    const known = made.get(seq);
    const message = known === undefined ? route.own.heartbeat(seq, at) : known;
    made.set(seq, message);
    return message;
  };
}

/** The streams of each credential, which is asked for again in turn. */
function createAccounts(recheckMs: number, log: Log) {
  const accounts = new Map<string, Account>();
  return {
    join: ({ holder, recheck }: Beginning, reader: StreamReader, now: number): void => {
      const known = accounts.get(holder.id);
      if (known !== undefined) known.readers.add(reader);
      else {
        accounts.set(holder.id, { readers: new Set([reader]), recheck, dueMs: now + recheckMs });
      }
    },
    leave: ({ holder }: Beginning, reader: StreamReader): void => {
      const account = accounts.get(holder.id);
      account?.readers.delete(reader);
      if (account?.readers.size === 0) accounts.delete(holder.id);
    },
    recheckDue: (now: number): void => {
      for (const account of accounts.values()) {
        if (now < account.dueMs) continue;
        account.dueMs = now + recheckMs;
        recheck(account).catch((fault) => log.error({ fault: describe(fault) }, 'fault'));
      }
    },
  };
}

type Account = {
  readonly readers: Set<StreamReader>;
  readonly recheck: Beginning['recheck'];
  dueMs: number;
};

// A store that does not answer closes nothing: who was let in stays until it says otherwise.
async function recheck({ readers, recheck }: Account): Promise<void> {
  const said = await recheck();
  if (said.kind !== 'refused') return;
  const { code } = said.refusal;
  const isShut =
    code === 'unauthorized' ||
    (code === 'credential' && reasonOf(said.refusal) !== 'store_unavailable');
  if (!isShut) return;
  for (const reader of readers) reader.shut();
}

// A slot is returned once, whatever becomes of its stream. The streams of a credential are counted
// over all processes; where nobody can be asked about the others, each process counts alone.

/** Seconds after which a refused reader may find a slot. */
const RETRY_AFTER_S = 5;

/** A place of one stream. */
export type Slot = { readonly release: () => void };

/** The shared count of processes; one that is not `checked` is unknown. */
export type CountedTogether = {
  readonly hold: (
    held: { readonly holder: string; readonly tier: string; readonly own: number },
    max: number | null,
  ) => Promise<
    | {
        readonly checked: true;
        readonly value: { readonly granted: boolean; readonly others: number };
      }
    | { readonly checked: false }
  >;
};

/** The places of a process. */
export type StreamSlots = {
  readonly take: (holder: StreamHolder) => Promise<Slot | Refusal>;
  /** How many are taken. */
  readonly taken: () => number;
  /** How many of them by credentials of a scope. */
  readonly takenBy: (scope: StreamScope) => number;
};

/** Makes the places. */
export function createSlots(connectionsMax: number, together: CountedTogether): StreamSlots {
  const byHolder = new Map<string, number>();
  const byScope = new Map<StreamScope, number>();
  let all = 0;
  const add = ({ id, scope }: StreamHolder, many: 1 | -1): number => {
    all += many;
    byScope.set(scope, countOf(byScope, scope) + many);
    const own = countOf(byHolder, id) + many;
    if (own === 0) byHolder.delete(id);
    else byHolder.set(id, own);
    return own;
  };
  const giveBack = (holder: StreamHolder): void => {
    const own = add(holder, -1);
    void together.hold({ holder: holder.id, tier: holder.scope, own }, null);
  };
  return {
    taken: () => all,
    takenBy: (scope) => countOf(byScope, scope),
    take: async (holder) => {
      const { id, scope, limit } = holder;
      if (all >= connectionsMax) return atCapacity('process', connectionsMax, all);
      // It is taken before anybody is asked, so that many at once do not all find room.
      const own = add(holder, 1);
      if (own > limit) {
        add(holder, -1);
        return atCapacity(scope, limit, own - 1);
      }
      const said = await together.hold({ holder: id, tier: scope, own }, limit);
      let held = true;
      const release = () => {
        if (held) giveBack(holder);
        held = false;
      };
      if (!said.checked || said.value.granted) return { release };
      release();
      return atCapacity(scope, limit, said.value.others + own - 1);
    },
  };
}

function countOf<K>(counts: ReadonlyMap<K, number>, key: K): number {
  const count = counts.get(key);
  return count === undefined ? 0 : count;
}

function atCapacity(scope: string, limit: number, current: number): Refusal {
  const whose = scope === 'process' ? 'This process' : `A credential of the tier ${scope}`;
  const body = {
    state: 'at_capacity',
    error: 'too_many_connections',
    scope,
    limit,
    current,
    reason: `${whose} may hold ${limit} streams open; close one, or try again later.`,
  };
  return new Refusal('at_capacity', body, { 'retry-after': String(RETRY_AFTER_S) });
}
