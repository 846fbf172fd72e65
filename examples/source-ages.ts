// How old is each source, and can it carry a negative? Asks /health again and again.
//   node examples/source-ages.ts [EVERY_SECONDS [TIMES]]
// Ends with 3 where some source was not fresh at the last look. A source of which each answer has a
// date of its own (per_answer) has no age: its answers say how old they are. Lists of other
// authorities are the operator's choice: where none was imported, none can be old.

import { setTimeout as sleep } from 'node:timers/promises';
import { ask, textAt, valueAt } from './ask.ts';

const [everyS = '60', times = 'Infinity'] = process.argv.slice(2);

// Until somebody has looked, nothing is fresh.
process.exitCode = 3;
for (let look = 1; look <= Number(times); look += 1) {
  if (look > 1) await sleep(Number(everyS) * 1_000);
  process.exitCode = (await allFresh()) ? 0 : 3;
}

async function allFresh(): Promise<boolean> {
  const asked = await ask('/health');
  const sources = asked.ok ? valueAt(asked.body, 'data_freshness') : undefined;
  if (typeof sources !== 'object' || sources === null) {
    console.log(`could not check (${asked.ok ? 'no ages in the answer' : asked.reason})`);
    return false;
  }
  const rows = Object.entries(sources);
  for (const [name, source] of rows) {
    const [state, age, max] = ['state', 'age_s', 'max_age_s'].map((one) => valueAt(source, one));
    const limit = max === null ? 'no limit' : `${max} s at most`;
    const note = valueAt(source, 'reason') === null ? '' : `: ${textAt(source, 'reason')}`;
    const aged = age === null ? 'no age' : `${age} s (${limit})`;
    console.log(`${name}: ${state}, ${aged}${note}`);
  }
  const isGood = ([name, source]: readonly [string, unknown]) => {
    const state = valueAt(source, 'state');
    if (name === 'other_lists' && state === 'never_loaded') return true;
    return state === 'fresh' || state === 'per_answer';
  };
  return rows.length > 0 && rows.every(isGood);
}
