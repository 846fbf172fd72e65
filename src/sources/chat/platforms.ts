import { read } from '../../evidence/reading.ts';
import type { ChatPlatform, ChatPlatforms, ChatTarget } from '../../ports/integrations.ts';
import { factsOfDiscord, postToDiscord } from './discord.ts';
import { type ChatRoots, readPlatform } from './exchange.ts';
import { factsOfSlack, postToSlack } from './slack.ts';
import { factsOfTelegram, postToTelegram } from './telegram.ts';

const TITLES: { readonly [P in ChatPlatform]: string } = {
  slack: 'Slack',
  discord: 'Discord',
  telegram: 'Telegram',
};

type Options = {
  readonly roots: ChatRoots;
  readonly simulated: boolean;
  readonly now: () => number;
};

/** The platforms at their roots. */
export function chatPlatforms({ roots, simulated, now }: Options): ChatPlatforms {
  const tell = <T>({ platform }: ChatTarget, ask: () => Promise<T>) =>
    readPlatform(TITLES[platform], async () => {
      const value = await ask();
      const name = TITLES[platform];
      const source = { name, url: 'chat:', as_of: now(), kind: 'observation', simulated } as const;
      return read(value, { port: 'chat_platforms', source });
    });
  return {
    verify: (target, signal) =>
      tell(target, () => {
        if (target.platform === 'slack') return factsOfSlack(target, roots, signal);
        if (target.platform === 'discord') return factsOfDiscord(target, roots, signal);
        return factsOfTelegram(target, roots, signal);
      }),
    post: (target, post, signal) =>
      tell(target, () => {
        if (target.platform === 'slack') return postToSlack(target, post, roots, signal);
        if (target.platform === 'discord') return postToDiscord(target, post, roots, signal);
        return postToTelegram(target, post, roots, signal);
      }),
  };
}
