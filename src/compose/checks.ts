// Answers one question: what does `exhibit doctor` look at beside the machine itself.

import type { Secrets } from '../access/secret.ts';
import type { Config } from '../config.ts';
import { Part, type Partly, Unread } from '../evidence/reading.ts';
import type { EvidencePorts } from '../features/handlers.ts';
import type { DoctorCheck, Finding } from '../operator/doctor.ts';
import type { KeyStore } from '../ports/access/key-store.ts';
import type { StoreCheck } from './documents.ts';

const EMBEDDED_NOTE =
  'answers; embedded, it survives a killed process but not a power loss (PostgreSQL does both)';

/** The checks of what this deployment opened. */
export function doctorChecks(
  config: Config,
  stores: readonly StoreCheck[],
  ports: EvidencePorts,
  keys: KeyStore,
  secrets: Secrets,
): DoctorCheck[] {
  const pings = stores.map(({ name, ping }): DoctorCheck => {
    const embedded = name === 'control store' && config.store.kind === 'embedded';
    const says = embedded ? EMBEDDED_NOTE : 'answers';
    return {
      name,
      look: () =>
        ping().then(
          (): Finding => ({ state: 'ok', says }),
          (): Finding => ({ state: 'failed', says: 'does not answer; its routes are silent' }),
        ),
    };
  });
  return [
    ...pings,
    { name: 'sanctions list', look: async () => finding(await ports.sanctionsList.lookUp([])) },
    { name: 'exchange labels', look: async () => finding(await ports.exchangeLabels.lookUp([])) },
    { name: 'launch corpus', look: async () => finding(await ports.launchCorpus.lookUp([])) },
    {
      name: 'transfer history',
      look: async () => finding(await ports.transferHistory.chainsRead()),
    },
    { name: 'secret', look: () => rotation(keys, secrets) },
  ];
}

function finding(reading: Partly<unknown, never>): Finding {
  if (reading instanceof Unread) return { state: 'absent', says: reading.why.reason };
  if (reading instanceof Part) return { state: 'warning', says: reading.why.reason };
  return { state: 'ok', says: 'read' };
}

// The previous secret may go once nothing that is stored was made under it.
async function rotation(keys: KeyStore, [current]: Secrets): Promise<Finding> {
  const others = await keys.underOtherSecrets(current.fingerprint);
  if (others instanceof Unread) return { state: 'unchecked', says: others.why.reason };
  if (others.value === 0) return { state: 'ok', says: 'nothing is stored under another secret' };
  const says = `${others.value} keys are under a previous secret; keep EXHIBIT_SECRET_PREVIOUS`;
  return { state: 'warning', says };
}
