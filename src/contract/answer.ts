// The results of a route. An answer and a reply have private fields: only the route that declares
// them makes one (`route.ts`, `reply.ts`).

import type { z } from 'zod';
import type { Why } from '../evidence/reasons.ts';
import {
  distinct,
  oldestObservation,
  restsOnSimulated,
  type Source,
  type WireSource,
  wireSource,
} from '../evidence/source.ts';

/** The states of the envelope that carry no data. */
export const ABSENCES = ['insufficient_evidence', 'not_supported', 'not_deployed'] as const;
export type Absence = (typeof ABSENCES)[number];

/** What a `data_mode` says of an answer; each answer describes its own `empty`. */
export const DATA_MODES = ['measured', 'simulated', 'empty'] as const;

/** The content of an absence; `null` for an answer with data. */
export type Denial = { readonly state: Absence; readonly why: Why } | null;

/** Makes an answer of data that is JSON, in pieces. For `route.ts` only (a test holds that). */
export let makeAnswer: <N extends string>(
  subject: string,
  sources: readonly Source[],
  data: readonly string[],
  absent: Denial,
) => Answer<N>;

/** Headers as they leave; several of one name are a list. */
export type Headers = { readonly [name: string]: string | readonly string[] };

/** Makes a reply of a body as it leaves. For `reply.ts` only. */
export let makeReply: <N extends string>(
  status: number,
  body: string | Uint8Array,
  headers: Headers,
  isKept: boolean,
) => Reply<N>;

/** The common envelope as the client sees it. */
export type Envelope<D = unknown> = {
  state: 'ok' | Absence;
  subject: string;
  sources: WireSource[];
  as_of: number;
  simulated: boolean;
  data: D | null;
  reason?: string;
};

