// Answers one question: which transfers of an address does a parsed Solana transaction tell?
// It takes what instructions of the system and token programs move. Programs can move lamports of
// accounts that they own without one, so that what it finds is never all that there may be.

import { z } from 'zod';
import { parseRawAmount } from '../../chain/amount.ts';
import type { HistoryTransfer } from '../../ports/history/transfer-history.ts';
import { outsideRow } from '../http/forms.ts';

const amount = z.union([z.number().int().nonnegative(), z.string().regex(/^[0-9]{1,20}$/)]);
const instruction = outsideRow({ program: z.string().optional(), parsed: z.unknown().optional() });
const balance = outsideRow({
  accountIndex: z.number().int().nonnegative(),
  mint: z.string(),
  owner: z.string().optional(),
  uiTokenAmount: outsideRow({ decimals: z.number().int().min(0).max(255) }),
});

const accountKey = outsideRow({ pubkey: z.string() });

/** A transaction as `getTransaction` gives it with `jsonParsed`, as far as it is read. */
export const parsedTransaction = outsideRow({
  slot: z.number().int().nonnegative(),
  blockTime: z.number().int().nonnegative(),
  meta: outsideRow({
    err: z.unknown().optional(),
    preTokenBalances: z.array(balance).nullish(),
    postTokenBalances: z.array(balance).nullish(),
    innerInstructions: z.array(outsideRow({ instructions: z.array(instruction) })).nullish(),
  }),
  transaction: outsideRow({
    signatures: z.tuple([z.string()], z.string()),
    message: outsideRow({
      accountKeys: z.tuple([accountKey], accountKey),
      instructions: z.array(instruction),
    }),
  }),
});
export type ParsedTransaction = z.output<typeof parsedTransaction>;

const moved = outsideRow({
  type: z.enum(['transfer', 'transferWithSeed', 'createAccount', 'createAccountWithSeed']),
  info: outsideRow({
    source: z.string(),
    destination: z.string().optional(),
    newAccount: z.string().optional(),
    lamports: amount,
  }),
});
const tokenMoved = outsideRow({
  type: z.enum(['transfer', 'transferChecked', 'transferCheckedWithFee']),
  info: outsideRow({
    source: z.string(),
    destination: z.string(),
    amount: amount.optional(),
    mint: z.string().optional(),
    tokenAmount: outsideRow({ amount, decimals: z.number().int().min(0).max(255) }).optional(),
  }),
});

const TOKEN_PROGRAMS: ReadonlySet<string> = new Set(['spl-token', 'spl-token-2022']);

type Holder = { readonly owner: string; readonly mint: string; readonly decimals: number };

/** What a transaction that succeeded moved from or to an address; of a failed one, nothing. */
export function transfersIn(tx: ParsedTransaction, address: string): HistoryTransfer[] {
  const { meta, transaction } = tx;
  if (meta.err !== null && meta.err !== undefined) return [];
  const [signature] = transaction.signatures;
  const [payer] = transaction.message.accountKeys;
  const common = {
    chain: 'solana',
    tx: signature,
    block: tx.slot,
    at: tx.blockTime,
    symbol: null,
    usd: null,
    has_market: null,
    success: true,
    initiator: payer.pubkey,
  } as const;
  const holders = holdersOf(tx);
  const found: HistoryTransfer[] = [];
  const take = (one: z.output<typeof instruction>, kind: 'native' | 'internal'): void => {
    const what = one.program === 'system' ? lamportsIn(one.parsed, kind) : null;
    const token =
      one.program !== undefined && TOKEN_PROGRAMS.has(one.program)
        ? tokensIn(one.parsed, holders)
        : null;
    const told = what === null ? token : what;
    if (told !== null && told.from !== told.to) found.push({ ...common, ...told });
  };
  for (const one of transaction.message.instructions) take(one, 'native');
  const { innerInstructions } = meta;
  if (innerInstructions !== null && innerInstructions !== undefined) {
    for (const { instructions } of innerInstructions) {
      for (const one of instructions) take(one, 'internal');
    }
  }
  return found.filter(({ from, to }) => from === address || to === address);
}

type Told = Pick<HistoryTransfer, 'kind' | 'token' | 'decimals' | 'raw_amount' | 'from' | 'to'>;

function lamportsIn(parsed: unknown, kind: 'native' | 'internal'): Told | null {
  const read = moved.safeParse(parsed);
  if (!read.success) return null;
  const { source, destination, newAccount, lamports } = read.data.info;
  const to = destination === undefined ? newAccount : destination;
  const raw_amount = parseRawAmount(String(lamports));
  if (to === undefined || raw_amount === null) return null;
  return { kind, token: null, decimals: null, raw_amount, from: source, to };
}

/** Token accounts stand for their owners, where the transaction tells them. */
function tokensIn(parsed: unknown, holders: ReadonlyMap<string, Holder>): Told | null {
  const read = tokenMoved.safeParse(parsed);
  if (!read.success) return null;
  const { source, destination, amount: plain, mint, tokenAmount } = read.data.info;
  const [giver, taker] = [holders.get(source), holders.get(destination)];
  const known = giver === undefined ? taker : giver;
  const token = mint === undefined ? known?.mint : mint;
  const raw = tokenAmount === undefined ? plain : tokenAmount.amount;
  const raw_amount = raw === undefined ? null : parseRawAmount(String(raw));
  if (token === undefined || raw_amount === null) return null;
  const decimals = tokenAmount === undefined ? known?.decimals : tokenAmount.decimals;
  return {
    kind: 'token',
    token,
    raw_amount,
    decimals: decimals === undefined ? null : decimals,
    from: giver === undefined ? source : giver.owner,
    to: taker === undefined ? destination : taker.owner,
  };
}

function holdersOf({ meta, transaction }: ParsedTransaction): Map<string, Holder> {
  const holders = new Map<string, Holder>();
  for (const list of [meta.preTokenBalances, meta.postTokenBalances]) {
    if (list === null || list === undefined) continue;
    for (const { accountIndex, mint, owner, uiTokenAmount } of list) {
      const account = transaction.message.accountKeys[accountIndex];
      if (account === undefined || owner === undefined) continue;
      holders.set(account.pubkey, { owner, mint, decimals: uiTokenAmount.decimals });
    }
  }
  return holders;
}

/** The token accounts that a transaction shows an address to own, closed ones too. */
export function tokenAccountsIn(tx: ParsedTransaction, address: string): string[] {
  return [...holdersOf(tx)].flatMap(([account, { owner }]) => (owner === address ? [account] : []));
}
