// Answers one question: which headers does every response carry, whatever it says.

/** Headers of every answer of the API: nothing may be framed, sniffed, cached or referred. */
export const API_HEADERS: { readonly [name: string]: string } = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
};

/** Headers of every page: own styles and scripts, nothing inline, nothing from another host. */
export const PAGE_HEADERS: { readonly [name: string]: string } = {
  ...API_HEADERS,
  // With no referrer at all browsers hide the origin of a form from us too.
  'referrer-policy': 'same-origin',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; " +
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
};
