// The feed of signals and each signal for people. The page of a signal shows what its call hash
// binds, what follows from that, and where it stands; the browser recomputes the first two.

import { z } from 'zod';
import { html, text } from '../../contract/reply.ts';
import { type PlainHandler, plainRoute } from '../../contract/route.ts';
import { idText } from '../../contract/wire.ts';
import { Read } from '../../evidence/reading.ts';
import { messagePage, type PageFacts, page } from '../../pages/layout.tsx';
import { Address, Moment, shorten, Table } from '../../pages/words.tsx';
import type { FeedPage } from '../../ports/signals.ts';
import type { Bundle, EvidenceValue } from '../collectors/shapes.ts';
import { CHECK_SCRIPT } from './check-script.ts';
import type { SignalAnswer, SignalView } from './shapes.ts';
import { signalPath } from './signal.ts';
import {
  answerSignal,
  CURSOR_CHARS_MAX,
  dataModeOf,
  nextCursor,
  placeIn,
  type SignalsPorts,
  showSignal,
} from './signals.route.ts';

const PATH = '/signals';
const TITLE = 'Signals';
const SCRIPT_PATH = '/assets/signal.js';
const LISTED = 20;
const ROUTE = { surface: 'web', method: 'GET', access: 'open' } as const;
const MACHINE = '/api/signals';

export const signalsPage = plainRoute({
  ...ROUTE,
  name: 'signals_page',
  path: PATH,
  summary: 'The current signals, for people.',
  query: z.strictObject({ after: z.string().max(CURSOR_CHARS_MAX).optional() }),
  responses: { 200: html(), 404: html(), 503: html() },
});

export const signalPage = plainRoute({
  ...ROUTE,
  name: 'signal_page',
  path: `${PATH}/{id}`,
  summary: 'One signal, which the browser of its reader recomputes.',
  params: z.strictObject({ id: idText }),
  responses: { 200: html(), 404: html(), 503: html() },
});

export const signalScript = plainRoute({
  ...ROUTE,
  name: 'signal_script',
  path: SCRIPT_PATH,
  summary: 'Recomputes the signal of a page in the browser.',
  keptS: 300,
  responses: { 200: text('text/javascript; charset=utf-8') },
});

/** @internal */
export function signalScriptHandler(): PlainHandler<typeof signalScript> {
  return async () => signalScript.reply(200, CHECK_SCRIPT);
}

/** @internal */
export function signalsPageHandler(
  { signals, anchors, service: { simulated } }: SignalsPorts,
  facts: PageFacts,
): PlainHandler<typeof signalsPage> {
  return async ({ query: { after } }) => {
    const place = after === undefined ? null : placeIn(after);
    if (after !== undefined && place === null) {
      return signalsPage.reply(404, message(facts, 'There is no such page', CUT_LINK));
    }
    const feed = await signals.feed({ matchKey: null, after: place, limit: LISTED });
    if (!(feed instanceof Read)) {
      return signalsPage.reply(503, message(facts, 'The signals could not be read', feed.why));
    }
    const mode = dataModeOf(feed.value, simulated);
    const shown = feed.value.signals.map((one) => {
      const anchor = { anchor_status: 'queued', anchor_tx: null, anchor_size: null } as const;
      return showSignal(one, anchor, anchors.anchor_chain_id);
    });
    const isFirst = place === null;
    const children = <Feed feed={feed.value} shown={shown} mode={mode} isFirst={isFirst} />;
    return signalsPage.reply(200, page({ ...facts, title: TITLE, current: PATH, children }));
  };
}

function message(facts: PageFacts, title: string, { reason }: { readonly reason: string }) {
  const back = { path: PATH, text: 'All signals' };
  return messagePage(facts, { title, why: reason, current: PATH, back });
}

const CUT_LINK = { reason: 'The link to this page of signals is cut, or of another service.' };
const UNKNOWN = { reason: 'The id may be cut: one is `sig_` and 32 hex digits.' };

/** @internal */
export function signalPageHandler(
  ports: SignalsPorts,
  facts: PageFacts,
): PlainHandler<typeof signalPage> {
  return async ({ params: { id } }) => {
    const answered = await answerSignal(ports, id);
    if (answered === null) {
      return signalPage.reply(404, message(facts, 'There is no signal of this id', UNKNOWN));
    }
    if ('reason' in answered) {
      return signalPage.reply(503, message(facts, 'This signal could not be read', answered));
    }
    const children = <Signal {...answered} />;
    const title = `Signal ${shorten(id)}`;
    return signalPage.reply(200, page({ ...facts, title, current: PATH, children }));
  };
}

