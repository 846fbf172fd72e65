// Tells which roots of the log were sent to the anchoring contract, and how far the newest one is.

import { defineCommand, EXIT, fail } from '../../command/command.ts';
import { printRecord } from '../../command/output.ts';
import { both, map } from '../../evidence/reading.ts';
import type { AnchorSends } from '../../ports/anchoring.ts';

/** The dependencies of the command. */
export type AnchoringServices = {
  readonly anchoring: {
    readonly anchor_chain_id: number;
    readonly contract: string | null;
    /** The account that sends; `null`: this process has no key. */
    readonly sender: string | null;
    readonly sends: AnchorSends;
  };
};

/** @internal */
export const anchoringStatus = defineCommand({
  name: 'anchoring status',
  summary: 'Tell which roots of the log were sent to the anchoring contract.',
  example: 'exhibit anchoring status',
  json: '{anchor_chain_id, contract, sender, origin, size, began_at, under_way}',
  run: async (_, io, { anchoring: { sends, ...place } }: AnchoringServices) => {
    const { sender } = place;
    const [open, newest] = await Promise.all([sends.open(), sends.newest(sender)]);
    const told = map(both({ open, newest }), ({ open: send, newest: { nonce: _of, ...last } }) => {
      if (send === null) return { ...last, under_way: null };
      const { size, status, nonce, sent } = send;
      return { ...last, under_way: { size, status, nonce, txs: sent.map(({ tx }) => tx) } };
    });
    if (!told.checked) return fail(io, told.why.reason, EXIT.couldNotCheck);
    return print({ ...place, ...told.value });

    function print(status: typeof place & Sent) {
      return printRecord(status, io, [
        ['chain', ({ anchor_chain_id }) => anchor_chain_id],
        ['contract', ({ contract }) => (contract === null ? 'none is set' : contract)],
        ['sender', (one) => (one.sender === null ? 'no key in this process' : one.sender)],
        'origin',
        ['newest size', ({ size }) => size],
        'began_at',
        ['under way', ({ under_way: way }) => (way === null ? null : wayText(way))],
      ]);
    }
  },
});

type Way = {
  readonly size: number;
  readonly status: string;
  readonly nonce: number;
  readonly txs: readonly string[];
};
type Sent = {
  readonly origin: string | null;
  readonly size: number;
  readonly began_at: number | null;
  readonly under_way: Way | null;
};

function wayText({ size, status, nonce, txs: [newest] }: Way): string {
  return `size ${size}, ${status}, nonce ${nonce}, ${newest}`;
}
