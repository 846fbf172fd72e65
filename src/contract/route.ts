// A route is declared once, for the server, its documents and its clients. A declaration holds no
// logic; an answer can only be made through the route that declares it.

import { z } from 'zod';
import { DAY_S, MS_PER_S, startOfDay } from '../chain/time.ts';
import type { Claim } from '../evidence/claim.ts';
import { basis, type Read, type Silent } from '../evidence/reading.ts';
import type { Why } from '../evidence/reasons.ts';
import { restsOnSimulated, SIMULATED_CAVEAT, type Source } from '../evidence/source.ts';
import {
  type Absence,
  type Answer,
  type AnswerSeen,
  type Headers,
  makeAnswer,
  markSections,
  type Reply,
  type SectionRoutes,
  type Sections,
} from './answer.ts';
import type { Refusal, RefusalCode } from './refusals.ts';
import { type ReplyArguments, type ReplyHeaders, type Responses, replierOf } from './reply.ts';
import { harmless, prose, sourceShown, unixSeconds, words } from './wire.ts';
import { dataWriterOf } from './writer.ts';

export type Surface = 'edge' | 'hosted' | 'integrations' | 'intelligence' | 'signals' | 'web';
export type Method = 'GET' | 'POST' | 'DELETE';
/**
 * The credential that a caller needs: a plan or better, a partner key, a bearer token, a signed-in
 * session, the operator's token, or none. `visitor` is open to all like `open`, and receives the
 * session of a signed-in browser. `optional_key` is open to all too, and receives the membership
 * whose key was sent; nothing is charged, and a key that opens nothing is refused. This rule alone
 * selects the guard of a route; its surface and kind do not.
 */
export type AccessRule =
  | 'analyst'
  | 'desk'
  | 'enterprise'
  | 'partner'
  | 'bearer'
  | 'session'
  | 'operator'
  | 'visitor'
  | 'optional_key'
  | 'open';
/**
 * Which MCP tool a route is, with the words a model reads. `null`: the route is no tool. A route
 * with `when` stands in for the tool's own route where that argument has that value.
 */
export type Tool = {
  readonly name: string;
  readonly description: string;
  /** `means`: what the argument means to a caller of the tool, of all its routes. */
  readonly when?: { readonly argument: string; readonly is: string; readonly means: string };
} | null;

type Fields = z.ZodObject;
type Nothing = z.ZodObject<Record<never, never>>;

/** The facts of every declaration, whatever its kind. */
export type RouteFacts = {
  readonly name: string;
  readonly surface: Surface;
  readonly method: Method;
  /** With `{param}` for each path parameter, as OpenAPI writes it. */
  readonly path: string;
  readonly summary: string;
  readonly access: AccessRule;
  /** Refusals of its own, beside those every route of its surface can give. */
  readonly refusals?: readonly RefusalCode[];
  /** Its last path parameter takes all that follows, slashes too. */
  readonly tail?: true;
  /** The largest body that is read, in bytes. */
  readonly bodyBytesMax?: number;
  /** Answered while others are refused because requests wait for too long: it says how it goes. */
  readonly isLight?: true;
  /** Where it will go: since when that is said, and until when it is answered. */
  readonly deprecated?: Deprecation;
};

/**
 * Whether a publishable key opens a route, from pages of other origins: a hosted GET that answers
 * with evidence. The other hosted ones answer of what a membership keeps, such as its watchlist.
 */
export function opensToPages(
  route: Pick<RouteFacts, 'surface' | 'method'> & { readonly kind: string },
): boolean {
  return route.surface === 'hosted' && route.method === 'GET' && route.kind === 'evidence';
}

type Inputs<P extends Fields, Q extends Fields, B extends z.ZodType> = {
  readonly params: P;
  readonly query: Q;
  readonly body: B | null;
};

/**
 * True where some field of the data is a claim, or holds answers of others, whatever the handler
 * says: not one inside a list, and not one inside what may be null or left out. The tuples keep a
 * union from being taken apart.
 */
type AlwaysClaims<D> = [D] extends [object]
  ? true extends { [K in keyof D]-?: IsClaim<D[K]> }[keyof D]
    ? true
    : false
  : false;
type IsClaim<V> = 0 extends 1 & V
  ? false
  : [V] extends [Claim<unknown, unknown, never> | Sections<SectionRoutes>]
    ? true
    : [V] extends [readonly unknown[]]
      ? false
      : AlwaysClaims<V>;

type NonEmptyReads = readonly [Read<unknown, never>, ...Read<unknown, never>[]];
type Rests<D> =
  AlwaysClaims<D> extends true
    ? { readonly rests?: readonly Read<unknown, never>[] }
    : { readonly rests: NonEmptyReads };

