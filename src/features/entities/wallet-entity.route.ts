import { z } from 'zod';
import { describeMisform, isSystemAddress, parseAddress } from '../../chain/address.ts';
import { CHAINS, type ChainName } from '../../chain/chain.ts';
import { formatIsoTime } from '../../chain/time.ts';
import { badField, type Refusal } from '../../contract/refusals.ts';
import { type PlainHandler, plainRoute, type RequestContext } from '../../contract/route.ts';
import {
  addressText,
  checkedFlag,
  emptyUnless,
  harmless,
  isoTime,
  negative,
  oneOf,
  prose,
  unixSeconds,
  words,
} from '../../contract/wire.ts';
import { claim, claimOrNull, claimWhole } from '../../evidence/claim.ts';
import { basis, decide, map, Read, rowsSeen, Unread, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { oldestObservation, restsOnSimulated, SIMULATED_CAVEAT } from '../../evidence/source.ts';
import { WEIGHT_BASES } from '../../evidence/weight.ts';
import { ENTITY_CHAINS, HEURISTICS, TIE_RULE } from '../../ports/entities.ts';
import type { LeftOutRule } from '../history/edge-rule.ts';
import { linkCalibration } from './calibration.ts';
import type { EntityPorts, HeldEntity } from './closure.ts';
import { type EntityAnswer, entityOf, evidenceFor, heuristicsOn } from './entity.ts';
import { type EvidenceStep, pathsFrom } from './evidence.ts';
import { against, type EvidenceItem, evidence } from './shapes.ts';

const CLUSTERS = { restsOn: ['entity_clusters'] } as const;
const HISTORY = { restsOn: ['transfer_history'] } as const;

const heuristic = oneOf(HEURISTICS);

/** The role of an address in its cluster: it may be the controller's own, or an exchange's. */
const TIED_AS = ['controlled', 'deposit_address'] as const;

const pathStep = z.strictObject({
  from: words(),
  to: words(),
  evidence: words(),
  heuristic,
  weight: z.number().positive(),
  basis: oneOf(WEIGHT_BASES),
});

// `links`: how many items name the member. `weakest`: the item of its path with the least weight.
// `tied_as`: a deposit address is an exchange's, whoever pays into it.
const member = z.strictObject({
  address: words(),
  links: z.int().positive(),
  tied_as: oneOf(TIED_AS),
  path: z.array(pathStep).min(1),
  weakest: pathStep.omit({ from: true, to: true }),
});

const label = z.strictObject({
  address: words(),
  label: words(),
  entity: words(),
  role: words(),
  confidence: words(),
  source: words(),
});

const run = z.strictObject({
  heuristic,
  checked: checkedFlag(CLUSTERS),
  reason: prose().nullable(),
});

// `by` is the evidence that joined two clusters; `null` where an id gave way to an older one that
// was found later.
const merge = z.strictObject({
  former_id: words(),
  cluster_id: words(),
  at: isoTime,
  by: words().nullable(),
});

const step = z.strictObject({ from: words(), to: words(), evidence });

const leftOut = negative(z.int().nonnegative().nullable(), HISTORY);

export const walletEntityData = z.strictObject({
  address: words(),
  chain: oneOf(ENTITY_CHAINS),
  cluster_id: words(),
  // 1 with no evidence is the shape of no data, and no confident answer: `checked` says more.
  confidence: emptyUnless('checked', z.number().min(0).max(1)),
  // `measured` where each weight that counts is; null where no evidence names the address.
  confidence_basis: emptyUnless('checked', oneOf(WEIGHT_BASES).nullable()),
  tied_as: oneOf(TIED_AS).nullable(),
  evidence: emptyUnless('checked', z.array(evidence)),
  evidence_total: emptyUnless('checked', z.int().nonnegative()),
  against: emptyUnless('checked', z.array(against)),
  members: emptyUnless('checked', z.array(member)),
  labels: emptyUnless('checked', z.array(label)),
  related_wallets: z.array(words()).min(1),
  related_wallets_total: z.int().positive(),
  checked: checkedFlag(CLUSTERS),
  reason: prose().nullable(),
  coverage: z.array(run).min(1),
  edges_left_out: z.strictObject({ zero_value: leftOut, no_market_token: leftOut }).nullable(),
  // Null where nobody knows: the clusters were not read to their end, and none was seen to merge.
  merge_history: negative(z.array(merge).nullable(), CLUSTERS),
  explain: z
    .strictObject({
      to: words(),
      linked: negative(z.boolean().nullable(), CLUSTERS),
      chain: harmless(z.array(step), '`linked` beside it says whether there is none'),
    })
    .nullable(),
  simulated: harmless(z.boolean(), 'it is of the data, not of the address'),
  as_of: unixSeconds,
  caveat: prose().min(1),
});

export const walletEntity = plainRoute({
  name: 'wallet_entity',
  surface: 'intelligence',
  method: 'GET',
  path: '/api/wallet/{address}/entity',
  summary: 'Which addresses are tied to this one, item by item of evidence.',
  access: 'bearer',
  params: z.strictObject({ address: addressText }),
  query: z.strictObject({
    chain: z.enum(ENTITY_CHAINS).optional(),
    explain: addressText.optional(),
  }),
  responses: {
    200: walletEntityData.describe(
      'The entity of the address. Evidence with nothing in it and a confidence of 1 is the shape ' +
        'of no data; whether anything was looked at stands in `checked`, `reason`, `coverage`.',
    ),
  },
});

// The route says that an address is linked to nobody only if everything that could link it was
// read; otherwise the shape of no data stands beside `checked: false`.

type EntityBody = z.input<typeof walletEntityData>;
type EntityChain = (typeof ENTITY_CHAINS)[number];
type EntityQuery = z.output<typeof walletEntity.query>;
type Question = {
  readonly chain: EntityChain;
  readonly address: string;
  readonly to: string | null;
};

/** How much of a large cluster one answer shows; the totals stand beside it. */
const EVIDENCE_SHOWN_MAX = 200;
const WALLETS_SHOWN_MAX = 1_000;
const MEMBERS_SHOWN_MAX = 200;
const AGAINST_SHOWN_MAX = 100;
const LABELS_SHOWN_MAX = 200;
const MERGES_SHOWN_MAX = 100;

type EntityLimits = { readonly tipMaxAgeS: number };

/** @internal The handler of the entity of one address. */
export function walletEntityHandler(
  ports: EntityPorts,
  limits: EntityLimits,
): PlainHandler<typeof walletEntity> {
  const answer = entityAnswers(ports, limits);
  return ({ params, query }, asked) => answer(params.address, query, asked);
}

/** @internal The same for whoever asks by an address and a query alone. */
export function entityAnswers(ports: EntityPorts, { tipMaxAgeS }: EntityLimits) {
  return async (text: string, query: EntityQuery, { now, signal }: RequestContext) => {
    const question = questionOf(text, query);
    if (!('chain' in question)) return question;
    const { chain, address } = question;
    const answer = isSystemAddress(address)
      ? nobody(chain)
      : await entityOf(ports, chain, address, { now, signal, tipMaxAgeS });
    return walletEntity.reply(200, bodyOf(question, answer, now()));
  };
}

function questionOf(text: string, query: EntityQuery): Question | Refusal {
  const parsed = parseAddress(text);
  const chain = query.chain === undefined ? defaultChain(parsed?.kind) : query.chain;
  if (chain === null) {
    const misform = parsed === null ? describeMisform(text) : 'form_not_recognised';
    if (misform === 'solana_letter_case') return badField('address', why(misform).reason);
    return badField('address', 'expected an EVM, Solana or Bitcoin address');
  }
  const address = onChain(chain, text);
  if (address === null) return badField('address', `expected an address of ${chain}`);
  if (query.explain === undefined) return { chain, address, to: null };
  const to = onChain(chain, query.explain);
  if (to === null) return badField('explain', `expected an address of ${chain}`);
  return { chain, address, to };
}

function onChain(chain: ChainName, text: string): string | null {
  const parsed = parseAddress(text);
  return parsed !== null && parsed.kind === CHAINS[chain].kind ? parsed.address : null;
}

function defaultChain(kind: string | undefined): EntityChain | null {
  if (kind === 'evm') return 'ethereum';
  return kind === 'solana' || kind === 'bitcoin' ? kind : null;
}

function nobody(chain: ChainName): EntityAnswer {
  const silence = why('entity_nobody');
  const entity = unread('entity_clusters' as const, silence);
  const live = unread<'transfer_history' | 'exchange_labels'>('transfer_history', silence);
  const runs = heuristicsOn(chain).map((heuristic) => ({ heuristic, ran: entity }));
  return { entity, live, runs };
}

function bodyOf(question: Question, answer: EntityAnswer, now: number): EntityBody {
  const { chain, address } = question;
  const { entity, live, runs } = answer;
  const told = rowsSeen(map(entity, (one) => [one]));
  const found = told === null ? null : told[0];
  const cluster = found === null ? null : found.cluster;
  const items = cluster === null ? [] : evidenceFor(address, cluster);
  const members =
    cluster === null ? [address] : [address, ...cluster.members.filter((one) => one !== address)];
  const paths = pathsFrom(items, address);
  const sources = [...basis(entity).sources, ...basis(live).sources];
  const simulated = restsOnSimulated(sources);
  // An answer is as old as its oldest observation; a table has a date and does not age it.
  const observed = oldestObservation(sources);
  return {
    address,
    chain,
    cluster_id: cluster === null ? `${chain}:${address}` : cluster.cluster_id,
    confidence: found === null ? 1 : found.confidence,
    confidence_basis: found === null ? null : found.basis,
    tied_as: items.length === 0 ? null : roleOf(address, items),
    evidence: items.slice(0, EVIDENCE_SHOWN_MAX).map(viewItem),
    evidence_total: items.length,
    against:
      found === null
        ? []
        : found.against
            .slice(0, AGAINST_SHOWN_MAX)
            .map((one) => ({ ...one, at: formatIsoTime(one.at) })),
    members: [...paths].slice(1, MEMBERS_SHOWN_MAX + 1).map((one) => viewMember(one, items)),
    labels:
      found === null
        ? []
        : found.labels
            .slice(0, LABELS_SHOWN_MAX)
            .map(({ address, label, entity, role, confidence, source }) => ({
              address,
              label,
              entity,
              role,
              confidence,
              source,
            })),
    related_wallets: members.slice(0, WALLETS_SHOWN_MAX),
    related_wallets_total: members.length,
    checked: claimWhole(entity),
    reason: entity instanceof Read ? null : entity.why.reason,
    coverage: runs.map(({ heuristic, ran }) => ({
      heuristic,
      checked: claimWhole(ran),
      reason: ran instanceof Read ? null : ran.why.reason,
    })),
    edges_left_out: viewLeftOut(live),
    merge_history: claimOrNull(
      decide(entity, (one) => mergesOf(one).length > 0),
      mergesOf,
    ),
    explain: question.to === null ? null : explainLink(question.to, entity, paths),
    simulated,
    as_of: observed === null ? now : observed,
    caveat: caveatOf(items.length > 0, simulated),
  };
}

// Some left out is a fact of what was seen; that none were is said of a whole examination alone.
function viewLeftOut(live: EntityAnswer['live']): EntityBody['edges_left_out'] {
  if (live instanceof Unread) return null;
  const claimCount = (pick: LeftOutRule) => {
    const some = decide(live, ({ leftOut }) => leftOut[pick] > 0);
    return claimOrNull(some, ({ leftOut }) => leftOut[pick]);
  };
  return { zero_value: claimCount('zero_value'), no_market_token: claimCount('no_market_token') };
}

function mergesOf(found: HeldEntity) {
  const known = new Set(found.merges.map(({ former_id }) => former_id));
  return [
    ...found.merges.map((one) => ({ ...one, at: formatIsoTime(one.at) })),
    ...found.givenWay
      .filter(({ former_id }) => !known.has(former_id))
      .map(({ former_id, cluster_id, noted_at }) => {
        return { former_id, cluster_id, at: formatIsoTime(noted_at), by: null };
      }),
  ].slice(0, MERGES_SHOWN_MAX);
}

function explainLink(
  to: string,
  entity: EntityAnswer['entity'],
  paths: ReturnType<typeof pathsFrom>,
): EntityBody['explain'] {
  const found = paths.get(to);
  const way = found === undefined ? null : found;
  return {
    to,
    linked: claim(
      entity,
      () => way !== null,
      () => (way === null ? null : true),
    ),
    chain:
      way === null ? [] : way.map(({ from, to, item }) => ({ from, to, evidence: viewItem(item) })),
  };
}

function viewMember(
  [address, path]: readonly [string, readonly EvidenceStep[]],
  items: readonly EvidenceItem[],
) {
  const weakest = path.map(({ item }) => item).reduce((a, b) => (b.weight < a.weight ? b : a));
  return {
    address,
    links: items.filter((one) => one.addresses.includes(address)).length,
    tied_as: roleOf(address, items),
    path: path.map(({ from, to, item }) => ({ from, to, ...nameItem(item) })),
    weakest: nameItem(weakest),
  };
}

function nameItem({ id, heuristic, form, weight }: EvidenceItem) {
  return { evidence: id, heuristic, weight, basis: linkCalibration(form).basis };
}

function roleOf(address: string, items: readonly EvidenceItem[]): (typeof TIED_AS)[number] {
  const isDeposit = items.some(({ heuristic, through }) => {
    return heuristic === 'deposit_reuse' && through === address;
  });
  return isDeposit ? 'deposit_address' : 'controlled';
}

function viewItem({ chain: _, ...item }: EvidenceItem) {
  return {
    ...item,
    basis: linkCalibration(item.form).basis,
    rule: TIE_RULE,
    judged_at: formatIsoTime(item.judged_at),
    at: formatIsoTime(item.at),
  };
}

function caveatOf(hasEvidence: boolean, simulated: boolean): string {
  const said = hasEvidence
    ? 'Each item is an inference with a weight, not a proof of ownership: read the evidence ' +
      'before the confidence. Services, hubs and addresses barred by a label link nobody. An ' +
      'inferred deposit address is an exchange’s: it ties those who pay into it.'
    : 'Confidence 1.0 with no evidence is the shape of no data, not a confident answer: see ' +
      '`checked`, `reason` and `coverage`. No link found does not show one owner of one address.';
  return simulated ? SIMULATED_CAVEAT + said : said;
}
