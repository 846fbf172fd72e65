// The targets of verdicts that the guide of the simulated world names say what it says of them.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { BUNDLE_SOURCES, bundleShape, judgementShape } from './features/collectors/shapes.ts';
import { runPrinting, type Simulated, startProgram } from './testing/program.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const shown = z.strictObject({ bundle: bundleShape, judgement: judgementShape });

/** A key that only the rule of this name rests on. */
const KEY_OF = {
  direct_listing: 'sanctions.listed',
  flagged_row: 'flags.row_1.kind',
  launches_all_died: 'deployer.listed_launches',
  solana_all_died: 'deployer.settled',
} as const;

/** What is made up of an EVM target: history, measurements and state. */
const MADE_UP = ['rug_flag', 'funding', 'net_flow', 'authorities', 'freezes'] as const;

/** The EVM target of whose transfers none may be one of a bridge. */
const NOT_CROSSED = '0x5758a71720ea206acdbf8c241e39a15d313f5462';
/** The first scores take long on a busy machine. */
const SCORED = { timeout: 200_000, interval: 500 };

type Named = { readonly chain: string; readonly address: string; readonly says: string };

function targetsInGuide(): Named[] {
  const guide = readFileSync(join(ROOT, 'docs/guides/simulated-world.md'), 'utf8');
  const [, section = ''] = guide.split('## Targets of verdicts');
  const rows = section.matchAll(/^\| `(\w+)` `(\w{26,50})` \| (.+) \|$/gm);
  return [...rows].map(([, chain = '', address = '', says = '']) => ({ chain, address, says }));
}

/** Each target says what the guide says of it. */
export function targetsSayWhatIsKnown(started: () => Simulated): void {
  describe('the targets of verdicts', () => {
    const targets = targetsInGuide().filter(({ says }) => /^`(avoid|no_opinion)`/.test(says));

    test('are named for every rule that can hold in a simulated world', () => {
      const rules = targets.flatMap(({ says }) => /^`avoid`: `(\w+)`/.exec(says)?.[1] ?? []);
      expect(new Set(rules)).toEqual(new Set(Object.keys(KEY_OF)));
      expect(targets.filter(({ says }) => says.startsWith('`no_opinion`')).length).toBe(3);
    });

    async function show({ chain, address }: Pick<Named, 'chain' | 'address'>) {
      const words = ['evidence', 'show', '--chain', chain, '--address', address];
      const { bundle, judgement } = await runPrinting(shown, words, { cwd: started().cwd });
      return { bundle, judgement, lines: new Map(bundle.sources.map((one) => [one.source, one])) };
    }

    // A target that nothing has scored yet is `dormant`, and says so.
    beforeAll(async () => {
      const [first] = targets.filter(({ chain }) => chain === 'ethereum');
      if (first === undefined) throw new Error('test: no target of Ethereum');
      await vi.waitFor(async () => {
        expect((await show(first)).lines.get('rug_flag')?.code).not.toBe('never_scored');
      }, SCORED);
    });

    test.each(targets)('$chain $address: $says', async ({ chain, address, says }) => {
      const { bundle, judgement, lines } = await show({ chain, address });
      const [, verdict, rule] = /^`(\w+)`(?:: `(\w+)`)?/.exec(says) ?? [];
      expect(judgement.verdict).toBe(verdict);
      const key = Object.entries(KEY_OF).find(([name]) => name === rule)?.[1];
      if (verdict === 'avoid') expect(judgement.evidence_used).toContain(key);
      else expect(judgement.evidence_used).toEqual([]);
      expect(judgement.model).toMatch(/^rules-1-[0-9a-f]{12}$/);
      expect(bundle.sources.map(({ source }) => source)).toEqual([...BUNDLE_SOURCES]);
      // A node of Solana tells who holds a token, and here it is made up.
      expect(lines.get('holders')).toMatchObject(
        chain === 'solana'
          ? { status: 'error', code: 'simulated' }
          : { status: 'unavailable', code: 'no_evidence_source' },
      );
      if (chain === 'ethereum') {
        // No node holds the receipt of what is made up, which says more where there is a transfer.
        expect(lines.get('bridges')).toMatchObject({
          status: 'error',
          code: address === NOT_CROSSED ? 'simulated' : 'receipt_not_held',
        });
        for (const source of MADE_UP) {
          expect(lines.get(source)).toMatchObject({ status: 'error', code: 'simulated' });
        }
      }
      // Whatever is there is labelled as made up, and nothing else is.
      for (const { status, code } of bundle.sources) {
        if (status === 'present') expect(code).toBe('simulated');
      }
    });

    test('a target of no served chain is refused by name', async () => {
      const { cwd } = started();
      const words = ['evidence', 'show', '--chain', 'tron', '--address', `0x${'1'.repeat(40)}`];
      const { status, err } = await startProgram(words, { cwd }).ended;
      expect([status, err]).toEqual([2, expect.stringContaining('chain: none that is served')]);
    });
  });
}
