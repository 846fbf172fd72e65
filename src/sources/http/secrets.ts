// A provider may repeat what it was sent. No text shows a credential of the call, however short it
// is, nor anything that has the shape of one.

const KEY_LIKE = /[A-Za-z0-9_-]{24,}/g;
const WEB_ADDRESS = /https?:\/\/\S+/g;
/** A shorter segment of a path names a version or a network. */
const SEGMENT_CHARS_MIN = 8;
const REMOVED = '[…]';

/** The credentials that a configured address may carry: user info, query, segments of its path. */
export function secretsIn(url: URL): readonly string[] {
  const segments = url.pathname.split('/').filter(({ length }) => length >= SEGMENT_CHARS_MIN);
  return [url.username, url.password, ...url.searchParams.values(), ...segments];
}

/** A text without these credentials in any of the ways in which they are sent, and without URLs. */
export function removeSecrets(text: string, secrets: readonly string[]): string {
  const written = secrets.flatMap((one) => [one, encodeURIComponent(one), decodePercents(one)]);
  const longestFirst = written.filter((one) => one !== '').toSorted((a, b) => b.length - a.length);
  const plain = longestFirst.reduce((left, one) => left.replaceAll(one, REMOVED), text);
  return plain.replace(WEB_ADDRESS, '[address]').replace(KEY_LIKE, REMOVED);
}

// A malformed sequence is left as it is, where `decodeURIComponent` would throw.
function decodePercents(text: string): string {
  return String(
    new URLSearchParams(`text=${text.replace(/[+&]/g, encodeURIComponent)}`).get('text'),
  );
}
