// Where a membership is signed in, and how that ends.

import { z } from 'zod';
import type { Sessions } from '../../access/session.ts';
import { form, html, noBody } from '../../contract/reply.ts';
import { type PlainHandler, plainRoute, sessionOf } from '../../contract/route.ts';
import { type Partly, rowsSeen, Unread } from '../../evidence/reading.ts';
import { type PageFacts, page } from '../../pages/layout.tsx';
import { FormToken, Moment, Table } from '../../pages/words.tsx';
import type { BrowserSession, SessionsPort } from '../../ports/access.ts';
import { notDone } from './settings.route.tsx';

const SESSION = { surface: 'web', access: 'session' } as const;
const FORM_BYTES_MAX = 4_096;
const PATH = '/settings/sessions';
const TITLE = 'Where you are signed in';
const LED = { 303: { location: 'The sessions.' } };

export const sessionsPage = plainRoute({
  ...SESSION,
  name: 'sessions_page',
  method: 'GET',
  path: PATH,
  summary: 'The browsers in which the membership of this browser is signed in.',
  responses: { 200: html(), 503: html() },
});

export const endSession = plainRoute({
  ...SESSION,
  name: 'end_session',
  method: 'POST',
  path: '/settings/sessions/{id}/end',
  summary: 'Ends a session of the membership.',
  bodyBytesMax: FORM_BYTES_MAX,
  params: z.strictObject({ id: z.string().max(60) }),
  body: form(z.strictObject({})),
  responses: { 303: noBody(), 404: html(), 503: html() },
  headers: LED,
});

export const endOtherSessions = plainRoute({
  ...SESSION,
  name: 'end_other_sessions',
  method: 'POST',
  path: '/settings/other-sessions/end',
  summary: 'Ends every session of the membership but that of this browser.',
  bodyBytesMax: FORM_BYTES_MAX,
  body: form(z.strictObject({})),
  responses: { 303: noBody(), 503: html() },
  headers: LED,
});

type SessionsPorts = Pick<Sessions, 'list' | 'end'>;
const UNREAD =
  'Sessions cannot be changed just now. This is a fault of the service; try again later.';
const NO_SESSION = 'This membership is signed in under no such session: it has ended already.';

/** @internal */
export function sessionsHandler(
  sessions: SessionsPorts,
  facts: PageFacts,
): PlainHandler<typeof sessionsPage> {
  return async (_input, _request, caller) => {
    const { membership_id, session_id, form_token } = sessionOf(caller);
    const listed = await sessions.list(membership_id);
    const status = rowsSeen(listed) === null && !listed.checked ? 503 : 200;
    return sessionsPage.reply(status, draw(facts, { listed, own: session_id, form_token }));
  };
}

/** @internal */
export function endSessionHandler(
  sessions: SessionsPorts,
  facts: PageFacts,
): PlainHandler<typeof endSession> {
  const refuse = (status: 404 | 503, why: string) =>
    endSession.reply(status, notDone(facts, 'The session was not ended', why));
  return async ({ params: { id } }, _request, caller) => {
    const { membership_id } = sessionOf(caller);
    const ended = await sessions.end({ id, membership_id }, 'member');
    if (ended instanceof Unread) return refuse(503, UNREAD);
    if (ended.value === 0) return refuse(404, NO_SESSION);
    return endSession.reply(303, undefined, { location: PATH });
  };
}

/** @internal */
export function endOthersHandler(
  sessions: SessionsPorts,
  facts: PageFacts,
): PlainHandler<typeof endOtherSessions> {
  return async (_input, _request, caller) => {
    const { membership_id, session_id } = sessionOf(caller);
    const ended = await sessions.end({ membership_id, except: session_id }, 'member');
    if (ended instanceof Unread) {
      return endOtherSessions.reply(503, notDone(facts, 'No session was ended', UNREAD));
    }
    return endOtherSessions.reply(303, undefined, { location: PATH });
  };
}

type View = {
  readonly listed: Partly<readonly BrowserSession[], SessionsPort>;
  readonly own: string;
  readonly form_token: string;
};

function draw(facts: PageFacts, view: View): string {
  return page({ ...facts, title: TITLE, current: '/settings', children: <Whole view={view} /> });
}

function Whole({ view: { listed, own, form_token } }: { view: View }) {
  const rows = rowsSeen(listed);
  return (
    <>
      <h1>{TITLE}</h1>
      <p class="lead">
        Each row is a browser that is signed in for your membership. One that you do not know can be
        ended here; what it holds opens nothing from then on.
      </p>
      {rows === null ? (
        <p>{listed.checked ? 'No browser is signed in.' : listed.why.reason}</p>
      ) : (
        <SessionTable rows={rows} own={own} token={form_token} />
      )}
      {!listed.checked && rows !== null && <p class="notice">{listed.why.reason}</p>}
      {rows !== null && rows.length > 1 && (
        <form method="post" action="/settings/other-sessions/end">
          <FormToken token={form_token} />
          <button class="danger" type="submit">
            End all others
          </button>
        </form>
      )}
      <p>
        <a href="/settings">Back to the settings</a>
      </p>
    </>
  );
}

type RowsProps = { rows: readonly BrowserSession[]; own: string; token: string };

function SessionTable({ rows, own, token }: RowsProps) {
  return (
    <Table
      rows={rows}
      columns={[
        {
          head: 'Browser',
          cell: ({ id, browser }) => (
            <>
              {browser === null ? 'not noted' : browser}
              {id === own && <strong> (this one)</strong>}
            </>
          ),
          isName: true,
        },
        { head: 'Network', cell: ({ network }) => <Network of={network} />, look: 'whole' },
        { head: 'Signed in', cell: ({ created_at }) => <Moment at={created_at} />, look: 'whole' },
        { head: 'Last used', cell: ({ seen_at }) => <Moment at={seen_at} />, look: 'whole' },
        { head: 'End', cell: ({ id }) => <End id={id} own={own} token={token} /> },
      ]}
    />
  );
}

/** A network by its first characters: the address itself is not kept. */
function Network({ of }: { of: string | null }) {
  if (of === null) return <>not noted</>;
  return <code>{`${of}${of.includes(':') ? '::' : '.*'}`}</code>;
}

function End({ id, own, token }: { id: string; own: string; token: string }) {
  const path = id === own ? '/sign-out' : `/settings/sessions/${id}/end`;
  return (
    <form method="post" action={path}>
      <FormToken token={token} />
      <button class={id === own ? 'plain' : 'danger'} type="submit">
        {id === own ? 'Sign out' : 'End this'}
      </button>
    </form>
  );
}
