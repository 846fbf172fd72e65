// A stream is declared once: a WebSocket path and its twin of server-sent events. A declaration
// holds no logic; a message can only be made through the route that declares it.

import { z } from 'zod';
import type { Reply } from './answer.ts';
import type { Refusal } from './refusals.ts';
import { type Responses, replierOf } from './reply.ts';
import type { AnyEvidenceRoute, AnyPlainRoute, Caller, RouteFacts } from './route.ts';
import { CLAIM_META, isoTime, prose, sharedShape, words } from './wire.ts';
import { writerOf } from './writer.ts';

type Fields = z.ZodObject;
type Kinds = { readonly [type: string]: Fields };

/** How often a quiet stream says that it is still there, where its route says nothing else. */
const HEARTBEAT_S = 15;
/** The longest token that may stand in a query. */
const TOKEN_CHARS_MAX = 200;

/** A place in a stream: events are numbered from 1, and before all of them is 0. */
export const position = z.int().nonnegative();
/** Numbers of a log from one to another. */
export const positionRange = sharedShape(
  'StreamRange',
  z.strictObject({ from: position, to: position }),
);

const WELCOME = {
  /** Where the reader stands before the first event that follows. */
  seq: position,
  heartbeat_s: z.int().positive(),
  /** The replayed range; both ends are `null` if there is none. `oldest` is still available. */
  replay: sharedShape(
    'StreamReplay',
    z.strictObject({
      from: position.nullable(),
      to: position.nullable(),
      oldest: position.nullable(),
    }),
  ),
  /** The requested range that is gone. */
  gap: positionRange.nullable(),
};

/** Where a resumed reader stands, and what of its range follows. */
type Standing = Omit<z.input<z.ZodObject<typeof WELCOME>>, 'heartbeat_s'>;

/**
 * Where a reader stands that asks for what follows `since`, in a log that can be had from `oldest`
 * to `newest`; `null`: for what comes. Who is ahead of the log is told so as a gap from the newest.
 */
export function standingIn(
  { newest, oldest }: { readonly newest: number; readonly oldest: number | null },
  since: number | null,
): Standing {
  const asked = since === null ? newest : since;
  const first = oldest === null ? newest + 1 : oldest;
  const seq = Math.min(Math.max(asked, first - 1), newest);
  return {
    seq,
    replay: seq < newest ? { from: seq + 1, to: newest, oldest } : { ...NO_REPLAY, oldest },
    gap: seq === asked ? null : { from: Math.min(seq, asked) + 1, to: Math.max(seq, asked) },
  };
}

const NO_REPLAY = { from: null, to: null };

/** The messages of every stream, beside its own. */
const COMMON = {
  /** All up to `seq` was looked at; the reader has of it what it asked for. */
  heartbeat: z.strictObject({ seq: position, at: isoTime }),
  /** Events between two that follow each other can no longer be had. */
  gap: positionRange,
  /** The reader read too slowly: the stream ends, and goes on after `seq` for who resumes. */
  lagged: z.strictObject({ seq: position }),
  error: z.strictObject({ code: words(), message: prose() }),
};

/** Why a frame of a client, or a stream, was refused. */
export type StreamFault = 'bad_frame' | 'unknown_frame' | 'unauthorized' | 'fault' | 'unread';

/** A client's frame that every stream takes: it is answered with a heartbeat. */
const PING = z.strictObject({});

/** A place in a stream as it is sent. */
export const positionText = z.string().regex(/^\d{1,15}$/);
const SINCE = { since: positionText.optional() };
const TOKEN = { token: z.string().max(TOKEN_CHARS_MAX).optional() };

/** A frame of a client as the stream's handler hears it. */
type AskOf<A extends Kinds> = {
  [K in keyof A & string]: { readonly type: K } & z.output<A[K]>;
}[keyof A & string];

// The fields of an object without any are a record of nothing, with which nothing can be joined.
type OwnOf<W extends Fields> = string extends keyof z.input<W> ? unknown : z.input<W>;

type Spec<
  N extends string,
  Q extends Fields,
  W extends Fields,
  E extends Kinds,
  M extends Kinds,
  A extends Kinds,
  R extends Responses,
> = Omit<RouteFacts, 'name' | 'method' | 'bodyBytesMax' | 'deprecated'> & {
  readonly name: N;
  /** The path of the twin of server-sent events; `path` is that of the WebSocket. */
  readonly eventsPath: string;
  /** Begins the names of its messages in the document, where another stream has the same. */
  readonly family?: string;
  readonly heartbeat_s?: number;
  readonly query: Q;
  /** The welcome fields of this stream, beside those of every welcome. */
  readonly welcome: W;
  /** The messages that are numbered one by one, by type, each without its `type` and `seq`. */
  readonly events: E;
  /** Messages without a number, by type. */
  readonly notices: M;
  /** The frames that a client may send over the WebSocket, by type. */
  readonly asks: A;
  /** The refusals before the upgrade, by status. */
  readonly refused: R;
};

