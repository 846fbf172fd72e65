// The origins of pages that a publishable key lists. They are written as browsers send them, so
// that to compare is enough.

/** So many origins one key lists at most. */
export const ORIGINS_MAX = 10;
const ORIGIN_CHARS_MAX = 200;
/** A host as browsers write it; a parser of URLs lets more pass, such as a `*`. */
const HOST = /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:.]+\])$/;
export const ORIGIN_FORM =
  'an origin as https://app.example, without a path, or http://localhost:PORT for development';

/** Whether a text is an origin that a key may list: one host of https, or a port of localhost. */
export function isListableOrigin(text: string): boolean {
  if (text.length > ORIGIN_CHARS_MAX || !URL.canParse(text)) return false;
  const { protocol, hostname, origin, port } = new URL(text);
  if (origin !== text || !HOST.test(hostname)) return false;
  return protocol === 'https:' || (protocol === 'http:' && hostname === 'localhost' && port !== '');
}
