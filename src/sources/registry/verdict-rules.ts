// The rules of verdicts, from the table that comes with the product: `registry/verdict-rules.csv`.
// A table with one wrong row is not used, and its version names its exact bytes.

import { z } from 'zod';
import { parseIsoDate } from '../../chain/time.ts';
import type { TableLine } from '../../ports/tables.ts';
import {
  isRuleKey,
  keysOfRule,
  parseRuleTests,
  rulesVersion,
  type VerdictRule,
  type VerdictRules,
} from '../../ports/verdicts.ts';
import { csvLines } from '../files/csv.ts';
import { FileFault } from '../files/text-lines.ts';
import { registryFile, whyTableUnread } from './registry-files.ts';

const HEADING =
  'rule,verdict,when,cites,says,' +
  'confidence_millionths,confidence_basis,n,source,source_url,reviewed';

const words = z.string().min(1);
const cells = z.tuple([
  z.string().regex(/^[a-z_]+$/),
  z.literal('avoid'),
  words,
  z.string(),
  words,
  z.string().regex(/^[1-9]\d{0,5}$/),
  z.enum(['assumed', 'measured']),
  z.string().regex(/^([1-9]\d{0,8})?$/),
  words,
  z.url({ protocol: /^https$/ }),
  z.string(),
]);

const PLACE = /\{([^}]*)\}/g;

function ruleIn(row: readonly string[]): VerdictRule | string {
  const parsed = cells.safeParse(row);
  if (!parsed.success) return `cell ${Number(parsed.error.issues[0]?.path[0]) + 1}`;
  const [name, verdict, when, cited, says, confidence, confidence_basis, of, ...origin] =
    parsed.data;
  const [source, source_url, reviewed] = origin;
  const tests = parseRuleTests(when);
  if (typeof tests === 'string') return tests;
  const cites = cited === '' ? [] : cited.split(' ');
  const wrong = cites.find((key) => !isRuleKey(key));
  if (wrong !== undefined) return `not a key: ${wrong}`;
  if (parseIsoDate(reviewed) === null) return 'no day of review';
  const n = of === '' ? null : Number(of);
  if ((confidence_basis === 'measured') !== (n !== null)) {
    return 'n stands beside a measured confidence, and beside no other';
  }
  const rule: VerdictRule = {
    name,
    verdict,
    tests,
    cites,
    says,
    confidence_millionths: Number(confidence),
    confidence_basis,
    n,
    source,
    source_url,
    reviewed,
  };
  const keys = keysOfRule(rule);
  const strange = [...says.matchAll(PLACE)].find(([, key]) => !keys.includes(String(key)));
  return strange === undefined ? rule : `a key in its sentence that it does not rest on`;
}

/** The rules of a file's lines. Throws `FileFault`, with its line, at the first that is wrong. */
function rulesIn([first, ...lines]: readonly TableLine[]): VerdictRule[] {
  if (first?.cells.join() !== HEADING) throw new FileFault('line 1: not the heading');
  const met = new Set<string>();
  return lines.map(({ line, cells: row }) => {
    const rule = ruleIn(row);
    if (typeof rule === 'string') throw new FileFault(`line ${line}: ${rule}`);
    if (met.has(rule.name)) throw new FileFault(`line ${line}: an earlier row has the same name`);
    met.add(rule.name);
    return rule;
  });
}

/** @internal The rules of the text of a file. Throws `FileFault` at the first that is wrong. */
export function verdictRulesOf(text: string): VerdictRule[] {
  return rulesIn(csvLines(text));
}

export function verdictRulesFile(path: string | URL): VerdictRules {
  return registryFile(
    'verdict_rules',
    path,
    ({ sha256, lines }) => {
      const rules = rulesIn(lines);
      return {
        value: { version: rulesVersion(sha256), rules },
        name: `Rules of verdicts: ${rules.length} rows`,
        url: `urn:sha256:${sha256}`,
        days: rules.map(({ reviewed }) => reviewed),
      };
    },
    whyTableUnread('The rules of verdicts'),
  );
}
