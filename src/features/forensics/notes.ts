// What has to be known of an answer about findings beside the findings themselves?
// Which kinds ran, on which blocks, and why others did not; it refuses to leave a gap unnamed.

import { CHAIN_NAMES, type ChainName } from '../../chain/chain.ts';
import { given, present } from '../../evidence/measure.ts';
import { map, Read, seen } from '../../evidence/reading.ts';
import type { CoverageRange } from '../../ports/history/transfer-history.ts';
import type { Walk } from '../sanctions/walk.ts';
import { type ForensicEvidence, type KindResult, MAIN_CHAINS } from './evidence.ts';
import type { FindingInputs, FindingKind } from './finding.ts';
import { sidesOf } from './finding-evidence.ts';

/** The blocks of one chain that a kind was asked of. */
type CoveredBlocks = { chain: string; from: number; to: number };

/** Whether a kind ran, why not, and over which blocks. */
type KindCoverage = {
  kind: string;
  title: string;
  checked: boolean;
  reason: string | null;
  /** Blocks of the main chain of the address's kind. */
  from: number | null;
  to: number | null;
  blocks: CoveredBlocks[] | null;
};

/** The coverage of one kind of finding. */
export function coverageOfKind({ kind, found }: KindResult, inputs: FindingInputs): KindCoverage {
  const blocks = kind.ofHistory ? blocksOf(inputs) : ownBlocks(kind, inputs);
  const main = blocks?.find(({ chain }) => chain === MAIN_CHAINS[inputs.subject.kind]);
  return {
    kind: kind.kind,
    title: kind.title,
    checked: found instanceof Read,
    reason: found instanceof Read ? null : found.why.reason,
    from: main === undefined ? null : main.from,
    to: main === undefined ? null : main.to,
    blocks,
  };
}

function ownBlocks({ blocksOf: own }: FindingKind, inputs: FindingInputs): CoveredBlocks[] | null {
  const blocks = own === undefined ? [] : own(inputs).map((one) => ({ ...one }));
  return blocks.length === 0 ? null : blocks;
}

/** The blocks of transfers that were read, of all three kinds of them. */
function blocksOf({ history }: FindingInputs): CoveredBlocks[] | null {
  const ranges = seen(map(history, ({ coverage }) => coverage));
  if (ranges === null) return null;
  const covered = present(CHAIN_NAMES.map((chain) => commonRange(chain, ranges)));
  return covered.length === 0 ? null : covered;
}

const KINDS = ['native', 'token', 'internal'] as const;

/** The blocks of which all three kinds were read, as one range; `null` where a kind is missing. */
function commonRange(chain: ChainName, ranges: readonly CoverageRange[]): CoveredBlocks | null {
  const own = ranges.filter((one) => one.chain === chain);
  const longest = KINDS.map((kind) => longestOf(own.filter((one) => one.kind === kind)));
  let from = 0;
  let to = Number.MAX_SAFE_INTEGER;
  for (const range of longest) {
    if (range === null) return null;
    from = Math.max(from, range.from);
    to = Math.min(to, range.to);
  }
  return from > to ? null : { chain, from, to };
}

type Span = { readonly from: number; readonly to: number };

/** The longest run of ranges that adjoin or overlap. */
function longestOf(ranges: readonly CoverageRange[]): Span | null {
  let best: Span | null = null;
  let run: Span | null = null;
  for (const one of [...ranges].sort((a, b) => a.from_block - b.from_block)) {
    run =
      run !== null && one.from_block <= run.to + 1
        ? { from: run.from, to: Math.max(run.to, one.to_block) }
        : { from: one.from_block, to: one.to_block };
    if (best === null || run.to - run.from > best.to - best.from) best = run;
  }
  return best;
}

/** The notes that a reader needs, at least one sentence. */
export function notesOf(evidence: ForensicEvidence): string[] {
  const { subject, inputs, kinds, mainFacts } = evidence;
  const silent = kinds.filter(({ found }) => !(found instanceof Read));
  const facts =
    mainFacts === null
      ? `No chain facts are read of this kind of address (${subject.kind}).`
      : 'facts are those of ethereum at the time named beside each; they change with the chain.';
  return [
    facts,
    ...(silent.length === 0 ? [] : [silentText(silent, kinds.length)]),
    ...leftOutNote(inputs),
    ...walkNote(inputs),
    ...evidenceNote(evidence),
  ];
}

function silentText(silent: readonly KindResult[], of: number): string {
  const names = silent.map(({ kind }) => kind.kind).join(', ');
  return `${silent.length} of ${of} kinds of finding were not read to their end: ${names}.`;
}

/** How many transfers are no contact of anybody: they are counted, and never denied. */
function leftOutNote({ history, subject }: FindingInputs): string[] {
  const shown = seen(map(history, ({ transfers }) => transfers));
  const { leftOut } = sidesOf(subject.address, given(shown));
  if (leftOut.length === 0) return [];
  const zero = leftOut.filter(({ why }) => why === 'zero_value').length;
  const unsold = leftOut.length - zero;
  return [
    `Left out of every contact: ${zero} transfers of no value and ${unsold} of tokens without a ` +
      'market that others signed.',
  ];
}

/** What a walk met and does not count as a way, and of what it says nothing. */
function walkNote({ walk }: FindingInputs): string[] {
  return given(seen(map(walk, (one) => [one]))).flatMap(walkedText);
}

function walkedText(walked: Walk): string[] {
  const { found, hub_contacts_count, hub_contacts, nft_not_examined, ring } = walked;
  const [first] = hub_contacts;
  const hubs =
    first === undefined
      ? null
      : `${hub_contacts_count} times a counterparty with too many counterparties to be walked ` +
        `past dealt with a listed address, first ${first.address} with ${first.listed_address}; ` +
        'the answer of ofac lists them as hub_contacts.';
  const unread =
    nft_not_examined.length === 0
      ? null
      : `Ways by NFTs were not read to their end on ${nft_not_examined.join(', ')}.`;
  const ringless =
    ring instanceof Read || found?.way.length === 1
      ? null
      : 'The ring around listed addresses was not met, so that a busy counterparty may have ' +
        `dealt with one: ${ring.why.reason}`;
  return present([hubs, unread, ringless]);
}

function evidenceNote({ kinds }: ForensicEvidence): string[] {
  const cut = kinds.some(({ found }) => isCut(found));
  return cut ? ['A finding shows its newest evidence; evidence_count counts all of it.'] : [];
}

function isCut(found: KindResult['found']): boolean {
  const shown = seen(found);
  return shown?.some((one) => one.evidence_count > one.evidence.length) === true;
}
