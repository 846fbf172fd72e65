// Asks a node who holds a token of Solana and who has powers over it. A node tells of the twenty
// largest accounts; one that is asked of a very large token may refuse, which is silence.

import { z } from 'zod';
import { parseRawAmount } from '../../chain/amount.ts';
import { both, map, type Partly, part, read, rowsSeen, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  HeldToken,
  TokenAccount,
  TokenHolders,
  TokenHoldersPort,
  TokenMint,
} from '../../ports/token-holders.ts';
import { outsideBody, outsideRow } from '../http/fetch.ts';
import { heldMethod, type LiveHolding } from '../http/held-readings.ts';
import { originText } from '../http/outbound-call.ts';
import {
  type CallBudget,
  observation,
  ProviderFault,
  tryReading,
  whyUnanswered,
  withBudget,
} from '../http/provider.ts';
import { callMethod, checkMainnet, type SolanaNode, TOKEN_PROGRAM_IDS } from './history.ts';

const PORT: TokenHoldersPort = 'token_holders';
/** The network, the accounts and their owners, each tried again. */
const CALLS_MAX = 6;
/** A node gives no more of them. */
const LARGEST_MAX = 20;
const HOW = { encoding: 'jsonParsed', commitment: 'finalized' } as const;

type HoldersOptions = SolanaNode & {
  /** Unix seconds. */
  readonly now: () => number;
  readonly timeMs: number;
  readonly simulated: boolean;
} & LiveHolding;

/** Tokens of Solana through a node; `null`: none is configured. */
export function solanaTokenHolders(options: HoldersOptions | null): TokenHolders {
  if (options === null) {
    const unset = unread(PORT, why('not_configured', { what: 'A node of solana' }));
    return { mintOf: async () => unset, largestOf: async () => unset };
  }
  const ask = askerOfNode(options);
  const mintOf = heldMethod<readonly [string], Partly<TokenMint | null, TokenHoldersPort>>(
    options,
    ([address], signal) => ask(signal, (budget) => readMint(options, address, budget)),
    (reason) => unread(PORT, reason),
  );
  return {
    mintOf: (address, signal) => mintOf([address], signal),
    largestOf: async (address, signal) => {
      const mint = await mintOf([address], signal);
      const seen = rowsSeen(map(mint, (one) => [one]));
      if (seen === null || seen[0] === null) return map(mint, () => null);
      const accounts = await ask(signal, (budget) => readLargest(options, address, budget));
      return map(both({ mint, accounts }), (known): HeldToken | null =>
        known.mint === null ? null : { mint: known.mint, accounts: known.accounts },
      );
    },
  };
}

/** Asks under a budget of each question, once the node is known to be of the main network. */
function askerOfNode(options: HoldersOptions) {
  const { url, now, timeMs, simulated } = options;
  const shown = originText(url);
  const toReason = (fault: string) =>
    why('provider_failed', { provider: `Solana node ${shown}`, fault });
  let isMain = false;
  return <T>(
    signal: AbortSignal,
    work: (budget: CallBudget) => Promise<T>,
  ): Promise<Partly<T, TokenHoldersPort>> =>
    tryReading<Partly<T, TokenHoldersPort>, TokenHoldersPort>(
      PORT,
      (error) => whyUnanswered(error, toReason),
      async () => {
        const value = await withBudget({ timeMs, callsMax: CALLS_MAX, signal }, async (budget) => {
          if (!isMain) await checkMainnet(options, budget);
          isMain = true;
          return work(budget);
        });
        const source = observation({ name: 'Solana JSON-RPC', url: shown, simulated }, now);
        const origin = { port: PORT, source } as const;
        return simulated ? part(value, origin, why('simulated')) : read(value, origin);
      },
    );
}

