// Answers one question: how is a status page asked, and what do its answers mean.

import { z } from 'zod';
import type {
  DepositStatus,
  StatusPage,
  StatusQuery,
} from '../../ports/bridges/bridge-arrivals.ts';
import type { BridgeProtocol } from '../../ports/bridges/bridge-registry.ts';
import { ProviderFault } from '../http/provider.ts';

/** One page. `read` throws `ProviderFault` where an answer is no such answer, or another's. */
export type PageReader = {
  readonly page: StatusPage;
  readonly protocols: readonly BridgeProtocol[];
  /** `null` where the deposit bears nothing that the page is asked by. */
  readonly question: (
    root: URL,
    asked: StatusQuery,
  ) => { readonly url: URL; readonly body: unknown } | null;
  readonly read: (answer: unknown, asked: StatusQuery) => Omit<DepositStatus, 'page'>;
};

/** An address below a page's root. */
export function below(root: URL, path: string, query?: Readonly<Record<string, string>>): URL {
  const url = new URL(root);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path}`;
  if (query !== undefined) url.search = new URLSearchParams(query).toString();
  return url;
}

/** An answer under its schema. */
export function shaped<T>(schema: z.ZodType<T>, answer: unknown): T {
  const told = schema.safeParse(answer);
  if (!told.success) throw new ProviderFault('answered JSON of another shape', 'passing');
  return told.data;
}

/** Refuses an answer that names another deposit. */
export function sameDeposit(isSame: boolean): void {
  if (!isSame) throw new ProviderFault('answered of another deposit', 'lasting');
}

/** A transaction hash, in lower case. */
export const HASH = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/)
  .transform((text) => text.toLowerCase());

/** Whether an id is one of 32 bytes. */
export function isHash(id: string | null): id is string {
  return id !== null && /^0x[0-9a-f]{64}$/.test(id);
}

/** What was paid: a page that says so and names no transaction has not said where. */
export function paidIn(tx: string | null | undefined, word: string) {
  if (tx === null || tx === undefined) return { state: 'unknown', tx: null, word } as const;
  return { state: 'paid', tx, word } as const;
}
