import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Read, Unread } from '../../evidence/reading.ts';
import type { RugModel } from '../../ports/rug-model.ts';
import { rankerText, SMALL_RANKER } from '../../testing/rankers.ts';
import { SMALL_MODEL, artefactText as textOf } from '../../testing/rug-models.ts';
import { artefactIn, rankerIn, readRankerFile } from './model-artefact.ts';
import { FileFault } from './text-lines.ts';

function faultOf(text: string): string {
  try {
    artefactIn(text);
  } catch (fault) {
    if (fault instanceof FileFault) return fault.message;
    throw fault;
  }
  return 'no fault';
}

function withTree(change: (tree: object[]) => void): RugModel {
  const model = structuredClone(SMALL_MODEL);
  change(model.trees[0] as object[]);
  return model;
}

describe('an artefact', () => {
  test('is read as it was written, and its version is made of its hash', () => {
    const text = textOf(SMALL_MODEL);
    const artefact = artefactIn(text);
    expect(artefact.model).toEqual(SMALL_MODEL);
    expect(artefact.text).toBe(text);
    const [, sha256] = /"sha256":"([0-9a-f]{64})"/.exec(text) ?? [];
    expect(artefact.version).toBe(`rug-2-${sha256?.slice(0, 12)}`);
  });

  test('that is cut anywhere is no artefact', () => {
    const text = textOf(SMALL_MODEL).trim();
    for (let end = 0; end < text.length; end += 97) {
      expect(faultOf(text.slice(0, end))).toBe('it is not whole: its JSON does not end');
    }
  });

  test('that was changed does not hash to itself', () => {
    const text = textOf(SMALL_MODEL).replace('"leaf":1.2', '"leaf":-1.2');
    expect(faultOf(text)).toBe('it was changed: it does not hash to its own SHA-256');
  });

  test.each([
    ['another format', textOf(SMALL_MODEL, 'exhibit-rug-model/9'), /^it is no artefact of /],
    ['another document', '{"addresses":[]}', /^it is no artefact of /],
    [
      'a feature that is not known here',
      textOf({ ...SMALL_MODEL, features: ['tx_count', 'liquidity_usd'] }),
      /^this version cannot use it \(features\.0: /,
    ],
    [
      'a field that is not known here',
      textOf({ ...SMALL_MODEL, offset: 1 }),
      /^this version cannot use it /,
    ],
    [
      'a slope that would turn scores round',
      textOf({ ...SMALL_MODEL, calibration: { slope: -1, intercept: 0 } }),
      /^this version cannot use it \(calibration\.slope: /,
    ],
    ['a tree that runs in a circle', textOf(withTree(circular)), 'tree 0 is no tree'],
    ['a tree with a node that nothing leads to', textOf(withTree(loose)), 'tree 0 is no tree'],
    ['a tree over a feature it lacks', textOf(withTree(foreign)), 'tree 0 is no tree'],
    ['a split that no row came to', textOf(withTree(splitOf(0))), 'tree 0 is no tree'],
  ])('with %s is refused by name', (_, text, fault) => {
    expect(faultOf(text)).toMatch(fault);
  });

  test('with a split that one row came to is read', () => {
    expect(faultOf(textOf(withTree(splitOf(1))))).toBe('no fault');
  });
});

function circular(tree: object[]): void {
  Object.assign(tree[1] ?? {}, { left: 1 });
}
function loose(tree: object[]): void {
  tree.push({ leaf: 0, rows: 1 });
}
function foreign(tree: object[]): void {
  Object.assign(tree[1] ?? {}, { feature: 2 });
}
function splitOf(rows: number): (tree: object[]) => void {
  return (tree) => {
    Object.assign(tree[1] ?? {}, { rows });
  };
}

describe('a ranker', () => {
  const text = rankerText();
  test('is read as it was written, under a name of its own kind', () => {
    const artefact = rankerIn(text);
    expect(artefact).toMatchObject({ text, model: SMALL_RANKER });
    expect(artefact.version).toMatch(/^rank-1-[0-9a-f]{12}$/);
  });

  test('is no rug model, and a rug model is no ranker', () => {
    expect(faultOf(text)).toMatch(/^it is no artefact of exhibit-rug-model\/2/);
    expect(() => rankerIn(textOf(SMALL_MODEL))).toThrow(
      'it is no artefact of exhibit-call-ranker/1',
    );
  });

  test('is unread where its file is cut, changed or gone', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'exhibit-test-ranker-'));
    try {
      const path = join(folder, 'ranker.json');
      expect(await readRankerFile(path)).toBeInstanceOf(Unread);
      await writeFile(path, text);
      expect(await readRankerFile(path)).toBeInstanceOf(Read);
      for (const broken of ['', '{}', text.slice(0, -20), text.replace('"base":0', '"base":1')]) {
        await writeFile(path, broken);
        expect(await readRankerFile(path), broken.slice(0, 20)).toBeInstanceOf(Unread);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
