// Starts what is measured and asks it, as most benches do.

import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { request } from 'undici';
import type { SameBytes } from './bare-server.ts';
import { askChild, child, endChild, OWN_BUILD } from './children.ts';
import type { Load, LoadResult } from './closed-loop.ts';
import { type Furnished, KEYS } from './furnish.ts';

/** Connections that ask for many addresses at once. */
export const BULK_CONNECTIONS = 16;
/** Addresses of one bulk screen. */
export const BULK_SIZE = 500;
const BULK_REQUESTS = 200;
const LISTED_SHARE = 0.01;

/** A running service of a build. */
export type Started = {
  readonly process_: ChildProcess;
  readonly port: number;
  readonly pid: number;
};

/** Starts the service of a build; `charging`: whether it stores each charge. */
export async function startService(
  env: Furnished['env'],
  charging: boolean,
  build: URL = OWN_BUILD,
): Promise<Started> {
  const process_ = child('service', build);
  const { port } = (await askChild(process_, { env, charging })) as { port: number };
  const { pid } = process_;
  if (pid === undefined) throw new Error('the service has no process id');
  return { process_, port, pid };
}

/** Sends requests from a process of its own. */
export async function load(order: Load): Promise<LoadResult> {
  const generator = child('closed-loop');
  try {
    return (await askChild(generator, order)) as LoadResult;
  } finally {
    await endChild(generator, 'SIGKILL');
  }
}

// Node writes these by itself, for the service and for the bare server alike.
const OF_NODE = ['connection', 'date', 'keep-alive'];

/** The head and the body of an answer, for a bare server that writes the same. */
export async function sameBytes(
  url: string,
  headers: { readonly [name: string]: string },
): Promise<SameBytes> {
  const answer = await request(url, { headers });
  const sent = Object.entries(answer.headers).filter(([name]) => !OF_NODE.includes(name));
  return { headers: sent.flat().map(String), body: await answer.body.text() };
}

/** The middle of some values. */
export function middle(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const found = sorted[Math.floor(sorted.length / 2)];
  if (found === undefined) throw new Error('nothing was measured');
  return found;
}

/** A line of a head, with a key. Drawn: connections that walk in step would meet at a few keys. */
export function bearer(keys: readonly string[]): string {
  return `Authorization: Bearer ${keys[Math.floor(Math.random() * KEYS)]}\r\n`;
}

/** An EVM address, which is listed with a fixed share. */
export function drawEvm(listed: readonly string[]): string {
  if (Math.random() < LISTED_SHARE) {
    const one = listed[Math.floor(Math.random() * listed.length)];
    if (one !== undefined) return one;
  }
  return `0x${randomBytes(20).toString('hex')}`;
}

/** The body of a bulk screen. */
export function bulkBody(draw: () => string): string {
  return JSON.stringify({ addresses: Array.from({ length: BULK_SIZE }, draw) });
}

/** The bodies of several bulk screens. */
export function bulkBodies(draw: () => string): string[] {
  return Array.from({ length: BULK_REQUESTS }, () => bulkBody(draw));
}

/** Requests for bulk screens with these bodies. */
export function bulkRequests(bodies: readonly string[], keys: readonly string[]): string[] {
  return bodies.map(
    (body) =>
      'POST /api/v1/bulk/wallet-screen HTTP/1.1\r\nHost: bench\r\n' +
      `${bearer(keys)}content-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
