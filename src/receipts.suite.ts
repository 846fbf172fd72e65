// The routes of the service confirm each statement of a receipt of the simulated world. Each
// paragraph and each row of a receipt stands here, so that none is written without its check.

import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { ReceiptFile } from './ports/receipts.ts';
import { parseReceipt } from './sources/files/receipts-folder.ts';
import { fetchPatiently } from './testing/patient-fetch.ts';
import type { Simulated } from './testing/program.ts';

const FOLDER = new URL('../registry/simulated-receipts/', import.meta.url);
const LISTED = '0x64144967c175997fc8526ba694021ae36965331c';
const INTERMEDIARY = '0xed6bfcde6bc50899c1ec97610a40735bc52d1c3b';

const hop = z.object({
  from: z.string(),
  to: z.string(),
  tx: z.string(),
  amount: z.string().nullable(),
  symbol: z.string().nullable(),
  initiator: z.string().nullable(),
  initiated_by_subject: z.boolean().nullable(),
});
const leftOut = z.object({ tx: z.string(), why: z.string(), listed_address: z.string() });
const ofacBody = z.object({
  data: z.object({
    sanctioned: z.boolean(),
    proximity: z.object({
      found: z.boolean().nullable(),
      path: z.array(z.string()).nullable(),
      hops_detail: z.array(hop).nullable(),
      left_out_contacts: z.array(leftOut).nullable(),
    }),
    caveat: z.string(),
  }),
});
type Ofac = z.output<typeof ofacBody>['data'];
type Published = Extract<ReceiptFile, { state: 'published' }>['receipt'];
type Check = (ofac: Ofac, receipt: Published) => void;

/** What states no fact of a route: it tells how to read one. */
const states: Check = () => undefined;
const hopsOf = ({ proximity }: Ofac) => {
  if (proximity.hops_detail === null) throw new Error('no path');
  return proximity.hops_detail;
};
const step = (at: number, to: string | null): Check => {
  return (ofac, { subject, transactions }) => {
    const toWhom = to === null ? subject : to;
    const initiator = INTERMEDIARY;
    const { tx } = { ...transactions[at] };
    expect(hopsOf(ofac)[at]).toMatchObject({ from: INTERMEDIARY, to: toWhom, tx, initiator });
  };
};

/** By file, each piece of its text by how it begins. */
const CHECKS: Readonly<Record<string, readonly (readonly [begins: string, check: Check])[]>> = {
  'two-steps-from-a-listed-address.md': [
    ['# What was observed', states],
    [
      '`0xed6bfcde6bc50899c1ec97610a40735bc52d1c3b`, the intermediary, paid the subject 0.5 ETH and ' +
        'the listed address `0x64144967c175997fc8526ba694021ae36965331c` 3 ETH. It signed both ' +
        'transfers; the subject signed neither.',
      (ofac, { subject }) => {
        expect(ofac.proximity.path).toEqual([subject, INTERMEDIARY, LISTED]);
        const paid = { from: INTERMEDIARY, symbol: 'ETH', initiated_by_subject: false };
        const by = { initiator: INTERMEDIARY };
        expect(hopsOf(ofac)).toMatchObject([
          { ...paid, ...by, to: subject, amount: '0.5' },
          { ...paid, ...by, to: LISTED, amount: '3' },
        ]);
      },
    ],
    ['| step | from | to | signed by | transaction |', states],
    ['| --- | --- | --- | --- | --- |', states],
    ['| 1 | the intermediary | the subject | the intermediary | `0xa8205c', step(0, null)],
    ['| 2 | the intermediary | the listed address | the intermediary | `0x93d9d7', step(1, LISTED)],
    ['# What it does not show', states],
    [
      'That one address paid both does not show that the subject dealt with the listed address, ' +
        'nor that it knew of the other payment. The answer of the `ofac` route names each ' +
        'transaction, so that anybody can look at both.',
      (ofac, { transactions }) => {
        expect(hopsOf(ofac).map(({ tx }) => tx)).toEqual(transactions.map(({ tx }) => tx));
      },
    ],
  ],
  'a-payment-that-was-not-made.md': [
    [
      'A token contract wrote into its log that the subject had sent a token to the listed address ' +
        '`0x64144967c175997fc8526ba694021ae36965331c`. The amount was zero, and the subject did not ' +
        'sign the transaction.',
      // `zero_value` is said of a transfer that moved nothing and that the subject did not sign.
      (ofac, { transactions }) => {
        const { tx } = { ...transactions[0] };
        const one = { tx, why: 'zero_value', listed_address: LISTED };
        expect(ofac.proximity.left_out_contacts).toMatchObject([one]);
        expect(ofac.proximity.found).not.toBe(true);
      },
    ],
    ['> Anybody can have a token contract say that somebody paid somebody. What counts is', states],
    [
      'The walk leaves such a transfer out, and names it among `left_out_contacts` and in the ' +
        'caveat of the answer.',
      (ofac) => expect(ofac.caveat).toContain(LISTED),
    ],
  ],
};

/** The paragraphs of a text, and the rows of its tables, each on one line. */
function piecesOf(body: string): string[] {
  return body.split('\n\n').flatMap((one) => {
    return one.startsWith('|') ? one.split('\n') : [one.replaceAll('\n', ' ')];
  });
}

/** Each statement of a receipt of the world, by the routes of a started service. */
export function receiptsAreConfirmed(started: () => Simulated): void {
  const files = readdirSync(FOLDER)
    .map((name) => parseReceipt(name, readFileSync(new URL(name, FOLDER), 'utf8')))
    .filter((one) => one.state === 'published');

  test('each published receipt of the world has its checks', () => {
    expect(files.map(({ file }) => file).sort()).toEqual(Object.keys(CHECKS).sort());
  });

  test.each(files)('a route confirms each statement of $file', async ({ file, receipt }) => {
    const { base_url, api_key } = started();
    const answer = await fetchPatiently(`${base_url}/api/v1/wallet/${receipt.subject}/ofac`, {
      headers: { authorization: `Bearer ${api_key}` },
    });
    const ofac = ofacBody.parse(await answer.json()).data;
    const checks = [...(CHECKS[file] ?? [])];
    const pieces = piecesOf(receipt.body);
    expect(pieces).toHaveLength(checks.length);
    for (const [i, [begins, check]] of checks.entries()) {
      expect(pieces[i]?.slice(0, begins.length)).toBe(begins);
      check(ofac, receipt);
    }
  });
}
