import { z } from 'zod';
import { checksumAddress, matchKey, parseAddress } from '../../chain/address.ts';
import { badAddress } from '../../contract/refusals.ts';
import { evidenceRoute, type Handler } from '../../contract/route.ts';
import {
  addressText,
  checkedFlag,
  claimedWords,
  emptyUnless,
  isoTime,
  negative,
  oneOf,
  prose,
  rowFact,
  rowFacts,
  words,
} from '../../contract/wire.ts';
import { claim, claimWhole } from '../../evidence/claim.ts';
import { rowsUnder } from '../../evidence/measure.ts';
import { map, type Partly, Read, rowsSeen } from '../../evidence/reading.ts';
import { type ReasonCode, why } from '../../evidence/reasons.ts';
import { LAUNCH_OUTCOMES } from '../../ports/deployers.ts';
import { entityCluster } from '../../ports/entities.ts';
import { leadingLabel } from '../tables/labels.ts';
import {
  anyFact,
  elsewhereOf,
  type ForensicEvidence,
  type ForensicPorts,
  factsShown,
  findingsSeen,
  forensicEvidence,
  provenanceOf,
  readsBehind,
} from './evidence.ts';
import { createdShown } from './facts-asked.ts';
import { coverageOfKind, flowsShown, notesOf } from './notes.ts';
import {
  ACCOUNT_KINDS,
  asset,
  counterparty,
  coverage,
  type Finding,
  forensicFinding,
  provenance,
} from './shapes.ts';

const RECORDS = { restsOn: ['deployer_records'] } as const;
const launchCount = negative(z.int().nonnegative().nullable(), RECORDS);

const launch = z.strictObject({
  address: words(),
  outcome: oneOf(LAUNCH_OUTCOMES),
  created_at: isoTime,
});

/** `checked: false`: no walk of the address was committed, or none could be read. */
export const created = z.strictObject({
  checked: checkedFlag(RECORDS),
  reason: prose().nullable(),
  captured_at: isoTime.nullable(),
  contracts: launchCount,
  died: launchCount,
  survived: launchCount,
  never_listed: launchCount,
  unchecked: launchCount,
  /** Whether something was left out, so that every count is a floor. */
  truncated: negative(z.boolean().nullable(), RECORDS),
  /** Those that died first, then the newest; null where none is told. */
  launches: z.array(launch).min(1).nullable(),
});

const HISTORY = { restsOn: ['transfer_history'] } as const;
const flowCount = negative(z.int().nonnegative().nullable(), HISTORY);
/** The counts are of all; the lists show the largest. Null where nothing was seen. */
export const flows = z.strictObject({
  checked: checkedFlag(HISTORY),
  reason: prose().nullable(),
  transfers: flowCount,
  counterparties_count: flowCount,
  counterparties: z.array(counterparty).min(1).nullable(),
  assets_count: flowCount,
  assets: z.array(asset).min(1).nullable(),
});

const FACTS = { restsOn: ['chain_facts'] } as const;
const LABELS = { restsOn: ['exchange_labels'] } as const;
/** The ports of every kind of address; findings of EVM addresses rest on further ports. */
const COMMON = {
  restsOn: ['transfer_history', 'sanctions_list', 'flagged_addresses', 'exchange_labels'],
} as const;

const accountKind = claimedWords(ACCOUNT_KINDS, ['eoa', 'contract'], FACTS);
const count = negative(z.int().nonnegative().nullable(), FACTS);
const wei = negative(z.string().regex(/^\d+$/).nullable(), FACTS);

const facts = z.strictObject({
  chain: words().nullable(),
  kind: accountKind.nullable(),
  first_seen: isoTime.nullable(),
  last_seen: isoTime.nullable(),
  transactions: negative(z.int().nonnegative().nullable(), HISTORY),
  nonce: count,
  balance_wei: wei,
  code_size: count,
  creator: words().nullable(),
  creation_tx: words().nullable(),
  verified_name: words().nullable(),
  funded_by: z
    .strictObject({ address: words(), chain: words(), tx: words(), at: isoTime })
    .nullable(),
  delegates_to: words().nullable(),
  authority: z
    .strictObject({
      implementation: words().nullable(),
      admin: words().nullable(),
      beacon: words().nullable(),
      owner: words().nullable(),
      minimal_proxy_of: words().nullable(),
    })
    .nullable(),
});

