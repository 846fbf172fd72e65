// Each platform accepts its own messages, and each of its failures has its own end.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Read, Unread } from '../../evidence/reading.ts';
import type { ChatPost, ChatTarget } from '../../ports/integrations.ts';
import { startFront } from '../../testing/damaged-front.ts';
import { chatsAt } from '../../testing/integrations.ts';
import { CHAT_FAULTS, MOVED_CHAT, type StartedChats, startChats } from '../../world/chat-api.ts';
import { discordMessage } from './discord.ts';
import { layOut } from './exchange.ts';
import { slackMessage } from './slack.ts';
import { telegramMessage } from './telegram.ts';

const SIGNAL = new AbortController().signal;
const TARGETS = {
  'a Slack webhook': { platform: 'slack', webhook: 'T0TEST/B0TEST/abcdefghijklmnopqrstuvwx' },
  'a Slack bot': { platform: 'slack', bot_token: 'xoxb-1-2-abcdefghij', channel: '#alerts' },
  'a Discord webhook': {
    platform: 'discord',
    webhook_id: '123456789012345678',
    webhook_token: 'd'.repeat(68),
  },
  'a Telegram bot': {
    platform: 'telegram',
    bot_token: `123456789:${'t'.repeat(35)}`,
    chat_id: '-1234567',
  },
} as const satisfies { [name: string]: ChatTarget };
const NAMED = Object.entries(TARGETS);
const POST: ChatPost = {
  title: 'A launch was flagged on base',
  facts: ['Token: 0x1', 'Evidence: Of 14 earlier launches of its deployer 13 died.'],
  caveat: 'A flag is evidence about a launch.',
  path: '/deployer/base/0x1',
  link: 'https://exhibit.example/deployer/base/0x1',
  more_link: {
    title: 'Card of the model',
    url: 'https://exhibit.example/models/rug/rug-2-0123456789ab',
  },
  dispatch: 17,
  at: 1_790_251_200,
  simulated: false,
};

let chats: StartedChats;
beforeAll(async () => {
  chats = await startChats();
});
afterAll(() => chats.close());
afterEach(() => chats.fault(null));

const platforms = () => chatsAt(chats.roots);

const answerOf = async (target: ChatTarget, signal = SIGNAL) => {
  const said = await platforms().post(target, POST, signal);
  return said instanceof Unread ? `unread: ${said.why.reason}` : said.value;
};

test.each([401, 403, 404])('%i of Telegram says that the bot is gone from there', async (code) => {
  const refused = { ok: false, error_code: code, description: 'Forbidden: the bot was kicked' };
  const front = await startFront(async () => JSON.stringify(refused));
  const roots = { ...chats.roots, telegram: String(front.url) };
  const said = await chatsAt(roots).post(TARGETS['a Telegram bot'], POST, SIGNAL);
  front.close();
  expect(said instanceof Read && said.value).toMatchObject({ outcome: 'broken' });
});

test.each([
  ['ratelimited', 'said ratelimited'],
  ['fatal_error', 'answered something that it does not say'],
])('%s of Slack is told as what it is, and the post waits', async (error, fault) => {
  const front = await startFront(async () => JSON.stringify({ ok: false, error }));
  const roots = { ...chats.roots, slack: String(front.url) };
  const said = await chatsAt(roots).post(TARGETS['a Slack bot'], POST, SIGNAL);
  front.close();
  expect(said instanceof Read && said.value).toEqual({ outcome: 'later', fault, wait_s: null });
});

test('facts that have no room at all are counted, and no fact twice', () => {
  const layout = { unitsMax: 1, escaped: (text: string) => text };
  expect(layOut(POST, layout).facts).toBe('2 more: see the page.');
});

