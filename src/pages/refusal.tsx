// Answers one question: what does a person read whose request was refused, and what next?

import type { Refusal, RefusalCode } from '../contract/refusals.ts';
import { type PageFacts, page } from './layout.tsx';

/** What was refused, as a heading, and what the reader can do. */
const TOLD: { readonly [code in RefusalCode]: { readonly title: string; readonly next: string } } =
  {
    bad_input: {
      title: 'Not as expected',
      next: 'Go back, correct what is named above, and send it again.',
    },
    unauthorized: { title: 'Not signed in', next: 'Sign in, then open this page again.' },
    credential: { title: 'This key opens nothing', next: 'See which plan the page needs.' },
    wrong_origin: { title: 'Not from here', next: 'Open the page by its own address.' },
    foreign_form: {
      title: 'Not a form of this service',
      next: 'Nothing was done. Open the page again and send the form from there.',
    },
    too_slow: { title: 'Not all of it came', next: 'Load the page again.' },
    not_found: { title: 'No such page', next: 'The pages stand in the navigation above.' },
    wrong_method: { title: 'Not like this', next: 'Open the page by its address.' },
    body_too_large: { title: 'Too large', next: 'Go back and send less at once.' },
    wrong_content_type: { title: 'Not a form', next: 'Open the page and send its own form.' },
    head_too_large: { title: 'Too much to read', next: 'Clear what is stored for this site.' },
    upgrade_required: {
      title: 'A stream, and no page',
      next: 'A program reads it as a WebSocket, or as server-sent events.',
    },
    at_capacity: { title: 'Too many streams', next: 'Close one, or wait a few seconds.' },
    quota: { title: 'Allowance used up', next: 'Wait for the time that is named above.' },
    fault: {
      title: 'A fault of the service',
      next: 'Try again. If it stays, give the operator the id above.',
    },
    overloaded: { title: 'Busy', next: 'Wait a second and load the page again.' },
  };

/** The page of a refusal. It repeats nothing of what was sent. */
export function refusalPage(facts: PageFacts, refusal: Refusal): string {
  const { title, next } = TOLD[refusal.code];
  return page({
    ...facts,
    title,
    current: '',
    children: (
      <>
        <h1>{title}</h1>
        <p class="lead">{wordsOf(refusal)}</p>
        <p>{next}</p>
        {refusal.code === 'unauthorized' && (
          <p>
            <a class="button" href="/activate">
              Sign in
            </a>
          </p>
        )}
        <p class="quiet">Status {refusal.status}.</p>
      </>
    ),
  });
}

function wordsOf({ code, body }: Refusal): string {
  const { error, reason, request_id } = Object(body);
  if (code === 'fault') return `${error} ${request_id}`;
  return String(REASONED.has(code) ? reason : error);
}

/** Refusals whose sentence is their reason: what they say as their error is a word for programs. */
const REASONED: ReadonlySet<RefusalCode> = new Set([
  'unauthorized',
  'upgrade_required',
  'at_capacity',
]);
