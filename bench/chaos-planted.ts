// Faults of the product itself, each put into a copy of the build: what a bench cannot find there
// it would not find in the product either.

import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { World } from './chaos-worker.ts';

/** A change of one compiled file. */
type Edit = { readonly file: string; readonly from: string; readonly to: string };

/** A fault of the product, and the fault of a source or store under which it shows. */
export type Plant = {
  readonly name: string;
  readonly under: { readonly source: string; readonly world: World } | { readonly store: string };
  readonly edits: readonly Edit[];
};

const PROVIDER = 'sources/http/provider.js';
const LISTING = 'sources/explorer/listing.js';
const GATE = 'features/sanctions/publication-gate.js';

export const PLANTS: readonly Plant[] = [
  {
    name: 'a swallowed error: a list that was not read is empty',
    under: { source: 'explorer:lists-notok', world: 'observed' },
    edits: [
      {
        file: LISTING,
        from: 'await askExplorer(at, budget, question, (told) => pageIn(action, told));',
        to: `await askExplorer(at, budget, question, (told) => pageIn(action, told))
      .catch(() => ({ rows: [], pending: false }));`,
      },
    ],
  },
  {
    name: 'a swallowed error: an address whose lists broke off has no transfers',
    under: { source: 'explorer:lists-notok', world: 'observed' },
    edits: [
      {
        file: 'sources/explorer/history.js',
        from: 'await readTransfers(at, action, asked, { transfersMax: rowsMax }, budget);',
        to: `await readTransfers(at, action, asked, { transfersMax: rowsMax }, budget)
      .catch(() => ({ transfers: [], cut: false, pending: false }));`,
      },
    ],
  },
  {
    name: 'a default: what a silent venue did not tell was never listed',
    under: { source: 'venue:unreachable', world: 'simulated' },
    edits: [
      {
        file: 'features/deployers/record.js',
        from: "if (pools === null)\n        return { outcome: 'unchecked'",
        to: "if (pools === null)\n        return { outcome: 'never_listed'",
      },
    ],
  },
  {
    // An empty list is refused by its reader too: what stands behind that is the gate's alone.
    name: 'a gate that lets a list pass that lost a third',
    under: { source: 'publisher:shrunk', world: 'simulated' },
    edits: [
      {
        file: GATE,
        from: 'export function absoluteGate(publication, { floor }) {',
        to: 'export function absoluteGate(publication, { floor }) {\n    return null;',
      },
      {
        file: GATE,
        from: 'relative: (list, last, now) => {',
        to: 'relative: () => null,\n        unused: (list, last, now) => {',
      },
    ],
  },
  {
    name: 'a page that was cut is taken for the end',
    under: { source: 'explorer:truncated-page', world: 'observed' },
    edits: [{ file: LISTING, from: 'if (!areSame(ended, more.rows))', to: 'if (false)' }],
  },
  {
    name: 'a failure that nobody catches',
    under: { source: 'explorer:unreachable', world: 'observed' },
    edits: [
      {
        file: PROVIDER,
        from: 'export function whyUnanswered(error, toReason) {',
        to: 'export function whyUnanswered(error, toReason) {\n    throw new Error(String(error));',
      },
    ],
  },
  {
    name: 'a provider that is left alone for ever',
    under: { source: 'explorer:unreachable', world: 'observed' },
    edits: [
      {
        file: PROVIDER,
        from: 'restsUntil = nowMs() + limits.restMs;',
        to: 'restsUntil = Number.POSITIVE_INFINITY;',
      },
    ],
  },
  {
    name: 'a retry that neither gives up nor leaves the provider alone',
    under: { source: 'explorer:rate-limited', world: 'observed' },
    edits: [
      {
        file: PROVIDER,
        from: 'if (!tried.passing || tries >= retriesMax)',
        to: 'if (!tried.passing)',
      },
      { file: PROVIDER, from: 'const backoff = backoffMs * 2 ** tries;', to: 'const backoff = 0;' },
      { file: PROVIDER, from: 'failures = fault.passing ? failures + 1 : 0;', to: 'failures = 0;' },
    ],
  },
  {
    name: 'a stale cache: a failure is held for an hour',
    under: { source: 'explorer:unreachable', world: 'observed' },
    edits: [
      {
        file: 'sources/http/held-readings.js',
        from: '(!wasStopped && mayHold(result) ? heldMs : 0)',
        to: '3_600_000',
      },
    ],
  },
  {
    name: 'a retry that doubles what it read',
    under: { source: 'explorer:flapping', world: 'observed' },
    edits: [
      {
        file: PROVIDER,
        from: 'await pause(wait);',
        to: 'globalThis.hasRetried = true;\n        await pause(wait);',
      },
      {
        file: LISTING,
        from: 'const result = (cut, whole_to) => ({ transfers: done,',
        to: `const result = (cut, whole_to) => ({
          transfers: globalThis.hasRetried ? [...done, ...done] : done,`,
      },
    ],
  },
  {
    name: 'a flag that says checked whatever was read',
    under: { source: 'explorer:unreachable', world: 'observed' },
    edits: [
      {
        file: 'evidence/claim.js',
        from: 'return claim(reading, () => true, () => false);',
        to: 'return claim(reading, () => true, () => true);',
      },
    ],
  },
  {
    name: 'a watch that is acknowledged before it is stored',
    under: { store: 'control cut' },
    edits: [
      {
        file: 'features/watchlist/watchlist.route.js',
        from: 'return watchAddress.reply(503, unavailableBody(added.why));',
        to: `return watchAddress.reply(201, {
                id: \`wch_\${Math.random().toString(36).slice(2)}\`,
                address: known,
                added_at: new Date().toISOString(),
                parts: [],
            });`,
      },
    ],
  },
  {
    // A store that is down is found out where the key is looked for: this one is silent behind it.
    name: 'a silent store has an empty watchlist',
    under: { store: 'control locked' },
    edits: [
      {
        file: 'features/watchlist/watchlist.store.js',
        from: '`, [membershipId, after]);',
        to: '`, [membershipId, after]).catch(() => []);',
      },
    ],
  },
];

/** A copy of this build in which one fault after the other is planted. */
export function copyBuild() {
  const repo = fileURLToPath(new URL('../../../', import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), 'exhibit-planted-'));
  for (const name of readdirSync(repo)) {
    if (!['dist', '.git'].includes(name)) symlinkSync(join(repo, name), join(folder, name));
  }
  const dist = join(folder, 'dist');
  cpSync(join(repo, 'dist'), dist, { recursive: true, verbatimSymlinks: true });
  // The benches reach the product by links, which lead to the build that was copied.
  for (const name of readdirSync(dist).filter((one) => one !== '.bench')) {
    const link = join(dist, '.bench/src', name);
    rmSync(link, { recursive: true, force: true });
    symlinkSync(join(dist, name), link);
  }
  return {
    benches: pathToFileURL(join(dist, '.bench/bench/')),
    main: join(dist, 'main.js'),
    /** Puts a fault in, and gives what takes it out again. */
    plant: ({ name, edits }: Plant) => {
      const whole = new Map(
        edits.map(({ file }) => [file, readFileSync(join(dist, file), 'utf8')]),
      );
      for (const { file, from, to } of edits) {
        const text = readFileSync(join(dist, file), 'utf8');
        if (text.split(from).length !== 2) throw new Error(`${name}: ${file} is not as it was`);
        // Without `replace`, whose second text has signs of its own.
        writeFileSync(join(dist, file), text.split(from).join(to));
      }
      return () => {
        for (const [file, text] of whole) writeFileSync(join(dist, file), text);
      };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
