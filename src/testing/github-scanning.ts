// A stand-in for GitHub's secret scanning: it lists its public keys as its REST API does, and signs
// bodies as it signs what it tells partners, the faults of both included.

import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer } from 'node:http';
import { onTestFinished } from 'vitest';

/** How the list of keys is answered: whole, or by one of the faults of an API. */
export type ListFault =
  | 'none'
  | 'rate_limited'
  | 'down'
  | 'html'
  | 'empty_list'
  | 'other_form'
  | 'cut'
  | 'other_curve';

type Signer = { readonly identifier: string; readonly pem: string; readonly key: KeyObject };

function signerOf(namedCurve: string): Signer {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve });
  const pem = String(publicKey.export({ type: 'spki', format: 'pem' }));
  const identifier = createHash('sha256').update(pem).digest('hex');
  return { identifier, pem, key: privateKey };
}

/** One match, as the partner program sends it. */
export type Match = {
  readonly token: string;
  readonly type?: string;
  readonly url?: string;
  readonly source?: string;
};

/** Starts it until the end of the test. */
export async function startGithubScanning() {
  let signers = [signerOf('prime256v1')];
  let fault: ListFault = 'none';
  const asked: string[] = [];
  const whole = () => ({
    public_keys: signers.map(({ identifier, pem }, at) => {
      return { key_identifier: identifier, key: pem, is_current: at === signers.length - 1 };
    }),
  });
  const bodies: { readonly [F in ListFault]: () => { status: number; text: string } } = {
    none: () => ({ status: 200, text: JSON.stringify(whole()) }),
    rate_limited: () => ({
      status: 403,
      text: JSON.stringify({ message: 'API rate limit exceeded for 192.0.2.1.' }),
    }),
    down: () => ({ status: 503, text: '' }),
    html: () => ({ status: 200, text: '<!DOCTYPE html><title>Unicorn</title>' }),
    empty_list: () => ({ status: 200, text: '{"public_keys":[]}' }),
    other_form: () => ({ status: 200, text: '{"keys":[]}' }),
    cut: () => ({ status: 200, text: JSON.stringify(whole()).slice(0, -20) }),
    other_curve: () => {
      const public_keys = whole().public_keys.map((row) => {
        return { ...row, key: signerOf('secp384r1').pem };
      });
      return { status: 200, text: JSON.stringify({ public_keys }) };
    },
  };
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const { status, text } = bodies[fault]();
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(text);
  });
  await new Promise<void>((listens) => server.listen(0, '127.0.0.1', listens));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('test: no port');
  const newest = (): Signer => {
    const signer = signers.at(-1);
    if (signer === undefined) throw new Error('test: no key signs');
    return signer;
  };
  return {
    url: `http://127.0.0.1:${address.port}`,
    asked,
    setFault: (next: ListFault) => {
      fault = next;
    },
    /** Another key signs from now on; the one before stays on the list. */
    rotate: () => {
      signers = [...signers, signerOf('prime256v1')];
    },
    /** The body and the headers of a message. */
    message: (matches: readonly Match[] | string) => signedMessage(matches, newest()),
    /** The same, signed by a key that it never listed. */
    forged: (matches: readonly Match[] | string) =>
      signedMessage(matches, { ...newest(), key: signerOf('prime256v1').key }),
  };
}

function signedMessage(matches: readonly Match[] | string, { identifier, key }: Signer) {
  const body = typeof matches === 'string' ? matches : JSON.stringify(matches);
  const signature = sign('sha256', Buffer.from(body), { key, dsaEncoding: 'der' });
  const headers: { readonly [name: string]: string } = {
    'content-type': 'application/json',
    'github-public-key-identifier': identifier,
    'github-public-key-signature': signature.toString('base64'),
  };
  return { body, headers };
}