const units = z.string().regex(/^[0-9]{1,20}$/);
const mintInfo = outsideRow({
  supply: units,
  decimals: z.int().min(0).max(255),
  mintAuthority: z.string().nullable(),
  freezeAuthority: z.string().nullable(),
  extensions: z
    .array(
      outsideRow({
        extension: z.string(),
        state: outsideRow({ delegate: z.string().nullish() }).nullish(),
      }),
    )
    .nullish(),
});
const parsedData = outsideRow({
  parsed: outsideRow({ type: z.string(), info: z.unknown().optional() }),
});
/** What a node does not parse stands in its other encoding. */
const rawData = z.tuple([z.string(), z.string()]);
const account = outsideRow({ owner: z.string(), data: z.union([parsedData, rawData]) }).nullable();
const oneAccount = outsideBody({ value: account });
const someAccounts = outsideBody({ value: z.array(account) });
const largestAccounts = outsideBody({
  value: z.array(outsideRow({ address: z.string(), amount: units })).max(LARGEST_MAX),
});
const accountInfo = outsideRow({ mint: z.string(), owner: z.string() });

const PROGRAMS: ReadonlyMap<string, TokenMint['program']> = new Map([
  [TOKEN_PROGRAM_IDS[0], 'token'],
  [TOKEN_PROGRAM_IDS[1], 'token_2022'],
]);

/** A mint; `null` of an account of anything else, and of none. */
async function readMint(
  node: SolanaNode,
  address: string,
  budget: CallBudget,
): Promise<TokenMint | null> {
  const { value } = await callMethod(node, 'getAccountInfo', [address, HOW], oneAccount, budget);
  const program = value === null ? undefined : PROGRAMS.get(value.owner);
  if (value === null || program === undefined) return null;
  // What a token program owns is a mint, an account or a group of signers: a node parses each.
  if (!('parsed' in value.data)) throw shapeFault('getAccountInfo');
  if (value.data.parsed.type !== 'mint') return null;
  const info = mintInfo.safeParse(value.data.parsed.info);
  if (!info.success) throw shapeFault('getAccountInfo');
  const { supply, decimals, mintAuthority, freezeAuthority, extensions } = info.data;
  const delegate = extensions?.find(({ extension }) => extension === 'permanentDelegate');
  return {
    program,
    supply: rawAmount(supply),
    decimals,
    mint_authority: mintAuthority,
    freeze_authority: freezeAuthority,
    permanent_delegate: textOrNull(delegate?.state?.delegate),
  };
}

async function readLargest(
  node: SolanaNode,
  mint: string,
  budget: CallBudget,
): Promise<readonly TokenAccount[]> {
  const { commitment } = HOW;
  const params = [mint, { commitment }];
  const largest = await callMethod(
    node,
    'getTokenLargestAccounts',
    params,
    largestAccounts,
    budget,
  );
  const held = largest.value.filter(({ amount }) => rawAmount(amount) > 0n);
  if (held.length === 0) return [];
  const asked = [held.map(({ address }) => address), HOW];
  const { value } = await callMethod(node, 'getMultipleAccounts', asked, someAccounts, budget);
  if (value.length !== held.length) throw shapeFault('getMultipleAccounts');
  return held.map(({ address, amount }, i): TokenAccount => {
    const found = value[i];
    const owner = found === null || found === undefined ? null : ownerIn(found, mint);
    return { account: address, owner, raw_amount: rawAmount(amount) };
  });
}

function ownerIn({ data }: NonNullable<z.output<typeof account>>, mint: string): string {
  const info = 'parsed' in data ? accountInfo.safeParse(data.parsed.info) : null;
  if (info?.success === true && info.data.mint === mint) return info.data.owner;
  throw new ProviderFault('answered an account of another mint', 'lasting');
}

function rawAmount(text: string): bigint {
  const raw = parseRawAmount(text);
  if (raw === null) throw new TypeError('solana: an amount that passed its pattern');
  return raw;
}

function textOrNull(text: string | null | undefined): string | null {
  return text === undefined ? null : text;
}

function shapeFault(method: string): ProviderFault {
  return new ProviderFault(`answered JSON of another shape to ${method}`, 'passing');
}