type AbsentMakers<N extends string> = {
  readonly insufficient_evidence: (say: {
    readonly subject: string;
    readonly why: Why;
    readonly consulted: NonEmptyReads;
  }) => Answer<N>;
  readonly not_supported: (say: { readonly subject: string; readonly why: Why }) => Answer<N>;
  readonly not_deployed: (say: {
    readonly subject: string;
    readonly silent: Silent<never>;
    readonly why?: Why;
    readonly consulted?: readonly Read<unknown, never>[];
  }) => Answer<N>;
};

/** A declared route that answers with the common envelope. */
export type EvidenceRoute<
  N extends string,
  P extends Fields,
  Q extends Fields,
  B extends z.ZodType,
  D extends z.ZodObject,
  A extends Absence,
> = RouteFacts &
  Inputs<P, Q, B> & {
    readonly kind: 'evidence';
    readonly name: N;
    readonly data: D;
    readonly absences: readonly A[];
    readonly tool: Tool;
    /**
     * The answer that the data makes; its sources come from the claims inside, and from `rests`.
     */
    readonly ok: (
      say: { readonly subject: string; readonly data: z.input<D> } & Rests<z.input<D>>,
    ) => Answer<N>;
    readonly absent: Pick<AbsentMakers<N>, A>;
  };

type EvidenceSpec<
  N extends string,
  P extends Fields,
  Q extends Fields,
  B extends z.ZodType,
  D extends z.ZodObject,
  A extends Absence,
> = Omit<RouteFacts, 'name'> & {
  readonly name: N;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  readonly data: D;
  readonly absences: readonly A[];
  readonly tool: Tool;
};

const NO_FIELDS = z.strictObject({});
const NO_DATA = ['null'];

/** Declares a route that answers with the common envelope. */
export function evidenceRoute<
  const N extends string,
  D extends z.ZodObject,
  const A extends Absence,
  P extends Fields = Nothing,
  Q extends Fields = Nothing,
  B extends z.ZodType = z.ZodNever,
>(spec: EvidenceSpec<N, P, Q, B, D, A>): EvidenceRoute<N, P, Q, B, D, A> {
  const write = dataWriterOf(spec.data, spec.name, caveatLabel);
  const absent: AbsentMakers<N> = {
    insufficient_evidence: ({ subject, why, consulted }) =>
      makeAnswer(subject, sourcesOf(consulted), NO_DATA, { state: 'insufficient_evidence', why }),
    not_supported: ({ subject, why }) =>
      makeAnswer(subject, [], NO_DATA, { state: 'not_supported', why }),
    not_deployed: ({ subject, silent, why, consulted }) =>
      makeAnswer(subject, consulted === undefined ? [] : sourcesOf(consulted), NO_DATA, {
        state: 'not_deployed',
        why: why === undefined ? silent.why : why,
      }),
  };
  return {
    ...spec,
    ...inputsOf<P, Q, B>(spec),
    kind: 'evidence',
    absent: onlyDeclared(absent, spec.absences),
    ok: ({ subject, data, rests }) => {
      const sources = new Set(rests === undefined ? [] : sourcesOf(rests));
      const texts = write(data, sources);
      if (sources.size === 0) throw new Error(`${spec.name}: ok rests on nothing`);
      return makeAnswer(subject, [...sources], texts, null);
    },
  };
}

function onlyDeclared<N extends string, A extends Absence>(
  makers: AbsentMakers<N>,
  declared: readonly A[],
): Pick<AbsentMakers<N>, A> {
  const kept = Object.entries(makers).filter(([state]) => declared.some((one) => one === state));
  return Object.fromEntries(kept) as Pick<AbsentMakers<N>, A>;
}

function inputsOf<P extends Fields, Q extends Fields, B extends z.ZodType>(spec: {
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
}): Inputs<P, Q, B> {
  const none = NO_FIELDS as unknown;
  return {
    params: spec.params === undefined ? (none as P) : spec.params,
    query: spec.query === undefined ? (none as Q) : spec.query,
    body: spec.body === undefined ? null : spec.body,
  };
}

function sourcesOf(reads: readonly Read<unknown, never>[]): Source[] {
  return reads.flatMap((one) => [...basis(one).sources]);
}

// An answer that rests on anything simulated says so in its caveat.
function caveatLabel(sources: ReadonlySet<Source>): string {
  return restsOnSimulated(sources) ? SIMULATED_CAVEAT : '';
}

