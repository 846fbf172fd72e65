// TLS servers of tests: those started here are trusted for as long as a test needs them. Their key
// is made for tests and opens nothing.

import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';

const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgEPFsrCpsLUXfzx7T
xE224z34if3Np1UZe/h6k2BgisKhRANCAASSqosjsSnWLXgcbQm0KSrnXftGm4yJ
DaSWoNyunZ38GEM1CWgri53yKo8c7y172k4PFO8Z+zlqkgxQ9yeyswNU
-----END PRIVATE KEY-----`;
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBqTCCAU+gAwIBAgIUXSTjq09qw/s94WrB07UonU7u0sMwCgYIKoZIzj0EAwIw
GzEZMBcGA1UEAwwQc3RhbmQtaW4uaW52YWxpZDAgFw0yNjExMjIwNjU5NDlaGA8y
MTI2MTAyOTA2NTk0OVowGzEZMBcGA1UEAwwQc3RhbmQtaW4uaW52YWxpZDBZMBMG
ByqGSM49AgEGCCqGSM49AwEHA0IABJKqiyOxKdYteBxtCbQpKudd+0abjIkNpJag
3K6dnfwYQzUJaCuLnfIqjxzvLXvaTg8U7xn7OWqSDFD3J7KzA1SjbzBtMB0GA1Ud
DgQWBBQv5P9IIw8uw3pxAbHEs7IdeOdXczAfBgNVHSMEGDAWgBQv5P9IIw8uw3px
AbHEs7IdeOdXczAPBgNVHRMBAf8EBTADAQH/MBoGA1UdEQQTMBGCCWxvY2FsaG9z
dIcEfwAAATAKBggqhkjOPQQDAgNIADBFAiB2MCDS6Jh7wJKGYu7Fsc3FqZmuZK/p
BzKiJHSj9rE0eAIhAK2nCHNs08CQQc3NhwGwlUevWhEYIoBMf89Hc3RhCkVb
-----END CERTIFICATE-----`;

/** A server on an address of this machine, by its origin. */
export type SecureStandIn = { readonly origin: string; readonly close: () => Promise<void> };

/** Starts a server that speaks TLS on a free port. */
export async function startSecure(at: string, listener: RequestListener): Promise<SecureStandIn> {
  const server = createServer({ key: KEY, cert: CERTIFICATE }, listener);
  await new Promise<void>((resolve) => server.listen(0, at, resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    origin: `https://${at}:${address.port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Has this process take any certificate until what is returned is called. */
export function trustAnyCertificate(): () => void {
  const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  return () => {
    if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
  };
}
