// Makes the evaluator of policies as pages run it: the client's own modules without their types, in
// one file that defines `exhibitPolicy` and nothing else.

import { readFileSync } from 'node:fs';
import ts from 'typescript-5';

/** The modules, each behind those that it imports. */
const MODULES = [
  ...['contract/rules', 'contract/canonical', 'contract/policy-fields'],
  'client/policy',
] as const;

const HEAD =
  '// Made of src/client/policy.ts and what it imports: the evaluator as pages run it.\n' +
  '// `npx vitest run src/policy-cases.test.ts --update` writes it anew.\n';

/** The text of the script. */
export function policyScriptText(root: string): string {
  const modules = MODULES.map((name) => {
    const source = readFileSync(`${root}/src/${name}.ts`, 'utf8');
    const { outputText } = ts.transpileModule(source, {
      compilerOptions: {
        target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.CommonJS,
        removeComments: true,
      },
    });
    // A page weighs what its scripts do: no line of these modules begins within a text.
    const text = outputText.replaceAll(/^ +/gm, '');
    const within = `((exports, require) => {\n${text}})(made['${name}'], take);`;
    return `made['${name}'] = {};\n${within}`;
  });
  return (
    `${HEAD}const exhibitPolicy = (() => {\nconst made = {};\n` +
    `const take = (path) => made[path.replace(/.*\\/(.+)\\.ts$/, 'contract/$1')];\n` +
    `${modules.join('\n')}\nreturn made['client/policy'];\n})();\n`
  );
}
