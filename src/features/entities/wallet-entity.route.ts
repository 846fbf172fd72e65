// Answers GET /api/wallet/{address}/entity: the cluster of an address and what it rests on.
// It refuses to say that an address is linked to nobody unless everything that could link it was
// read; the shape of no data stands beside `checked: false` then.

import type { z } from 'zod';
import { describeMisform, isSystemAddress, parseAddress } from '../../chain/address.ts';
import { CHAINS, type ChainName } from '../../chain/chain.ts';
import { formatIsoTime } from '../../chain/time.ts';
import { badInput, type Refusal } from '../../contract/refusals.ts';
import type { Asked, PlainHandler } from '../../contract/route.ts';
import { claim } from '../../evidence/claim.ts';
import { basis, decided, map, Read, seen, Unread, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { oldestObservation, SIMULATED_CAVEAT, type Source } from '../../evidence/source.ts';
import { TIE_RULE } from '../../ports/entities/cluster-store.ts';
import type { ExchangeLabel } from '../../ports/labels/exchange-labels.ts';
import type { AgainstItem } from './against.ts';
import { calibrationOf } from './calibration.ts';
import type { EntityPorts } from './closure.ts';
import { type EntityAnswer, entityOf, evidenceFor, heuristicsOn } from './entity.ts';
import type { EvidenceItem } from './evidence.ts';
import { pathsFrom, type Step } from './forest.ts';
import type { Entity } from './held-entity.ts';
import {
  type ENTITY_CHAINS,
  walletEntity,
  type walletEntityData,
} from './wallet-entity.contract.ts';

/** The body of the answer as its claims are made. */
type EntityBody = z.input<typeof walletEntityData>;
type EntityChain = (typeof ENTITY_CHAINS)[number];
/** The query of the route. */
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

/** The limits that a deployment sets beside the ports. */
type EntityLimits = { readonly tipMaxAgeS: number };

/** The handler of the entity of one address. */
export function walletEntityHandler(
  ports: EntityPorts,
  limits: EntityLimits,
): PlainHandler<typeof walletEntity> {
  const answer = entityAnswers(ports, limits);
  return ({ params, query }, asked) => answer(params.address, query, asked);
}

/** The same for whoever asks by an address and a query alone. */
export function entityAnswers(ports: EntityPorts, limits: EntityLimits) {
  return async (text: string, query: EntityQuery, asked: Asked) => {
    const question = questionOf(text, query);
    if (!('chain' in question)) return question;
    return walletEntity.reply(200, await entityBody(ports, question, limits, asked));
  };
}

/** The body of the answer to a question that was read. */
async function entityBody(
  ports: EntityPorts,
  question: Question,
  { tipMaxAgeS }: EntityLimits,
  { now, signal }: Asked,
): Promise<EntityBody> {
  const { chain, address } = question;
  const answer = isSystemAddress(address)
    ? nobody(chain)
    : await entityOf(ports, chain, address, { now, signal, tipMaxAgeS });
  return bodyOf(question, answer, now());
}

/** The question, or the refusal that names what is wrong with it. */
function questionOf(text: string, query: EntityQuery): Question | Refusal {
  const parsed = parseAddress(text);
  const chain = query.chain === undefined ? defaultChain(parsed?.kind) : query.chain;
  if (chain === null) {
    const misform = parsed === null ? describeMisform(text) : null;
    const why = misform === null ? 'expected an EVM, Solana or Bitcoin address' : LETTER_CASE;
    return badInput([`address: ${why}`]);
  }
  const address = onChain(chain, text);
  if (address === null) return badInput([`address: expected an address of ${chain}`]);
  if (query.explain === undefined) return { chain, address, to: null };
  const to = onChain(chain, query.explain);
  if (to === null) return badInput([`explain: expected an address of ${chain}`]);
  return { chain, address, to };
}

const LETTER_CASE = 'not a 32-byte key; check its letter case';

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
  const told = seen(map(entity, (one) => [one]));
  const found = told === null ? null : told[0];
  const cluster = found === null ? null : found.cluster;
  const items = cluster === null ? [] : evidenceFor(address, cluster);
  const members = cluster === null ? [address] : membersFor(address, cluster.members);
  const paths = pathsFrom(items, address);
  const sources = [...basis(entity).sources, ...basis(live).sources];
  const simulated = sources.some((one) => one.simulated);
  return {
    address,
    chain,
    cluster_id: cluster === null ? `${chain}:${address}` : cluster.cluster_id,
    confidence: found === null ? 1 : found.confidence,
    evidence: items.slice(0, EVIDENCE_SHOWN_MAX).map(shownItem),
    evidence_total: items.length,
    against: found === null ? [] : found.against.slice(0, AGAINST_SHOWN_MAX).map(shownAgainst),
    members: [...paths].slice(1, MEMBERS_SHOWN_MAX + 1).map((one) => shownMember(one, items)),
    labels: found === null ? [] : found.labels.slice(0, LABELS_SHOWN_MAX).map(shownLabel),
    related_wallets: members.slice(0, WALLETS_SHOWN_MAX),
    related_wallets_total: members.length,
    checked: claim(entity, isWhole, isNot),
    reason: entity instanceof Read ? null : entity.why.reason,
    coverage: runs.map(coverageOf),
    edges_left_out: leftOutOf(live),
    merge_history: claim(
      decided(entity, (one) => mergesOf(one).length > 0),
      mergesOf,
      () => null,
    ),
    explain: question.to === null ? null : explained(question.to, entity, paths),
    simulated,
    as_of: asOf(sources, now),
    caveat: caveatOf(items.length > 0, simulated),
  };
}

