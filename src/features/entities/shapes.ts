import { z } from 'zod';
import type { ChainName } from '../../chain/chain.ts';
import { isoTime, oneOf, prose, rowFact, words } from '../../contract/wire.ts';
import { WEIGHT_BASES } from '../../evidence/weight.ts';
import { HEURISTICS, OBJECTION_KINDS, type TieForm } from '../../ports/entities.ts';

/** One item of evidence: these addresses have one controller, by these transactions. */
export const evidence = z.strictObject({
  /** Made from what it says, so that the same observation has the same id everywhere. */
  id: words(),
  heuristic: oneOf(HEURISTICS),
  form: words(),
  /** In the order of their codes. */
  addresses: z.array(words()).min(2),
  /** The shared thing: a deposit address, a funder, a deployer, a pair, a transaction. */
  through: words(),
  /** The earliest that show it. */
  transactions: z.array(words()).min(1),
  /** When the second of the addresses had been tied. */
  at: isoTime,
  weight: z.number().positive(),
  basis: oneOf(WEIGHT_BASES),
  statement: prose().min(1),
  rule: z.int().positive(),
  /** When the last of its ties was judged. */
  judged_at: isoTime,
  /** Whether every history that it was judged by was read to its end. */
  histories_whole: rowFact(z.boolean()),
});

/** An item of evidence as it is worked out. Times are Unix seconds. */
export type EvidenceItem = Readonly<
  Omit<z.output<typeof evidence>, 'form' | 'at' | 'basis' | 'rule' | 'judged_at'>
> & {
  readonly chain: ChainName;
  readonly form: TieForm;
  readonly at: number;
  readonly judged_at: number;
};

/** Evidence against a link: a CoinJoin that was refused, a payer of many, separate accounts. */
export const against = z.strictObject({
  kind: oneOf(OBJECTION_KINDS),
  addresses: z.array(words()).min(1),
  /** The transaction or the address that it is about. */
  through: words(),
  transactions: z.array(words()).min(1),
  /** The time of the earliest. */
  at: isoTime,
  statement: prose().min(1),
});

/** Evidence against a link, as computed. `at` is Unix seconds. */
export type AgainstItem = Readonly<Omit<z.output<typeof against>, 'at'>> & { readonly at: number };