const MODES: { readonly [mode in ReturnType<typeof dataModeOf>]: string } = {
  measured: 'The producer, or a command, published or looked for news within the last hour.',
  simulated: 'The evidence behind these signals is made up.',
  empty:
    'Nothing was published here within the last hour, or nothing stands. That says that the ' +
    'producer is quiet, and not that a risk is gone.',
};

type FeedProps = {
  feed: FeedPage;
  shown: readonly SignalView[];
  mode: keyof typeof MODES;
  isFirst: boolean;
};

function Feed({ feed, shown, mode, isFirst }: FeedProps) {
  const { last_round_at, more } = feed;
  const next = nextCursor(feed);
  return (
    <>
      <h1>{TITLE}</h1>
      <p class="lead">
        What the evidence about an address supports, with each key that it cites. Every signal is a
        leaf of a log, and your browser recomputes it on its own page.
      </p>
      <p class={mode === 'empty' ? 'notice' : 'quiet'}>
        {MODES[mode]}{' '}
        {last_round_at === null ? (
          'The producer has not ended a round yet.'
        ) : (
          <>
            The last round ended <Moment at={last_round_at} />.
          </>
        )}
      </p>
      {shown.length === 0 ? (
        <p class="nothing">{isFirst ? 'No signal stands now.' : 'No older signal stands now.'}</p>
      ) : (
        <Table
          caption={captionOf({ isFirst, more, count: shown.length })}
          look="lines"
          rows={shown}
          columns={[
            {
              head: 'Signal',
              cell: ({ signal_id: id, generated_at: at }) => (
                <a href={signalPath(id)}>
                  <Moment at={at} />
                </a>
              ),
              look: 'whole',
            },
            { head: 'Verdict', cell: ({ verdict }) => <Verdict of={verdict} /> },
            {
              head: 'Address',
              cell: ({ target: { chain, address } }) => (
                <>
                  <Address of={address} chain={chain} /> <span class="quiet">{chain}</span>
                </>
              ),
              look: 'whole',
            },
            { head: 'Reasoning', cell: ({ reasoning }) => reasoning },
          ]}
        />
      )}
      {(next !== null || !isFirst) && (
        <nav aria-label="Pages of signals">
          {!isFirst && <a href={PATH}>The newest</a>}
          {next !== null && (
            <a rel="next" href={`${PATH}?after=${next}`}>
              Older signals
            </a>
          )}
        </nav>
      )}
      <p class="quiet">
        As a machine reads it: <a href={MACHINE}>{MACHINE}</a>. How to read and check a signal:{' '}
        <a href="/docs/guides/signals">the guide</a>.
      </p>
    </>
  );
}

type Caption = { isFirst: boolean; more: boolean; count: number };

function captionOf({ isFirst, more, count }: Caption): string {
  if (!isFirst) return more ? `The next ${count} signals` : 'The oldest signals that stand';
  return more ? `The newest ${count} signals` : 'Every signal that stands';
}

const VERDICTS = { avoid: 'avoid', no_opinion: 'no opinion' } as const;

function Verdict({ of }: { of: SignalView['verdict'] }) {
  return <span class={`badge ${of === 'avoid' ? 'hit' : 'open'}`}>{VERDICTS[of]}</span>;
}

type SignalProps = { answer: SignalAnswer; bundle: Bundle };

function Signal({ answer, bundle }: SignalProps) {
  const { signal, read_this_first } = answer;
  const { address } = signal.target;
  return (
    <article class="record">
      <h1>Signal</h1>
      <p class="lead subject">
        <Verdict of={signal.verdict} />{' '}
        <a href={`/address/${encodeURIComponent(address)}`}>
          <code data-field="target.address">{address}</code>
        </a>{' '}
        on <span data-field="target.chain">{signal.target.chain}</span>
      </p>
      <Standing answer={answer} />
      <section aria-labelledby="reasoning">
        <h2 id="reasoning">Why</h2>
        <p class="prose" data-field="reasoning">
          {signal.reasoning}
        </p>
        <p class="quiet">{confidenceText(answer)}</p>
      </section>
      <Cited signal={signal} bundle={bundle} />
      <Gaps answer={answer} />
      <Check signal={signal} />
      <Stated answer={answer} />
      <section aria-labelledby="first">
        <h2 id="first">Read this first</h2>
        <p class="prose">{read_this_first.gaps}</p>
        <p class="prose">{read_this_first.anchoring}</p>
        <p class="prose">{read_this_first.not_advice}</p>
      </section>
    </article>
  );
}

