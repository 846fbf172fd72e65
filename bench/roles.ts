// Derives the role of a file from its path alone.

import { isTest, isWithin } from '../src/testing/tidy-source.ts';

/** The roles of the product, in the order of the table. The first row that fits a path holds. */
export const PRODUCT_ROLES: readonly (readonly [role: string, fits: RegExp])[] = [
  ['evidence and chain', /^src\/(evidence|chain)\//],
  ['contract', /^src\/contract\/|^src\/features\/.*\.contract\.ts$/],
  ['shapes', /^src\/features\/.*\/shapes\.ts$/],
  ['route', /^src\/features\/.*\.route\.tsx?$/],
  ['page', /^src\/pages\/|^src\/features\/.*\.tsx$/],
  ['command', /^src\/command\/|^src\/features\/.*\.command\.ts$/],
  ['job', /^src\/features\/.*\.job\.ts$/],
  ['store', /^src\/stores\/|^src\/features\/.*\.store\.ts$/],
  ['port', /^src\/ports\//],
  ['source', /^src\/sources\//],
  ['feature wiring', /^src\/compose\/features\/|^src\/features\/[^/]+\/feature\.tsx?$/],
  ['engine', /^src\/features\//],
  ['access', /^src\/access\//],
  ['transport', /^src\/transport\//],
  ['mcp', /^src\/mcp\//],
  ['client', /^src\/client\//],
  ['compose', /^src\/compose\/|^src\/main\.ts$/],
  ['operator', /^src\/operator\//],
  ['config', /^src\/config(\/|\.ts$)/],
  ['world', /^src\/world\//],
];

export const TESTS = 'tests';
export const SUPPORT = 'testing support';
/** Folders beside the product that are told and not summed. */
export const BESIDE = ['bench', 'examples'];

/** The role of a file of the repository. */
export function nameRole(path: string): string {
  if (isTest(path)) return TESTS;
  if (isWithin(path, 'src/testing/')) return SUPPORT;
  const beside = BESIDE.find((folder) => isWithin(path, `${folder}/`));
  if (beside !== undefined) return beside;
  const found = PRODUCT_ROLES.find(([, fits]) => fits.test(path));
  if (found === undefined) throw new Error(`${path} has no role: add one to bench/roles.ts`);
  return found[0];
}
