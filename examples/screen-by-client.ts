// One address by the typed client: listed, not listed, or could not check, and then why.
// usage: BASE_URL=… API_KEY=… node screen-by-client.ts ADDRESS

import { createClient, ExhibitFailure, ExhibitRefusal } from 'exhibit/client';

const COULD_NOT_CHECK = 3;
const [address = ''] = process.argv.slice(2);
const { BASE_URL: baseUrl = 'http://127.0.0.1:8080', API_KEY } = process.env;
const client = createClient({ baseUrl, ...(API_KEY !== undefined && { key: API_KEY }) });

try {
  const answer = await client.wallet_ofac({ address });
  // Without a look at the state, `answer.data` does not compile.
  if (answer.state === 'ok') {
    const word = answer.data.sanctioned ? 'listed' : 'not listed';
    console.log(`${address}: ${word} (the list of ${answer.data.list.published})`);
  } else {
    couldNotCheck(answer.reason);
  }
} catch (fault) {
  if (fault instanceof ExhibitRefusal) couldNotCheck(`${fault.status}: ${fault.body.error}`);
  else if (fault instanceof ExhibitFailure) couldNotCheck(`no answer: ${fault.code}`);
  else throw fault;
}

function couldNotCheck(why: string): void {
  console.log(`${address}: could not check (${why})`);
  process.exitCode = COULD_NOT_CHECK;
}
