import { Unread } from '../../evidence/reading.ts';
import type { IntegrationStore, IntegrationsPort, Sealed } from '../../ports/integrations.ts';

/** More are left to the next start. */
const RESEALED_MAX = 100_000;

/** Seals anew what another secret sealed. `anew` gives `null` of what no secret opens. */
export async function sealAnew(
  store: Pick<IntegrationStore, 'sealedByOthers' | 'reseal'>,
  fingerprint: string,
  anew: (sealed: Sealed, id: string) => Sealed | null,
): Promise<{ readonly resealed: number; readonly unopened: number } | Unread<IntegrationsPort>> {
  const others = await store.sealedByOthers(fingerprint, RESEALED_MAX);
  if (others instanceof Unread) return others;
  let unopened = 0;
  for (const { id, sealed } of others.value) {
    const made = anew(sealed, id);
    if (made === null) {
      unopened += 1;
      continue;
    }
    const kept = await store.reseal(id, sealed, made);
    if (kept instanceof Unread) return kept;
  }
  return { resealed: others.value.length - unopened, unopened };
}
