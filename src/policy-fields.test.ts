// Is each field of a policy one that the answers declare, with the words that they have?

import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  POLICY_ACCOUNTS,
  POLICY_ANSWERS,
  POLICY_FIELDS,
  POLICY_FINDINGS,
  POLICY_FORMS,
  POLICY_LAUNCH_ANSWERS,
  POLICY_RECORDS,
  POLICY_ROLES,
} from './contract/policy-fields.ts';
import { walletBridges } from './features/bridges/wallet-bridges.route.ts';
import { deployerRecord } from './features/deployers/deployer-record.route.tsx';
import { RECORD_STATES } from './features/deployers/record.ts';
import { walletCex } from './features/exchanges/wallet-cex.route.ts';
import { FINDING_KINDS } from './features/forensics/evidence.ts';
import { ACCOUNT_KINDS } from './features/forensics/shapes.ts';
import { walletScore } from './features/forensics/wallet-score.route.ts';
import { walletOfac } from './features/sanctions/wallet-ofac.route.ts';
import { bulkWalletScreen } from './features/screening/bulk-wallet-screen.route.ts';
import { screenResult } from './features/screening/shapes.ts';
import { LAUNCH_ANSWERS } from './ports/launches.ts';
import { LABEL_ROLES } from './ports/tables.ts';

const ROUTES = {
  screen: bulkWalletScreen,
  ofac: walletOfac,
  evidence: walletScore,
  exchanges: walletCex,
  bridges: walletBridges,
  deployer: deployerRecord,
};

/** Whether a step leads on in a schema; `null` and options are looked through. */
function below(schema: z.core.$ZodType, step: string): z.core.$ZodType | null {
  if (
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodReadonly
  ) {
    return below(schema.def.innerType, step);
  }
  if (step === '*') return schema instanceof z.ZodArray ? schema.element : null;
  const next = schema instanceof z.ZodObject ? schema.shape[step] : undefined;
  return next instanceof z.ZodType ? next : null;
}

test('each path of a field leads to a member that its route declares', () => {
  for (const [name, { answer, at, read, nothing }] of POLICY_FIELDS) {
    const route = ROUTES[answer];
    expect(route.name).toBe(POLICY_ANSWERS[answer]);
    expect(name.startsWith(`${answer}.`)).toBe(true);
    for (const path of [at, ...[...read, ...nothing.flat()].map((one) => one.at)]) {
      if (path === 'simulated') continue;
      const [first, ...steps] = path.split('.');
      expect(first).toBe('data');
      let schema: z.core.$ZodType | null = route.data;
      for (const step of steps) schema = schema === null ? null : below(schema, step);
      expect([path, schema !== null]).toEqual([path, true]);
    }
  }
});

test('each list of words is that of the answers', () => {
  const kinds: readonly string[] = FINDING_KINDS.map(({ kind }) => kind);
  expect([...POLICY_FINDINGS].sort()).toEqual([...kinds].sort());
  expect(POLICY_ACCOUNTS).toEqual(ACCOUNT_KINDS);
  expect(POLICY_LAUNCH_ANSWERS).toEqual(LAUNCH_ANSWERS);
  expect(POLICY_ROLES).toEqual(LABEL_ROLES);
  expect([...POLICY_RECORDS, 'unchecked'].sort()).toEqual([...RECORD_STATES].sort());
  expect(screenResult.shape.kind.options).toEqual([...POLICY_FORMS]);
});

test('a null that says that there is nothing stands beside what says that it was looked at', () => {
  for (const [name, { nothing }] of POLICY_FIELDS) {
    for (const standing of nothing) {
      const nulls = standing.filter((one) => one.in.includes(null));
      expect([name, nulls.length, standing.length > 1]).toEqual([name, 1, true]);
    }
  }
});
