// What a caller decides by policies of its own: commands, and a page whose script decides. The
// script is a published file, which is read and served and imported by nothing here.

import { readFileSync } from 'node:fs';
import { feature, servePage } from '../../compose/feature.ts';
import { policyCheck, policyDecide } from './policy.command.ts';
import {
  type ExamplePolicy,
  policyPage,
  policyPageHandler,
  policyScript,
  policyScriptHandler,
} from './policy.route.tsx';

const ROOT = new URL('../../../', import.meta.url);
const EXAMPLES = [
  ...['payouts', 'deposits', 'exchange-withdrawals', 'token-listing', 'counterparty-review'],
] as const;

function fileText(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8');
}

function examplePolicies(): readonly ExamplePolicy[] {
  return EXAMPLES.map((name) => ({ name, text: fileText(`examples/policies/${name}.json`) }));
}

export const policies = feature({
  name: 'policies',
  heading: 'Decide by a policy of your own',
  open: () => ({ ports: {}, services: {} }),
  ports: {},
  pages: [
    servePage(policyPage, 'Try a policy', (_given: unknown, facts) =>
      policyPageHandler(examplePolicies(), facts),
    ),
    servePage(policyScript, null, (_given: unknown) =>
      policyScriptHandler(fileText('docs/reference/policy/evaluator.js')),
    ),
  ],
  local: { commands: [policyCheck, policyDecide], services: () => ({}) },
});
