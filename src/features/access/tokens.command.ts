// Answers one question: how does an operator mint, list and revoke bearer tokens of the
// intelligence service.
// A token is shown once, when it is minted.

import {
  type Command,
  EXIT,
  type Io,
  oneOf,
  readArgs,
  requireOption,
} from '../../command/command.ts';
import { print, printJson, tableLines, timeText } from '../../command/output.ts';
import { showList } from '../../command/readings.ts';
import {
  type IntelligenceToken,
  type NewToken,
  TOKEN_TIERS,
  type TokenStore,
  type TokenTier,
} from '../../ports/access/key-store.ts';
import { revocationShown } from './keys.command.ts';

/** The services of the token commands. A minted token's `text` is it. `now` is Unix seconds. */
export type TokenServices = {
  readonly tokens: TokenStore;
  readonly mintToken: (tier: TokenTier) => { readonly text: string; readonly stored: NewToken };
  readonly now: () => number;
};

const mint: Command<TokenServices> = {
  name: 'tokens mint',
  summary: 'Mint a bearer token of the intelligence service.',
  usage: 'exhibit tokens mint --tier TIER [--json]',
  example: 'exhibit tokens mint --tier pro',
  details: [
    `--tier   one of ${TOKEN_TIERS.join(', ')}`,
    'The token is printed once. Mint one of its own for clients that send it in a URL.',
  ],
  run: async (argv, io, { tokens, mintToken }) => {
    const { values } = readArgs(argv, { options: { tier: { type: 'string' } } });
    const tier = oneOf(requireOption(values.tier, '--tier'), '--tier', TOKEN_TIERS);
    const { text, stored } = mintToken(tier);
    const added = await tokens.add(stored);
    if (!added.checked) {
      io.err(added.why.reason);
      return EXIT.failed;
    }
    if (io.json) printJson(io, { token: text, tier });
    else {
      io.out(text);
      io.err(`This token is shown once. Its tier is ${tier}.`);
    }
    return EXIT.done;
  },
};

const list: Command<TokenServices> = {
  name: 'tokens list',
  summary: 'List the tokens that were minted here; never the tokens themselves.',
  usage: 'exhibit tokens list [--json]',
  example: 'exhibit tokens list',
  details: ['--json   one token a line'],
  run: async (argv, io, { tokens }) => {
    readArgs(argv, { options: {} });
    return showList(await tokens.list(), io, {
      none: 'No token was minted.',
      rows: (rows) => print(io, tokenLines(rows, io)),
      json: (one) => one,
    });
  },
};

function tokenLines(tokens: readonly IntelligenceToken[], io: Io): string[] {
  const titles = ['prefix', 'id', 'tier', 'created', 'revoked'];
  const rows = tokens.map((one) => [
    one.prefix,
    one.id,
    one.tier,
    timeText(one.created_at),
    timeText(one.revoked_at),
  ]);
  return tableLines(
    titles.map((title) => ({ title })),
    rows,
    io,
  );
}

const revoke: Command<TokenServices> = {
  name: 'tokens revoke',
  summary: 'Revoke a token.',
  usage: 'exhibit tokens revoke PREFIX-OR-ID [--json]',
  example: 'exhibit tokens revoke tok_4fQz81Lm',
  run: async (argv, io, { tokens, now }) => {
    const { positionals } = readArgs(argv, { options: {}, positionals: ['PREFIX-OR-ID'] });
    const reading = await tokens.revoke(requireOption(positionals[0], 'PREFIX-OR-ID'), now());
    if (!reading.checked) {
      io.err(reading.why.reason);
      return EXIT.failed;
    }
    return revocationShown(reading.value, 'token', io);
  },
};

/** The token commands. */
export const tokenCommands: readonly Command<TokenServices>[] = [mint, list, revoke];
