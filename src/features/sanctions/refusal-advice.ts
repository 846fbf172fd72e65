// Answers one question: what can an operator do about a file that was refused?
// It names the file kept, the command that shows what it changes, and the one that accepts it.

import type { RefreshOutcome } from '../../ports/sanctions/publisher.ts';

/** Lines for an operator. `command` is what was typed, or would be: `refresh`. */
export function refusalAdvice(
  refused: Extract<RefreshOutcome, { kind: 'refused' }>,
  command: string,
): string[] {
  const { kept_as, in_force, acceptable, sha256 } = refused;
  const lines: string[] = [];
  if (kept_as !== null) lines.push(`The file is kept as ${kept_as}`);
  if (kept_as !== null && in_force !== null && acceptable) {
    lines.push(`What it would change: exhibit sanctions diff ${in_force} ${kept_as}`);
  }
  if (acceptable) {
    const accept = `exhibit sanctions ${command} --accept ${sha256} --why TEXT`;
    lines.push(`Only its size speaks against it. To accept exactly this file: ${accept}`);
  }
  return lines;
}
