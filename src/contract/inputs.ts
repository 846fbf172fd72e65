// The meanings of the fields of requests, by their names: a field means the same in every route. A
// schema with a description of its own keeps it.

/** The meaning of a field, and example values of the simulated world, tried in turn. */
type Input = { readonly means: string; readonly examples?: readonly unknown[] };

/** Listed in the simulated world; and one of its wallets on Solana. */
const LISTED = '0x64144967c175997fc8526ba694021ae36965331c';
const WALLET = 'NXwt11psf5yJvnrrbhLGTP6nRa8xuKD1RMHesUtETfS';
const DAY = 'A day of the calendar in UTC, `YYYY-MM-DD`';

/** The fields that a request may have. */
export const INPUTS: ReadonlyMap<string, Input> = new Map<string, Input>([
  [
    'address',
    { means: 'An address as it is written, in its letter case.', examples: [LISTED, WALLET] },
  ],
  ['addresses', { means: 'Addresses as they are written.', examples: [LISTED] }],
  ['after', { means: 'The `next_after` of the page before.' }],
  ['before', { means: 'The `next_before` of the page before.', examples: [1_000] }],
  ['bot_token', { means: 'The token of a bot of Slack or Telegram.' }],
  ['chain', { means: 'The chain that is asked about.' }],
  ['chains', { means: 'Names of chains. Left out: every chain.' }],
  ['channel', { means: 'The channel of Slack that the bot posts to.' }],
  ['chat_id', { means: 'The chat of Telegram that the bot posts to.' }],
  ['chat_platform', { means: 'The platform of the chat.' }],
  ['cursor', { means: 'The `next_cursor` of the page before.' }],
  ['explain', { means: 'Another address of the chain: why it is or is not tied to the first.' }],
  ['from', { means: `${DAY}: nothing from before it.`, examples: ['2026-01-15'] }],
  ['id', { means: 'The id under which it was created.' }],
  ['key', { means: 'The text that leaked: a key or a token, whole.' }],
  ['kinds', { means: 'The kinds of messages. Left out: all of them.' }],
  ['Last-Event-ID', { means: 'The id of the last event that was kept; a browser sends it.' }],
  ['limit', { means: 'How many entries at most.', examples: [10] }],
  ['mode', { means: 'How profit is laid in time. Left out: both ways.' }],
  [
    'pair',
    { means: 'An asset of the record of calls: `BTC-USD`, or `BTC`.', examples: ['BTC-USD'] },
  ],
  ['partition', { means: 'What time is cut into. Left out: every way.' }],
  ['list', { means: 'The name of one list. Left out: every list.' }],
  ['leaf', { means: 'The index of a leaf, or its kind and hash: `signal:0x…`.', examples: ['0'] }],
  [
    'on',
    {
      means: `${DAY}, not in the future: the list that was the newest then.`,
      examples: ['2026-01-15'],
    },
  ],
  ['q', { means: 'Words of title, description and tags.' }],
  [
    'rule',
    {
      means: 'A rule about calls, in the grammar of docs/reference/rules.md.',
      examples: ['funding > 0.05%/8h and asset in (BTC, ETH)'],
    },
  ],
  ['rules', { means: 'What the chat is told of. Left out: everything.' }],
  ['sections', { means: 'The sections that are asked for. Left out: all of them.' }],
  ['since', { means: 'The number of the last entry that was kept.', examples: [0, '0'] }],
  ['tables', { means: 'The tables to look in. Left out: all of them.' }],
  ['window', { means: 'One window of the leaderboard alone: calls received within it.' }],
  ['target', { means: 'An address or a token: signals about it alone.' }],
  [
    'tile',
    {
      means: 'The path of a tile, slashes included, as C2SP tlog-tiles writes it.',
      examples: ['0/000.p/1'],
    },
  ],
  ['to', { means: `${DAY}: nothing from after it.`, examples: ['2026-01-15'] }],
  ['token', { means: 'The access token, of a client that can set no header.' }],
  ['version', { means: 'The version of a model.', examples: ['rug-1-0123456789ab'] }],
  ['webhook_id', { means: 'The number in the address of a webhook of Discord.' }],
  ['webhook_token', { means: 'The secret in the address of a webhook of Discord.' }],
  ['webhook_url', { means: 'The address of a webhook of Slack.' }],
]);
