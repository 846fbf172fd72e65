// Answers one question: what leaves a route, and who may make it.
// An answer and a reply have private fields: only the route that declares them makes one
// (`route.ts`, `reply.ts`).

import type { Why } from '../evidence/reasons.ts';
import {
  distinct,
  oldestObservation,
  type ShownSource,
  type Source,
  shown,
} from '../evidence/source.ts';

/** The states of the envelope that carry no data. */
export const ABSENCES = ['insufficient_evidence', 'not_supported', 'not_deployed'] as const;
export type Absence = (typeof ABSENCES)[number];

/** What an absence says; `null` for an answer that carries data. */
export type Absent = { readonly state: Absence; readonly why: Why } | null;

/** Makes an answer of data that is JSON. For `route.ts` only (`tidy.test.ts` holds that). */
export let makeAnswer: <N extends string>(
  subject: string,
  sources: readonly Source[],
  data: string,
  absent: Absent,
) => Answer<N>;

/** Headers as they leave; several of one name are a list. */
export type Headers = { readonly [name: string]: string | readonly string[] };

/** Makes a reply of a body as it leaves. For `reply.ts` only. */
export let makeReply: <N extends string>(
  status: number,
  text: string,
  headers: Headers,
) => Reply<N>;

/** The common envelope as the client sees it. */
export type Envelope<D = unknown> = {
  state: 'ok' | Absence;
  subject: string;
  sources: ShownSource[];
  as_of: number;
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
  readonly #data: string;
  private constructor(subject: string, sources: readonly Source[], data: string, absent: Absent) {
    this.#subject = subject;
    this.#sources = sources;
    this.#data = data;
    this.state = absent === null ? 'ok' : absent.state;
    this.why = absent === null ? null : absent.why;
  }
  /** What it rests on. */
  get sources(): readonly Source[] {
    return this.#sources;
  }
  /**
   * The body as it leaves. `now` (Unix seconds) dates an answer that rests on no observation.
   * @internal The client's types know no Buffer.
   */
  bytes(now: number): Buffer {
    const sources = distinct(this.#sources).map((source) => JSON.stringify(shown(source)));
    const observed = oldestObservation(this.#sources);
    const as_of = observed === null ? now : observed;
    const reason = this.why === null ? '' : `,"reason":${JSON.stringify(this.why.reason)}`;
    return Buffer.from(
      `{"state":"${this.state}","subject":${JSON.stringify(this.#subject)},` +
        `"sources":[${sources.join()}],"as_of":${as_of},"data":${this.#data}${reason}}`,
    );
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

/** A reply of a plain route: one of its declared statuses with the body declared for it. */
export class Reply<in out Name extends string> {
  declare protected readonly of: Name;
  readonly status: number;
  /** The headers that it declares, its content type among them where it has a body. */
  readonly headers: Headers;
  readonly #text: string;
  private constructor(status: number, text: string, headers: Headers) {
    this.status = status;
    this.headers = headers;
    this.#text = text;
  }
  /**
   * The body as it leaves.
   * @internal
   */
  bytes(): Buffer {
    return Buffer.from(this.#text);
  }
  /** The body as its reader takes it apart. */
  get body(): unknown {
    const type = this.headers['content-type'];
    if (type === undefined) return undefined;
    if (!String(type).startsWith('application/json')) return this.#text;
    return JSON.parse(this.#text);
  }
  static {
    makeReply = (status, text, headers) => new Reply(status, text, headers);
  }
}
