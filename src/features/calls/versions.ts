// Every version of every detector, with its parameters. A version is a leaf of the log before it is
// used and never changes: another parameter, bar or cooldown is another version behind it.

import type { DetectorKind, DetectorVersion } from '../../ports/emitted-calls.ts';

/** All versions that ever ran, those of a kind in their order: the last is the one that runs. */
export const DETECTOR_VERSIONS: readonly DetectorVersion[] = [
  {
    version: 'funding-1',
    kind: 'funding',
    bar: '0.5',
    cooldown_h: 24,
    horizon_h: 24,
    parameters: { threshold_8h: '0.0005' },
    text:
      'The newest settlement of funding at Hyperliquid, per 8 hours. The conviction is its size ' +
      'divided by twice the threshold, 1 at most. A positive rate, which long pays, calls short; ' +
      'a negative one calls long.',
  },
  {
    version: 'liq-1',
    kind: 'liq',
    bar: '0.5',
    cooldown_h: 12,
    horizon_h: 12,
    parameters: { times_mean: '10', least_usd: '1000000' },
    text:
      'The notional of the positions of one side that Binance and Bybit tell were liquidated in ' +
      'the last full hour, where it is least_usd or more. The conviction is its multiple of the ' +
      'mean of the 167 hours before, divided by twice times_mean, 1 at most. Both venues are ' +
      'compared with themselves: what Binance tells is a sample and no total. Liquidated longs ' +
      'call long and liquidated shorts short; of both sides the stronger one is called.',
  },
  {
    version: 'liq-2',
    kind: 'liq',
    bar: '0.5',
    cooldown_h: 12,
    horizon_h: 12,
    parameters: { times_mean: '10', least_usd: '1000000', least_hours: '72' },
    text:
      'The notional of the positions of one side that Binance and Bybit tell were liquidated in ' +
      'the last full hour, where it is least_usd or more and the hour was heard whole. The ' +
      'conviction is its multiple of the usual hour, divided by twice times_mean, 1 at most. ' +
      'The usual hour is the sum of the means of both venues, each over those of the 167 hours ' +
      'before that were heard whole at it: an hour with a hole is in no mean, and where fewer ' +
      'than least_hours were heard nothing is called. What Binance tells is a sample and no ' +
      'total. Liquidated longs call long and liquidated shorts short; of both sides the ' +
      'stronger one is called.',
  },
  {
    version: 'netflow-1',
    kind: 'netflow',
    bar: '0.5',
    cooldown_h: 24,
    horizon_h: 24,
    parameters: { deviations: '3' },
    text:
      'What flowed into exchanges less what flowed out, in US dollars, over the 24 hours that ' +
      'ended an hour before the last full one. It is compared with the 13 times 24 hours before: ' +
      'the conviction is its distance from their mean in their deviations, divided by twice ' +
      'deviations, 1 at most. More than usual calls short, less calls long.',
  },
  {
    version: 'netflow-2',
    kind: 'netflow',
    bar: '0.5',
    cooldown_h: 24,
    horizon_h: 24,
    parameters: { deviations: '3', least_days: '10', assets: 'own coins of chains' },
    text:
      'What of the own coin of a chain flowed into exchanges less what flowed out, in US ' +
      'dollars, over the 24 hours that ended an hour before the last full one, which are held ' +
      'whole. It is compared with those of the 13 times 24 hours before that are held whole, ' +
      'least_days or more: the conviction is its distance from their mean in their deviations, ' +
      'divided by twice deviations, 1 at most. More than usual calls short, less calls long.',
  },
  {
    version: 'whale-1',
    kind: 'whale',
    bar: '0.5',
    cooldown_h: 24,
    horizon_h: 24,
    parameters: { least_usd: '25000000' },
    text:
      'Large transfers to exchanges from others less those from exchanges to others, in US ' +
      'dollars, over the 4 hours that ended an hour before the last full one. The conviction is ' +
      'the size of it divided by twice least_usd, 1 at most. A net transfer to exchanges calls ' +
      'short, one from exchanges calls long.',
  },
  {
    version: 'whale-2',
    kind: 'whale',
    bar: '0.5',
    cooldown_h: 24,
    horizon_h: 24,
    parameters: { least_usd: '25000000', assets: 'own coins of chains' },
    text:
      'Large transfers of the own coin of a chain to exchanges from others less those from ' +
      'exchanges to others, in US dollars, over the 4 hours that ended an hour before the last ' +
      'full one, which are held whole. The conviction is the size of it divided by twice ' +
      'least_usd, 1 at most. A net transfer to exchanges calls short, one from exchanges calls ' +
      'long.',
  },
];

/** The version of a kind that runs. */
export function newestVersion(kind: DetectorKind): DetectorVersion {
  const version = DETECTOR_VERSIONS.findLast((one) => one.kind === kind);
  if (version === undefined) throw new Error(`no version of ${kind}`);
  return version;
}

/** A parameter of a version. */
export function parameterIn({ version, parameters }: DetectorVersion, name: string): string {
  const value = parameters[name];
  if (value === undefined) throw new Error(`${version} has no parameter ${name}`);
  return value;
}
