// Does the typed client have every declared route, where it is and as it is declared?

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import type { z } from 'zod';
import { CONTRACTS } from './compose/list.ts';
import { mediaOf } from './contract/reply.ts';

const SRC = import.meta.dirname;
type Contract = (typeof CONTRACTS)[number];

/** A declared route: the file that exports it, and the name under which it does. */
type Exported = { readonly route: Contract; readonly file: string; readonly name: string };

async function exportedRoutes(): Promise<Exported[]> {
  const files = readdirSync(join(SRC, 'features'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(contract|route)\.tsx?$/.test(file))
    .sort();
  const found: Exported[] = [];
  for (const file of files) {
    const module: object = await import(pathToFileURL(join(SRC, 'features', file)).href);
    for (const [name, value] of Object.entries(module)) {
      const route = CONTRACTS.find((one) => one === value);
      if (route !== undefined) found.push({ route, file, name });
    }
  }
  return found;
}

const texts = (values: readonly unknown[]) =>
  `[${values.map((one) => (typeof one === 'string' ? `'${one}'` : String(one))).join(', ')}]`;

/** The statuses under which a route answers something else than JSON, as lines of its row. */
function mediaLines(responses: { readonly [status: string]: z.ZodType }): string {
  const line = (name: string, kind: string) => {
    const statuses = Object.entries(responses).filter(([, one]) => mediaOf(one).kind === kind);
    if (statuses.length === 0) return '';
    return `    ${name}: ${texts(statuses.map(([status]) => Number(status)))},\n`;
  };
  return line('bytes', 'bytes') + line('texts', 'text');
}

function rowOf({ name, kind, method, path, access, ...route }: Contract): string {
  const statuses = 'responses' in route ? Object.keys(route.responses).map(Number) : [200];
  const absences = 'absences' in route ? route.absences : [];
  return `  ${name}: {
    kind: '${kind}',
    method: '${method}',
    path: '${path}',
    access: '${access}',
    statuses: ${texts(statuses)},
    absences: ${texts(absences)},
${'responses' in route ? mediaLines(route.responses) : ''}  },
`;
}

/** The import of the routes of a file, as the formatter writes it. */
function importOf(file: string, names: readonly string[]): string {
  const sorted = [...names].sort((a, b) => a.localeCompare(b, 'en'));
  const line = `import type { ${sorted.join(', ')} } from '../features/${file}';\n`;
  if (line.length <= COLUMNS_MAX) return line;
  return `import type {\n  ${sorted.join(',\n  ')},\n} from '../features/${file}';\n`;
}

const COLUMNS_MAX = 101;

function moduleOf(exported: readonly Exported[]): string {
  const files = [...new Set(exported.map(({ file }) => file))];
  const imports = files.map((file) =>
    importOf(
      file,
      exported.filter((one) => one.file === file).map(({ name }) => name),
    ),
  );
  const byName = [...exported].sort((a, b) => (a.route.name < b.route.name ? -1 : 1));
  const types = byName.map(({ route, name }) => `  readonly ${route.name}: typeof ${name};\n`);
  return `// Made from the declarations: \`npx vitest run src/client-routes.test.ts --update\` writes it anew.

import type { Absence } from '../contract/answer.ts';
import type { AccessRule, Method } from '../contract/route.ts';
${imports.join('')}
/** The declarations, from which the types of the methods follow. */
export type Contracts = {
${types.join('')}};

/** The facts that a client needs of a route. */
export type RouteRow = {
  readonly kind: 'evidence' | 'plain';
  readonly method: Method;
  readonly path: string;
  readonly access: AccessRule;
  /** The statuses that it answers with; any other is a refusal. */
  readonly statuses: readonly number[];
  readonly absences: readonly Absence[];
  /** The statuses whose body is bytes, which are given as they came. */
  readonly bytes?: readonly number[];
  /** The statuses whose body is text of another type than JSON. */
  readonly texts?: readonly number[];
};

export const ROUTES: { readonly [N in keyof Contracts]: RouteRow } = {
${byName.map(({ route }) => rowOf(route)).join('')}};
`;
}

test('src/client/routes.ts is made from the declarations as they are', async () => {
  const exported = await exportedRoutes();
  expect(exported.map(({ route }) => route.name).sort()).toEqual(
    CONTRACTS.map(({ name }) => name).sort(),
  );
  await expect(moduleOf(exported)).toMatchFileSnapshot('client/routes.ts');
});

test('no route asks for a field of its path or query under the name of the body', () => {
  for (const { params, query } of CONTRACTS) {
    const names = [...Object.keys(params.shape), ...Object.keys(query.shape)];
    expect(names).not.toContain('body');
    expect(new Set(names).size).toBe(names.length);
  }
});
