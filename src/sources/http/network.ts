// Answers one question: does an address lie inside this network, where a redirect from outside must
// not lead.
// Names are judged by the addresses that a connection is then made to, in the same look-up, so that
// a name cannot mean one address when it is judged and another when it is asked.

import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { FetchFault } from './outbound-call.ts';

/** Loopback, private, link-local and shared addresses, and those that no host on the web has. */
const INSIDE_V4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const;
const INSIDE_V6 = [
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 9],
  ['ff00::', 8],
  ['2002::', 16],
  ['2001::', 32],
] as const;
/** An IPv4 address written as IPv6 for a translator behind it. */
const TRANSLATED = { prefix: '64:ff9b::', bits: 96 } as const;

const INSIDE = new BlockList();
for (const [net, bits] of INSIDE_V4) {
  INSIDE.addSubnet(net, bits, 'ipv4');
  INSIDE.addSubnet(TRANSLATED.prefix + net, TRANSLATED.bits + bits, 'ipv6');
}
for (const [net, bits] of INSIDE_V6) INSIDE.addSubnet(net, bits, 'ipv6');

/** Whether an IP address lies inside. */
export type IsInside = (address: string) => boolean;

/** The rule of the real network. An IPv4 address mapped into IPv6 counts as itself. */
export const isInsideAddress: IsInside = (address) =>
  INSIDE.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** The host of a URL as an IP address; `null` where it is a name. */
export function literalHost({ hostname }: URL): string | null {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? null : bare;
}

/** Which addresses a call may be made to, and what is said of any other. */
export type Reach = { readonly allowed: IsInside; readonly otherwise: string };

/** Refuses a literal address that may not be asked; names are for `lookupWithin`. */
export function refuseLiteral(url: URL, { allowed, otherwise }: Reach): void {
  const literal = literalHost(url);
  if (literal !== null && !allowed(literal)) throw new FetchFault(otherwise);
}

/** A look-up for a connection: a name that means any address out of reach fails it. */
export function lookupWithin({ allowed, otherwise }: Reach): LookupFunction {
  return (name, options, done) => {
    lookup(name, { ...options, all: true }, (error, found: LookupAddress[]) => {
      if (error !== null) return done(error, '', 0);
      if (!found.every(({ address }) => allowed(address))) {
        return done(new FetchFault(otherwise), '', 0);
      }
      if (options.all === true) return done(null, found);
      const [first] = found;
      if (first === undefined) return done(new FetchFault('its name has no address'), '', 0);
      done(null, first.address, first.family);
    });
  };
}
