// Names the optional packages of every platform in the lock file, so that `npm ci` takes it on Linux
// and macOS, x64 and arm64. npm leaves out of the file what its registry does not serve.
// usage: node bin/lock-platforms.js [--check], after each change of the dependencies. --check writes
// nothing, and ends with 1 where a package is missing.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const LOCK = path.resolve(__dirname, '../package-lock.json');
const SYSTEMS = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'];
const PROCESSORS = { amd64: 'x64', arm: 'arm', arm64: 'arm64', ia32: 'ia32', x64: 'x64' };
const OTHER_PROCESSORS = ['ppc64', 'riscv64', 's390x'];
const C_LIBRARIES = { gnu: 'glibc', gnueabihf: 'glibc', musl: 'musl', musleabihf: 'musl' };

/** The entry of a package whose name ends in its platform: `…-linux-arm64-musl`. */
function entryOf(name, version, parent) {
  const words = name.split(/[/-]/);
  const system = words.find((word) => SYSTEMS.includes(word));
  const processor = words.find((word) => word in PROCESSORS || OTHER_PROCESSORS.includes(word));
  if (system === undefined || processor === undefined) {
    throw new Error(`${name}: its name does not say for which platform it is`);
  }
  const library = words.find((word) => word in C_LIBRARIES);
  return {
    version,
    cpu: [processor in PROCESSORS ? PROCESSORS[processor] : processor],
    ...(parent.dev === true ? { dev: true } : {}),
    ...(library === undefined ? {} : { libc: [C_LIBRARIES[library]] }),
    optional: true,
    os: [system],
  };
}

/** Where npm looks for a package that another one asks for: below it, and below each one around. */
function placesOf(asker, name) {
  const around = asker.split('/node_modules/').map((_, at, all) => all.slice(0, at + 1));
  return ['', ...around.map((steps) => `${steps.join('/node_modules/')}/`)].map(
    (place) => `${place}node_modules/${name}`,
  );
}

const lock = JSON.parse(fs.readFileSync(LOCK, 'utf8'));
const missing = {};
for (const [asker, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const isHeld = placesOf(asker, name).some((place) => place in lock.packages);
    if (!isHeld) missing[`node_modules/${name}`] = entryOf(name, version, entry);
  }
}
const names = Object.keys(missing);
if (process.argv.includes('--check')) {
  for (const name of names) process.stdout.write(`missing: ${name}\n`);
  process.exitCode = names.length === 0 ? 0 : 1;
} else if (names.length > 0) {
  const all = Object.entries({ ...lock.packages, ...missing });
  all.sort(([one], [other]) => one.localeCompare(other, 'en'));
  lock.packages = Object.fromEntries(all);
  fs.writeFileSync(LOCK, `${JSON.stringify(lock, null, 2)}\n`);
  process.stdout.write(`added ${names.length} packages of other platforms\n`);
}
