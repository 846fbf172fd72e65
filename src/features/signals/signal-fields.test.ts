// Each field of a signal is bound by its call hash, follows from what is bound, or is named here as
// standing beside it; the page shows no field of a fourth kind.

import { expect, test } from 'vitest';
import { z } from 'zod';
import { hashBundle, hashCall, signalIdOf } from '../../chain/call-hash.ts';
import { formatIsoTime } from '../../chain/time.ts';
import { NOBODY } from '../../contract/route.ts';
import { evm } from '../../testing/addresses.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { signalOf } from '../../testing/signals.ts';
import { memoryAnchors } from '../../testing/twins/anchors.ts';
import { heldSignal, memorySignalPorts } from '../../testing/twins/signals.ts';
import { memoryTransparencyLog } from '../../testing/twins/transparency-log.ts';
import { type SignalAnswer, signalAnswer } from './shapes.ts';
import { callOf, hashEnd, makeEnd } from './signal.ts';
import { signalPageHandler } from './signal-pages.route.tsx';
import { answerSignal } from './signals.route.ts';

const HELD = heldSignal(signalOf({ address: evm('listed').toLowerCase() }));
const PORTS = {
  ...memorySignalPorts({
    signals: {
      as_of: STILL_NOW,
      simulated: false,
      held: [HELD],
      last_round_at: STILL_NOW,
      last_emit_at: null,
      asked_at: STILL_NOW,
    },
  }),
  ...memoryTransparencyLog(),
  anchors: memoryAnchors({ as_of: STILL_NOW, simulated: false }),
  service: { simulated: false },
};

/** What the call hash binds: the field of the row, and another value of it. */
const BOUND = {
  'signal.version': { version: 'exhibit-signal/2' },
  'signal.target.chain': { chain: 'base' },
  'signal.target.address': { address: evm('another') },
  'signal.verdict': { verdict: 'no_opinion' },
  'signal.confidence': { confidence_millionths: 990_001 },
  'signal.reasoning': { reasoning: 'The address stands on the SDN list of 2026-09-16.' },
  'signal.evidence_used': { evidence_used: ['sanctions.list_published', 'sanctions.listed'] },
  'signal.evidence_hash': { evidence_hash: hashBundle(Uint8Array.of(1)) },
  'signal.prompt_version': { prompt_version: 'rules-2' },
  'signal.model': { model: 'rules-2' },
  'signal.run_id': { run_id: 'run_2' },
  'signal.generated_at_unix': { generated_at_unix: STILL_NOW + 1 },
} as const;

/** What follows from what is bound: each with how it is made. */
const DERIVED: {
  readonly [path: string]: (answer: SignalAnswer, bundle: unknown) => unknown;
} = {
  'signal.call_hash': () => hashCall(callOf(HELD)),
  'signal.signal_id': () => signalIdOf(hashCall(callOf(HELD))),
  'signal.generated_at': ({ signal }) => formatIsoTime(signal.generated_at_unix),
  'signal.evidence_source_count': (_, bundle) => sourcesOf(bundle).length,
  'evidence_summary.source_count': (_, bundle) => sourcesOf(bundle).length,
  'evidence_summary.present': (_, bundle) =>
    sourcesOf(bundle).filter(({ status }) => status === 'present').length,
  'evidence_summary.gaps': (_, bundle) =>
    sourcesOf(bundle)
      .filter(({ status }) => status !== 'present')
      .map(({ source, status, reason }) => ({ source, status, reason })),
  'evidence_summary.citable_key_count': (_, bundle) =>
    Object.keys(Object(Object(bundle).evidence)).length,
};

/** What stands beside it, and what it rests on instead. */
const BESIDE: { readonly [path: string]: string } = {
  'signal.anchor_tx': 'the chain, which a verification asks',
  'signal.anchor_status': 'the chain, which a verification asks',
  'signal.anchor_chain_id': 'the setting of the deployment',
  'signal.cost_usd': 'the bill of the analyst',
  'signal.cached': 'whether the words were written before',
  'confidence_basis.basis': 'the table of rules that prompt_version names',
  'confidence_basis.n': 'the table of rules that prompt_version names',
  'status.state': 'a leaf of its own',
  'status.at': 'a leaf of its own',
  'status.reason': 'a leaf of its own',
  'status.by': 'a leaf of its own',
  'read_this_first.gaps': 'the release',
  'read_this_first.anchoring': 'the release',
  'read_this_first.not_advice': 'the release',
};

