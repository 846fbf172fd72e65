// Makes few files of the program: node bin/bundle.mjs FOLDER writes FOLDER/exhibit.js, and
// FOLDER/exhibit-*.js that it imports where a command needs them, from FOLDER/main.js. Node.js takes
// longer to find and read a thousand files than to run most commands.

import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

/** With native parts or files beside them: Node.js reads these itself. */
const OUTSIDE = ['@electric-sql/pglite', 'chdb', 'pino'];

/** Has a module find the files of the project from where it was, whichever file it runs in. */
function keepPlaces(folder) {
  return {
    name: 'keep-places',
    transform(code, id) {
      if (!code.includes('import.meta.url')) return null;
      const own = JSON.stringify(`./${relative(folder, id)}`);
      return { code: code.replaceAll('import.meta.url', `new URL(${own}, import.meta.url).href`) };
    },
  };
}

/** Has the program hold what commands declare as data: their code is not loaded for it. */
function keepDeclarations(folder) {
  const file = join(folder, 'compose/commands.js');
  return {
    name: 'keep-declarations',
    async load(id) {
      if (id !== file) return null;
      const { HELP_GROUPS } = await import(pathToFileURL(file).href);
      const text = JSON.stringify(JSON.stringify(HELP_GROUPS));
      return `export const HELP_GROUPS = JSON.parse(${text});`;
    },
  };
}

const folder = resolve(process.argv[2]);
const bundle = await rolldown({
  input: { exhibit: join(folder, 'main.js') },
  platform: 'node',
  external: (id) => OUTSIDE.some((name) => id === name || id.startsWith(`${name}/`)),
  plugins: [keepDeclarations(folder), keepPlaces(folder)],
});
await bundle.write({
  dir: folder,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'exhibit-[name].js',
});
