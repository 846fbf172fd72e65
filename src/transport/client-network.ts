// Names the network of a request: somebody who tries codes has many addresses, and few networks.

import type { IncomingMessage } from 'node:http';
import { isIPv4 } from 'node:net';

const OCTETS = 3;
const GROUPS = 3;

/**
 * The first 24 bits of an IPv4 address, or 48 of an IPv6 one. Behind a proxy that is believed it is
 * the address that this proxy wrote, which stands last: whatever stands before it, a client wrote.
 */
export function clientNetwork({ headers, socket }: IncomingMessage, trustProxy: boolean): string {
  const { 'x-forwarded-for': forwarded } = headers;
  const last = trustProxy ? String(forwarded).split(',').at(-1)?.trim() : undefined;
  const isGiven = forwarded !== undefined && last !== undefined;
  const address = String(isGiven ? last : socket.remoteAddress).replace(/^::ffff:(?=[0-9.]+$)/, '');
  if (isIPv4(address)) return address.split('.').slice(0, OCTETS).join('.');
  const [head = ''] = address.toLowerCase().split('::');
  const groups = [...head.split(':'), '', ''].slice(0, GROUPS);
  return groups.map((group) => Number.parseInt(`0${group}`, 16).toString(16)).join(':');
}
