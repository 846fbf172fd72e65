// The pages under docs/reference are made from the tables here; a test holds that they are current.

import { CHAIN_NAMES } from '../chain/chain.ts';
import { BLOCK_PROOFS, NOT_WHOLE, type TransferSource, wholeKinds } from '../chain/transfer.ts';
import { REASONS } from '../evidence/reasons.ts';
import { REFUSALS } from './refusals.ts';

/** `docs/reference/reasons.md`: why something was not checked or not answered. */
export function reasonsPage(): string {
  const rows = Object.entries(REASONS).map(([code, { sentence, means, next }]) =>
    [
      `## \`${code}\``,
      '',
      `> ${sentence}`,
      '',
      `**What it means.** ${means}`,
      '',
      `**What next.** ${next}`,
      '',
    ].join('\n'),
  );
  return [
    '# Reasons',
    '',
    'Every silence and every absence carries one of these. `{…}` is filled in where it is said.',
    'A reason is never a finding: it says what was not looked at, and why.',
    '',
    ...rows,
  ].join('\n');
}

/** `docs/reference/errors.md`: how a request is refused. */
export function errorsPage(): string {
  const rows = Object.entries(REFUSALS).map(
    ([code, { status, means }]) => `| ${status} | \`${code}\` | ${means} |`,
  );
  return [
    '# Refusals',
    '',
    'A refusal is about the request or the caller. It never says anything about an address.',
    'Unknown path (404) and wrong method (405) come first, then the credential (402), then the',
    'allowance (429), then the body (413, 415, 400), then the route.',
    '',
    '| status | code | meaning |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

const SOURCES: readonly (readonly [TransferSource, string])[] = [
  ['trace_block', 'a node with `trace_block`'],
  ['flat_call_tracer', 'a node with `flatCallTracer`'],
  ['call_tracer', 'a node with `callTracer`'],
  ['receipts', 'a node with receipts alone'],
  ['explorer', 'an explorer'],
  ['trace_files', 'files with traces'],
  ['solana_node', 'a node of Solana'],
];
/** Above every block from which on a row no longer holds. */
const NEWEST_BLOCK = Number.MAX_SAFE_INTEGER;

/** `docs/reference/coverage.md`: what can be held in full, by source and chain. */
export function coveragePage(): string {
  const chains = CHAIN_NAMES.filter((name) => name !== 'bitcoin');
  const rows = SOURCES.map(([source, name]) => {
    const own = chains.map((chain) => {
      if ((chain === 'solana') !== (source === 'solana_node')) return '';
      const kinds = wholeKinds(source, chain, NEWEST_BLOCK, 'rooted');
      return kinds.length === 0 ? 'none' : kinds.join(', ');
    });
    return `| ${[name, ...own].join(' | ')} |`;
  });
  const named = new Map(SOURCES);
  const missing = NOT_WHOLE.map(({ sources, chains: of, kinds, before, because, ...row }) => {
    const by = sources.map((source) => named.get(source)).join(', ');
    const until = before === null ? '' : `, before block ${before}`;
    const unless = row.unless_rooted ? ', unless it tells its roots' : '';
    return `* **${kinds.join(', ')}** by ${by} (${of.join(', ')}${until}${unless}): ${because}`;
  });
  return [
    '# What can be held in full',
    '',
    'The kinds of transfer that a source can tell in full of a chain today. Another kind is shown',
    'where it was seen, and is never coverage: nothing is denied on it. What can be whole is whole',
    'only where it was proved: blocks of a node by their receipts, lists of an explorer by their',
    'end.',
    '',
    `| | ${chains.join(' | ')} |`,
    `| --- |${' --- |'.repeat(chains.length)}`,
    ...rows,
    '',
    'Why not more:',
    '',
    ...missing,
    '',
    'What proves a block whole, by chain. What is not proved makes no negative:',
    '',
    '| chain | proved by | not proved |',
    '| --- | --- | --- |',
    ...CHAIN_NAMES.map((chain) => {
      const { proved, not_proved } = BLOCK_PROOFS[chain];
      return `| ${chain} | ${proved} | ${not_proved} |`;
    }),
    '',
  ].join('\n');
}