export type StreamRoute<
  N extends string,
  Q extends Fields,
  W extends Fields,
  E extends Kinds,
  M extends Kinds,
  A extends Kinds,
  R extends Responses,
> = Omit<AnyStreamRoute, 'name' | 'query' | 'asks' | 'refused'> &
  Omit<Spec<N, Q, W, E, M, A, R>, 'welcome'> & {
    readonly heartbeat_s: number;
    /** The first message. */
    readonly welcome: (say: Standing & OwnOf<W>) => StreamMessage<N>;
    /** Makes an event, under the next number of the stream. */
    readonly event: <K extends keyof E & string>(
      type: K,
      seq: number,
      say: z.input<E[K]>,
    ) => StreamMessage<N>;
    /** Makes a message to one reader, mostly an answer to a frame. */
    readonly notice: <K extends keyof M & string>(type: K, say: z.input<M[K]>) => StreamMessage<N>;
    /** Events that a reader can no longer have, from the first to the last of them. */
    readonly gap: (from: number, to: number) => StreamMessage<N>;
    /** The last words of a stream whose source cannot be read any more: quiet would be a lie. */
    readonly unread: (message: string) => StreamMessage<N>;
    /** Refuses, before anything is upgraded, with a body that the route declares. */
    readonly refuse: <S extends keyof R & number>(status: S, body: z.input<R[S]>) => Reply<N>;
  };

/** Any stream, for those who serve, document or follow all of them. */
export type AnyStreamRoute = RouteFacts & {
  readonly kind: 'stream';
  readonly method: 'GET';
  readonly eventsPath: string;
  readonly family?: string;
  readonly heartbeat_s: number;
  readonly query: Fields;
  /** The request: its query has `since` too, and `token` if a token opens the stream. */
  readonly sent: { readonly params: Fields; readonly query: Fields; readonly body: null };
  readonly asks: Kinds;
  readonly refused: Responses;
  /** Every message, and every frame of a client, by type. */
  readonly messages: Kinds;
  readonly heard: Kinds;
  readonly frames: z.ZodType<{ readonly type: string }>;
  /** The messages of the transport itself. */
  readonly own: {
    readonly heartbeat: (seq: number, at: string) => Sendable;
    readonly lagged: (seq: number) => Sendable;
    readonly error: (code: StreamFault, message: string) => Sendable;
  };
};

export type StreamRequest<R extends AnyStreamRoute> = {
  readonly query: z.output<R['query']>;
  readonly caller: Caller;
  /** The last number that the reader has; `null` for who wants only what comes. */
  readonly since: number | null;
  /** Ends when the reader has gone. */
  readonly signal: AbortSignal;
  /** Unix seconds. */
  readonly now: () => number;
};

type Heard<R extends AnyStreamRoute> = keyof R['asks'] extends never
  ? { readonly hear?: undefined }
  : {
      /** Told each frame of the client, in order; what it returns is said to this reader. */
      readonly hear: (ask: AskOf<R['asks']>) => StreamMessage<R['name']> | null;
    };

/** The stream that a reader receives. */
export type Streaming<R extends AnyStreamRoute> = Heard<R> & {
  readonly welcome: StreamMessage<R['name']>;
  readonly messages: StreamSource<StreamMessage<R['name']>>;
};

/**
 * The messages of one reader in order. The next one is asked for when the last one was queued, so
 * that a source reads a log that all its readers share and keeps no queue for any of them. It is
 * asked and calls without promises: there are as many of each as readers times events.
 */
export type StreamSource<M> = {
  /**
   * The next message. A number says that all up to it was looked at and nothing of it was for this
   * reader; `wait` that there is no more now, `end` that there never will be.
   */
  readonly next: () => M | number | 'wait' | 'end';
  /** Has it call whenever there may be more, until the signal of the reader ends. */
  readonly onMore: (call: () => void) => void;
};

/** A handler of a stream: it opens one for each reader, or refuses. It never sees a socket. */
export type StreamHandler<R extends AnyStreamRoute> = (
  asked: StreamRequest<R>,
) => Promise<Streaming<R> | Reply<R['name']> | Refusal>;

export function streamRoute<
  const N extends string,
  Q extends Fields,
  W extends Fields,
  E extends Kinds,
  M extends Kinds,
  A extends Kinds,
  R extends Responses,