function sourcesOf(
  bundle: unknown,
): readonly { readonly source: string; readonly status: string; readonly reason: unknown }[] {
  return Object(bundle).sources;
}

function pathsOf(schema: unknown, at: string): readonly string[] {
  if (!(schema instanceof z.ZodObject)) return [at];
  return Object.entries(schema.shape).flatMap(([name, field]) =>
    pathsOf(field, at === '' ? name : `${at}.${name}`),
  );
}

function fieldAt(answer: object, path: string): unknown {
  return path.split('.').reduce<unknown>((of, name) => Object(of)[name], answer);
}

async function answered(): Promise<SignalAnswer> {
  const answer = await answerSignal(PORTS, HELD.signal_id);
  if (answer === null || 'reason' in answer) throw new Error('test: no signal');
  return answer.answer;
}

test('every field of the answer is bound, derived, or named as standing beside it', () => {
  const named = [...Object.keys(BOUND), ...Object.keys(DERIVED), ...Object.keys(BESIDE)];
  expect(named.toSorted()).toEqual([...pathsOf(signalAnswer, '')].toSorted());
});

test.each(Object.entries(BOUND))('another %s is another call hash', (_, over) => {
  expect(hashCall(callOf({ ...HELD, ...over }))).not.toBe(HELD.call_hash);
});

test.each(Object.entries(DERIVED))('%s follows from what is bound', async (path, make) => {
  const bundle: unknown = JSON.parse(new TextDecoder().decode(HELD.bundle));
  const answer = await answered();
  expect(fieldAt(answer, path)).toEqual(make(answer, bundle));
});

test('each field of an end is bound by the hash of its leaf', () => {
  const { end, hash } = makeEnd(HELD.signal_id, {
    state: 'withdrawn',
    reason: 'A fault of the reader.',
    by: 'operator',
    now: STILL_NOW,
  });
  expect(hashEnd(end)).toBe(hash);
  const others = {
    signal_id: 'sig_2',
    state: 'superseded',
    at: '2026-09-24T12:00:01.000Z',
    reason: 'Another.',
    by: 'producer',
  } as const;
  expect(Object.keys(others).toSorted()).toEqual(Object.keys(end).toSorted());
  for (const [name, value] of Object.entries(others)) {
    expect(hashEnd({ ...end, [name]: value }), name).not.toBe(hash);
  }
});

test('the page shows every bound text, and marks no field of another kind as checked', async () => {
  const facts = { simulated: false, version: '0', links: [], explorers: new Map() };
  const page = signalPageHandler(PORTS, facts);
  const input = { params: { id: HELD.signal_id }, query: {}, body: undefined };
  const request = { now: () => STILL_NOW, signal: new AbortController().signal };
  const reply = await page(input, request, NOBODY);
  const html = reply.body as string;
  const marked = [...html.matchAll(/data-field="([^"]+)"/g)].map(([, field]) => `signal.${field}`);
  const kinds = new Set([...Object.keys(BOUND), ...Object.keys(DERIVED)]);
  expect(marked.filter((path) => !kinds.has(path))).toEqual([]);
  // The cited keys stand in their own rows, and the time in words of its own.
  const elsewhere = ['signal.evidence_used', 'signal.generated_at_unix'];
  const shown = new Set([...marked, ...elsewhere]);
  expect(Object.keys(BOUND).filter((path) => !shown.has(path))).toEqual([]);
  const keys = [...html.matchAll(/data-key="([^"]+)"/g)].map(([, key]) => key);
  expect(keys).toEqual(HELD.evidence_used);
  expect(html.replace(/data-signal="[^"]*"/, '')).not.toMatch(/cost|cached/i);
});