describe('a post', () => {
  test.each(NAMED)('is taken by %s', async (_name, target) => {
    const before = chats.posted.length;
    expect(await answerOf(target)).toEqual({ outcome: 'taken' });
    expect(chats.posted.length).toBe(before + 1);
  });

  test.each(NAMED)('that %s limits waits for as long as it was told', async (name, target) => {
    chats.fault('rate-limited');
    const said = await answerOf(target);
    expect([name, said]).toEqual([name, expect.objectContaining({ outcome: 'later', wait_s: 2 })]);
  });

  test.each(NAMED)('to %s whose token is gone breaks the target', async (_name, target) => {
    chats.fault('revoked');
    expect(await answerOf(target)).toMatchObject({ outcome: 'broken' });
  });

  test.each(NAMED)('that %s refuses is that message alone', async (_name, target) => {
    chats.fault('refused');
    expect(await answerOf(target)).toMatchObject({ outcome: 'refused' });
  });

  test.each(NAMED)('to %s is never taken where anything else is answered', async (name, target) => {
    const passing = CHAT_FAULTS.filter((fault) =>
      ['error500', 'html', 'redirect', 'closes'].includes(fault),
    );
    expect(passing).toHaveLength(4);
    const before = chats.asked.length;
    for (const fault of passing) {
      chats.fault(fault);
      const said = await answerOf(target);
      if (fault === 'closes') expect(said).toMatch(/^unread: .* closed the connection early/);
      else expect([name, fault, said]).toEqual([name, fault, expect.objectContaining(LATER)]);
    }
    // Asked once each: no redirect was followed and nothing was asked again.
    expect(chats.asked.length).toBe(before + 4);
  });

  test('to a platform that hangs ends with the signal, and is unread', async () => {
    chats.fault('timeout');
    const said = await answerOf(TARGETS['a Discord webhook'], AbortSignal.timeout(50));
    expect(said).toBe('unread: Discord failed: the post was stopped.');
  });

  test('to a group that has moved says where it is', async () => {
    chats.fault('moved');
    const target = TARGETS['a Telegram bot'];
    expect(await answerOf(target)).toEqual({ outcome: 'moved', chat_id: String(MOVED_CHAT) });
    const moved = { ...target, chat_id: String(MOVED_CHAT) };
    expect(await answerOf(moved)).toEqual({ outcome: 'taken' });
  });

  test('leaves no part of a credential in what is said of a failure', async () => {
    const marked = {
      platform: 'telegram',
      bot_token: `99999:${'MARKER7f3a'.repeat(4)}`,
      chat_id: '1',
    } as const;
    for (const fault of CHAT_FAULTS.filter((one) => one !== 'timeout')) {
      chats.fault(fault);
      expect(JSON.stringify(await answerOf(marked))).not.toContain('MARKER7f3a');
    }
  });
});

const LATER = { outcome: 'later', wait_s: null };

describe('a target', () => {
  test.each([
    ['a Slack bot', '#alerts of Made-up Workspace, as exhibit'],
    ['a Discord webhook', 'Made-up hook in channel 1234567890'],
    ['a Telegram bot', 'Made-up group, as exhibit_bot'],
  ] as const)('%s is verified without a post', async (name, place) => {
    const before = chats.posted.length;
    const said = await platforms().verify(TARGETS[name], SIGNAL);
    expect(said instanceof Read && said.value).toEqual({ outcome: 'verified', place });
    expect(chats.posted.length).toBe(before);
  });

  test('of a Slack webhook nothing is known before a post, and nothing is asked', async () => {
    const before = chats.asked.length;
    const said = await platforms().verify(TARGETS['a Slack webhook'], SIGNAL);
    const place = 'Webhook B0TEST of workspace T0TEST';
    expect(said instanceof Read && said.value).toEqual({ outcome: 'unknown', place });
    expect(chats.asked.length).toBe(before);
  });

  test.each(['a Slack bot', 'a Discord webhook', 'a Telegram bot'] as const)(
    '%s whose token is gone is broken, and one that is not answered for is not verified',
    async (name) => {
      for (const [fault, outcome] of [
        ['revoked', 'broken'],
        ['error500', 'later'],
        ['html', 'later'],
      ] as const) {
        chats.fault(fault);
        const said = await platforms().verify(TARGETS[name], SIGNAL);
        expect([fault, said instanceof Read && said.value.outcome]).toEqual([fault, outcome]);
      }
    },
  );
});