>(spec: Spec<N, Q, W, E, M, A, R>): StreamRoute<N, Q, W, E, M, A, R> {
  const heartbeat_s = spec.heartbeat_s === undefined ? HEARTBEAT_S : spec.heartbeat_s;
  const messages: Kinds = messageSchemas(spec, [
    ['welcome', z.strictObject(WELCOME).extend(spec.welcome.shape)],
    ...Object.entries(spec.events).map(
      ([type, fields]) => [type, z.strictObject({ seq: position }).extend(fields.shape)] as const,
    ),
    ...Object.entries(spec.notices),
    ...Object.entries(COMMON),
  ]);
  const heard = messageSchemas(spec, [['ping', PING], ...Object.entries(spec.asks)]);
  const writers = new Map(
    Object.entries(messages).map(([type, schema]) => [
      type,
      writerOf(schema, `${spec.name} ${type}`),
    ]),
  );
  const make = (type: string, seq: number | null, fields: object): StreamMessage<N> => {
    const write = writers.get(type);
    if (write === undefined) throw new Error(`${spec.name}: ${type}?`);
    return makeMessage(seq, write({ type, ...fields }, new Set()));
  };
  return {
    ...spec,
    kind: 'stream',
    method: 'GET',
    heartbeat_s,
    messages,
    sent: {
      params: z.strictObject({}),
      query: spec.query.extend({ ...SINCE, ...(spec.access === 'bearer' ? TOKEN : {}) }),
      body: null,
    },
    heard,
    frames: z.union(Object.values(heard)),
    welcome: (say) => make('welcome', say.seq, { ...say, heartbeat_s }),
    event: (type, seq, say) => make(type, seq, { seq, ...say }),
    notice: (type, say) => make(type, null, say),
    gap: (from, to) => make('gap', to, { from, to }),
    unread: (message) => make('error', null, { code: 'unread', message }),
    refuse: replierOf(spec.name, spec.refused, {}),
    own: {
      heartbeat: (seq, at) => make('heartbeat', seq, { seq, at }),
      lagged: (seq) => make('lagged', null, { seq }),
      error: (code, message) => make('error', null, { code, message }),
    },
  };
}

// A type that is declared twice would hide the other.
function messageSchemas(
  { name, family }: { readonly name: string; readonly family?: string },
  kinds: readonly (readonly [string, Fields])[],
) {
  const all: { [type: string]: z.ZodObject<{ type: z.ZodLiteral<string> }> } = {};
  for (const [type, { shape }] of kinds) {
    if (type in all) throw new Error(`${name} declares ${type} twice`);
    const schema = z.strictObject({ type: z.literal(type), ...shape });
    // A message is about what happened. What no claim carries to its reader, none may rest on: a
    // negative is asked for at a route, where every port can be silent.
    const json = JSON.stringify(z.toJSONSchema(schema, { unrepresentable: 'any' }));
    if (json.includes(CLAIM_META)) throw new Error(`${name}: ${type} denies something`);
    // A message that every stream has is one shape.
    const of = type in COMMON ? 'Stream' : family;
    const title = `${of}${type[0]?.toUpperCase()}${type.slice(1)}`;
    all[type] = of === undefined ? schema : sharedShape(title, schema);
  }
  return all;
}

// A message is written once however many read it: its frame and its event are made when the first
// reader of each needs them, and every reader is sent the same bytes.

/** Makes a message of JSON text. For `stream.ts` only (`tidy.test.ts` holds that). */
export let makeMessage: <N extends string>(seq: number | null, text: string) => StreamMessage<N>;

/** A message as those see it who send it and need not know of which stream it is. */
export type Sendable = Pick<StreamMessage<never>, 'seq' | 'frame' | 'event'>;

/** A message of a stream: only the route that declares it makes one. */
export class StreamMessage<in out Name extends string> {
  declare protected readonly of: Name;
  /** Where a reader stands who has read it; `null` where it moves nobody. */
  readonly seq: number | null;
  readonly #text: string;
  #frame: Buffer | null = null;
  #event: Buffer | null = null;
  private constructor(seq: number | null, text: string) {
    this.seq = seq;
    this.#text = text;
  }
  /** A whole WebSocket frame, as a server sends it (RFC 6455, 5.2). */
  frame(): Buffer {
    if (this.#frame === null) this.#frame = frameText(Buffer.from(this.#text));
    return this.#frame;
  }
  /** A server-sent event, without an `event:` line: a reader hears all of them in one place. */
  event(): Buffer {
    if (this.#event === null) {
      const id = this.seq === null ? '' : `id: ${this.seq}\n`;
      this.#event = Buffer.from(`${id}data: ${this.#text}\n\n`);
    }
    return this.#event;
  }
  /** The message as its reader takes it apart. */
  get body(): unknown {
    return JSON.parse(this.#text);
  }
  static {
    makeMessage = (seq, text) => new StreamMessage(seq, text);
  }
}

/** A final frame of text, which a server does not mask. */
const FINAL_TEXT = 0x81;
/** The longest payload whose length stands in seven bits, and in sixteen. */
const SHORT_BYTES_MAX = 125;
const MIDDLE_BYTES_MAX = 0xffff;

function frameText(payload: Buffer): Buffer {
  const { length } = payload;
  if (length <= SHORT_BYTES_MAX) return Buffer.concat([Buffer.of(FINAL_TEXT, length), payload]);
  if (length <= MIDDLE_BYTES_MAX) {
    const head = Buffer.of(FINAL_TEXT, SHORT_BYTES_MAX + 1, 0, 0);
    head.writeUInt16BE(length, 2);
    return Buffer.concat([head, payload]);
  }
  const head = Buffer.alloc(10);
  head[0] = FINAL_TEXT;
  head[1] = SHORT_BYTES_MAX + 2;
  head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

export type AnyRoute = AnyEvidenceRoute | AnyPlainRoute | AnyStreamRoute;
