// Packs the typed client by itself, for programs that import `exhibit/client`: what they install
// holds the client, the types of the declarations, and nothing of the service.
// usage: node bin/pack-client.js [FOLDER], where the archive is put; its path is printed.
'use strict';

const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

/** What `exhibit/client/verify` imports. */
const VERIFYING = ['@noble/hashes', '@scure/base', 'ox'];
const ROOT = path.resolve(__dirname, '..');
const folder = path.resolve(process.argv[2] === undefined ? '.' : process.argv[2]);
const made = fs.mkdtempSync(path.join(os.tmpdir(), 'exhibit-client-'));

function run(file, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(file, args, { cwd, encoding: 'utf8' });
  if (status === 0) return stdout.trim();
  process.stderr.write(`${stdout}${stderr}${error === undefined ? '' : error.message}\n`);
  throw new Error(`${path.basename(file)} failed`);
}

/** Removes what the files of the client do not name: scripts by scripts, declarations by those. */
function keepReached(dist) {
  const all = fs.readdirSync(dist, { recursive: true, encoding: 'utf8' });
  const reached = new Set(all.filter((file) => file.startsWith(`client${path.sep}`)));
  for (const file of reached) {
    if (!/\.(js|d\.ts)$/.test(file)) continue;
    const ending = file.endsWith('.js') ? '.js' : '.d.ts';
    const text = fs.readFileSync(path.join(dist, file), 'utf8');
    for (const [, from] of text.matchAll(/["'](\.{1,2}\/[^"']+)["']/g)) {
      reached.add(path.join(path.dirname(file), from.replace(/\.(js|tsx?)$/, ending)));
    }
  }
  for (const file of all) {
    if (/\.(js|d\.ts)$/.test(file) && !reached.has(file)) fs.rmSync(path.join(dist, file));
  }
}

try {
  const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  const project = path.join(ROOT, 'tsconfig.client.json');
  run(process.execPath, [tsc, '-p', project, '--outDir', path.join(made, 'dist')], ROOT);
  keepReached(path.join(made, 'dist'));
  const whole = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  const { name, version, license, type, engines, exports } = whole;
  const own = {
    ...{ name, version, license, type, engines, exports },
    description: 'The typed client of Exhibit, an address intelligence service.',
    sideEffects: false,
    files: ['dist/**/*.js', 'dist/**/*.d.ts'],
    // Its types are those of the declarations. Nothing of it runs in the client.
    dependencies: { zod: `^${whole.dependencies.zod}` },
    // Whoever verifies saved files installs these too; whoever only asks needs none of them.
    peerDependencies: Object.fromEntries(
      VERIFYING.map((one) => [one, `^${whole.dependencies[one]}`]),
    ),
    peerDependenciesMeta: Object.fromEntries(VERIFYING.map((one) => [one, { optional: true }])),
  };
  fs.writeFileSync(path.join(made, 'package.json'), `${JSON.stringify(own, null, 2)}\n`);
  fs.copyFileSync(path.join(ROOT, 'docs/guides/client.md'), path.join(made, 'README.md'));
  const [packed] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', folder], made));
  process.stdout.write(`${path.join(folder, packed.filename)}\n`);
} finally {
  fs.rmSync(made, { recursive: true });
}
