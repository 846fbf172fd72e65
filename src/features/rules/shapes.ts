// The fields that a rule about calls may name, and a parsed rule as the interface answers it.

import { z } from 'zod';
import {
  COMPARISONS,
  PLAIN_TYPES,
  type RuleError,
  type RuleNode,
  type RuleUnit,
  type RuleValue,
  type RuleVocabulary,
} from '../../contract/rules.ts';
import { harmless, oneOf, prose, sharedShape, words } from '../../contract/wire.ts';
import { DETECTOR_KINDS, DIRECTIONS } from '../../ports/emitted-calls.ts';
import { SERIES_VENUES } from '../../ports/series.ts';

const ALONE: readonly RuleUnit[] = [{ written: '', unit: null, assumed: false }];
const HOURS: readonly RuleUnit[] = [
  { written: '', unit: 'h', assumed: true },
  { written: 'h', unit: 'h', assumed: false },
];
const USD: readonly RuleUnit[] = [
  { written: '', unit: 'usd', assumed: true },
  { written: 'usd', unit: 'usd', assumed: false },
];
/** Venues settle each hour or each eight: a rate without its time is one of eight hours. */
const RATE: readonly RuleUnit[] = [
  { written: '', unit: '%/8h', assumed: true },
  { written: '%', unit: '%/8h', assumed: true },
  { written: 'bps', unit: 'bps/8h', assumed: true },
  { written: '%/8h', unit: '%/8h', assumed: false },
  { written: 'bps/8h', unit: 'bps/8h', assumed: false },
  { written: '%/h', unit: '%/h', assumed: false },
  { written: 'bps/h', unit: 'bps/h', assumed: false },
];

/** The fields of a rule about one call, as it stood when it was emitted. */
export const CALL_FIELDS: RuleVocabulary = new Map([
  ['kind', { type: 'word', words: DETECTOR_KINDS, means: 'The kind of the detector.' }],
  ['asset', { type: 'name', means: 'The asset, in the letters of its venue.' }],
  ['venue', { type: 'word', words: SERIES_VENUES, means: 'The venue that prices the call.' }],
  ['direction', { type: 'word', words: DIRECTIONS, means: 'The way that the call points.' }],
  ['conviction', { type: 'number', units: ALONE, means: 'The conviction, from 0 to 1.' }],
  ['price', { type: 'number', units: USD, means: 'The last mark price that was received.' }],
  ['horizon_h', { type: 'number', units: HOURS, means: 'The hours until the call is closed.' }],
  [
    'funding',
    {
      type: 'number',
      units: RATE,
      means: 'The funding rate; where it is positive, long pays short.',
    },
  ],
  [
    'funding_8h_mean_7d',
    { type: 'number', units: RATE, means: 'The mean funding rate of the week before.' },
  ],
  [
    'return_24h',
    {
      type: 'number',
      units: ALONE,
      means: 'The return of the day before, as a fraction: 0.01 is 1%.',
    },
  ],
  [
    'return_7d',
    { type: 'number', units: ALONE, means: 'The return of the week before, as a fraction.' },
  ],
  [
    'deviation_7d',
    {
      type: 'number',
      units: ALONE,
      means: 'The standard deviation of hourly returns in the week before.',
    },
  ],
  [
    'open_interest_change_24h',
    {
      type: 'number',
      units: ALONE,
      means: 'The change of open interest in the day before, as a fraction.',
    },
  ],
  [
    'liquidated_long_24h_usd',
    { type: 'number', units: USD, means: 'Long positions liquidated in the day before.' },
  ],
  [
    'liquidated_short_24h_usd',
    { type: 'number', units: USD, means: 'Short positions liquidated in the day before.' },
  ],
  [
    'net_flow_24h_usd',
    {
      type: 'number',
      units: USD,
      means: 'Its chain’s own coin onto exchanges less off them, in the day before.',
    },
  ],
  [
    'whales_to_exchanges_24h_usd',
    { type: 'number', units: USD, means: 'The same, of large transfers alone.' },
  ],
]);

const OF_RULE = 'it repeats the rule that was asked about';
const count = harmless(z.int().nonnegative(), OF_RULE);

const value = z.union([
  sharedShape(
    'RuleNumber',
    z.strictObject({
      type: z.literal('number'),
      value: words(),
      unit: words().nullable(),
      assumed: harmless(z.boolean(), OF_RULE),
    }),
  ),
  sharedShape('RuleWord', z.strictObject({ type: oneOf(PLAIN_TYPES), value: words() })),
]) satisfies z.ZodType<RuleValue>;

const node = z.union([
  sharedShape(
    'RuleJoin',
    z.strictObject({ op: oneOf(['and', 'or', 'not']), of: z.array(count).min(1) }),
  ),
  sharedShape(
    'RuleComparison',
    z.strictObject({
      op: z.literal('compare'),
      field: words(),
      is: oneOf(COMPARISONS),
      value,
    }),
  ),
  sharedShape(
    'RuleList',
    z.strictObject({
      op: oneOf(['in', 'not_in']),
      field: words(),
      values: z.array(value).min(1),
    }),
  ),
  sharedShape('RuleKnown', z.strictObject({ op: oneOf(['known', 'unknown']), field: words() })),
]) satisfies z.ZodType<RuleNode>;

const error = z.strictObject({
  message: prose().min(1),
  line: z.int().positive(),
  column: z.int().positive().describe('In code points.'),
  expected: z.array(words()).min(1),
}) satisfies z.ZodType<RuleError>;

/** A rule as it was parsed, or where it is none. */
export const parsedRule = z.union([
  sharedShape(
    'ParsedRule',
    z
      .strictObject({
        ok: z.literal(true),
        rule: words().describe('The tree in the grammar again.'),
        nodes: z
          .array(node)
          .min(1)
          .describe('Parts stand before what they are part of; the last node is the whole.'),
        caveat: prose().min(1),
      })
      .describe('Numbers are decimal text, as they were written.'),
  ),
  sharedShape(
    'RefusedRule',
    z.strictObject({ ok: harmless(z.literal(false), 'it is of the text that was sent'), error }),
  ),
]);
