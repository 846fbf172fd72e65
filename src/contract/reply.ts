// The replies of a plain route. A header that it does not declare cannot be sent; a declaration
// that cannot hold is a fault where it stands.

import { z } from 'zod';
import { type Headers, makeReply, type Reply } from './answer.ts';
import { type Write, writerOf } from './writer.ts';

/** The body of each status. */
export type Responses = { readonly [status: number]: z.ZodType };

/** The headers of a status by their names in lower case, each with what it says. */
export type HeadersOfStatus = { readonly [header: string]: string };

/** The headers that some statuses carry beside those of every answer. */
export type ReplyHeaders = { readonly [status: number]: HeadersOfStatus };

/** How long a reply holds: `kept: false` says that no cache keeps it, though its route is kept. */
export type Keeping = { readonly kept: boolean };

/**
 * What a reply is given beside its body: the headers that its status declares (`null` leaves one
 * out of this reply), then how long it holds.
 */
export type ReplyArguments<H extends ReplyHeaders, S> = S extends keyof H
  ? [headers: { readonly [K in keyof H[S]]: string | readonly string[] | null }, keeping?: Keeping]
  : [keeping?: Keeping];

type Replies = {
  readonly kind: string;
  readonly responses?: Responses;
  readonly headers?: ReplyHeaders;
  readonly keptS?: number;
};

/** Whether a route answers pages, to people. */
export function isPage({ responses }: Replies): boolean {
  if (responses === undefined) return false;
  return Object.values(responses).some((schema) => mediaOf(schema).type === HTML_TYPE);
}

/** Whether a route changes something for a browser: by its session, or by a form. */
export function isSentByPages(route: {
  readonly method: string;
  readonly access: string;
  readonly body?: z.ZodType | null;
}): boolean {
  const { method, access, body } = route;
  if (method === 'GET') return false;
  return access === 'session' || (body !== undefined && mediaOf(body).kind === 'form');
}

/** Whether a page of any other origin may read the answer of a route: open to all, and no page. */
export function isPublicDocument(
  route: Replies & { readonly method: string; readonly access: string },
): boolean {
  return route.method === 'GET' && route.access === 'open' && !isPage(route);
}

/** Whether an answer of a route is named, so that a client that holds it is told so. */
export function isRevalidated({ headers, keptS }: Replies): boolean {
  if (keptS !== undefined) return true;
  return headers !== undefined && Object.values(headers).some((one) => 'etag' in one);
}

type Replier<N extends string> = (
  status: number,
  body: unknown,
  ...more: readonly (HeaderValues | Keeping | undefined)[]
) => Reply<N>;
type Maker<N extends string> = (body: unknown, own: HeaderValues, isKept: boolean) => Reply<N>;
type HeaderValues = { readonly [name: string]: string | readonly string[] | null };

const HEADER_NAME = /^[a-z][a-z0-9-]*$/;
/** Headers that only the server sets. */
const RESERVED: ReadonlySet<string> = new Set([
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'transfer-encoding',
  'vary',
  'x-request-id',
]);
/** Statuses that allow no body, nor a length of one. */
const BODILESS: ReadonlySet<string> = new Set(['204', '304']);
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

/** Makes the replies of a route. Throws where its declaration cannot hold. */
export function replierOf<N extends string>(
  name: N,
  responses: Responses,
  headers: ReplyHeaders,
): Replier<N> {
  const makers = new Map<number, Maker<N>>();
  for (const [status, schema] of Object.entries<z.ZodType>(responses)) {
    if (BODILESS.has(status)) throw new Error(`${name}: a route cannot declare ${status}`);
    makers.set(Number(status), makerOf<N>(`${name} ${status}`, Number(status), schema));
  }
  for (const [status, declared] of Object.entries<HeadersOfStatus>(headers)) {
    if (!makers.has(Number(status))) throw new Error(`${name}: headers of ${status}, no response`);
    for (const header of Object.keys(declared)) {
      const isOwn = HEADER_NAME.test(header) && !RESERVED.has(header);
      if (!isOwn) throw new Error(`${name} ${status}: a route cannot declare ${header}`);
    }
  }
  return (status, body, ...more) => {
    const make = makers.get(status);
    if (make === undefined) throw new Error(`${name}: ${status}?`);
    const [own, keeping] = headers[status] === undefined ? [NONE, more[0]] : more;
    return make(body, own === undefined ? NONE : (own as HeaderValues), isKeptBy(keeping));
  };
}

