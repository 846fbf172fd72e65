// The keys that answers and checkpoints are signed with: kept, rotated, marked and published.

import { type Secrets, seal, unseal } from '../../access/secret.ts';
import { nowS, pause } from '../../compose/clock.ts';
import { type Base, feature, serveRoute } from '../../compose/feature.ts';
import { Unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { WatchRun } from '../../evidence/waiting.ts';
import { type SigningPorts, signingKeys, signingKeysHandler } from './keys.route.ts';
import { createSigning, type KeySealing, type Make, makeKey, sealKeysAnew } from './keys.ts';
import { signingLocal } from './local.ts';
import { rotateOnce, rotateUntilStopped } from './rotate.job.ts';
import { signingCommands } from './signing.command.ts';
import { signingKeyTable } from './signing.store.ts';

/** Often enough for a key that is published an hour ahead. */
const ROUND_EACH_S = 600;

export const signing = feature({
  name: 'signing',
  heading: 'Signing keys',
  open: ({ config, database, context, secrets, log, bus }: Base) => {
    const kept = signingKeyTable(database, context, bus.callAll);
    const sealing = keySealing(secrets);
    const make: Make = (nbf) => makeKey(sealing, config.simulate, { nbf, made_at: nowS() });
    const onFault = (fault: unknown) => log.error({ fault: String(fault) }, 'signing');
    const { forget, ...signs } = createSigning({
      kept,
      sealing,
      now: nowS,
      elapsedMs: () => performance.now(),
      onFault,
    });
    bus.listen(forget);
    const warn = ({ reason }: Pick<Why, 'reason'>) => log.warn({ reason }, 'signing keys');
    const pace = { everyS: ROUND_EACH_S, sleep: pause, onFault: warn, onBug: onFault };
    const rotation = { kept, make, now: nowS };
    return {
      ports: { signing: signs },
      services: { signing: { kept, make, now: nowS } },
      // A deployment without a process that works signs too, and needs the next key.
      jobs: [
        {
          name: 'signing keys',
          role: 'any',
          start: (watch: WatchRun) => rotateUntilStopped({ ...rotation, ...pace, watch }),
        },
      ],
      // What was sealed under an earlier secret is sealed anew, so that it may be removed.
      start: async () => {
        const made = await rotateOnce(rotation);
        if (made instanceof Unread) return warn(made.why);
        const anew = await sealKeysAnew(kept, sealing);
        if (anew instanceof Unread) return warn(anew.why);
        const { resealed, unopened } = anew.value;
        if (resealed > 0) log.info({ resealed }, 'signing keys: sealed anew');
        if (unopened > 0) log.warn({ unopened }, 'signing keys: no secret opens some');
      },
    };
  },
  ports: {
    signing: {
      tag: 'signing_keys',
      title: 'Signing keys',
      says: 'The keys under which answers and checkpoints are signed',
      pages: false,
      freshness: { kind: 'per_answer', absence: () => null },
    },
  },
  routes: [serveRoute(signingKeys, (given: SigningPorts) => signingKeysHandler(given))],
  commands: signingCommands,
  local: signingLocal,
});

/** Seals the private parts of signing keys under the secret in force. */
export function keySealing(secrets: Secrets): KeySealing {
  const [{ fingerprint }] = secrets;
  return {
    seal: (seed, kid) => seal(seed, kid, secrets, 'signing'),
    unseal: (sealed, kid) => unseal(sealed, kid, secrets, 'signing'),
    fingerprint,
  };
}