function Standing({ answer: { status } }: { answer: SignalAnswer }) {
  const { state, at, reason, by } = status;
  if (state === 'current') return null;
  return (
    <p class="notice" role="note">
      <strong>{state === 'withdrawn' ? 'Withdrawn' : 'Superseded'}</strong> <Moment at={at} />:{' '}
      {reason}{' '}
      {by?.startsWith('sig_') === true && (
        <a href={signalPath(by)}>
          <code>{shorten(by)}</code>
        </a>
      )}
    </p>
  );
}

function confidenceText({ signal, confidence_basis: { basis, n } }: SignalAnswer): string {
  const rests = n === null ? basis : `${basis} on ${n} outcomes`;
  return `Confidence ${signal.confidence} (${rests}); the rule sets it, whoever wrote the words.`;
}

/** A value of the bundle as text; text from outside is shown as it is. */
function valueText(value: EvidenceValue): string {
  if (typeof value === 'object' && value !== null) return value.untrusted;
  return String(value);
}

function Cited({ signal, bundle }: { signal: SignalView; bundle: Bundle }) {
  const rows = signal.evidence_used.map((key) => ({ key, item: bundle.evidence[key] }));
  return (
    <section aria-labelledby="cited">
      <h2 id="cited">What it cites</h2>
      {rows.length === 0 ? (
        <p>It cites nothing, and so has no opinion.</p>
      ) : (
        <Table
          rows={rows}
          columns={[
            { head: 'Key', cell: ({ key }) => <code>{key}</code> },
            {
              head: 'Value',
              cell: ({ key, item }) => (
                <bdi data-key={key}>{item === undefined ? '–' : valueText(item.value)}</bdi>
              ),
            },
            {
              head: 'Observed',
              cell: ({ item }) => (item === undefined ? '–' : <Moment at={item.as_of} />),
            },
          ]}
        />
      )}
      <p class="quiet">
        The whole bundle, byte for byte:{' '}
        <a href={`${MACHINE}/${signal.signal_id}/evidence`}>/evidence</a>.
      </p>
    </section>
  );
}

function Gaps({ answer: { evidence_summary: summary } }: { answer: SignalAnswer }) {
  const { gaps, present, source_count, citable_key_count } = summary;
  return (
    <section aria-labelledby="gaps">
      <h2 id="gaps">What was read, and what was not</h2>
      <p>
        {present} of {source_count} sources gave {citable_key_count} keys that can be cited.
      </p>
      {gaps.length > 0 && (
        <Table
          rows={gaps}
          columns={[
            { head: 'Source', cell: ({ source }) => <code>{source}</code>, look: 'whole' },
            { head: 'State', cell: ({ status }) => status, look: 'whole' },
            {
              head: 'Reason',
              cell: ({ source, reason }) => <span data-gap={source}>{reason}</span>,
            },
          ]}
        />
      )}
    </section>
  );
}

function Check({ signal }: { signal: SignalView }) {
  const verify = `${MACHINE}/verify/${signal.signal_id}`;
  return (
    <section id="check" aria-labelledby="checked" data-signal={JSON.stringify(signal)}>
      <h2 id="checked">Checked in this browser</h2>
      <p data-state aria-live="polite">
        A script recomputes the hashes and looks the citations up; it has not run.
      </p>
      <ul class="entries" />
      <p class="quiet">
        What the service finds itself, with the log and the chain: <a href={verify}>{verify}</a>.
      </p>
      <script async src={SCRIPT_PATH} />
    </section>
  );
}

function Stated({ answer: { signal } }: { answer: SignalAnswer }) {
  const rows = [
    ['Verdict', 'verdict', signal.verdict],
    ['Confidence', 'confidence', String(signal.confidence)],
    ['Generated', 'generated_at', signal.generated_at],
    ['Model', 'model', signal.model],
    ['Prompt', 'prompt_version', signal.prompt_version],
    ['Run', 'run_id', signal.run_id],
    ['Version', 'version', signal.version],
    ['Evidence hash', 'evidence_hash', signal.evidence_hash],
    ['Call hash', 'call_hash', signal.call_hash],
    ['Signal', 'signal_id', signal.signal_id],
    ['Sources', 'evidence_source_count', String(signal.evidence_source_count)],
  ] as const;
  const { anchor_status, anchor_tx, anchor_chain_id } = signal;
  return (
    <section aria-labelledby="stated">
      <h2 id="stated">What is hashed</h2>
      <dl class="facts">
        {rows.map(([name, field, value]) => (
          <>
            <dt>{name}</dt>
            <dd>
              <code data-field={field}>{value}</code>
            </dd>
          </>
        ))}
        <dt>Anchor</dt>
        <dd>
          {anchor_status}, on chain {anchor_chain_id}
          {anchor_tx !== null && (
            <>
              : <code>{anchor_tx}</code>
            </>
          )}
        </dd>
      </dl>
    </section>
  );
}
