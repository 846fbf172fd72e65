// Finds the tests related to a file: the tests that reach it by imports, nearest first.

import { posix } from 'node:path';
import type { SourceFile } from '../src/testing/tidy-source.ts';

const TEST = /\.test\.tsx?$/;

/** The farthest that a test may be from the file, in imports. */
const HOPS_MAX = 6;
/** The penalty, in imports, of a test outside the file's own folder or subject. */
const BACK_OF_SUBJECT = 1;
const BACK_OF_OTHERS = 4;

/** The folder that a file belongs to below the layer: a feature, a provider, an engine. */
function subjectOf(path: string): string {
  return path.split('/').slice(0, 3).join('/');
}

function setBack(test: string, path: string): number {
  if (posix.dirname(test) === posix.dirname(path)) return 0;
  const subject = subjectOf(path);
  const isOfSubject = subjectOf(test) === subject || test.includes(posix.basename(subject));
  return isOfSubject ? BACK_OF_SUBJECT : BACK_OF_OTHERS;
}

/** Gives the tests of a file, nearest first: by imports, those of its own subject before others. */
export function relatedTests(
  files: readonly SourceFile[],
): (path: string, max: number) => string[] {
  // The files that import each file. Types vanish before a test runs, so that they lead nowhere.
  const importers = new Map<string, string[]>();
  for (const { path, imports } of files) {
    for (const { from, typeOnly } of imports) {
      if (typeOnly || !from.startsWith('.')) continue;
      const target = posix.join(posix.dirname(path), from);
      importers.set(target, [...(importers.get(target) ?? []), path]);
    }
  }
  return (path, max) => {
    const seen = new Set([path]);
    const found: { readonly test: string; readonly rank: number }[] = [];
    let ring = [path];
    for (let hops = 1; hops <= HOPS_MAX; hops += 1) {
      const next = new Set(ring.flatMap((one) => importers.get(one) ?? []));
      ring = [...next].filter((one) => !seen.has(one));
      for (const one of ring) seen.add(one);
      const tests = ring.filter((one) => TEST.test(one));
      found.push(...tests.map((test) => ({ test, rank: hops + setBack(test, path) })));
      ring = ring.filter((one) => !TEST.test(one));
    }
    const ranked = found.sort((a, b) => a.rank - b.rank || (a.test < b.test ? -1 : 1));
    return ranked.slice(0, max).map(({ test }) => test);
  };
}
