// Answers one question: in which form does a body stand on the wire?
// JSON, unless its schema says otherwise here; the mark is read where a route is declared, mounted
// and documented, and by no request.

import { z } from 'zod';

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
  return marked(schema, { kind: 'text', type });
}

/** A body that is a whole page. A route that answers one refuses in pages too. */
export function html(): z.ZodString {
  return text(HTML_TYPE);
}

/** No body: what is said stands in the status and the headers. */
export function noBody(): z.ZodUndefined {
  return marked(z.undefined(), NO_MEDIA);
}

/** A body that a page's form sends: its fields are texts, or lists of texts where repeated. */
export function form<S extends z.ZodObject>(fields: S): S {
  return marked(fields, { kind: 'form', type: 'application/x-www-form-urlencoded' });
}

/** A body that is taken as the bytes that were sent, as a signature is over them. */
export function bytes(type: string | null): z.ZodType<Uint8Array> {
  const sent = z.instanceof(Uint8Array, { error: 'expected the bytes that were signed' });
  return marked(sent, { kind: 'bytes', type });
}

// A mark belongs to one place: the schema itself may stand in others.
function marked<S extends z.ZodType>(schema: S, media: Media): S {
  const own: S = schema.clone(schema._zod.def, { parent: true });
  MEDIA.add(own, media);
  return own;
}
