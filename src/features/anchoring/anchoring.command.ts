// Tells which roots of the log were sent to the anchoring contract, and how far the newest one is.

import { defineCommand, EXIT, fail } from '../../command/command.ts';
import { printRecord } from '../../command/output.ts';
import type { AnchorSend, AnchorSends, SetPlace } from '../../ports/anchoring.ts';

/** The dependencies of the command. */
export type AnchoringServices = {
  readonly anchoring: {
    /** Where roots are sent to; without a key in this process there is no sender. */
    readonly place: SetPlace;
    readonly sends: Pick<AnchorSends, 'open' | 'newest'>;
  };
};

/** @internal */
export const anchoringStatus = defineCommand({
  name: 'anchoring status',
  summary: 'Tell which roots of the log were sent to the anchoring contract.',
  example: 'exhibit anchoring status',
  json: '{anchor_chain_id, contract, sender, origin, size, began_at, under_way: […]}',
  notes: [
    'A root that was sent to a contract before another one was set is under way until it ends.',
  ],
  run: async (_, io, { anchoring: { sends, place } }: AnchoringServices) => {
    const [open, newest] = await Promise.all([sends.open(), sends.newest(place)]);
    if (!open.checked) return fail(io, open.why.reason, EXIT.couldNotCheck);
    if (!newest.checked) return fail(io, newest.why.reason, EXIT.couldNotCheck);
    const { chain_id: anchor_chain_id, contract, sender } = place;
    const { origin, size, began_at } = newest.value;
    const set = { anchor_chain_id, contract, sender, origin, size, began_at };
    const under_way = open.value.map(({ sent, root: _root, gas: _gas, ...send }) => {
      return { ...send, txs: sent.map(({ tx }) => tx) };
    });
    return printRecord({ ...set, under_way }, io, [
      ['chain', (one) => one.anchor_chain_id],
      ['contract', (one) => (one.contract === null ? 'none is set' : one.contract)],
      ['sender', (one) => (one.sender === null ? 'no key in this process' : one.sender)],
      'origin',
      ['newest size', (one) => one.size],
      'began_at',
      ['under way', (one) => one.under_way.map(wayText).join('; ')],
    ]);
  },
});

type Way = Omit<AnchorSend, 'sent' | 'root' | 'gas'> & { readonly txs: readonly string[] };

function wayText({ chain_id, contract, size, status, nonce, txs: [newest] }: Way): string {
  return `size ${size} to ${contract} on chain ${chain_id}, ${status}, nonce ${nonce}, ${newest}`;
}
