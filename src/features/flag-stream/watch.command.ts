// The command that shows flags as they happen. It follows the stream of a running service, resumes
// after each break, and reports times that were not watched.

import { CHAIN_NAMES } from '../../chain/chain.ts';
import { type EventOf, followStream, type StreamItem } from '../../client/stream.ts';
import {
  defineCommand,
  EXIT,
  type ExitStatus,
  type Io,
  numberWithin,
  optional,
  several,
  wordIn,
} from '../../command/command.ts';
import {
  type ConnectionServices,
  findStream,
  refusalText,
  STREAM_NOTES,
  STREAM_OPTIONS,
  type StreamConnection,
} from '../../command/connection.ts';
import { NO_VALUE, paint, printable, printJson } from '../../command/output.ts';
import { flagStreamRoute } from './flag-stream.route.ts';

type Event = EventOf<typeof flagStreamRoute>;

/** The widths of a line's cells: the longest address that a chain of ours has fits. */
const WIDTHS = { seq: 8, at: 20, chain: 9, address: 44, score: 6 } as const;
const SEQ_MAX = 999_999_999_999_999;

export const watchCommand = defineCommand({
  name: 'watch',
  summary: 'Watch launches being flagged, as it happens.',
  usage: '[--chain CHAIN]… [--since SEQ] [--base-url URL]',
  example: 'exhibit watch --chain solana --chain base',
  options: {
    chain: several(
      'CHAIN',
      'only of this chain; it may be repeated. Without it: of every chain',
      wordIn(CHAIN_NAMES),
    ),
    since: optional(
      'SEQ',
      'also what was told after this number, as far as it can still be had',
      numberWithin(0, SEQ_MAX),
    ),
    ...STREAM_OPTIONS,
  },
  json:
    'prints one message a line, as it came, and what is told of the line itself: connected, ' +
    'broken, gap',
  notes: [
    ...STREAM_NOTES,
    'It goes on until it is stopped, over every break of the line; while there is none, quiet',
    'means that nothing was flagged, unless it says that launches may go unseen. Exit status 3:',
    'the service refused, or was not reached at the end.',
  ],
  run: async ({ chain: chains, since, ...named }, io, services: ConnectionServices) => {
    const to = await findStream(named, io, services);
    return await printFlags(followFlags(to, chains, since, io.signal), to.baseUrl, io);
  },
});

function followFlags(
  { baseUrl, token }: StreamConnection,
  chains: readonly string[],
  since: number | null,
  signal: AbortSignal,
) {
  return followStream<Event>({
    baseUrl,
    stream: flagStreamRoute,
    query: chains.length === 0 ? { chains: 'all' } : { chains: chains.join(',') },
    signal,
    ...(token === null ? null : { token }),
    ...(since === null ? null : { since }),
  });
}

async function printFlags(
  items: AsyncIterable<StreamItem<Event>>,
  { origin }: URL,
  io: Io,
): Promise<ExitStatus> {
  let state: 'new' | 'connected' | 'broken' = 'new';
  const say = (line: string) => io.err(printable(line));
  for await (const item of items) {
    await io.room?.();
    switch (item.kind) {
      case 'event':
        if (io.json) printJson(io, item.event);
        else io.out(lineOf(item.event, io));
        break;
      case 'gap':
        if (io.json) printJson(io, { type: 'gap', from: item.from, to: item.to });
        say(`Events ${item.from} to ${item.to} can no longer be had: what they told is not here.`);
        break;
      case 'notice':
        if (io.json) printJson(io, item.notice);
        if (item.notice.type === 'window') say(watchText(gapIn(item.notice)));
        if (item.notice.type !== 'welcome') break;
        say(`${state === 'new' ? 'Watching' : 'Watching again'} ${origin}.`);
        if (gapIn(item.notice) !== null) say(watchText(gapIn(item.notice)));
        if (state === 'new' && !io.json) io.out(HEAD);
        state = 'connected';
        break;
      case 'broken': {
        const { refusal } = item;
        if (io.json) printJson(io, { type: 'broken', refusal });
        if (state === 'broken') break;
        const said = refusal === null ? '' : ` (${refusalText(refusal.status, refusal.body)})`;
        say(`${origin} cannot be read${said}: nobody is looking until it can.`);
        state = 'broken';
        break;
      }
      case 'stopped':
        say(`${origin} refused: ${refusalText(item.status, item.body)}.`);
        return EXIT.couldNotCheck;
      default:
        throw new Error(`no such item: ${JSON.stringify(item satisfies never)}`);
    }
  }
  return state === 'connected' ? EXIT.done : EXIT.couldNotCheck;
}

/** Why launches may go unseen, as the service says it; `null`: it says that all are watched. */
function gapIn(notice: object): string | null {
  return 'unwatched' in notice && typeof notice.unwatched === 'string' ? notice.unwatched : null;
}

function watchText(unwatched: string | null): string {
  return unwatched === null
    ? 'Launches are watched again.'
    : `Launches may go unseen, so that quiet says nothing: ${unwatched}`;
}

const cells = (seq: string, at: string, chain: string, address: string, score: string) =>
  [
    seq.padStart(WIDTHS.seq),
    at.padEnd(WIDTHS.at),
    chain.padEnd(WIDTHS.chain),
    address.padEnd(WIDTHS.address),
    score.padStart(WIDTHS.score),
  ].join('  ');

const HEAD = `${cells('SEQ', 'AT', 'CHAIN', 'ADDRESS', 'SCORE')}  EVIDENCE`;

function lineOf(event: Event, io: Io): string {
  if (event.type === 'withdrawal') {
    const { seq, reason, withdrawn_at, simulated } = event;
    const line = cells(String(seq), timeText(withdrawn_at), NO_VALUE, NO_VALUE, NO_VALUE);
    return paint(printable(`${line}  ${reason}${simulated ? ' (simulated)' : ''}`), 'dim', io);
  }
  const { seq, chain, address, token, simulated } = event;
  const label = ` Token ${token}.${simulated ? ' (simulated)' : ''}`;
  if (event.type === 'retraction') {
    const { retracts, reason, retracted_at: at } = event;
    const line = cells(String(seq), timeText(at), chain, address, NO_VALUE);
    return paint(printable(`${line}  Takes ${retracts} back: ${reason}${label}`), 'dim', io);
  }
  const { score, evidence, flagged_at: at } = event;
  const line = cells(String(seq), timeText(at), chain, address, score.toFixed(3));
  return printable(`${line}  ${evidence}${label}`);
}

/** To the second, in UTC: `2026-11-21T12:00:00Z`. */
function timeText(at: string): string {
  return at.replace(/\.\d+Z$/, 'Z');
}