const ofChain = provenance('chain_facts');
const ofHistory = provenance('transfer_history');

const factsProvenance = z.strictObject({
  kind: ofChain,
  first_seen: ofHistory,
  last_seen: ofHistory,
  transactions: ofHistory,
  nonce: ofChain,
  balance_wei: ofChain,
  code_size: ofChain,
  creator: ofChain,
  creation_tx: ofChain,
  verified_name: ofChain,
  funded_by: ofHistory,
  delegates_to: ofChain,
  authority: ofChain,
});

const elsewhere = z.strictObject({
  chain: words(),
  nonce: count,
  balance_wei: wei,
  code_size: count,
  delegates_to: words().nullable(),
});

export const walletScore = evidenceRoute({
  name: 'wallet_score',
  surface: 'hosted',
  method: 'GET',
  path: '/api/v1/wallet/{address}/score',
  summary: 'What was observed of the address: facts, label, entity and itemised findings.',
  access: 'analyst',
  params: z.strictObject({ address: addressText }),
  data: z.strictObject({
    address: words(),
    checksum: words(),
    label: z
      .strictObject({
        name: words(),
        entity: words(),
        role: words(),
        confidence: words(),
      })
      .nullable(),
    label_checked: checkedFlag(LABELS),
    facts,
    facts_provenance: factsProvenance,
    facts_elsewhere: z.array(elsewhere).min(1).nullable(),
    entity: rowFacts(entityCluster)
      .extend({ labels: rowFact(z.array(words()).readonly().nullable()) })
      .nullable(),
    entity_checked: checkedFlag({ restsOn: ['entity_clusters'] }),
    flows,
    created: created.nullable(),
    findings_checked: checkedFlag(COMMON),
    // False only where every kind that applies ran on inputs that were read, and saw nothing.
    findings_found: negative(z.boolean().nullable(), COMMON),
    findings_coverage: z.array(coverage).min(1),
    findings: emptyUnless('findings_checked', z.array(forensicFinding)),
    notes: z.array(prose()).min(1),
    caveat: prose().min(1),
  }),
  absences: ['insufficient_evidence', 'not_deployed'],
  tool: {
    name: 'wallet_score',
    description:
      'The forensic record of one address: chain facts, published label, entity and itemised ' +
      'findings with their transactions. It holds no rating. Where findings_checked is false, ' +
      'an empty list of findings is silence.',
  },
});

// The route does not rate: no number ranks, and a list that is empty while not every kind of
// finding ran is named as silence.

type Data = z.input<typeof walletScore.data>;

/** @internal The handler of the forensic record of one address. */
export function walletScoreHandler(ports: ForensicPorts): Handler<typeof walletScore> {
  return async ({ params }, asked) => {
    const subject = parseAddress(params.address);
    if (subject === null) return badAddress(params.address);
    const evidence = await forensicEvidence(ports, subject, asked);
    return saysSomething(evidence) ? viewEvidence(evidence) : absence(evidence);
  };
}

const CAVEAT =
  'What was observed, not a rating: no finding is a judgement of the address or its owner, and a ' +
  'list without one is no clearance. Tables are partial; findings rest on the transfers, chains ' +
  'and dates that findings_coverage names.';
const CAVEAT_UNCHECKED =
  ' Not every kind of finding that applies ran on inputs that were read: what is not listed was ' +
  'not looked for to the end.';

