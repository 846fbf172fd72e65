// Answers GET /api/v1/wallet/{address}/score: what was observed of an address, item by item.
// It refuses to rate: there is no number that ranks, and a list that is empty where not every kind
// of finding ran is named as silence.

import type { z } from 'zod';
import { checksumAddress, describeMisform, matchKey, parseAddress } from '../../chain/address.ts';
import { badInput } from '../../contract/refusals.ts';
import type { Handler } from '../../contract/route.ts';
import { claim } from '../../evidence/claim.ts';
import { heldUnder } from '../../evidence/measure.ts';
import { map, type Partly, Read, seen } from '../../evidence/reading.ts';
import { type ReasonCode, why } from '../../evidence/reasons.ts';
import { leadingLabel } from '../tables/labels.ts';
import { createdShown } from './created.ts';
import {
  anyFact,
  type ForensicEvidence,
  type ForensicPorts,
  findingsSeen,
  forensicEvidence,
  readsBehind,
} from './evidence.ts';
import { elsewhereOf, factsShown, provenanceOf } from './facts.ts';
import type { Finding } from './finding.ts';
import { flowsShown } from './flows.ts';
import { coverageOfKind, notesOf } from './notes.ts';
import { walletScore } from './wallet-score.contract.ts';

type Data = z.input<typeof walletScore.data>;

/** The handler of the forensic record of one address. */
export function walletScoreHandler(ports: ForensicPorts): Handler<typeof walletScore> {
  return async ({ params }, asked) => {
    const subject = parseAddress(params.address);
    if (subject === null) {
      const misform = describeMisform(params.address);
      return badInput([why(misform === null ? 'form_not_recognised' : misform).reason]);
    }
    const evidence = await forensicEvidence(ports, subject, asked);
    return saysSomething(evidence) ? answered(evidence) : absence(evidence);
  };
}

const CAVEAT =
  'What was observed, not a rating: no finding is a judgement of the address or its owner, and a ' +
  'list without one is no clearance. Tables are partial; findings rest on the transfers, chains ' +
  'and dates that findings_coverage names.';
const CAVEAT_UNCHECKED =
  ' Not every kind of finding that applies ran on inputs that were read: what is not listed was ' +
  'not looked for to the end.';

function answered(evidence: ForensicEvidence) {
  const { subject, inputs, kinds, checked, mainFacts, entity } = evidence;
  const { address } = subject;
  const findings = findingsSeen(kinds);
  const cluster = clusterSeen(entity);
  const data: Data = {
    address,
    checksum: subject.kind === 'evm' ? checksumAddress(subject.address) : address,
    label: labelOf(evidence),
    label_checked: claim(inputs.labels, isWhole, isNot),
    facts: factsShown(inputs, mainFacts),
    facts_provenance: provenanceOf(inputs, mainFacts),
    facts_elsewhere: elsewhereOf(inputs),
    entity: cluster,
    entity_checked: claim(entity, isWhole, isNot),
    flows: flowsShown(inputs),
    created: createdShown(subject, evidence.made),
    findings_checked: claim(checked, isWhole, isNot),
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
  const rests = readsBehind(kinds);
  return walletScore.ok({ subject: address, data, rests });
}

const isWhole = (): true => true;
const isNot = (): false => false;

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
  const leading = leadingLabel(heldUnder(inputs.labels.value.found, key));
  if (leading === null) return null;
  const { label: name, entity, role, confidence } = leading;
  return { name, entity, role, confidence };
}

/** The cluster where one was seen: one that may be larger is shown, and is not checked. */
function clusterSeen(entity: ForensicEvidence['entity']): Data['entity'] {
  const cluster = seen(map(entity, (one) => [one]));
  if (cluster === null || cluster[0] === null) return null;
  const { cluster_id, confidence, members, labels } = cluster[0];
  return {
    cluster_id,
    confidence,
    members: [...members],
    labels: labels === null ? null : [...labels],
  };
}

/** Whether there are facts, a label, an entity, a finding, or a kind that read history. */
function saysSomething(evidence: ForensicEvidence): boolean {
  const { mainFacts, kinds, entity } = evidence;
  const hasFacts = mainFacts !== null && seen(map(anyFact(mainFacts), (all) => all)) !== null;
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
