// /api/v1/watchlist and its page: the addresses that a membership watches, and their changes. The
// key or the session alone tells whose watchlist it is. A part of which nothing is known is never
// drawn as a good sign: it says when it was looked at.

import { z } from 'zod';
import { PLANS } from '../../access/plan.ts';
import { describeMisform } from '../../chain/address.ts';
import { badField, problemText } from '../../contract/refusals.ts';
import { form, html, noBody } from '../../contract/reply.ts';
import { memberOf, type PlainHandler, plainRoute, sessionOf } from '../../contract/route.ts';
import { position, positionRange } from '../../contract/stream.ts';
import { addressText, harmless, prose, unavailable, words } from '../../contract/wire.ts';
import { listOrNone, placeOrBeginning } from '../../evidence/measure.ts';
import { decide, type Reading, rowsSeen, Unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import { messagePage, type PageFacts, page } from '../../pages/layout.tsx';
import { countWords, FormToken, momentText, Table } from '../../pages/words.tsx';
import type { PlanName } from '../../ports/access.ts';
import { listSubject } from '../sanctions/direct-check.ts';
import {
  inferredText,
  numberedChange,
  WATCH_PART_TITLES,
  type WatchBounds,
  type WatchChange,
  type WatchedAddress,
  type Watchlist,
  watched,
} from './shapes.ts';

const ID_CHARS_MAX = 64;
const CHANGES_MAX = 500;
const CHANGES_DEFAULT = 100;

const unread = unavailable.describe('The watchlist could not be read or written.');
const unknown = z
  .strictObject({ error: prose() })
  .describe('The membership that asks watches nothing under this id.');
const idParams = z.strictObject({ id: z.string().min(1).max(ID_CHARS_MAX) });
const HOSTED = { surface: 'hosted', access: 'analyst' } as const;

export const watchlistRoute = plainRoute({
  ...HOSTED,
  name: 'watchlist',
  method: 'GET',
  path: '/api/v1/watchlist',
  summary: 'The addresses that the membership watches, and what was last found of each.',
  query: z.strictObject({ after: z.string().max(ID_CHARS_MAX).optional() }),
  responses: {
    200: z.strictObject({
      watched: harmless(z.array(watched).readonly(), 'whoever watches nobody lists nobody'),
      next_after: words().nullable().describe('What `after` asks for the rest with.'),
      watched_max: z.int().positive(),
      caveat: prose().min(1),
    }),
    503: unread,
  },
});

export const watchAddress = plainRoute({
  ...HOSTED,
  name: 'watch_address',
  method: 'POST',
  path: '/api/v1/watchlist',
  summary: 'Watches an address: it is screened soon, and whenever a list or a table changes.',
  body: z.strictObject({ address: addressText }),
  responses: {
    200: watched.describe('It was watched before.'),
    201: watched,
    409: z.strictObject({ error: prose() }).describe('The plan watches no more addresses.'),
    503: unread,
  },
});

export const unwatchAddress = plainRoute({
  ...HOSTED,
  name: 'unwatch_address',
  method: 'DELETE',
  path: '/api/v1/watchlist/{id}',
  summary: 'Watches an address no more. Its changes stay.',
  params: idParams,
  responses: { 200: z.strictObject({ removed: words() }), 404: unknown, 503: unread },
});

export const watchlistChanges = plainRoute({
  ...HOSTED,
  name: 'watchlist_changes',
  method: 'GET',
  path: '/api/v1/watchlist/changes',
  summary: 'What changed of watched addresses, in one order without a gap, each once.',
  query: z.strictObject({
    since: z.coerce.number().int().nonnegative().optional(),
    limit: z.coerce.number().int().min(1).max(CHANGES_MAX).optional(),
  }),
  responses: {
    200: z.strictObject({
      changes: harmless(
        z.array(numberedChange).readonly(),
        'it is the log after a number, whose ends stand beside it',
      ),
      newest: position.describe('0 while there was none.'),
      oldest: position.nullable().describe('What is older can no longer be had.'),
      next_since: position.describe('What `since` asks for the rest with, now or later.'),
      gap: positionRange.nullable().describe('What was asked for and can no longer be had.'),
      caveat: prose().min(1),
    }),
    503: unread,
  },
});

const CAVEAT =
  'A change tells what a look at a list, a table or two hops of transfers found that the look ' +
  'before did not, or found no more; each with its version. What was not read to its end is ' +
  'named in not_read, and takes away only paths to addresses that the list in force does not ' +
  'hold: an address of which little is told was not thereby shown to be anything.';
const FULL = 'This membership watches as many addresses as its plan does.';
/** Of an id that is nobody's, and of one that is another's. */
const UNKNOWN = 'This membership watches nothing under this id.';

/** @internal */
export function watchlistHandler(ports: {
  watchlist: Watchlist;
}): PlainHandler<typeof watchlistRoute> {
  return async ({ query: { after } }, _request, caller) => {
    const { membership_id, plan } = memberOf(caller);
    const listed = await ports.watchlist.list(membership_id, after === undefined ? null : after);
    // A page of a longer list is whole as a page: it is full, and names what follows.
    const whole = decide(listed, (all) => all.length > 0);
    if (whole instanceof Unread) return watchlistRoute.reply(503, unavailableBody(whole.why));
    const shown = listOrNone(rowsSeen(whole));
    const last = shown.at(-1);
    return watchlistRoute.reply(200, {
      watched: shown,
      next_after: listed.checked || last === undefined ? null : last.id,
      watched_max: PLANS[plan].watched_addresses,
      caveat: CAVEAT,
    });
  };
}

/** @internal */
export function watchAddressHandler(ports: {
  watchlist: Watchlist;
}): PlainHandler<typeof watchAddress> {
  return async ({ body: { address } }, _request, caller) => {
    const { membership_id, plan } = memberOf(caller);
    const known = addressOf(address);
    if (typeof known !== 'string') return badField('address', known.reason);
    const added = await ports.watchlist.add(membership_id, known, PLANS[plan].watched_addresses);
    if (added instanceof Unread) return watchAddress.reply(503, unavailableBody(added.why));
    if (added.value === 'full') return watchAddress.reply(409, { error: FULL });
    return watchAddress.reply(added.value.added ? 201 : 200, added.value.watched);
  };
}

/** @internal */
export function unwatchAddressHandler(ports: {
  watchlist: Watchlist;
}): PlainHandler<typeof unwatchAddress> {
  return async ({ params: { id } }, _request, caller) => {
    const removed = await ports.watchlist.remove(memberOf(caller).membership_id, id);
    if (removed instanceof Unread) return unwatchAddress.reply(503, unavailableBody(removed.why));
    if (!removed.value) return unwatchAddress.reply(404, { error: UNKNOWN });
    return unwatchAddress.reply(200, { removed: id });
  };
}

/** @internal */
export function watchlistChangesHandler(ports: {
  watchlist: Watchlist;
}): PlainHandler<typeof watchlistChanges> {
  return async ({ query }, _request, caller) => {
    const since = placeOrBeginning(query.since);
    const limit = query.limit === undefined ? CHANGES_DEFAULT : query.limit;
    const read = await ports.watchlist.after(memberOf(caller).membership_id, since, limit);
    if (read instanceof Unread) return watchlistChanges.reply(503, unavailableBody(read.why));
    const { changes, newest, oldest } = read.value;
    const last = changes.at(-1);
    return watchlistChanges.reply(200, {
      changes,
      newest,
      oldest,
      next_since: last === undefined ? newest : last.seq,
      gap: gapAfter(since, { newest, oldest }),
      caveat: CAVEAT,
    });
  };
}

function unavailableBody({ reason }: Why) {
  return { error: 'unavailable', reason };
}

/** The address that a text names, as it is watched, or why it names none. */
function addressOf(text: string): string | Why {
  const subject = listSubject(text);
  if (subject?.recognised === true) return subject.address;
  return why(describeMisform(text));
}

/** The missing range after a number; for a number ahead of the log, the whole range up to it. */
function gapAfter(since: number, { newest, oldest }: WatchBounds) {
  const first = oldest === null ? newest + 1 : oldest;
  if (since > newest) return { from: newest + 1, to: since };
  return since < first - 1 ? { from: since + 1, to: first - 1 } : null;
}

// The page, and the two forms on it.

const PATH = '/watchlist';
const TITLE = 'Watchlist';
const SESSION = { surface: 'web', access: 'session' } as const;
const FORM_BYTES_MAX = 4_096;

export const watchlistPage = plainRoute({
  ...SESSION,
  name: 'watchlist_page',
  method: 'GET',
  path: '/watchlist',
  summary: 'What the membership of this browser watches, and what changed.',
  query: z.strictObject({ done: z.enum(['added', 'removed']).optional() }),
  responses: { 200: html(), 503: html() },
});

export const watchForm = plainRoute({
  ...SESSION,
  name: 'watch_form',
  method: 'POST',
  path: '/watchlist',
  summary: 'Watches an address.',
  bodyBytesMax: FORM_BYTES_MAX,
  body: form(z.strictObject({ address: addressText })),
  responses: { 303: noBody(), 400: html(), 409: html(), 503: html() },
  headers: { 303: { location: 'The watchlist.' } },
});

export const unwatchForm = plainRoute({
  ...SESSION,
  name: 'unwatch_form',
  method: 'POST',
  path: '/watchlist/{id}/remove',
  summary: 'Watches an address no more.',
  bodyBytesMax: FORM_BYTES_MAX,
  params: idParams,
  body: form(z.strictObject({})),
  responses: { 303: noBody(), 404: html(), 503: html() },
  headers: { 303: { location: 'The watchlist.' } },
});

type PagePorts = {
  readonly watchlist: Watchlist;
  readonly planOf: (membershipId: string) => Promise<Reading<PlanName, never>>;
};

const CHANGES_LISTED = 50;
const NOT_WATCHED = 'The address is not watched';
const NO_STORE =
  'The watchlist cannot be read or changed just now. This is a fault of the service; try again ' +
  'later.';

/** @internal */
export function watchlistPageHandler(
  ports: PagePorts,
  facts: PageFacts,
): PlainHandler<typeof watchlistPage> {
  return async ({ query: { done } }, _request, caller) => {
    const { membership_id, form_token } = sessionOf(caller);
    const [listed, newest, plan] = await Promise.all([
      ports.watchlist.list(membership_id, null),
      ports.watchlist.newest(membership_id, CHANGES_LISTED),
      ports.planOf(membership_id),
    ]);
    if (listed instanceof Unread) {
      return watchlistPage.reply(503, refusal(facts, TITLE, listed.why.reason));
    }
    if (plan instanceof Unread) {
      return watchlistPage.reply(503, refusal(facts, TITLE, plan.why.reason));
    }
    const content: PageContent = {
      form_token,
      done: done === undefined ? null : done,
      watched: rowsSeen(listed),
      whole: listed.checked,
      watched_max: PLANS[plan.value].watched_addresses,
      changes: newest instanceof Unread ? { unread: newest.why.reason } : rowsSeen(newest),
    };
    const children = <Whole shown={content} />;
    return watchlistPage.reply(200, page({ ...facts, title: TITLE, current: PATH, children }));
  };
}

/** @internal */
export function watchFormHandler(
  ports: PagePorts,
  facts: PageFacts,
): PlainHandler<typeof watchForm> {
  return async ({ body: { address } }, _request, caller) => {
    const { membership_id } = sessionOf(caller);
    const known = addressOf(address.trim());
    if (typeof known !== 'string') {
      const says = problemText({ path: ['address'], says: known.reason });
      return watchForm.reply(400, refusal(facts, NOT_WATCHED, says));
    }
    const plan = await ports.planOf(membership_id);
    if (plan instanceof Unread) return watchForm.reply(503, refusal(facts, NOT_WATCHED, NO_STORE));
    const watchedMax = PLANS[plan.value].watched_addresses;
    const added = await ports.watchlist.add(membership_id, known, watchedMax);
    if (added instanceof Unread) return watchForm.reply(503, refusal(facts, NOT_WATCHED, NO_STORE));
    if (added.value === 'full') return watchForm.reply(409, refusal(facts, NOT_WATCHED, FULL));
    return watchForm.reply(303, undefined, { location: `${PATH}?done=added` });
  };
}

/** @internal */
export function unwatchFormHandler(
  ports: PagePorts,
  facts: PageFacts,
): PlainHandler<typeof unwatchForm> {
  return async ({ params: { id } }, _request, caller) => {
    const removed = await ports.watchlist.remove(sessionOf(caller).membership_id, id);
    if (removed instanceof Unread) return unwatchForm.reply(503, refusal(facts, TITLE, NO_STORE));
    if (!removed.value) return unwatchForm.reply(404, refusal(facts, TITLE, UNKNOWN));
    return unwatchForm.reply(303, undefined, { location: `${PATH}?done=removed` });
  };
}

/** A page that says one thing: what could not be read, or was not done, and why. */
function refusal(facts: PageFacts, title: string, reason: string): string {
  const back = { path: PATH, text: 'Back to the watchlist' };
  return messagePage(facts, { title, why: reason, current: PATH, back });
}

type PageContent = {
  readonly form_token: string;
  readonly done: 'added' | 'removed' | null;
  /** The first addresses; `null`: none is watched, or, where they are not whole, none was read. */
  readonly watched: readonly WatchedAddress[] | null;
  readonly whole: boolean;
  readonly watched_max: number;
  /** Newest first, or why they could not be read; `null`: there was none yet. */
  readonly changes: readonly WatchChange[] | { readonly unread: string } | null;
};

const CHANGED: { readonly [C in WatchChange['change']]: string } = {
  first_seen: 'stands there; what stood there before is not known',
  entered: 'entered',
  changed: 'changed',
  left: 'left: it stood there before',
};

function Whole({ shown }: { shown: PageContent }) {
  const { done, form_token, watched, whole, watched_max } = shown;
  return (
    <>
      <h1>{TITLE}</h1>
      <p class="lead">
        Addresses that are screened again whenever a list, a table or two hops of transfers change.
        That little is told of an address says nothing good of it: each part says when it was looked
        at.
      </p>
      {done !== null && (
        <p class="notice" role="status">
          {done === 'added'
            ? 'The address is watched. It is looked at within seconds.'
            : 'The address is watched no more. What changed of it stays below.'}
        </p>
      )}
      <form class="search" method="post" action={PATH}>
        <FormToken token={form_token} />
        <label for="address">
          Address to watch, {watched_max.toLocaleString('en')} at most in your plan
        </label>
        <input
          id="address"
          name="address"
          type="text"
          maxLength={128}
          required
          autocomplete="off"
          spellcheck={false}
        />
        <button type="submit">Watch</button>
      </form>
      <Changes changes={shown.changes} />
      <section aria-labelledby="watched">
        <h2 id="watched">Watched addresses</h2>
        {watched === null ? (
          <p class="nothing">
            {whole ? 'No address is watched yet.' : 'The watched addresses could not be read.'}
          </p>
        ) : (
          <>
            {!whole && (
              <p class="quiet">
                The first {watched.length.toLocaleString('en')}; the API lists all of them.
              </p>
            )}
            <ul class="entries">
              {watched.map((one) => (
                <Row key={one.id} watched={one} token={form_token} />
              ))}
            </ul>
          </>
        )}
      </section>
      <p>
        <a href="/screens">Records of screens</a> ·{' '}
        <a href="/settings/integrations">Told in chat</a>
      </p>
    </>
  );
}

function Row({ watched, token }: { watched: WatchedAddress; token: string }) {
  const { id, address, added_at, parts } = watched;
  return (
    <li>
      <div class="headed">
        <h3>
          <a href={`/address/${address}`}>
            <code>{address}</code>
          </a>
        </h3>
        <form method="post" action={`${PATH}/${id}/remove`}>
          <FormToken token={token} />
          <button class="plain" type="submit" aria-label={`Remove ${address}`}>
            Remove
          </button>
        </form>
      </div>
      <p class="quiet">Watched since {momentText(added_at)}</p>
      {parts.length === 0 ? (
        <p>Not looked at yet.</p>
      ) : (
        <details>
          <summary>{summaryOf(watched)}</summary>
          <Table
            rows={parts}
            columns={[
              { head: 'Held against', cell: ({ part }) => WATCH_PART_TITLES[part] },
              {
                head: 'On record',
                cell: ({ part, found, version, not_read }) => (
                  <>
                    <Found part={part} found={found} beside={version} />
                    {not_read !== null && <p>Not read to its end: {not_read}</p>}
                  </>
                ),
              },
              {
                head: 'Last read',
                cell: ({ read_at, version }) => (
                  <>
                    {read_at === null ? 'never' : momentText(read_at)}
                    {version !== null && <div class="quiet">{version}</div>}
                  </>
                ),
              },
            ]}
          />
        </details>
      )}
    </li>
  );
}

function summaryOf({ parts }: WatchedAddress): string {
  const on = parts.filter(({ found }) => found !== null && found.length > 0);
  const unread = parts.filter(({ not_read }) => not_read !== null);
  const said = on.length === 0 ? 'what was looked at' : `on record: ${on.map(titleOf).join(', ')}`;
  const missing = unread.length === 0 ? '' : `; not read: ${unread.map(titleOf).join(', ')}`;
  return `${said}${missing}`;
}

function titleOf({ part }: { readonly part: WatchChange['part'] }): string {
  return WATCH_PART_TITLES[part];
}

type FoundProps = Pick<WatchedAddress['parts'][number], 'part' | 'found'> & {
  beside: string | null;
};

/** Findings, each with its own version where that is not the one told beside them. */
function Found({ part, found, beside }: FoundProps) {
  if (found === null) return <>not known</>;
  if (found.length === 0) return <>not met at that look</>;
  return (
    <>
      {found.map((one) => (
        <div key={`${one.source} ${one.address} ${one.ref}`}>
          {[one.source, inferredText(part, one), one.entity, one.detail, one.ref]
            .filter((text) => text !== null)
            .join(' · ')}
          {one.version !== null && one.version !== beside && (
            <div class="quiet">
              last found {one.read_at === null ? '' : momentText(one.read_at)} in: {one.version}
            </div>
          )}
        </div>
      ))}
    </>
  );
}

function Changes({ changes }: { changes: PageContent['changes'] }) {
  return (
    <section aria-labelledby="changes">
      <h2 id="changes">Changes</h2>
      {changes === null && <p class="nothing">No change has been told yet.</p>}
      {changes !== null && 'unread' in changes && (
        <p>The changes could not be read: {changes.unread}</p>
      )}
      {changes !== null && !('unread' in changes) && (
        <Table
          caption={<>The newest {changes.length}</>}
          rows={changes}
          columns={[
            { head: 'When', cell: ({ at }) => momentText(at), look: 'whole' },
            { head: 'Address', cell: ({ address }) => <code>{address}</code> },
            {
              head: 'What',
              cell: ({ part, change, not_read }) => (
                <>
                  {WATCH_PART_TITLES[part]}: {CHANGED[change]}
                  {not_read.length > 0 && (
                    <details>
                      <summary>
                        {countWords(not_read.length, 'part')} not read to the end at that look
                      </summary>
                      <ul>
                        {not_read.map((line) => (
                          <li key={line}>{line}</li>
                        ))}
                      </ul>
                    </details>
                  )}
                </>
              ),
            },
            {
              head: 'Before',
              cell: ({ part, before, version_before }) => (
                <>
                  <Found part={part} found={before} beside={version_before} />
                  <div class="quiet">{version_before}</div>
                </>
              ),
            },
            {
              head: 'Now',
              cell: ({ part, after, version_after }) => (
                <>
                  {after.length === 0 ? (
                    'what stood there before left'
                  ) : (
                    <Found part={part} found={after} beside={version_after} />
                  )}
                  <div class="quiet">{version_after}</div>
                </>
              ),
            },
          ]}
        />
      )}
    </section>
  );
}