/** An answer is as old as its oldest observation; a table has a date and does not age it. */
function asOf(sources: readonly Source[], now: number): number {
  const observed = oldestObservation(sources);
  return observed === null ? now : observed;
}

const isWhole = (): true => true;
const isNot = (): false => false;

/** The address itself first, as the shape of no data has it. */
function membersFor(address: string, members: readonly string[]): string[] {
  return [address, ...members.filter((one) => one !== address)];
}

function coverageOf({ heuristic, ran }: EntityAnswer['runs'][number]) {
  return {
    heuristic,
    checked: claim(ran, isWhole, isNot),
    reason: ran instanceof Read ? null : ran.why.reason,
  };
}

// Some left out is a fact of what was seen; that none were is said of a whole examination alone.
function leftOutOf(live: EntityAnswer['live']): EntityBody['edges_left_out'] {
  if (live instanceof Unread) return null;
  const of = (pick: 'zero_value' | 'no_market_token') => {
    const some = decided(live, ({ leftOut }) => leftOut[pick] > 0);
    return claim(
      some,
      ({ leftOut }) => leftOut[pick],
      () => null,
    );
  };
  return { zero_value: of('zero_value'), no_market_token: of('no_market_token') };
}

function mergesOf(found: Entity) {
  const known = new Set(found.merges.map(({ former_id }) => former_id));
  return [
    ...found.merges.map(({ former_id, into_id, at, by }) => {
      return { former_id, cluster_id: into_id, at: formatIsoTime(at), by };
    }),
    ...found.givenWay
      .filter(({ former_id }) => !known.has(former_id))
      .map(({ former_id, cluster_id, noted_at }) => {
        return { former_id, cluster_id, at: formatIsoTime(noted_at), by: null };
      }),
  ].slice(0, MERGES_SHOWN_MAX);
}

function explained(
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
    chain: way === null ? [] : way.map(shownStep),
  };
}

function shownStep({ from, to, item }: Step) {
  return { from, to, evidence: shownItem(item) };
}

function shownMember(
  [address, path]: readonly [string, readonly Step[]],
  items: readonly EvidenceItem[],
) {
  const weakest = path.map(({ item }) => item).reduce((a, b) => (b.weight < a.weight ? b : a));
  return {
    address,
    links: items.filter((one) => one.addresses.includes(address)).length,
    path: path.map(({ from, to, item }) => ({ from, to, ...named(item) })),
    weakest: named(weakest),
  };
}

function named({ id, heuristic, weight }: EvidenceItem) {
  return { evidence: id, heuristic, weight };
}

function shownAgainst({ kind, addresses, through, transactions, at, statement }: AgainstItem) {
  return {
    kind,
    through,
    statement,
    addresses: [...addresses],
    transactions: [...transactions],
    at: formatIsoTime(at),
  };
}

function shownItem({ id, heuristic, addresses, through, transactions, ...item }: EvidenceItem) {
  const { at, weight, statement, form, judged_at, whole } = item;
  return {
    id,
    heuristic,
    form,
    through,
    weight,
    basis: calibrationOf(form).basis,
    statement,
    rule: TIE_RULE,
    judged_at: formatIsoTime(judged_at),
    histories_whole: whole,
    addresses: [...addresses],
    transactions: [...transactions],
    at: formatIsoTime(at),
  };
}

function shownLabel({ address, label, entity, role, confidence, source }: ExchangeLabel) {
  return { address, label, entity, role, confidence, source };
}

function caveatOf(hasEvidence: boolean, simulated: boolean): string {
  const said = hasEvidence
    ? 'Each item is an inference with a weight, not a proof of ownership: read the evidence ' +
      'before the confidence. Services, hubs and addresses barred by a label link nobody.'
    : 'Confidence 1.0 with no evidence is the shape of no data, not a confident answer: see ' +
      '`checked`, `reason` and `coverage`. No link found does not show one owner of one address.';
  return simulated ? SIMULATED_CAVEAT + said : said;
}