const NONE: HeaderValues = {};

function isKeptBy(keeping: HeaderValues | Keeping | undefined): boolean {
  return keeping === undefined || keeping['kept'] !== false;
}

function makerOf<N extends string>(at: string, status: number, schema: z.ZodType): Maker<N> {
  const media = mediaOf(schema);
  if (media.kind === 'form') {
    throw new Error(`${at}: a body of the kind form is asked, and never answered`);
  }
  if (media.kind === 'bytes' && media.type === null) {
    throw new Error(`${at}: bytes that are answered name their type`);
  }
  const writeText: Write = (body) => {
    const parsed = schema.safeParse(body);
    if (!parsed.success) throw new Error(`answer: ${at}: not the text that is declared`);
    return media.kind === 'none' ? '' : String(parsed.data);
  };
  const writeBytes = (body: unknown): Uint8Array => {
    if (body instanceof Uint8Array) return body;
    throw new Error(`answer: ${at}: not the bytes that are declared`);
  };
  const writeJson = media.kind === 'json' ? writerOf(schema, at) : writeText;
  const write = media.kind === 'bytes' ? writeBytes : writeJson;
  const typed: Headers = media.type === null ? {} : { 'content-type': media.type };
  return (body, own, isKept) => {
    const headers: { [name: string]: string | readonly string[] } = { ...typed };
    for (const [name, value] of Object.entries(own)) {
      if (value === null) continue;
      const isFit = [value].flat().every((one) => HEADER_VALUE.test(one));
      if (!isFit) throw new Error(`answer: ${at}: the header ${name} holds what none may`);
      headers[name] = value;
    }
    return makeReply(status, write(body, new Set()), headers, isKept);
  };
}

// The form of a body is JSON, unless its schema says otherwise here. The mark is read where a route
// is declared, mounted and documented, and by no request.

/** The form of a body. `type` is its content type; `null`: there is no body, or it may be any. */
export type Media =
  | { readonly kind: 'json' | 'text' | 'form'; readonly type: string }
  | { readonly kind: 'bytes'; readonly type: string | null }
  | { readonly kind: 'none'; readonly type: null };

const JSON_MEDIA = { kind: 'json', type: 'application/json; charset=utf-8' } as const;
const NO_MEDIA = { kind: 'none', type: null } as const;
/** The content type of a page. */
export const HTML_TYPE = 'text/html; charset=utf-8';

const MEDIA = z.registry<Media>();

/** The field in which a form carries the token of its session; its schema does not declare it. */
export const FORM_TOKEN = 'form_token';

/** The form in which a body of this schema stands on the wire. */
export function mediaOf(schema: z.ZodType | null): Media {
  const media = schema === null ? undefined : MEDIA.get(schema);
  return media === undefined ? JSON_MEDIA : media;
}

/** A body that is text of a content type and is written as it is: a feed, Markdown, a picture. */
export function text(type: string, schema: z.ZodString = z.string()): z.ZodString {
  return markMedia(schema, { kind: 'text', type });
}

/** A body that is a whole page. A route that answers one refuses in pages too. */
export function html(): z.ZodString {
  return text(HTML_TYPE);
}

/** No body: what is said stands in the status and the headers. */
export function noBody(): z.ZodUndefined {
  return markMedia(z.undefined(), NO_MEDIA);
}

/** A body that a page's form sends: its fields are texts, or lists of texts where repeated. */
export function form<S extends z.ZodObject>(fields: S): S {
  return markMedia(fields, { kind: 'form', type: 'application/x-www-form-urlencoded' });
}

/**
 * A body of bytes: a request is taken as it was sent, as a signature is over it; a response leaves
 * as it was stored, and names its type.
 */
export function bytes(type: string | null): z.ZodType<Uint8Array> {
  const sent = z.instanceof(Uint8Array, { error: 'expected the bytes that were signed' });
  return markMedia(sent, { kind: 'bytes', type });
}

// A mark belongs to one place: the schema itself may stand in others.
function markMedia<S extends z.ZodType>(schema: S, media: Media): S {
  const own: S = schema.clone(schema._zod.def, { parent: true });
  MEDIA.add(own, media);
  return own;
}
