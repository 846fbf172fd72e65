// False uses of the client's answers must not compile, and correct ones must. `tsc` fails if it
// accepts a false one.

import { type AnswerOf, type Client, createClient } from './client.ts';

declare const client: Client;
declare const ofac: AnswerOf<'wallet_ofac'>;
declare const cex: AnswerOf<'wallet_cex'>;
declare const scan: AnswerOf<'partner_scan'>;
declare const health: AnswerOf<'health'>;

const address = '0x00000000219ab540356cbb839cbe05303d7705fa';

// @ts-expect-error Nothing can be read of an answer before its state was looked at.
ofac.data;
// @ts-expect-error Above all not so: an absence would read as "not listed".
ofac.data?.sanctioned;
// @ts-expect-error A state that is no absence carries no reason.
ofac.reason;

if (ofac.state === 'ok') {
  ofac.data.sanctioned satisfies boolean;
  // @ts-expect-error What is null was not checked: it is neither yes nor no.
  ofac.data.proximity.found satisfies boolean;
} else {
  ofac.reason satisfies string;
  // @ts-expect-error An absence has no data.
  ofac.data;
  ofac.state satisfies 'not_deployed';
}

switch (cex.state) {
  case 'ok':
    cex.data.labels.length satisfies number;
    break;
  case 'insufficient_evidence':
  case 'not_deployed':
    cex.reason satisfies string;
    break;
  // @ts-expect-error This absence is none of the route.
  case 'not_supported':
    break;
  default:
    cex satisfies never;
}

if (scan.state === 'ok') {
  const section = scan.data.sections.ofac;
  // @ts-expect-error A section that was not asked for is not there.
  section.state;
  // @ts-expect-error A section is an answer: its state comes first.
  section?.data;
  if (section?.state === 'ok') section.data.sanctioned satisfies boolean;
}

health.status satisfies 200;
health.body.simulated satisfies boolean;

client.health();
client.wallet_ofac({ address });
client.wallet_ofac({ address, on: '2026-11-21' }, { timeoutMs: 5_000 });
client.wallet_bridges({ address, chain: 'base' });
client.bulk_wallet_screen({ body: { addresses: [address] } });
client.partner_scan({ address });
client.partner_scan({ address, body: { sections: ['ofac'] } });
// @ts-expect-error The address is missing.
client.wallet_ofac({});
// @ts-expect-error And here.
client.wallet_ofac();
// @ts-expect-error A chain that the route does not know.
client.wallet_bridges({ address, chain: 'dogechain' });
// @ts-expect-error A field that the route does not know.
client.wallet_ofac({ address, chain: 'base' });
// @ts-expect-error The body is missing.
client.bulk_wallet_screen({});
// @ts-expect-error A section that is not offered.
client.partner_scan({ address, body: { sections: ['clearance'] } });
// @ts-expect-error No such route.
client.wallet_verdict;

createClient({ baseUrl: 'http://127.0.0.1:8080' });
// @ts-expect-error The service is missing.
createClient({ key: 'sc_' });
