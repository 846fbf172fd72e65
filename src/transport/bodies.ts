// Answers one question: how does a body come in: as JSON, as a form, or as bytes?
// A route takes one form of body; any other is refused before it is read.

import type { FastifyInstance } from 'fastify';
import type { Media } from '../contract/media.ts';
import { BrokenBody } from './refusing.ts';

/** Fields of a form, repeated ones each for itself. */
const FORM_FIELDS_MAX = 500;

/** Has everything that is mounted on `app` take this form of body. */
export function acceptOnly(app: FastifyInstance, { kind, type }: Media): void {
  app.removeAllContentTypeParsers();
  const [name = '*'] = type === null ? [] : type.split(';');
  if (kind === 'bytes') {
    app.addContentTypeParser(name, { parseAs: 'buffer' }, (_request, bytes, done) => {
      done(null, bytes);
    });
    return;
  }
  const parse = kind === 'form' ? formOf : jsonOf;
  app.addContentTypeParser(name, { parseAs: 'string' }, (_request, text, done) => {
    try {
      done(null, parse(String(text)));
    } catch (fault) {
      done(fault instanceof Error ? fault : new BrokenBody('body: expected what can be read'));
    }
  });
}

function jsonOf(text: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text);
    return parsed;
  } catch {
    throw new BrokenBody('body: expected valid JSON');
  }
}

/** The fields of a form by name: a text, or a list where a name is repeated. */
function formOf(text: string): { readonly [field: string]: string | readonly string[] } {
  const sent = new URLSearchParams(text);
  if (sent.size > FORM_FIELDS_MAX) {
    throw new BrokenBody(`body: expected at most ${FORM_FIELDS_MAX} fields`);
  }
  return Object.fromEntries(
    [...new Set(sent.keys())].map((name) => {
      const [first, ...more] = sent.getAll(name);
      return [name, first === undefined || more.length > 0 ? sent.getAll(name) : first];
    }),
  );
}
