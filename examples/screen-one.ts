// Is one address on the published sanctions list, now or on a day in the past?
//   API_KEY=… node examples/screen-one.ts ADDRESS [YYYY-MM-DD]
// Ends with 0 where it was checked and 3 where it could not be.

import { ask } from './ask.ts';
import { unchecked, verdictOf } from './verdict.ts';

const [address, day] = process.argv.slice(2);
if (address === undefined) throw new Error('which address?');

const on = day === undefined ? '' : `?on=${encodeURIComponent(day)}`;
const asked = await ask(`/api/v1/wallet/${encodeURIComponent(address)}/ofac${on}`);
const { word, why } = asked.ok ? verdictOf(asked.body) : unchecked(asked.reason);
console.log(`${address}: ${word} (${why})`);
if (word === 'could not check') process.exitCode = 3;
