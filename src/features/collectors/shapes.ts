// The bundle of evidence about a target, and what is judged of it. A rate, a price or an amount is
// decimal text, so that no fraction is ever written into a bundle.

import { z } from 'zod';
import { CHAIN_NAMES } from '../../chain/chain.ts';
import { REASON_CODES } from '../../evidence/reasons.ts';

/** The name and version of the bundle's shape, which stands in each bundle. */
export const BUNDLE_SCHEMA = 'exhibit-bundle/1';

/** The bounds of a bundle: bytes of its canonical form, and keys of its evidence. */
export const BUNDLE_LIMITS = { bytesMax: 262_144, keysMax: 2_000 } as const;

/** The sources of a bundle, in its order. A collector gives one of them or several. */
export const BUNDLE_SOURCES = [
  'sanctions',
  'labels',
  'flags',
  'deployer',
  'launches',
  'venue',
  'holders',
  'authorities',
  'contract',
  'freezes',
  'bridges',
  'cluster',
  'rug_flag',
  'funding',
  'net_flow',
] as const;
export type BundleSource = (typeof BUNDLE_SOURCES)[number];

/** The contribution of a source: evidence, or the kind of its gap. */
export const SOURCE_STATUSES = ['present', 'unavailable', 'dormant', 'error'] as const;

const seconds = z.int().nonnegative();

/** An address or a token of a chain, in the form that `parseAddress` gives. */
const bundleTarget = z.strictObject({ chain: z.enum(CHAIN_NAMES), address: z.string() });
export type BundleTarget = Readonly<z.output<typeof bundleTarget>>;

/** Text that somebody outside wrote, code point for code point: data, and never an instruction. */
const untrustedText = z.strictObject({ untrusted: z.string() });

/** The value of a key. `null` is not citable. */
const evidenceValue = z.union([z.string(), z.boolean(), z.int(), z.null(), untrustedText]);
export type EvidenceValue = Readonly<z.output<typeof evidenceValue>>;

/** One key's value, and when its source was observed, in Unix seconds. */
const bundleItem = z.strictObject({ value: evidenceValue, as_of: seconds });
export type BundleItem = Readonly<z.output<typeof bundleItem>>;

/** `<source>.<path>` in snake case. */
const evidenceKey = z.string().regex(/^[a-z_]+(\.[a-z0-9_]+)+$/);

/**
 * One source. `code` and `reason` tell why it is a gap; of one that is present they are `null`, or
 * `simulated` where its evidence is made up. `as_of` is its oldest observation, in Unix seconds.
 */
const bundleSource = z.strictObject({
  source: z.enum(BUNDLE_SOURCES),
  status: z.enum(SOURCE_STATUSES),
  code: z.enum(REASON_CODES).nullable(),
  reason: z.string().nullable(),
  as_of: seconds.nullable(),
});
export type BundleSourceLine = Readonly<z.output<typeof bundleSource>>;

export const bundleShape = z.strictObject({
  schema: z.literal(BUNDLE_SCHEMA),
  target: bundleTarget,
  /** ISO 8601. */
  collected_at: z.string(),
  sources: z.array(bundleSource).readonly(),
  evidence: z.record(evidenceKey, bundleItem),
});
export type Bundle = Readonly<z.output<typeof bundleShape>>;

export const VERDICTS = ['avoid', 'no_opinion'] as const;

/** Whether a confidence was measured on outcomes, or set by whoever reviewed the rule. */
const CONFIDENCE_BASES = ['assumed', 'measured'] as const;

/** What is judged of a bundle. `confidence_n` is the number of outcomes of a measured one. */
export const judgementShape = z.strictObject({
  verdict: z.enum(VERDICTS),
  confidence_millionths: z.int().min(0).max(1_000_000),
  confidence_basis: z.enum(CONFIDENCE_BASES),
  confidence_n: z.int().positive().nullable(),
  reasoning: z.string().min(1).max(4_000),
  /** Keys of the bundle, in its order. */
  evidence_used: z.array(evidenceKey).max(500).readonly(),
  /** `rules-<version>`, or the name of the language model. */
  model: z.string().min(1),
  prompt_version: z.string().min(1),
  cost_usd: z.number().nonnegative(),
});
export type Judgement = Readonly<z.output<typeof judgementShape>>;