/** The context of a request. `now` is Unix seconds. */
export type RequestContext = {
  readonly now: () => number;
  readonly signal: AbortSignal;
  /**
   * The network that a form, or a body without a credential, came from, where a socket told it. It
   * is for counting alone.
   */
  readonly network?: string;
};

type BodyOf<B> = [B] extends [never] ? undefined : B;

/** The parsed input of a declared route. */
export type InputOf<R> = (R extends Inputs<infer P, infer Q, infer B>
  ? { params: z.output<P>; query: z.output<Q>; body: BodyOf<z.output<B>> }
  : never) &
  (R extends { requestHeaders: infer X extends Fields } ? { headers: z.output<X> } : unknown);

/** A handler of an evidence route: it answers through its route, or refuses the input. */
export type Handler<R extends AnyEvidenceRoute> = (
  input: InputOf<R>,
  asked: RequestContext,
  caller: Caller,
) => Promise<Answer<R['name']> | Refusal>;

/** Any evidence route, for those who serve, document or test all of them. */
export type AnyEvidenceRoute = RouteFacts & {
  readonly kind: 'evidence';
  readonly params: Fields;
  readonly query: Fields;
  readonly body: z.ZodType | null;
  readonly data: z.ZodObject;
  readonly absences: readonly Absence[];
  readonly tool: Tool;
};

/** A declared route that answers with bodies of its own. */
export type PlainRoute<
  N extends string,
  P extends Fields,
  Q extends Fields,
  B extends z.ZodType,
  R extends Responses,
  H extends ReplyHeaders,
  X extends Fields | null,
> = RouteFacts &
  Inputs<P, Q, B> & {
    readonly kind: 'plain';
    readonly name: N;
    readonly responses: R;
    readonly requestHeaders: X;
    readonly headers: ReplyHeaders;
    readonly keptS?: number;
    readonly reply: <S extends keyof R & number>(
      status: S,
      body: z.input<R[S]>,
      ...more: ReplyArguments<H, S>
    ) => Reply<N>;
  };

/** Declares a route that answers with bodies of its own. */
export function plainRoute<
  const N extends string,
  R extends Responses,
  P extends Fields = Nothing,
  Q extends Fields = Nothing,
  B extends z.ZodType = z.ZodNever,
  const H extends ReplyHeaders = Record<never, never>,
  X extends Fields | null = null,
>(
  spec: Omit<RouteFacts, 'name'> & {
    readonly name: N;
    readonly params?: P;
    readonly query?: Q;
    readonly body?: B;
    /** Headers that are read of a request, by their names in lower case. */
    readonly requestHeaders?: X;
    readonly responses: R;
    /** Headers of a reply beside those of every answer, by status: each with what it says. */
    readonly headers?: H;
    /**
     * How long anybody may keep an answer, in seconds; then it is asked for by its ETag. For open
     * GET routes: elsewhere, and without it, nobody keeps an answer.
     */
    readonly keptS?: number;
  },
): PlainRoute<N, P, Q, B, R, H, X> {
  const headers = spec.headers === undefined ? {} : spec.headers;
  const isOpen = spec.access === 'open' && spec.method === 'GET';
  if (spec.keptS !== undefined && !isOpen) {
    throw new Error(`${spec.name}: what is told to one caller is kept by nobody`);
  }
  const reply = replierOf(spec.name, spec.responses, headers);
  const none = null as unknown as X;
  const requestHeaders = spec.requestHeaders === undefined ? none : spec.requestHeaders;
  return { ...spec, ...inputsOf<P, Q, B>(spec), requestHeaders, headers, kind: 'plain', reply };
}

export type AnyPlainRoute = RouteFacts & {
  readonly kind: 'plain';
  readonly params: Fields;
  readonly query: Fields;
  readonly body: z.ZodType | null;
  readonly responses: Responses;
  readonly requestHeaders: Fields | null;
  readonly headers: ReplyHeaders;
  readonly keptS?: number;
};

export type PlainHandler<R extends AnyPlainRoute> = (
  input: InputOf<R>,
  asked: RequestContext,
  caller: Caller,
) => Promise<Reply<R['name']> | Refusal>;

/** The envelope of an evidence route as a schema: `ok` and exactly the declared absences. */
export function envelopeSchema(route: AnyEvidenceRoute): z.ZodType {
  const simulated = harmless(z.boolean(), 'it is of the sources, not of the subject').describe(
    'Whether any source of the answer is made up.',
  );
  const ok = z.strictObject({
    state: z.literal('ok'),
    subject: words(),
    sources: z.array(sourceShown).min(1),
    as_of: unixSeconds,
    simulated,
    data: route.data,
  });
  const sources = harmless(z.array(sourceShown), 'whoever read nothing names no source');
  const absences = route.absences.map((state) =>
    z.strictObject({
      state: z.literal(state),
      subject: words(),
      sources: state === 'not_supported' ? sources.length(0) : sources,
      as_of: unixSeconds,
      simulated,
      data: z.null(),
      reason: prose().min(1),
    }),
  );
  return z.union([ok, ...absences]);
}

