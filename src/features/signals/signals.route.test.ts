// The feed says what is current and how the producer is; a verification tells apart everything that
// can be wrong with a signal.

import { describe, expect, test } from 'vitest';
import { hashBundle, hashCall, signalIdOf } from '../../chain/call-hash.ts';
import { hashLeaf, leafContent, rootOfLeaves } from '../../chain/merkle-tree.ts';
import { writeCanonical } from '../../contract/canonical.ts';
import { Refusal } from '../../contract/refusals.ts';
import { NOBODY } from '../../contract/route.ts';
import { present } from '../../evidence/measure.ts';
import { map, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { LEAF_KINDS, type NewLeaf, type TransparencyLog } from '../../ports/transparency-log.ts';
import { evm } from '../../testing/addresses.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { bundleOf, signalOf } from '../../testing/signals.ts';
import {
  MEMORY_CHAIN,
  type MemoryAnchors,
  memoryAnchors,
  silentAnchors,
} from '../../testing/twins/anchors.ts';
import { memorySource, PLANTED } from '../../testing/twins/dated.ts';
import {
  type HeldSignal,
  heldSignal,
  leavesOf,
  memorySignals,
  silentSignals,
} from '../../testing/twins/signals.ts';
import {
  MEMORY_HOST,
  memoryTransparencyLog,
  silentTransparencyLog,
} from '../../testing/twins/transparency-log.ts';
import { callOf, makeEnd } from './signal.ts';
import {
  EMPTY_S,
  type SignalsPorts,
  STALLED_S,
  signalEvidenceHandler,
  signalHandler,
  signalsFeedHandler,
  signalVerificationHandler,
} from './signals.route.ts';
import { leafHashOf } from './verification.ts';

const LISTED = evm('listed').toLowerCase();
const HELD = heldSignal(signalOf({ address: LISTED }));
const LOG_ORIGIN = {
  port: 'transparency_log',
  source: memorySource('Log', 'table', PLANTED),
} as const;
const DATED = { as_of: STILL_NOW, simulated: false };
const CAUSE = why('store_unreadable', { what: 'The table of signals', fault: 'a planted fault' });
const ANOTHER: NewLeaf = {
  kind: 'version',
  hash: `0x${'9'.repeat(64)}`,
  id: 'another',
  at: STILL_NOW,
};
const [OWN] = leavesOf([HELD]);

type World = {
  readonly held?: readonly HeldSignal[];
  readonly last_round_at?: number | null;
  readonly last_emit_at?: number | null;
  /** The time by the clock of the store. */
  readonly asked_at?: number;
  /** The leaves of the log, and what it says otherwise. */
  readonly leaves?: readonly (NewLeaf | undefined)[];
  readonly log?: Partial<TransparencyLog>;
  readonly anchors?: Partial<MemoryAnchors>;
  readonly simulated?: boolean;
};

function portsOf(world: World = {}): SignalsPorts {
  const { held = [HELD], last_round_at = STILL_NOW, last_emit_at = null } = world;
  const { asked_at = STILL_NOW } = world;
  const { leaves = [OWN, ANOTHER], log = {} } = world;
  const { transparencyLog } = memoryTransparencyLog(present(leaves));
  return {
    signals: memorySignals({ ...DATED, held, last_round_at, last_emit_at, asked_at }),
    anchors: memoryAnchors({ ...DATED, ...world.anchors }),
    transparencyLog: { ...transparencyLog, ...log },
    service: { simulated: world.simulated === true },
  };
}

const asked = { now: () => STILL_NOW, signal: new AbortController().signal };
const fieldsIn = (body: unknown): { readonly [name: string]: unknown } => Object(body);

async function said<I>(
  handle: (input: I, request: typeof asked, caller: typeof NOBODY) => Promise<unknown>,
  input: I,
  now = STILL_NOW,
) {
  const answer = await handle(input, { ...asked, now: () => now }, NOBODY);
  if (answer instanceof Refusal) return { status: answer.status, body: fieldsIn(answer.body) };
  const { status, body } = answer as { readonly status: number; readonly body: unknown };
  return { status, body: fieldsIn(body) };
}

const SOLANA = 'NXwt11psf5yJvnrrbhLGTP6nRa8xuKD1RMHesUtETfS';
const one = (id: string = HELD.signal_id) => ({ params: { id }, query: {}, body: undefined });
type FeedQuery = { readonly limit?: number; readonly cursor?: string; readonly target?: string };
const feed = (query: FeedQuery = {}) => ({ params: {}, query, body: undefined });
const verify = async (world: World = {}, id?: string) =>
  said(signalVerificationHandler(portsOf(world)), one(id));

const SHOWN = {
  version: 'exhibit-signal/1',
  signal_id: HELD.signal_id,
  target: { chain: 'ethereum', address: LISTED },
  verdict: 'avoid',
  confidence: 0.99,
  reasoning: 'The address stands on the SDN list of 2026-09-15.',
  evidence_used: ['sanctions.listed', 'sanctions.list_published'],
  evidence_hash: HELD.evidence_hash,
  prompt_version: 'rules-1-0123456789ab',
  model: 'rules-1-0123456789ab',
  generated_at: '2026-09-24T12:00:00.000Z',
  generated_at_unix: STILL_NOW,
  call_hash: HELD.call_hash,
  anchor_tx: null,
  anchor_status: 'queued',
  anchor_chain_id: MEMORY_CHAIN,
  cost_usd: 0,
  cached: false,
  run_id: 'run_1',
  evidence_source_count: 2,
};
const CURRENT = {
  state: 'current',
  at: '2026-09-24T12:00:00.000Z',
  reason: null,
  by: null,
};
const READ_THIS_FIRST = {
  gaps:
    'A source that gave no evidence stands in evidence_summary.gaps with its reason: ' +
    'unavailable is not installed here, dormant holds no data yet, error was asked and failed. ' +
    'A gap says nothing about the address.',
  anchoring:
    'Every signal is a leaf of a log, whose root is what is anchored. anchor_status tells how ' +
    'far the root over its leaf is on the chain of anchor_chain_id. A verification alone asks ' +
    'the chain. An anchor is worth what that chain is: a test network can be begun anew.',
  not_advice:
    'A signal shows what its evidence supports. It is no investment, legal or tax advice, and no ' +
    'recommendation to transact.',
};

describe('says', () => {
  test('the current signals, whole, and how the producer is', async () => {
    expect(await said(signalsFeedHandler(portsOf()), feed())).toEqual({
      status: 200,
      body: {
        signals: [SHOWN],
        count: 1,
        data_mode: 'measured',
        generated_at: '2026-09-24T12:00:00.000Z',
        next_cursor: null,
        producer: { state: 'running', last_round_at: '2026-09-24T12:00:00.000Z' },
        read_this_first: READ_THIS_FIRST,
      },
    });
  });

  test('one signal with its bundle in short', async () => {
    expect(await said(signalHandler(portsOf()), one())).toEqual({
      status: 200,
      body: {
        signal: SHOWN,
        confidence_basis: { basis: 'assumed', n: null },
        evidence_summary: {
          source_count: 2,
          present: 1,
          gaps: [
            {
              source: 'labels',
              status: 'dormant',
              reason:
                'No import of the exchange-wallet table has completed on this deployment; ' +
                'nothing was checked.',
            },
          ],
          citable_key_count: 2,
        },
        status: CURRENT,
        read_this_first: READ_THIS_FIRST,
      },
    });
  });

  test('the stored bytes of the bundle, and no others', async () => {
    const answer = await signalEvidenceHandler(portsOf())(one(), asked, NOBODY);
    if (answer instanceof Refusal) throw new Error('test: refused');
    expect([answer.status, answer.headers]).toEqual([200, { 'content-type': 'application/json' }]);
    expect(Buffer.from(answer.bytes())).toEqual(Buffer.from(HELD.bundle));
  });

  test('that a signal was superseded or withdrawn, and shows it all the same', async () => {
    const { end, hash } = makeEnd(HELD.signal_id, {
      state: 'withdrawn',
      reason: 'A fault of the reader.',
      by: 'operator',
      now: STILL_NOW + 60,
    });
    const { signal_id: _, ...kept } = end;
    const held = [{ ...HELD, end: { ...kept, hash, leaf: 1 } }];
    const { body } = await said(signalHandler(portsOf({ held })), one());
    expect(body['status']).toEqual({
      state: 'withdrawn',
      at: '2026-09-24T12:01:00.000Z',
      reason: 'A fault of the reader.',
      by: 'operator',
    });
    const listed = await said(signalsFeedHandler(portsOf({ held })), feed());
    expect(listed.body).toMatchObject({ signals: [], count: 0, data_mode: 'empty' });
  });

  test('of which mode the data is, whatever target and page are asked for', async () => {
    // By the clock of the store: those of two processes differ, and their answers do not.
    const modes = async (world: World, asked_at: number) => {
      const ports = portsOf({ ...world, asked_at });
      const { body } = await said(signalsFeedHandler(ports), feed(), STILL_NOW + 10 * EMPTY_S);
      const { state } = fieldsIn(body['producer']);
      return [body['data_mode'], state, body['generated_at']];
    };
    const ended = '2026-09-24T12:00:00.000Z';
    expect(await modes({}, STILL_NOW + STALLED_S)).toEqual(['measured', 'running', ended]);
    expect(await modes({}, STILL_NOW + STALLED_S + 1)).toEqual(['measured', 'stalled', ended]);
    expect(await modes({}, STILL_NOW + EMPTY_S)).toEqual(['measured', 'stalled', ended]);
    expect(await modes({}, STILL_NOW + EMPTY_S + 1)).toEqual(['empty', 'stalled', ended]);
    expect(await modes({ held: [] }, STILL_NOW)).toEqual(['empty', 'running', ended]);
    const byHand = { last_round_at: null, last_emit_at: STILL_NOW };
    expect(await modes(byHand, STILL_NOW)).toEqual(['measured', 'never_ran', null]);
    expect(await modes({ last_round_at: null }, STILL_NOW)).toEqual(['empty', 'never_ran', null]);
    expect(await modes({ simulated: true }, STILL_NOW)).toEqual(['simulated', 'running', ended]);
    const other = feed({ target: evm('somebody else') });
    expect((await said(signalsFeedHandler(portsOf()), other)).body).toMatchObject({
      signals: [],
      count: 0,
      data_mode: 'measured',
    });
  });

  test('page after page by a cursor', async () => {
    const held = Array.from({ length: 5 }, (_, n) =>
      heldSignal(signalOf({ address: evm(`listed ${n}`).toLowerCase(), at: STILL_NOW + n }), n),
    );
    const handle = signalsFeedHandler(portsOf({ held }));
    const seen: unknown[] = [];
    let query: FeedQuery = { limit: 2 };
    for (let pages = 0; pages < 5; pages += 1) {
      const { body } = await said(handle, feed(query));
      seen.push(...[body['signals']].flat().map((signal) => fieldsIn(signal)['signal_id']));
      const { next_cursor: cursor } = body;
      if (cursor === null) break;
      query = { limit: 2, cursor: String(cursor) };
    }
    expect(seen).toEqual(held.toReversed().map(({ signal_id }) => signal_id));
  });

  test('the answer before, while the next one is made, and no longer than some seconds', async () => {
    const ports = portsOf();
    const reads: (() => void)[] = [];
    const { signals } = ports;
    const slow = {
      ...ports,
      signals: {
        ...signals,
        feed: async (query: Parameters<typeof signals.feed>[0]) => {
          await new Promise<void>((resolve) => reads.push(resolve));
          return signals.feed(query);
        },
      },
    };
    const handle = signalsFeedHandler(slow);
    const at = (now: number) => said(handle, feed(), now);
    const first = [at(STILL_NOW), at(STILL_NOW)];
    expect(reads).toHaveLength(1);
    reads[0]?.();
    const [one] = await Promise.all(first);
    // The next one is under way, and nobody waits for it.
    expect(await at(STILL_NOW + 1)).toEqual(one);
    expect(await at(STILL_NOW + 4)).toEqual(one);
    expect(reads).toHaveLength(2);
    // So late an answer is none: this reader waits.
    const late = at(STILL_NOW + 6);
    expect(reads).toHaveLength(3);
    for (const end of reads) end();
    expect(await late).toEqual(one);
  });

  test('how far a signal is anchored, and of a simulated one that it is not', async () => {
    const sent = { anchor_status: 'confirmed', anchor_tx: '0xabc', anchor_size: 2 } as const;
    const { body } = await said(signalHandler(portsOf({ anchors: { sent } })), one());
    expect(body['signal']).toMatchObject({ anchor_status: 'confirmed', anchor_tx: '0xabc' });
    const held = [heldSignal(signalOf({ address: LISTED, simulated: true }))];
    const made = portsOf({ anchors: { sent }, held, simulated: true });
    const [signal] = held;
    const answer = await said(signalHandler(made), one(signal?.signal_id));
    expect(answer.body['signal']).toMatchObject({ anchor_status: 'queued', anchor_tx: null });
  });
});

const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`;
const ANOTHER_HASH = hashLeaf(leafContent(LEAF_KINDS.version, ANOTHER.hash));
const LOG = {
  origin: `${MEMORY_HOST}/log/1`,
  index: 0,
  size: 2,
  root: hex(rootOfLeaves([leafHashOf(HELD), ANOTHER_HASH])),
  proof: [hex(ANOTHER_HASH)],
};
const NOT_SENT = {
  code: 'anchor_waits',
  reason: 'No root of this log that covers the signal was sent to the contract that is set.',
};
const NOT_IN_LOG = {
  code: 'not_in_log',
  reason: 'The log does not hold this call hash at the index of the signal.',
};
/** Everything but the chain holds. */
const HOLDS = {
  signal_id: HELD.signal_id,
  reproducible: true,
  citations_valid: true,
  anchored: false,
  call_hash_valid: true,
  logged: true,
  log: LOG,
  signature_valid: true,
  anchor_checked: false,
  status: CURRENT,
  reasons: [NOT_SENT],
  checked_at: '2026-09-24T12:00:00.000Z',
  cannot_establish:
    'It cannot establish that the evidence was true when it was collected: only that what was ' +
    'published is what is shown, where it was logged, and when that was anchored.',
  read_this_first: READ_THIS_FIRST,
};

describe('tells apart', () => {
  test('a signal that holds', async () => {
    expect(await verify()).toEqual({ status: 200, body: HOLDS });
  });

  test('a bundle that was changed', async () => {
    const bundle = Uint8Array.from(HELD.bundle);
    const at = Buffer.from(bundle).indexOf('2026-09-15');
    bundle[at + 3] = '7'.charCodeAt(0);
    const { body } = await verify({ held: [{ ...HELD, bundle }] });
    const reason = `The bundle hashes to ${hashBundle(bundle)}.`;
    expect(body).toEqual({
      ...HOLDS,
      reproducible: false,
      reasons: [{ code: 'bundle_differs', reason }, NOT_SENT],
    });
  });

  test('a bundle of the same content in other bytes', async () => {
    const bundle = Uint8Array.from([...HELD.bundle, '\n'.charCodeAt(0)]);
    const { body } = await verify({ held: [{ ...HELD, bundle }] });
    expect(body).toMatchObject({ reproducible: false, call_hash_valid: true });
    const [, second] = [body['reasons']].flat();
    expect(second).toEqual({
      code: 'bundle_not_canonical',
      reason: 'The bundle: not canonical: same content, other bytes.',
    });
  });

  test('an evidence hash that was changed', async () => {
    const evidence_hash = hashBundle(Uint8Array.of(1));
    const { body } = await verify({ held: [{ ...HELD, evidence_hash }] });
    expect(body).toEqual({
      ...HOLDS,
      reproducible: false,
      call_hash_valid: false,
      reasons: [
        { code: 'bundle_differs', reason: `The bundle hashes to ${HELD.evidence_hash}.` },
        {
          code: 'call_hash_differs',
          reason: `What the signal states hashes to ${hashCall({ ...callOf(HELD), evidence_hash })}.`,
        },
        NOT_SENT,
      ],
    });
  });

  test('a bundle and its hash that were changed together: by the call hash', async () => {
    const { bundle, evidence_hash } = heldSignal(signalOf({ address: LISTED, listed: false }));
    const { body } = await verify({ held: [{ ...HELD, bundle, evidence_hash }] });
    expect(body).toMatchObject({
      reproducible: true,
      citations_valid: true,
      call_hash_valid: false,
      logged: true,
    });
  });

  test('a bundle, its hash and the call hash that were changed together: by the leaf', async () => {
    const forged = heldSignal(signalOf({ address: LISTED, listed: false }));
    const held = [{ ...forged, signal_id: HELD.signal_id }];
    const { body } = await verify({ held });
    expect(body).toMatchObject({
      reproducible: true,
      call_hash_valid: false,
      logged: false,
      log: null,
      signature_valid: null,
    });
    // Under an id of its own it is consistent in itself, and in no log.
    const own = await verify({ held: [forged] }, forged.signal_id);
    expect(signalIdOf(forged.call_hash)).toBe(forged.signal_id);
    expect(own.body).toMatchObject({
      reproducible: true,
      call_hash_valid: true,
      logged: false,
      reasons: [NOT_IN_LOG, NOT_SENT],
    });
  });

  test('a citation that is missing, or that nobody can cite', async () => {
    const cite = async (key: string, value: null | undefined) => {
      const { [key]: _, ...others } = bundleOf({ address: LISTED }).evidence;
      const evidence =
        value === undefined ? others : { ...others, [key]: { value, as_of: STILL_NOW } };
      const bytes = writeCanonical({ ...bundleOf({ address: LISTED }), evidence });
      return verify({ held: [{ ...HELD, bundle: bytes, evidence_hash: hashBundle(bytes) }] });
    };
    const missing = {
      code: 'citation_missing',
      reason: 'Not to be cited: sanctions.listed.',
    };
    for (const value of [null, undefined] as const) {
      const { body } = await cite('sanctions.listed', value);
      expect(body).toMatchObject({ reproducible: true, citations_valid: false });
      expect(body['reasons']).toContainEqual(missing);
    }
  });

  test('a signal that is not in the log', async () => {
    const { body } = await verify({ leaves: [ANOTHER] });
    expect(body).toEqual({
      ...HOLDS,
      logged: false,
      log: null,
      signature_valid: null,
      reasons: [NOT_IN_LOG, NOT_SENT],
    });
  });

  test('a signal that stands elsewhere in the log', async () => {
    const { body } = await verify({ leaves: [ANOTHER, OWN] });
    expect(body).toMatchObject({ logged: false, log: { index: 1, size: 2 } });
    expect(body['reasons']).toEqual([NOT_IN_LOG, NOT_SENT]);
  });

  test('a log whose newest checkpoint is older', async () => {
    const entry = { kind: 'signal', hash: HELD.call_hash, id: 'a', at: 1, index: 0 } as const;
    const find = async () => read({ state: 'awaiting', entry } as const, LOG_ORIGIN);
    const { body } = await verify({ log: { find } });
    expect(body).toEqual({
      ...HOLDS,
      logged: null,
      log: null,
      signature_valid: null,
      reasons: [
        {
          code: 'log_waits',
          reason: 'The newest checkpoint is older than the signal, which is leaf 0.',
        },
        NOT_SENT,
      ],
    });
  });

  test('a log that is behind what it signed', async () => {
    const frozen = why('log_behind', { origin: MEMORY_HOST, cause: 'it lost its newest leaves' });
    const behind = { code: 'log_behind', reason: frozen.reason };
    const lost = await verify({ log: { find: async () => unread('transparency_log', frozen) } });
    expect(lost.body).toEqual({
      ...HOLDS,
      logged: null,
      log: null,
      signature_valid: null,
      reasons: [behind, NOT_SENT],
    });
    // What it still holds it proves.
    const { transparencyLog } = portsOf();
    const head = async () => map(await transparencyLog.head(), (one) => ({ ...one, frozen }));
    const held = await verify({ log: { head } });
    expect(held.body).toEqual({ ...HOLDS, reasons: [behind, NOT_SENT] });
  });

  test('a checkpoint that no published key signed', async () => {
    const { body } = await verify({ log: { isSigned: async () => read(false, LOG_ORIGIN) } });
    expect(body).toEqual({
      ...HOLDS,
      signature_valid: false,
      reasons: [
        {
          code: 'signature_wrong',
          reason: 'No published key that its operator alone holds signed the checkpoint.',
        },
        NOT_SENT,
      ],
    });
  });

  const SENT = { anchor_status: 'confirmed', anchor_tx: '0xabc', anchor_size: 2 } as const;

  test('a chain that was not read', async () => {
    const chain = why('store_unreadable', { what: 'The chain', fault: 'no answer in time' });
    const { body } = await verify({ anchors: { sent: SENT, chain } });
    expect(body).toEqual({
      ...HOLDS,
      reasons: [{ code: 'anchor_unread', reason: chain.reason }],
    });
  });

  test('a root that was sent and is not final', async () => {
    const sent = { ...SENT, anchor_status: 'submitted' } as const;
    const { body } = await verify({ anchors: { sent } });
    expect(body).toEqual({
      ...HOLDS,
      anchor_checked: true,
      reasons: [
        {
          code: 'anchor_waits',
          reason: 'The root of 2 leaves was sent and is not final: the contract lacks it at 1.',
        },
      ],
    });
  });

  test('a root that a re-org took away', async () => {
    const { body } = await verify({ anchors: { sent: SENT } });
    expect(body).toEqual({
      ...HOLDS,
      anchor_checked: true,
      reasons: [
        {
          code: 'anchor_gone',
          reason: 'The root of 2 leaves was final, and at block 1 the contract lacks it.',
        },
      ],
    });
  });

  test('a root on the chain that is another', async () => {
    const roots = new Map([[2, { root: `0x${'1'.repeat(64)}`, block: 7 }]]);
    const { body } = await verify({ anchors: { sent: SENT, roots } });
    expect(body).toEqual({
      ...HOLDS,
      anchor_checked: true,
      reasons: [
        {
          code: 'anchor_differs',
          reason: 'The root on the chain does not cover this signal at its index.',
        },
      ],
    });
  });

  test('a signal that is anchored', async () => {
    const roots = new Map([[2, { root: LOG.root, block: 7 }]]);
    const { body } = await verify({ anchors: { sent: SENT, roots } });
    expect(body).toEqual({ ...HOLDS, anchored: true, anchor_checked: true, reasons: [] });
  });

  test('a simulated signal, which is anchored nowhere', async () => {
    const made = heldSignal(signalOf({ address: LISTED, simulated: true }));
    const roots = new Map([[2, { root: LOG.root, block: 7 }]]);
    const { body } = await verify({ held: [made], anchors: { sent: SENT, roots } }, made.signal_id);
    expect(body).toMatchObject({ anchored: false, anchor_checked: false });
    expect([body['reasons']].flat()).toContainEqual({
      code: 'anchor_simulated',
      reason: 'The evidence is made up, and what is made up is anchored nowhere.',
    });
  });
});

describe('is silent', () => {
  const silent = { ...portsOf(), ...silentSignals(CAUSE) };
  const UNREADABLE = {
    status: 503,
    body: {
      error: 'feed_unreadable',
      detail: 'The table of signals could not be read: a planted fault.',
    },
  };

  test('where the store is not read, and never with an empty list', async () => {
    expect(await said(signalsFeedHandler(silent), feed())).toEqual(UNREADABLE);
    expect(await said(signalHandler(silent), one())).toEqual(UNREADABLE);
    expect(await said(signalEvidenceHandler(silent), one())).toEqual(UNREADABLE);
    expect(await said(signalVerificationHandler(silent), one())).toEqual(UNREADABLE);
  });

  test('of the log and of the chain by name, while the signal is checked all the same', async () => {
    const { anchors } = silentAnchors(CAUSE);
    const { reason } = CAUSE;
    const ports = { ...portsOf(), anchors, ...silentTransparencyLog(CAUSE) };
    const { body } = await said(signalVerificationHandler(ports), one());
    expect(body).toEqual({
      ...HOLDS,
      logged: null,
      log: null,
      signature_valid: null,
      reasons: [
        { code: 'log_unread', reason },
        { code: 'anchor_unread', reason },
      ],
      read_this_first: {
        ...READ_THIS_FIRST,
        anchoring:
          'Every signal is a leaf of a log and queued for the chain of anchor_chain_id. How far ' +
          `its root is there was not read: ${reason}`,
      },
    });
  });
});

describe('refuses', () => {
  test('an unknown id, by every route of one signal', async () => {
    const body = {
      error: 'not_found',
      signal_id: 'sig_unknown',
      detail: 'No signal has this id. An id is `sig_` and 32 hex digits, as the feed gives it.',
    };
    for (const handle of [signalHandler, signalEvidenceHandler, signalVerificationHandler]) {
      expect(await said(handle(portsOf()), one('sig_unknown'))).toEqual({ status: 404, body });
    }
  });

  test('a cursor that no answer gave', async () => {
    const { status, body } = await said(signalsFeedHandler(portsOf()), feed({ cursor: '1.2' }));
    expect([status, body['error']]).toEqual([400, 'cursor: expected the next_cursor of an answer']);
  });

  test.each([
    [SOLANA + SOLANA, 'target: not a 32-byte key; check its letter case'],
    [SOLANA.slice(2), 'target: not a 32-byte key; check its letter case'],
    ['nobody', 'target: form not recognised'],
  ])('a target that is no address, which no signal could be about: %s', async (target, says) => {
    const { status, body } = await said(signalsFeedHandler(portsOf()), feed({ target }));
    expect([status, body['error']]).toEqual([400, expect.stringContaining(says)]);
  });
});
