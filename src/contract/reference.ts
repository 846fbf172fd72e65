// Answers one question: what do the reference pages say of reasons and refusals.
// The pages under docs/reference are made from the tables here; a test holds that they are current.

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
