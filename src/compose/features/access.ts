// Who may ask: memberships, keys, quota and tokens, and the commands that keep them.

import { createGate, type Gate } from '../../access/gate.ts';
import { mintKey } from '../../access/key.ts';
import type { Secrets } from '../../access/secret.ts';
import { createSessions } from '../../access/session.ts';
import { mintToken, tokenAuthentication } from '../../access/tokens.ts';
import type { Config } from '../../config.ts';
import { keyCommands } from '../../features/access/keys.command.ts';
import { memberCommands } from '../../features/access/members.command.ts';
import { tokenCommands } from '../../features/access/tokens.command.ts';
import type { TokenStore } from '../../ports/access/key-store.ts';
import { keyTable } from '../../stores/control/keys.ts';
import { membershipTable } from '../../stores/control/memberships.ts';
import { quotaTable } from '../../stores/control/quotas.ts';
import { sessionTable } from '../../stores/control/sessions.ts';
import { tokenTable } from '../../stores/control/tokens.ts';
import type { Tokens } from '../../transport/guard.ts';
import { nowS } from '../clock.ts';
import { type Base, feature } from '../feature.ts';

export const access = feature({
  name: 'access',
  heading: 'Access',
  open: ({ config, database, context, secrets }: Base) => {
    const keys = keyTable(database, context);
    const memberships = membershipTable(database, context);
    const quota = quotaTable(database, context);
    const tokens = tokenTable(database, context);
    const gate: Gate = createGate({ keys, quota, secrets, durable: memberships.durable }, nowS);
    return {
      ports: {},
      services: {
        keys,
        memberships,
        tokens,
        mintKey: (holder: Parameters<typeof mintKey>[0]) => mintKey(holder, secrets, nowS()),
        mintToken: (tier: Parameters<typeof mintToken>[0]) => mintToken(tier, secrets, nowS()),
        now: nowS,
      },
      gate,
      quota,
      tokens: tokensOf(config, tokens, secrets),
      sessions: createSessions(sessionTable(database, context), secrets, isHttps(config), nowS),
      // Last, because it asks the store, which may fail: nothing else is left open then.
      close: () => keys.close(),
    };
  },
  ports: {},
  commands: [...memberCommands, ...keyCommands, ...tokenCommands],
});

function isHttps({ publicUrl }: Config): boolean {
  return publicUrl?.startsWith('https:') === true;
}

/** Who opens the intelligence service: tokens of the setting and minted ones, or everybody. */
function tokensOf({ intelligence }: Config, minted: TokenStore, secrets: Secrets): Tokens {
  if (intelligence.allowAnonymous) return 'anonymous';
  const configured = intelligence.tokens.map(({ tier, token }) => {
    return { tier, token: token.reveal() };
  });
  return tokenAuthentication(configured, minted, secrets);
}
