import { describe, expect, test } from 'vitest';
import { type NodeRefusal, nodeRefusalOf } from './log-ranges.ts';

const range: NodeRefusal = { kind: 'range', hint: null };
const hinted = (from: number, to: number): NodeRefusal => ({ kind: 'range', hint: { from, to } });

describe('an error means', () => {
  test.each<[string, number, string, unknown, NodeRefusal]>([
    [
      'a range, with what its data offers',
      -32005,
      'query returned more than 10000 results. Try with this block range [0x9, 0xa].',
      { from: '0x1', to: '0x2', limit: 10_000 },
      hinted(1, 2),
    ],
    [
      'a range, with what its text offers',
      -32602,
      'Log response size exceeded. Based on your parameters, this block range should work: [0x1, 0xff]',
      undefined,
      hinted(1, 255),
    ],
    [
      'a range on a free plan, not a missing method',
      -32600,
      'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Upgrade to PAYG for expanded block range.',
      undefined,
      range,
    ],
    [
      'a range, with what stands in data that is text',
      -32602,
      'invalid params',
      'query exceeds max block range 10000, more than 20000 results [0x5, 0x6]',
      hinted(5, 6),
    ],
    [
      'a range, though the brackets hold words',
      -32000,
      'maximum [from, to] blocks distance: 2000',
      undefined,
      range,
    ],
    [
      'a range that a free plan does not support',
      35,
      'ranges over 10000 blocks are not supported on freetier',
      undefined,
      range,
    ],
    ['a block gone', -32000, 'unknown block', undefined, { kind: 'moved' }],
    ['a block gone (geth)', -32000, 'block 0x12ab not found', undefined, { kind: 'moved' }],
    [
      'a head that is not there yet',
      -32602,
      'block range extends beyond current head block',
      undefined,
      { kind: 'moved' },
    ],
    [
      'a rate',
      -32005,
      'daily request count exceeded, request rate limited',
      undefined,
      { kind: 'rate' },
    ],
    ['a rate by its code', -32029, 'slow down', undefined, { kind: 'rate' }],
    ['a missing method', -32601, 'x', undefined, { kind: 'unsupported' }],
    [
      'a missing method (geth)',
      -32000,
      'the method trace_block does not exist/is not available',
      undefined,
      { kind: 'unsupported' },
    ],
    [
      'a method of a dearer plan (Alchemy)',
      -32600,
      'debug_traceBlockByHash is not available on the Free tier',
      undefined,
      { kind: 'unsupported' },
    ],
    [
      'history of a dearer plan, never a range',
      -32602,
      'Archive requests require a personal token, get one at example.org (block range)',
      undefined,
      { kind: 'terminal', fault: 'keeps this history from this plan (archive)' },
    ],
    [
      'state that was dropped',
      -32000,
      'missing trie node 12ab (path )',
      undefined,
      { kind: 'terminal', fault: 'no longer holds this history (pruned)' },
    ],
    [
      'nothing that is known, without a word of what it said',
      -32603,
      'https://user:key@host failed',
      undefined,
      { kind: 'terminal', fault: 'answered with error -32603' },
    ],
  ])('%s', (_, code, message, data, meant) => {
    expect(nodeRefusalOf({ code, message, data })).toEqual(meant);
  });
});