function viewEvidence(evidence: ForensicEvidence) {
  const { subject, inputs, kinds, checked, mainFacts, entity } = evidence;
  const { address } = subject;
  const findings = findingsSeen(kinds);
  const cluster = clusterSeen(entity);
  const data: Data = {
    address,
    checksum: subject.kind === 'evm' ? checksumAddress(subject.address) : address,
    label: labelOf(evidence),
    label_checked: claimWhole(inputs.labels),
    facts: factsShown(inputs, mainFacts),
    facts_provenance: provenanceOf(inputs, mainFacts),
    facts_elsewhere: elsewhereOf(inputs),
    entity: cluster,
    entity_checked: claimWhole(entity),
    flows: flowsShown(inputs),
    created: createdShown(subject, evidence.made),
    findings_checked: claimWhole(checked),
    findings_found: claim(
      checked,
      (found) => found.length > 0,
      () => (findings.length > 0 ? true : null),
    ),
    findings_coverage: kinds.map((one) => coverageOfKind(one, inputs)),
    findings: findings.map(findingOf),
    notes: notesOf(evidence),
    caveat: checked instanceof Read ? CAVEAT : CAVEAT + CAVEAT_UNCHECKED,
  };
  return walletScore.ok({ subject: address, data, rests: readsBehind(kinds) });
}

function findingOf({ evidence, ...finding }: Finding): Data['findings'][number] {
  const shown = evidence.map((one) => {
    if (one.evidence === 'transfer') return { ...one };
    const { tx_reason } = one;
    return { ...one, tx_reason: tx_reason === undefined ? null : tx_reason };
  });
  return { ...finding, evidence: shown };
}

function labelOf({ subject, inputs }: ForensicEvidence): Data['label'] {
  if (!(inputs.labels instanceof Read)) return null;
  const key = matchKey(subject.address);
  const leading = leadingLabel(rowsUnder(inputs.labels.value.found, key));
  if (leading === null) return null;
  const { label: name, entity, role, confidence } = leading;
  return { name, entity, role, confidence };
}

/** The cluster where one was seen: one that may be larger is shown, and is not checked. */
function clusterSeen(entity: ForensicEvidence['entity']): Data['entity'] {
  const cluster = rowsSeen(map(entity, (one) => [one]));
  return cluster === null ? null : cluster[0];
}

function saysSomething(evidence: ForensicEvidence): boolean {
  const { mainFacts, kinds, entity } = evidence;
  const hasFacts = mainFacts !== null && rowsSeen(map(anyFact(mainFacts), (all) => all)) !== null;
  const ran = kinds.some(({ kind, found }) => kind.ofHistory && found instanceof Read);
  return (
    hasFacts ||
    ran ||
    labelOf(evidence) !== null ||
    clusterSeen(entity) !== null ||
    findingsSeen(kinds).length > 0
  );
}

/** Why a port has nothing to say here whatever is asked of it: it is not a fault of today. */
const NEVER_HERE: readonly ReasonCode[] = [
  'not_configured',
  'no_history',
  'not_walked_kind',
  'table_never_imported',
  'entity_not_examined',
  'not_for_this_kind',
];

function absence(evidence: ForensicEvidence) {
  const { subject, inputs, entity } = evidence;
  const { history, listed, flagged, labels, mixers, bridges, facts } = inputs;
  const { freezes, approvals } = inputs;
  const tables: readonly Partly<unknown, never>[] = [labels, listed, flagged, mixers, bridges];
  const ofFacts = facts.map((one) => anyFact(one.facts));
  const ofTokens = [...freezes.map(({ states }) => states), ...approvals.map((one) => one.given)];
  const state = [...ofFacts, ...ofTokens];
  const asked: readonly Partly<unknown, never>[] = [...tables, history, entity, ...state];
  const silent = asked.flatMap((one) => (one instanceof Read ? [] : [one]));
  const fault = silent.find((one) => !NEVER_HERE.includes(one.why.code));
  const [first, ...consulted] = tables.filter((one) => one instanceof Read);
  const about = { subject: subject.address };
  if (fault !== undefined) {
    const read = first === undefined ? consulted : [first, ...consulted];
    return walletScore.absent.not_deployed({ ...about, silent: fault, consulted: read });
  }
  const [unheard] = silent;
  if (unheard === undefined) throw new Error('score: everything was read and nothing ran');
  if (first === undefined) return walletScore.absent.not_deployed({ ...about, silent: unheard });
  const reasons = [...new Set(silent.map((one) => one.why.reason))];
  return walletScore.absent.insufficient_evidence({
    ...about,
    why: why('no_evidence', { silent: reasons.join(' ') }),
    consulted: [first, ...consulted],
  });
}
