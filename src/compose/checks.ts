// The checks of `exhibit doctor` beyond the machine itself.

import type { Secrets } from '../access/secret.ts';
import type { Config } from '../config.ts';
import { Unread } from '../evidence/reading.ts';
import type { SourceFreshness } from '../features/health/health.route.tsx';
import type { CheckResult, DoctorCheck, DoctorServices, PortAbsence } from '../operator/doctor.ts';
import type { KeyStore } from '../ports/access.ts';
import type { StoreCheck } from './documents.ts';
import type { DatedSource } from './freshness.ts';
import { FEATURES } from './list.ts';

const EMBEDDED_NOTE =
  'answers; embedded, it survives a killed process but not a power loss (PostgreSQL does both)';

/** The checks of what this deployment opened, and what each source that is not set answers. */
export function doctorServices(
  config: Config,
  stores: readonly StoreCheck[],
  sources: readonly DatedSource[],
  keys: KeyStore,
  secrets: Secrets,
): DoctorServices {
  const pings = stores.map(({ name, ping }): DoctorCheck => {
    const embedded = name === 'control store' && config.store.kind === 'embedded';
    const says = embedded ? EMBEDDED_NOTE : 'answers';
    return {
      name,
      look: () =>
        ping().then(
          (): CheckResult => ({ state: 'ok', says }),
          (): CheckResult => ({ state: 'failed', says: 'does not answer; its routes are silent' }),
        ),
    };
  });
  const ages = sources.map(({ facts, age }): DoctorCheck => {
    return { name: facts.title.toLowerCase(), look: async () => finding(await age()) };
  });
  const checks = [...pings, ...ages, { name: 'secret', look: () => rotation(keys, secrets) }];
  return { config, checks, absences: portChecks(config) };
}

/** A line for each source that is not set. The simulated world stands in for providers. */
export function portChecks(config: Config): PortAbsence[] {
  return FEATURES.flatMap(({ optional }) => optional)
    .filter(({ isSet }) => !isSet(config))
    .map(({ name, setting, without }) => {
      return { name, state: 'absent', says: `without ${setting}: ${without}` };
    });
}

const FINDING_STATES = {
  fresh: 'ok',
  per_answer: 'ok',
  stale: 'warning',
  never_loaded: 'absent',
  unreadable: 'absent',
} as const;

// Of a source that each answer asks anew nothing was asked here, and the line says so.
function finding({ state, reason }: SourceFreshness): CheckResult {
  if (state === 'per_answer') {
    const says = 'set; each answer asks it, doctor did not';
    return { state: 'ok', says: reason === null ? says : reason };
  }
  return { state: FINDING_STATES[state], says: reason === null ? 'read' : reason };
}

// The previous secret may go once nothing that is stored was made under it.
async function rotation(keys: KeyStore, [current]: Secrets): Promise<CheckResult> {
  const others = await keys.underOtherSecrets(current.fingerprint);
  if (others instanceof Unread) return { state: 'unchecked', says: others.why.reason };
  if (others.value === 0) return { state: 'ok', says: 'nothing is stored under another secret' };
  const says = `${others.value} keys are under a previous secret; keep EXHIBIT_SECRET_PREVIOUS`;
  return { state: 'warning', says };
}
