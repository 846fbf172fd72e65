// Answers one question: what is wrong with a set of settings, in one clear line for each problem.
// No line repeats the text of a value: it may hold a credential.

import {
  isOfProvider,
  isOfSharedStore,
  isSetting,
  SETTINGS,
  type SettingName,
} from './settings.ts';

/** The texts that were given, by name; an empty text counts as not given. */
export type Given = ReadonlyMap<string, string>;

const PREFIX = 'EXHIBIT_';
/** Names that are not settings of the service: those of its tests, and those a cluster injects. */
const IGNORED = [/^EXHIBIT_TEST_/, /^EXHIBIT_SERVICE_/, /^EXHIBIT_PORT_\d+_/];
const EDITS_MAX = 3;

/** Every given text whose name has to be a setting's. */
export function givenSettings(env: { readonly [name: string]: string | undefined }): Given {
  const given = new Map<string, string>();
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith(PREFIX) || IGNORED.some((pattern) => pattern.test(name))) continue;
    if (text !== undefined && text.trim() !== '') given.set(name, text);
  }
  return given;
}

/** One line for each name that is no setting, with the nearest one that is. */
export function unknownNames(given: Given): string[] {
  const unknown = [...given.keys()].filter((name) => !isSetting(name));
  return unknown.map((name) => {
    const near = nearest(name, Object.keys(SETTINGS));
    return `${name}: no such setting${near === null ? '' : `; did you mean ${near}?`}`;
  });
}

/** The name of a list that is at most three edits away; the nearest, or none. */
export function nearest(name: string, names: readonly string[]): string | null {
  let best: string | null = null;
  let least = EDITS_MAX + 1;
  for (const one of names) {
    const edits = editDistance(name, one);
    if (edits < least) [best, least] = [one, edits];
  }
  return best;
}

// Levenshtein's distance, row by row.
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, left] of [...a].entries()) {
    let before = i + 1;
    const next = [before];
    for (const [j, right] of [...b].entries()) {
      const kept = (row[j] ?? 0) + (left === right ? 0 : 1);
      before = Math.min(kept, (row[j + 1] ?? 0) + 1, before + 1);
      next.push(before);
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Lines about settings that do not go together. */
export function conflicts(given: Given, simulate: boolean): string[] {
  const lines: string[] = [];
  for (const [name, { needs }] of Object.entries(SETTINGS)) {
    if (needs !== null && given.has(name) && !given.has(needs)) {
      lines.push(`${name}: needs ${needs} too`);
    }
  }
  if (given.has('EXHIBIT_WORLD_FAULTS') && !simulate) {
    lines.push('EXHIBIT_WORLD_FAULTS: takes effect in the simulated world only (EXHIBIT_SIMULATE)');
  }
  if (simulate) lines.push(...realSources(given));
  return lines;
}

// A real source behind the label "simulated" would be as wrong as the reverse.
function realSources(given: Given): string[] {
  const names = [...given.keys()].filter(
    (name) => isSetting(name) && SETTINGS[name].reader.showing === 'origin' && isOfProvider(name),
  );
  return names.map(
    (name) => `${name}: names a real source, and EXHIBIT_SIMULATE serves made-up data: choose one`,
  );
}

/** Whether anything is set that names a source or a store. */
export function namesASource(given: Given): boolean {
  return [...given.keys()].some((name) => isOfProvider(name) || isOfSharedStore(name));
}

/** The line about a bad text of a setting; a port that a cluster injected gets its own. */
export function badValue(name: SettingName, text: string): string {
  if (name === 'EXHIBIT_PORT' && text.startsWith('tcp://')) {
    return (
      'EXHIBIT_PORT: this tcp:// address is what Kubernetes injects for a service called ' +
      'exhibit; set enableServiceLinks: false in the pod, or name the service otherwise'
    );
  }
  return `${name}: expected ${SETTINGS[name].reader.expected}`;
}
