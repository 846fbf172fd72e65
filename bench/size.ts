// Counts files, lines and functions by role, from the tree.
//
// Use: npm run size [-- --repo FOLDER] [--json]. FOLDER is a checkout, by default this one; it is
// only read. A role follows from the path, so one table suits every layout.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { codeUnder, nodeAt, nodesAt, sourceAt } from '../src/testing/tidy-source.ts';
import { BESIDE, nameRole, PRODUCT_ROLES, SUPPORT, TESTS } from './roles.ts';

type Counts = { readonly files: number; readonly lines: number; readonly functions: number };
type Size = Counts & { readonly function_lines: number };
type Row = Counts & {
  readonly role: string;
  readonly lines_a_file: number | null;
  readonly lines_a_function: number | null;
};

function sum<T>(of: readonly T[], value: (one: T) => number): number {
  return of.reduce((total, one) => total + value(one), 0);
}

function toRow(role: string, sizes: readonly Size[]): Row {
  const files = sum(sizes, (one) => one.files);
  const lines = sum(sizes, (one) => one.lines);
  const functions = sum(sizes, (one) => one.functions);
  const functionLines = sum(sizes, (one) => one.function_lines);
  return {
    role,
    files,
    lines,
    functions,
    lines_a_file: files === 0 ? null : lines / files,
    lines_a_function: functions === 0 ? null : functionLines / functions,
  };
}

function measureTree(root: string) {
  const folders = ['src', ...BESIDE].filter((folder) => existsSync(`${root}/${folder}`));
  const byRole = new Map<string, Size[]>();
  for (const path of folders.flatMap((folder) => codeUnder(root, folder))) {
    const role = nameRole(path);
    const { text, lines, program } = sourceAt(root, path);
    const declared = nodesAt(program, 'body')
      .map((node) => nodeAt(node, 'declaration') ?? node)
      .filter((node) => node.type === 'FunctionDeclaration');
    const ending = lines.at(-1) === '' ? 1 : 0;
    byRole.set(role, [
      ...(byRole.get(role) ?? []),
      {
        files: 1,
        lines: lines.length - ending,
        functions: declared.length,
        function_lines: sum(
          declared,
          ({ start, end }) => text.slice(start, end).split('\n').length,
        ),
      },
    ]);
  }
  const sizesOf = (roles: readonly string[]) => roles.flatMap((role) => byRole.get(role) ?? []);
  const product = PRODUCT_ROLES.map(([role]) => role);
  const tests = [TESTS, SUPPORT];
  return {
    roles: [...product, ...tests, ...BESIDE].map((role) => toRow(role, sizesOf([role]))),
    totals: [
      toRow('product and world', sizesOf(product)),
      toRow('tests and support', sizesOf(tests)),
    ],
  };
}

const HEADS = ['role', 'files', 'lines', 'functions', 'lines/file', 'lines/func.'];
const ROLE_CHARS = 20;
const NUMBER_CHARS = 12;

function formatLine([role, ...numbers]: readonly string[]): string {
  const cells = numbers.map((cell) => cell.padStart(NUMBER_CHARS)).join('');
  return `${String(role).padEnd(ROLE_CHARS)}${cells}\n`;
}

function formatMean(mean: number | null): string {
  return mean === null ? '-' : mean.toFixed(1);
}

function formatRow(row: Row): string {
  const counts = [row.files, row.lines, row.functions].map((value) => value.toLocaleString('en'));
  const means = [row.lines_a_file, row.lines_a_function].map(formatMean);
  return formatLine([row.role, ...counts, ...means]);
}

const { values } = parseArgs({
  options: { repo: { type: 'string', default: '.' }, json: { type: 'boolean', default: false } },
});
const sizes = measureTree(resolve(values.repo));
process.stdout.write(
  values.json
    ? `${JSON.stringify(sizes, null, 2)}\n`
    : [
        formatLine(HEADS),
        ...sizes.roles.map(formatRow),
        formatLine(HEADS.map(() => '')).replace(/ +\n/, '\n'),
        ...sizes.totals.map(formatRow),
      ].join(''),
);
