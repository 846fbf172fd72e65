// Powers over a contract or an account, as its chain shows them: facts of slots and code at one
// moment. It never predicts whether a power was or will be used.

import type { EvmChainName } from '../../../chain/chain.ts';
import { listFrom } from '../../../evidence/measure.ts';
import { both, map, type Partly, some } from '../../../evidence/reading.ts';
import { why } from '../../../evidence/reasons.ts';
import type {
  AuthorityFact,
  ChainFactsPort,
  CodeFact,
  FactReadings,
} from '../../../ports/accounts.ts';
import { hasNoCode } from '../facts-asked.ts';
import {
  draftSource,
  type FindingDraft,
  type FindingInputs,
  type FindingKind,
} from '../finding.ts';
import type { RecordEvidence } from '../shapes.ts';

/** A contract whose code or funds somebody may change. */
export const proxyAuthority: FindingKind = {
  kind: 'proxy_authority',
  title: 'Proxy or owner authority',
  appliesTo: ['evm'],
  ofHistory: false,
  find: (inputs) =>
    perChain(inputs, (chain, { code, authority }) =>
      // An account without code names nobody, and is not asked for more.
      hasNoCode(code)
        ? map(code, () => [])
        : map(both({ code, authority }), (seen) => {
            const records = authorityRecords(chain, seen.code, seen.authority);
            if (records.length === 0) return [];
            const held = records.map(({ name, value }) => `${name} ${value}`).join(', ');
            const statement = `On ${chain} its code names others with power over it: ${held}.`;
            return [draftOf(statement, records, authority)];
          }),
    ),
};

/** An account that runs another account's code (EIP-7702). */
export const delegatedAccount: FindingKind = {
  kind: 'delegated_account',
  title: 'Account delegated to code',
  appliesTo: ['evm'],
  ofHistory: false,
  find: (inputs) =>
    perChain(inputs, (chain, { code }) =>
      map(code, ({ delegates_to }) =>
        listFrom(delegates_to, (to) => {
          const statement = `On ${chain} this account runs the code of ${to} (EIP-7702).`;
          return [draftOf(statement, [recordOf(chain, 'delegates_to', to)], code)];
        }),
      ),
    ),
};

type Found = Partly<readonly FindingDraft[], ChainFactsPort>;

function perChain(
  { facts }: FindingInputs,
  find: (chain: EvmChainName, facts: FactReadings) => Found,
): Found {
  const found = some(facts.map((one) => find(one.chain, one.facts)));
  return map(found, (drafts) => drafts.flat());
}

function recordOf(chain: EvmChainName, name: string, value: string): RecordEvidence {
  const nowhere = { tx: null, tx_reason: why('set_by_unasked').reason, block: null, at: null };
  return { evidence: 'record', chain, ...nowhere, name, value };
}

function authorityRecords(
  chain: EvmChainName,
  { minimal_proxy_of }: CodeFact,
  { implementation, admin, beacon, owner }: AuthorityFact,
): RecordEvidence[] {
  const held = { implementation, admin, beacon, owner, minimal_proxy_of };
  return Object.entries(held).flatMap(([name, value]) =>
    value === null ? [] : [recordOf(chain, name, value)],
  );
}

function draftOf(
  statement: string,
  evidence: readonly RecordEvidence[],
  reading: Partly<unknown, never>,
): FindingDraft {
  const count = { evidence_count: evidence.length, initiated_by_subject: null };
  return { statement, evidence, ...count, ...draftSource(reading) };
}