// A caller names whom to answer and holds nothing that opens anything: no key, no token, no cookie.

/** The caller: the owner of the credential, or nobody if a route is open to all. */
export type Caller =
  | { readonly kind: 'nobody' }
  | {
      readonly kind: 'member';
      readonly membership_id: string;
      readonly plan: 'analyst' | 'desk' | 'enterprise';
      /** The key that was sent, by its id. */
      readonly key_id: string;
    }
  | { readonly kind: 'partner'; readonly partner: string; readonly key_id: string }
  | { readonly kind: 'token'; readonly token_id: string; readonly tier: 'free' | 'pro' | 'desk' }
  | { readonly kind: 'operator' }
  | {
      readonly kind: 'session';
      readonly session_id: string;
      readonly membership_id: string;
      /** The value that forms of its pages send in the field `form_token`. */
      readonly form_token: string;
    };

/** The caller of a page of a session: the guard lets nobody else in. */
export function sessionOf(caller: Caller): Extract<Caller, { kind: 'session' }> {
  if (caller.kind !== 'session') throw new Error('the guard let in a browser without a session');
  return caller;
}

/** The caller of a route of a plan: the gate lets nobody else in. */
export function memberOf(caller: Caller): Extract<Caller, { kind: 'member' }> {
  if (caller.kind !== 'member') throw new Error('the gate let in a caller without a membership');
  return caller;
}

/** One name for all that a caller asks for, whichever of its keys it sends. */
export function callerName(caller: Caller): string {
  switch (caller.kind) {
    case 'member':
    case 'session':
      return caller.membership_id;
    case 'partner':
      return `partner ${caller.partner}`;
    case 'token':
      return `token ${caller.token_id}`;
    case 'operator':
    case 'nobody':
      return caller.kind;
  }
}

/** The caller of a route that takes no credential. */
export const NOBODY: Caller = { kind: 'nobody' };

// A caller learns that a route will go from the headers of RFC 9745 (Deprecation) and RFC 8594
// (Sunset), from the OpenAPI document and from its reference. How long a route stays after that:
// docs/reference/versioning.md.

/** Days are `YYYY-MM-DD`. */
export type Deprecation = {
  readonly since: string;
  /** The first day on which the route need not answer any more. */
  readonly sunset: string;
  /** The replacement, in words. */
  readonly instead: string;
};

/** A route is answered for at least this long after it was called deprecated. */
const NOTICE_DAYS = 180;
const POLICY = '</docs/reference/versioning>; rel="deprecation"; type="text/html"';

/** Throws where the notice is shorter than the one that was promised. */
export function deprecationHeaders({ since, sunset }: Deprecation): Headers {
  const [from, to] = [startOfDay(since), startOfDay(sunset)];
  if (to - from < NOTICE_DAYS * DAY_S) throw new Error(`a notice of under ${NOTICE_DAYS} days`);
  return {
    Deprecation: `@${from}`,
    Sunset: new Date(to * MS_PER_S).toUTCString(),
    Link: POLICY,
  };
}

/** The sentence added to the summary of a deprecated route. */
export function deprecationSentence({ since, sunset, instead }: Deprecation): string {
  return `Deprecated since ${since}, answered until ${sunset}. ${instead}`;
}

/** The answers as their reader finds them: those that were asked for. */
type RoutesBySection = { readonly [section: string]: readonly AnyEvidenceRoute[] };
type SectionAnswers<R extends RoutesBySection> = {
  readonly [K in keyof R]?: AnswerSeen<R[K][number]>;
};

/**
 * A field that holds answers of other routes, each under its section and as its route gives it. A
 * section of several routes holds the answer of one of them.
 */
export function sectionsOf<const R extends RoutesBySection>(
  routes: R,
): z.ZodType<SectionAnswers<R>, Sections<R>> {
  const envelopes = Object.entries(routes).map(([section, among]) => {
    return [section, z.union(among.map(envelopeSchema)).optional()] as const;
  });
  const schema: unknown = z.strictObject(Object.fromEntries(envelopes));
  const marked = schema as z.ZodType<SectionAnswers<R>, Sections<R>>;
  markSections(marked, routes);
  return marked;
}
