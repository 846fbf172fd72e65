// Declares and draws the page of the log.

import { html } from '../../contract/reply.ts';
import { type PlainHandler, plainRoute } from '../../contract/route.ts';
import { Read, type Reading, rowsSeen, Unread } from '../../evidence/reading.ts';
import { isNotSetUp } from '../../evidence/reason-kinds.ts';
import type { Why } from '../../evidence/reasons.ts';
import { messagePage, type PageFacts, page } from '../../pages/layout.tsx';
import { countWords, Prose, Second, Table, Tx } from '../../pages/words.tsx';
import type { LogEntry, LogHead } from '../../ports/transparency-log.ts';
import { CAVEAT, type LogPorts, logKeys, pathOf } from './log.route.ts';

const TITLE = 'Transparency log';
const PATH = '/log';
/** So many leaves are shown, the newest. */
const SHOWN = 20;

export const logPage = plainRoute({
  name: 'log_page',
  surface: 'signals',
  method: 'GET',
  path: PATH,
  summary: 'The transparency log, for people.',
  access: 'open',
  responses: { 200: html(), 503: html() },
});

type PageView = {
  readonly head: LogHead;
  readonly keys: readonly string[];
  readonly newest: Reading<readonly LogEntry[], never>;
};

/** @internal */
export function logPageHandler(
  { transparencyLog, signing }: LogPorts,
  facts: PageFacts,
): PlainHandler<typeof logPage> {
  // A log that nobody signs is no outage.
  const silent = (why: Why) =>
    logPage.reply(
      isNotSetUp(why) ? 200 : 503,
      messagePage(facts, {
        title: TITLE,
        why: why.reason,
        current: PATH,
        back: { path: '/', text: 'To the start' },
      }),
    );
  return async () => {
    const head = await transparencyLog.head();
    if (head instanceof Unread) return silent(head.why);
    const keys = await logKeys(head.value, signing);
    if (keys instanceof Unread) return silent(keys.why);
    const from = Math.max(0, head.value.leaves - SHOWN);
    const newest = await transparencyLog.entries(from, SHOWN);
    const shown = { head: head.value, keys: keys.value, newest };
    const children = <Log {...shown} />;
    return logPage.reply(200, page({ ...facts, title: TITLE, current: PATH, children }));
  };
}

function Log({ head, keys, newest }: PageView) {
  const { generation, origin, published, frozen, former, leaves } = head;
  const rows = rowsSeen(newest);
  return (
    <>
      <h1>{TITLE}</h1>
      <p class="lead">
        Signals and their changes, and calls and the rules that score them, are leaves of one Merkle
        tree (RFC 6962), in the order in which they were stated. The log signs the root of the tree,
        and whoever keeps a root can ask for proof that what stood in it stands there still.
      </p>
      <p>
        <Prose text={CAVEAT} />
      </p>
      {frozen !== null && (
        <p>
          <strong>Frozen.</strong> {frozen.reason}
        </p>
      )}
      <h2 class="section">What it signed</h2>
      {origin !== null && (
        <p>
          The log signs as <code>{origin}</code>, and is served under{' '}
          <code>{pathOf(generation)}</code> as C2SP <code>tlog-tiles</code>.
        </p>
      )}
      {published === null ? <p>The first checkpoint is awaited.</p> : <Note>{published}</Note>}
      {keys.length > 0 && (
        <>
          <h2 class="section">Its keys</h2>
          {keys.map((key) => (
            <Note key={key}>{key}</Note>
          ))}
        </>
      )}
      <h2 class="section">Its newest leaves</h2>
      {newest instanceof Unread && <p>Not read: {newest.why.reason}</p>}
      {newest instanceof Read && rows === null && <p>The log holds no leaf yet.</p>}
      {rows !== null && (
        <Table
          caption={`${rows.length} of ${countWords(leaves, 'leaf', 'leaves')}`}
          look="lines"
          columns={[
            { head: 'Index', cell: ({ index }: LogEntry) => index },
            { head: 'Kind', cell: ({ kind }: LogEntry) => kind.replaceAll('_', ' ') },
            { head: 'Statement', cell: Statement },
            { head: 'Hash', cell: ({ hash }: LogEntry) => <Tx of={hash} chain={null} /> },
            { head: 'Stated', cell: ({ at }: LogEntry) => <Second at={at} />, look: 'whole' },
          ]}
          rows={[...rows].reverse()}
        />
      )}
      {former.length > 0 && (
        <>
          <h2 class="section">Logs that ended</h2>
          {former.map((one) => (
            <section key={one.origin}>
              <h3>
                <code>{one.origin}</code>
              </h3>
              <p>
                Ended <Second at={one.ended_at} />: {one.why} Of its leaves {one.held} are stored as
                it published them.
              </p>
              <Note>{one.statement}</Note>
            </section>
          ))}
        </>
      )}
    </>
  );
}

/** What a leaf states: a signal has a page of its own. */
function Statement({ kind, id }: LogEntry) {
  const text = <code>{id}</code>;
  return kind === 'signal' ? <a href={`/signals/${encodeURIComponent(id)}`}>{text}</a> : text;
}

/** A signed note as it is published. What scrolls is reached by keyboard. */
function Note({ children }: { readonly children: string }) {
  return <pre tabindex={0}>{children}</pre>;
}