/** An answer that its route made. Only `ok` and the declared absences make one. */
export class Answer<in out Name extends string> {
  declare protected readonly of: Name;
  readonly state: 'ok' | Absence;
  readonly why: Why | null;
  readonly #subject: string;
  readonly #sources: readonly Source[];
  readonly #data: readonly string[];
  private constructor(
    subject: string,
    sources: readonly Source[],
    data: readonly string[],
    absent: Denial,
  ) {
    this.#subject = subject;
    this.#sources = sources;
    this.#data = data;
    this.state = absent === null ? 'ok' : absent.state;
    this.why = absent === null ? null : absent.why;
  }
  /** The sources that it rests on. */
  get sources(): readonly Source[] {
    return this.#sources;
  }
  /**
   * The body as it leaves. `now` (Unix seconds) dates an answer that rests on no observation.
   * @internal The client's types know no Buffer.
   */
  bytes(now: number): Buffer {
    const sources = distinct(this.#sources).map((source) => JSON.stringify(wireSource(source)));
    const observed = oldestObservation(this.#sources);
    const as_of = observed === null ? now : observed;
    const simulated = restsOnSimulated(this.#sources);
    const reason = this.why === null ? '' : `,"reason":${JSON.stringify(this.why.reason)}`;
    const [data = '', ...more] = this.#data;
    const head =
      `{"state":"${this.state}","subject":${JSON.stringify(this.#subject)},` +
      `"sources":[${sources.join()}],"as_of":${as_of},"simulated":${simulated},"data":${data}`;
    if (more.length === 0) return Buffer.from(`${head}${reason}}`);
    return bytesOfTexts([head, ...more, `${reason}}`]);
  }
  /** The body as its reader takes it apart. */
  envelope(now: number): Envelope {
    const envelope: unknown = JSON.parse(this.bytes(now).toString());
    return envelope as Envelope;
  }
  static {
    makeAnswer = (subject, sources, data, absent) => new Answer(subject, sources, data, absent);
  }
}

/** A piece of a page that follows its beginning. */
export type PagePiece = {
  /** Reads and draws it. Nothing is read of a page that nobody waits for. */
  readonly draw: () => Promise<string>;
  /** The text in place of a failed piece; the log has the fault under this id. */
  readonly failed: (requestId: string) => string;
};

/** The rest of a page: pieces in whichever order they come, and what ends it. */
export type PageRest = { readonly pieces: readonly PagePiece[]; readonly end: string };

/** The bytes of long texts one after the other, which are never put together as a text. */
function bytesOfTexts(texts: readonly string[]): Buffer {
  const sizes = texts.map((text) => Buffer.byteLength(text));
  const bytes = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + size, 0));
  let at = 0;
  for (const text of texts) at += bytes.write(text, at);
  return bytes;
}

function bytesOf(body: string | Uint8Array): Buffer {
  if (typeof body === 'string') return Buffer.from(body);
  // The same memory: published bytes are sent as they were stored.
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

/** A reply of a plain route: one of its declared statuses with the body declared for it. */
export class Reply<in out Name extends string> {
  declare protected readonly of: Name;
  readonly status: number;
  /** The headers that it declares, its content type among them where it has a body. */
  readonly headers: Headers;
  /** The pieces that follow the body; `null`: the body is all of it. */
  readonly rest: PageRest | null;
  /** Whether caches may keep it, where its route allows that at all. */
  readonly isKept: boolean;
  readonly #body: string | Uint8Array;
  #bytes: Buffer | null = null;
  private constructor(
    status: number,
    body: string | Uint8Array,
    headers: Headers,
    more: { readonly rest: PageRest | null; readonly isKept: boolean },
  ) {
    this.status = status;
    this.headers = headers;
    this.rest = more.rest;
    this.isKept = more.isKept;
    this.#body = body;
  }
  /** The same reply, whose body is the beginning of a page that goes on as it is read. */
  followedBy(rest: PageRest): Reply<Name> {
    return new Reply(this.status, this.#body, this.headers, { rest, isKept: this.isKept });
  }
  /**
   * The body as it leaves: the same bytes each time, as one reply may answer many requests.
   * @internal
   */
  bytes(): Buffer {
    this.#bytes ??= bytesOf(this.#body);
    return this.#bytes;
  }
  /** The body as its reader takes it apart; one of bytes as it is, whatever its type. */
  get body(): unknown {
    const type = this.headers['content-type'];
    if (type === undefined) return undefined;
    if (typeof this.#body !== 'string') return this.#body;
    if (!String(type).startsWith('application/json')) return this.#body;
    return JSON.parse(this.#body);
  }
  static {
    makeReply = (status, body, headers, isKept) =>
      new Reply(status, body, headers, { rest: null, isKept });
  }
}

// A field of sections takes answers that their routes made, and nothing else; the bytes of each are
// kept.

/** The routes whose answers such a field holds, by the name of their section. */
export type SectionRoutes = {
  readonly [section: string]: readonly {
    readonly name: string;
    readonly method: 'GET' | 'POST' | 'DELETE';
    readonly path: string;
  }[];
};

/** An answer of one of some routes. */
export type AnswerAmong<R> = R extends { readonly name: infer N extends string }
  ? Answer<N>
  : never;

type Whole = Pick<Answer<never>, 'bytes' | 'sources'>;

/** Answers of other routes, as the field takes them. */
export class Sections<out R extends SectionRoutes> {
  declare protected readonly of: R;
  readonly #answers: readonly (readonly [section: string, answer: Whole])[];
  readonly #now: number;
  /** `null`: left out. `now` (Unix seconds) dates an answer that rests on no observation. */
  constructor(answers: { readonly [K in keyof R]: AnswerAmong<R[K][number]> | null }, now: number) {
    this.#answers = Object.entries<Whole | null>(answers).flatMap(([section, answer]) =>
      answer === null ? [] : [[section, answer]],
    );
    this.#now = now;
  }
  /** Every source that one of the answers rests on. */
  get sources(): readonly Source[] {
    return this.#answers.flatMap(([, answer]) => answer.sources);
  }
  /** The answers as JSON, each as its own route gives it. */
  get text(): string {
    const fields = this.#answers.map(
      ([section, answer]) => `${JSON.stringify(section)}:${answer.bytes(this.#now).toString()}`,
    );
    return `{${fields.join()}}`;
  }
}

const ROUTES = new WeakMap<object, SectionRoutes>();

/** Marks the schema of such a field with the routes of its sections. */
export function markSections(schema: z.ZodType, routes: SectionRoutes): void {
  ROUTES.set(schema, routes);
}

/** The routes of the sections that a schema was marked with, or `null`. */
export function sectionRoutes(schema: z.core.$ZodType): SectionRoutes | null {
  const routes = ROUTES.get(schema);
  return routes === undefined ? null : routes;
}

// To its reader an absence has no `data`, so that nothing can be read of it before its state was: a
// `data?.listed` that is undefined would be taken for "not listed".

/**
 * An answer that carries data. `as_of` is Unix seconds: the age of its oldest observation.
 * `simulated`: whether any of its sources is made up.
 */
export type Ok<D> = {
  readonly state: 'ok';
  readonly subject: string;
  readonly sources: readonly WireSource[];
  readonly as_of: number;
  readonly simulated: boolean;
  readonly data: D;
};

/** An answer that says why there is none. It denies nothing about its subject. */
export type Absent<A extends Absence> = {
  readonly state: A;
  readonly subject: string;
  readonly sources: readonly WireSource[];
  readonly as_of: number;
  readonly simulated: boolean;
  readonly reason: string;
};

/** An answer: data, or one of the absences that its route declares. Look at `state` first. */
export type AnswerView<D, A extends Absence> = Ok<D> | (A extends Absence ? Absent<A> : never);

/** The type that the client of an evidence route receives. */
export type AnswerSeen<R> = R extends {
  readonly data: infer D extends z.ZodType;
  readonly absences: readonly (infer A extends Absence)[];
}
  ? AnswerView<z.output<D>, A>
  : never;
