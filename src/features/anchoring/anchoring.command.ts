// Tells which roots of the log were sent to the anchoring contract, and how far the newest one is.

import { defineCommand, EXIT, fail } from '../../command/command.ts';
import { printRecord } from '../../command/output.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { AnchoringReport, AnchorSend, AnchorSends, SetPlace } from '../../ports/anchoring.ts';

/** The dependencies of the command. */
export type AnchoringServices = {
  readonly anchoring: {
    /** Where roots are sent to; without a key in this process there is no sender. */
    readonly place: SetPlace;
    readonly sends: Pick<AnchorSends, 'open' | 'newest'>;
    /** What a root would wait for now; the store, the file and the node are asked. */
    readonly look: (signal: AbortSignal) => Promise<AnchoringReport>;
  };
};

/** @internal */
export const anchoringStatus = defineCommand({
  name: 'anchoring status',
  summary: 'Tell which roots were sent to the contract, and what the next waits for.',
  example: 'exhibit anchoring status',
  json: '{anchor_chain_id, contract, sender, origin, size, began_at, under_way: […], waits_for}',
  notes: [
    'A root that was sent to a contract before another one was set is under way until it ends.',
    '`waits_for` is asked anew; it is null where this process has no key, and so sends nothing.',
  ],
  run: async (_, io, { anchoring: { sends, place, look } }: AnchoringServices) => {
    const [open, newest, ahead] = await Promise.all([
      sends.open(),
      sends.newest(place),
      look(io.signal),
    ]);
    if (!open.checked) return fail(io, open.why.reason, EXIT.couldNotCheck);
    if (!newest.checked) return fail(io, newest.why.reason, EXIT.couldNotCheck);
    const { chain_id: anchor_chain_id, contract, sender } = place;
    const { origin, size, began_at } = newest.value;
    const set = { anchor_chain_id, contract, sender, origin, size, began_at };
    const under_way = open.value.map(({ sent, root: _root, gas: _gas, ...send }) => {
      return { ...send, txs: sent.map(({ tx }) => tx) };
    });
    const waits_for = ahead.state === 'looked' ? ahead.whys : null;
    const waits = ahead.state === 'looked' ? waitsText(ahead.whys) : UNLOOKED[ahead.state];
    return printRecord({ ...set, under_way, waits_for }, io, [
      ['chain', (one) => one.anchor_chain_id],
      ['contract', (one) => (one.contract === null ? 'none is set' : one.contract)],
      ['sender', (one) => (one.sender === null ? 'no key in this process' : one.sender)],
      'origin',
      ['newest size', (one) => one.size],
      'began_at',
      ['under way', (one) => one.under_way.map(wayText).join('; ')],
      ['waits for', () => waits],
    ]);
  },
});

/** What is said of a root where nobody looked. Whether another process sends is not known here. */
const UNLOOKED: { readonly [S in Exclude<AnchoringReport['state'], 'looked'>]: string } = {
  off: 'off: it begins where the operator names a contract',
  elsewhere: 'not looked at: this process has no key, and leaves it to one that has',
  not_looked: 'not looked at: no turn of it has ended',
};

function waitsText(whys: readonly Why[]): string {
  if (whys.length === 0) return 'nothing; roots are sent as they fall due';
  return whys.map(({ code, reason }) => `${code}: ${reason}`).join(' ');
}

type Way = Omit<AnchorSend, 'sent' | 'root' | 'gas'> & { readonly txs: readonly string[] };

function wayText({ chain_id, contract, size, status, nonce, txs: [newest] }: Way): string {
  return `size ${size} to ${contract} on chain ${chain_id}, ${status}, nonce ${nonce}, ${newest}`;
}
