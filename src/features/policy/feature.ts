// What a caller decides by policies of its own: commands, and a page whose script decides. The
// script is a published file, which is read and served and imported by nothing here.

import { readFileSync } from 'node:fs';
import { feature, servePage } from '../../compose/feature.ts';
import { policyLocal } from './local.ts';
import {
  type ExamplePolicy,
  policyPage,
  policyPageHandler,
  policyScript,
  policyScriptHandler,
} from './policy.route.tsx';

const EXAMPLES_AT = new URL('../../../examples/policies/', import.meta.url);
const EXAMPLES = [
  ...['payouts', 'deposits', 'exchange-withdrawals', 'token-listing', 'counterparty-review'],
] as const;
const EVALUATOR = new URL('../../../docs/reference/policy/evaluator.js', import.meta.url);

function examplePolicies(): readonly ExamplePolicy[] {
  return EXAMPLES.map((name) => ({
    name,
    text: readFileSync(new URL(`${name}.json`, EXAMPLES_AT), 'utf8'),
  }));
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
      policyScriptHandler(readFileSync(EVALUATOR, 'utf8')),
    ),
  ],
  local: policyLocal,
});
