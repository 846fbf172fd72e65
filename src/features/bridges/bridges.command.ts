import {
  defineCommand,
  EXIT,
  fail,
  filePath,
  flag,
  type Io,
  mandatory,
  optional,
  wordIn,
} from '../../command/command.ts';
import { factLines, print, printJson } from '../../command/output.ts';
import { BRIDGE_CHAINS, type BridgeChain } from '../../ports/bridges.ts';
import type { ExplainedEvent, Explanation } from './explain.ts';

/** The command's services; compose fills them. */
export type BridgesServices = {
  readonly explainReceipt: (
    path: string,
    options: { readonly chain: BridgeChain | null; readonly destination: boolean },
    signal: AbortSignal,
  ) => Promise<
    { readonly read: false; readonly reason: string } | ({ readonly read: true } & Explanation)
  >;
};

export const bridgesExplain = defineCommand({
  name: 'bridges explain',
  summary: 'Show what one transaction and its receipt bridged, or why nothing.',
  example: 'exhibit bridges explain --receipt deposit.json',
  options: {
    receipt: mandatory(
      'FILE',
      'JSON with a transaction and its receipt, as eth_getTransactionByHash and ' +
        'eth_getTransactionReceipt answer: {"transaction": …, "receipt": …}, each as it is or ' +
        'inside "result", or a list of the two answers',
      filePath,
    ),
    chain: optional(
      'CHAIN',
      'where the transaction names none; else its own chain id decides',
      wordIn(BRIDGE_CHAINS),
    ),
    destination: flag(
      'look for the other side of what was sent, at the nodes of both chains ' +
        '(EXHIBIT_RPC_<CHAIN>), then on the protocol’s status page where one is set ' +
        '(EXHIBIT_<PROTOCOL>_STATUS_URL): "arrival": {chain, tx, state, matched_by, reason}; ' +
        'state: matched, in_flight, unmatched, messaging_only, or null',
    ),
  },
  json: 'one object a line for each thing that was bridged; one with why_not for none',
  notes: [
    'Exit status 1: the file holds no such thing. 3: its chain is not covered, or an event of a',
    'bridge in it cannot be read: `"bridged": null`.',
  ],
  run: async ({ receipt, chain, destination }, io, { explainReceipt }: BridgesServices) => {
    const explained = await explainReceipt(receipt, { chain, destination }, io.signal);
    if (!explained.read) return fail(io, explained.reason);
    const { bridged, chain: on, checked, why_not, unknown_events } = explained;
    if (!io.json) printText(explained, io);
    else if (bridged.length === 0) {
      // An event that cannot be read is no "nothing": it is null.
      const none = checked ? false : null;
      printJson(io, { bridged: none, why_not, chain: on, checked, unknown_events });
    } else for (const one of bridged) printJson(io, { ...one, chain: on, unknown_events });
    return checked ? EXIT.done : EXIT.couldNotCheck;
  },
});

function arrivalText({ arrival }: ExplainedEvent): string | null {
  if (arrival === null) return null;
  const { state, tx, matched_by, reason } = arrival;
  if (state === null) return `not told: ${reason}`;
  const by = matched_by === null ? state : `${state} by ${matched_by}`;
  const text = tx === null ? by : `${by}: ${tx}`;
  return reason === null ? text : `${text} (${reason})`;
}

function loggedText({ user, asset, amount, logged }: ExplainedEvent): string | null {
  const same = logged.user === user && logged.asset === asset && logged.amount === amount;
  const words = [logged.user, logged.asset, logged.amount].map((one) => (one === null ? '?' : one));
  return same ? null : words.join(', ');
}

function printText(
  { bridged, chain, chain_from, why_not, checked, unknown_events }: Explanation,
  io: Io,
): void {
  const open = unknown_events > 0 ? 'Not told' : 'Not checked';
  if (why_not !== null) io.out(`${checked ? 'No bridging' : open}: ${why_not}`);
  for (const [i, one] of bridged.entries()) {
    if (i > 0) io.out('');
    const { protocol, direction, user, asset, amount, contract, message_id, destination } = one;
    const via = one.via.map((on) => (on.name === null ? on.contract : `${on.contract} ${on.name}`));
    print(
      io,
      factLines(
        [
          ['protocol', protocol],
          ['direction', direction],
          ['user', user],
          ['asset', asset],
          ['amount', amount],
          ['via', via.length === 0 ? null : via.join(', ')],
          ['logged', loggedText(one)],
          ['contract', contract],
          ['message_id', message_id],
          ['origin', one.origin],
          ['destination', destination],
          ['event', `${one.event}, ${one.version}`],
          ['arrival', arrivalText(one)],
        ],
        io,
      ),
    );
    if (one.messaging_only) io.out('A message only: what it moves is not told by its contract.');
  }
  if (chain_from === 'registry') {
    io.out(`The file names no chain: ${chain} is the only one that fits its contracts.`);
  }
  if (unknown_events > 0) {
    io.out(`${unknown_events} events of registry contracts have layouts that are not known.`);
  }
}
