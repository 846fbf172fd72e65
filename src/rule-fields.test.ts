// A rule names what a call records: no field of the grammar is one that no detector fills, and
// nothing that detectors record is out of a rule's reach.

import { expect, test } from 'vitest';
import { CALL_FEATURES } from './features/calls/ranked-features.ts';
import { CALL_FIELDS } from './features/rules/shapes.ts';
import { emissionStatement } from './ports/emitted-calls.ts';

/** Features that rules name otherwise. */
const NAMED_OTHERWISE: Readonly<Record<string, string>> = {
  funding_8h: 'funding',
  is_long: 'direction',
};

/** Members of a statement that tell how it was made, and nothing of the market or of the call. */
const LEFT_OUT = ['emitted_at', 'detector_version', 'bar', 'window', 'inputs', 'simulated'];

test('the fields of a rule are what a call says and the features that it records', () => {
  const said = Object.keys(emissionStatement.shape).filter(
    (name) => name !== 'features' && !LEFT_OUT.includes(name),
  );
  const recorded = Object.keys(CALL_FEATURES).map((name) => NAMED_OTHERWISE[name] ?? name);
  expect([...CALL_FIELDS.keys()].sort()).toEqual([...new Set([...said, ...recorded])].sort());
});