const HOSTILE: ChatPost = {
  ...POST,
  title: 'A <!channel> *b* @everyone\n# x',
  facts: ['<script>&amp;</script> [a](http://evil.example) `c`', '\u202Egnp.exe\u0000', '||s||'],
  link: 'https://exhibit.example/address/0x1?a=1&b="2"|x',
};
const LONG: ChatPost = {
  ...POST,
  title: '&'.repeat(1_000),
  facts: Array.from({ length: 20 }, (_, i) => `${i} ${'<*&'.repeat(400)}`),
  caveat: 'Caveat. '.repeat(75),
};

/** Stands where a platform would else make a link. */
const JOINER = '\u2060';
/** The visible text, as far as a test needs it: without backslashes. */
const unescaped = (said: unknown) => JSON.stringify(said).replaceAll('\\', '');

describe('what is posted', () => {
  test('calls nobody and holds no markup but ours', () => {
    const slack = JSON.stringify(slackMessage(HOSTILE));
    expect(slack).not.toMatch(/<(?!https:\/\/exhibit\.example)/);
    expect(slack).toContain('&lt;!channel&gt;');
    const discord = discordMessage(HOSTILE);
    expect(discord.allowed_mentions).toEqual({ parse: [] });
    expect(discord.embeds[0]?.description.replaceAll(JOINER, '')).toContain(
      '\\[a\\]\\(http\\:\\/\\/evil\\.example\\)',
    );
    expect(discord.embeds[0]?.title.replaceAll(JOINER, '')).toContain(
      '\\<\\!channel\\> \\*b\\* \\@everyone \\# x',
    );
    const { text } = telegramMessage('1', HOSTILE);
    expect(text.replace(/<\/?(b|i)>|<a href="[^"<>]*">|<\/a>/g, '')).not.toMatch(/[<>]/);
    for (const said of [slack, JSON.stringify(discord), text]) {
      for (const linked of ['evil.example', 'http:/', '@everyone']) {
        expect(said).not.toContain(linked);
      }
      for (const unseen of ['\u202E', '\u0000', '\\u202e', '\\u0000']) {
        expect(said).not.toContain(unseen);
      }
    }
  });

  test('carries its caveat, its link, its number and its time, however much it tells', () => {
    for (const post of [POST, LONG]) {
      const said = [slackMessage(post), discordMessage(post), telegramMessage('1', post)];
      for (const one of said) {
        const text = unescaped(one);
        expect(text).toContain(post.caveat.trim());
        expect(text).toContain('https://exhibit.example/deployer/base/0x1');
        expect(text).toContain('https://exhibit.example/models/rug/rug-2-0123456789ab');
        expect(text).toContain('Card of the model');
        expect(text).toContain('dispatch 17');
        expect(text).toContain('2026-09-24T12:00:00');
      }
    }
  });

  test('fits what each platform takes, and counts what was left out', () => {
    const { blocks } = slackMessage(LONG);
    for (const { text } of blocks)
      if (text !== undefined) expect(text.text.length).toBeLessThan(3_001);
    const [embed] = discordMessage(LONG).embeds;
    expect(embed?.title.length).toBeLessThan(257);
    expect(embed?.description.length).toBeLessThan(4_097);
    const { text } = telegramMessage('1', LONG);
    expect(text.replace(/<[^>]*>/g, '').length).toBeLessThan(4_097);
    for (const said of [blocks, embed, text].map(unescaped)) {
      expect(said).toMatch(/\d+ more: see the page/);
    }
  });

  test('says that it is simulated where it is', () => {
    const post = { ...POST, simulated: true };
    for (const said of [slackMessage(post), discordMessage(post), telegramMessage('1', post)]) {
      expect(unescaped(said)).toContain('Simulated: A launch was flagged on base');
    }
  });
});
