// Answers one question: which compiled file does a worker or a child process start from.
// Node runs no TypeScript in a worker, so that a run from src uses the build in dist.

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The compiled entry of that name in this folder. Throws where the build does not hold it. */
export function compiledEntry(name: string): URL {
  const beside = new URL(`./${name}.js`, import.meta.url);
  if (!import.meta.url.endsWith('.ts')) return beside;
  const inSource = beside.href.lastIndexOf('/src/');
  const built = new URL(
    `${beside.href.slice(0, inSource)}/dist/${beside.href.slice(inSource + '/src/'.length)}`,
  );
  if (!existsSync(fileURLToPath(built))) {
    throw new Error(`dist/ does not hold ${name}.js: run "npm run build" first`);
  }
  return built;
}
