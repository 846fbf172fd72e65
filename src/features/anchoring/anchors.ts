// The anchors of the log, as those who show statements ask for them.

import { map, Read, type Reading, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  AnchoredRoots,
  AnchorSends,
  Anchors,
  NamedRoot,
  SetPlace,
} from '../../ports/anchoring.ts';
import type { TransparencyLog, TransparencyLogPort } from '../../ports/transparency-log.ts';

/** The newest root that the log has signed; `null`: none yet. Unread while it is frozen. */
export async function newestRoot(
  log: Pick<TransparencyLog, 'head'>,
): Promise<Reading<NamedRoot | null, TransparencyLogPort>> {
  const head = await log.head();
  if (!(head instanceof Read)) return head;
  const { frozen } = head.value;
  if (frozen !== null) return unread('transparency_log', frozen);
  return map(head, ({ origin, newest }) => {
    if (origin === null || newest === null) return null;
    const { size, root } = newest;
    return { origin, size, root };
  });
}

/** What the anchors rest on. */
type AnchorParts = {
  readonly place: Pick<SetPlace, 'chain_id' | 'contract'>;
  readonly sends: Pick<AnchorSends, 'anchorsOf'>;
  /** `null`: no contract is set. */
  readonly roots: AnchoredRoots | null;
  readonly log: Pick<TransparencyLog, 'head'>;
};

/** The anchors of the log. Where no contract is set, everything is queued. */
export function anchorsOfLog({ place, sends, roots, log }: AnchorParts): Anchors {
  return {
    anchor_chain_id: place.chain_id,
    anchorsOf: async (indexes) => {
      const head = await log.head();
      if (!(head instanceof Read)) return unread('anchors', head.why);
      const { origin } = head.value;
      // A log that has no name yet has sent nothing.
      return sends.anchorsOf(place, origin === null ? 'none' : origin, indexes);
    },
    rootAt: async (size, signal) =>
      roots === null ? unread('anchors', why('anchoring_off')) : roots.rootAt(size, signal),
  };
}
